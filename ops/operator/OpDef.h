//===- OpDef.h - an operator with its attributes ----------------*- C++ -*-===//
//
// An operator as a value: what eager dispatches, what a tape and a recording
// hold, what GraphBuilder turns into IR. Generated classes (Builtin.h) add
// typed constructors and accessors and no state.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/operator/OpInfo.h"
#include "ops/vocabulary/Error.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>
#include <string>

namespace tess {

struct Subgraph;

/// An operator with values for its attributes; a default-constructed one names no operator and converts to false. A
/// value type: copies are independent.
class OpDef {
public:
  OpDef() = default;
  /// `info` lives for ever. Attributes take their defaults; optional ones are None.
  explicit OpDef(const OpInfo &info);
  /// By IR name; asserts that the operator exists (names come from our own code). Use make() for user input.
  static OpDef get(llvm::StringRef name);
  /// From user input: unknown operator, unknown attribute, wrong kind, out of range are errors; lists every missing
  /// attribute.
  static llvm::Expected<OpDef> make(llvm::StringRef name, llvm::ArrayRef<std::pair<llvm::StringRef, AttrValue>> attrs);

  /// The record of the operator; an empty OpDef has none.
  const OpInfo &info() const { return *opInfo; }
  explicit operator bool() const { return opInfo; }
  /// The IR name, "softmax".
  llvm::StringRef name() const { return opInfo->name; }

  /// The attribute number `index` of info().attrs.
  const AttrValue &attr(unsigned index) const { return attrs[index]; }
  /// By name; asserts that it exists. The accessors below also require the kind of their name.
  const AttrValue &attr(llvm::StringRef name) const;
  int64_t i64(llvm::StringRef n) const { return attr(n).i64(); }
  double f64(llvm::StringRef n) const { return attr(n).f64(); }
  bool boolean(llvm::StringRef n) const { return attr(n).boolean(); }
  const std::string &str(llvm::StringRef n) const { return attr(n).str(); }
  const IntList &ints(llvm::StringRef n) const { return attr(n).ints(); }
  /// Whether an optional attribute was given.
  bool has(llvm::StringRef n) const { return attr(n).kind() != AttrKind::None; }
  /// Sets by name and returns *this; asserts name and kind. A runtime attribute may be a parameter.
  OpDef &set(llvm::StringRef name, AttrValue value);
  /// As set(), for user input: an unknown name, a wrong kind and a value out of range are errors.
  llvm::Error trySet(llvm::StringRef name, AttrValue value);
  /// The same of the attribute with this number, which must be one.
  llvm::Error trySet(unsigned index, AttrValue value);
  unsigned numAttrs() const { return attrs.size(); }
  /// Whether a size among the attributes is an expression (SizeExpr.h).
  bool hasExpressions() const;
  /// Calls `f` for each symbol of its sizes, once or more.
  void forEachSymbol(llvm::function_ref<void(uint32_t)> f) const;
  /// The same operator with each expression replaced, those in a body aside.
  OpDef withSizes(llvm::function_ref<int64_t(int64_t)> sizeOf) const;
  /// The same operator with each symbol replaced, those in a body too.
  OpDef withSymbols(llvm::function_ref<int64_t(uint32_t)> valueOf) const;
  /// Bytes that the attributes take.
  uint64_t heldBytes() const;

  /// Metas of all results. Checks operand count, dtypes, attribute ranges, shapes: every error that needs no data.
  /// `segments`: operands per ODS group, empty when each group has exactly one operand.
  llvm::Expected<Metas> infer(llvm::ArrayRef<TensorMeta> operands, llvm::ArrayRef<unsigned> segments = {}) const;
  /// Composite operators: the operators that compute it.
  llvm::Expected<Subgraph> makeForwardGraph(llvm::ArrayRef<TensorMeta> operands,
                                            llvm::ArrayRef<unsigned> segments = {}) const;
  /// The gradient; see Subgraph for the order of its inputs. `needed`: operands whose gradient is wanted. `hasSum`: of
  /// a control operator (Control.h), operands of which a gradient was summed before; the graph adds to it.
  llvm::Expected<Subgraph> makeBackwardGraph(llvm::ArrayRef<TensorMeta> operands, llvm::ArrayRef<bool> needed,
                                             llvm::ArrayRef<bool> hasOutputGrad, llvm::ArrayRef<unsigned> segments = {},
                                             llvm::ArrayRef<bool> hasSum = {}) const;

  /// Equal operator and equal attributes.
  bool isSame(const OpDef &other) const { return opInfo == other.opInfo && attrs == other.attrs; }
  /// Of the operator and all its attributes; not stable between builds.
  uint64_t hash() const;
  /// "softmax(axis=-1)".
  std::string toString() const;
  /// Text codec: "softmax{axis=-1}"; parse accepts an older version and upgrades it.
  std::string serialize() const;
  static llvm::Expected<OpDef> parse(llvm::StringRef text);

protected:
  /// With all attributes, in the order of the record and of their kinds.
  template <typename... Values> OpDef(const OpInfo &info, Values &&...values) : opInfo(&info) {
    attrs.reserve(sizeof...(Values));
    (attrs.emplace_back(std::forward<Values>(values)), ...);
  }

private:
  const OpInfo *opInfo = nullptr;
  llvm::SmallVector<AttrValue, 2> attrs;
};

/// Checks the kind of a value, its range, cases and length. InvalidArgument, TypeMismatch or OutOfRange.
llvm::Error checkAttr(llvm::StringRef op, const AttrInfo &info, const AttrValue &value);

/// Operands per group when `count` flat operands are given and at most one group is not single; error text names the
/// counts.
llvm::Expected<llvm::SmallVector<unsigned, 4>> defaultSegments(const OpInfo &info, unsigned count);

} // namespace tess
