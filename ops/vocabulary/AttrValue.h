//===- AttrValue.h - one attribute value ------------------------*- C++ -*-===//
//
// The few kinds of attribute an operator may have, with hash and text form.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/vocabulary/DType.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <variant>

namespace tess {

/// None: an optional attribute that is not given. Parameter: a runtime attribute that a compiled program gets with each
/// run; no value of a user, and without a text that parse() reads. Body: operators that the operator applies
/// (ops/graphs/Control.h); it has a text for people only.
enum class AttrKind : uint8_t { None, I64, F64, Bool, Str, I64List, DType, Parameter, Body };

/// The position of a number among those that a program gets with each run.
struct ScalarParameter {
  uint32_t index;
  bool operator==(const ScalarParameter &) const = default;
};

/// What an attribute of kind Body holds, as far as values of attributes need to know. Immutable.
class AttrBody {
public:
  virtual ~AttrBody() = default;
  /// Equality, hash and text as those of AttrValue.
  virtual bool isSame(const AttrBody &other) const = 0;
  virtual uint64_t hash() const = 0;
  virtual std::string toText() const = 0;
  /// As those of OpDef: of all operators in it.
  virtual bool hasExpressions() const = 0;
  virtual std::shared_ptr<const AttrBody> withSymbols(llvm::function_ref<int64_t(uint32_t)> valueOf) const = 0;
  virtual uint64_t heldBytes() const = 0;
};
/// Shared by the copies of an operator.
using BodyRef = std::shared_ptr<const AttrBody>;
/// A BodyRef whose copies and destruction are calls, so that those of other values stay small enough to be inlined.
struct HeldBody {
  BodyRef ref;

  explicit HeldBody(BodyRef ref) : ref(std::move(ref)) {}
  HeldBody(const HeldBody &);
  HeldBody(HeldBody &&) noexcept;
  HeldBody &operator=(const HeldBody &);
  HeldBody &operator=(HeldBody &&) noexcept;
  ~HeldBody();
  bool operator==(const HeldBody &other) const { return ref == other.ref; }
};

/// The value of an I64List attribute: axes, sizes, strides.
using IntList = llvm::SmallVector<int64_t, 4>;

/// A value of one of the kinds; the index of the variant equals AttrKind.
class AttrValue {
public:
  AttrValue() = default;
  AttrValue(int64_t v) : value(v) {}
  AttrValue(int v) : value(int64_t(v)) {}
  AttrValue(double v) : value(v) {}
  AttrValue(bool v) : value(v) {}
  AttrValue(const char *v) : value(std::string(v)) {}
  AttrValue(std::string v) : value(std::move(v)) {}
  AttrValue(llvm::ArrayRef<int64_t> v) : value(IntList(v.begin(), v.end())) {}
  AttrValue(IntList v) : value(std::move(v)) {}
  AttrValue(tess::DType v) : value(v) {}
  AttrValue(ScalarParameter v) : value(v) {}
  AttrValue(BodyRef v) : value(HeldBody(std::move(v))) {}

  /// The value by kind; an accessor may be called only for the kind that kind() gives.
  AttrKind kind() const { return AttrKind(value.index()); }
  int64_t i64() const { return std::get<int64_t>(value); }
  double f64() const { return std::get<double>(value); }
  bool boolean() const { return std::get<bool>(value); }
  const std::string &str() const { return std::get<std::string>(value); }
  const IntList &ints() const { return std::get<IntList>(value); }
  tess::DType dtype() const { return std::get<tess::DType>(value); }
  ScalarParameter parameter() const { return std::get<ScalarParameter>(value); }
  const BodyRef &body() const { return std::get<HeldBody>(value).ref; }

  /// Whether a number of an I64 or I64List is an expression (SizeExpr.h).
  bool hasExpressions() const;

  bool operator==(const AttrValue &other) const;
  /// Equal values have equal hashes; doubles count by their bits, in == too: 0.0 and -0.0 differ, a NaN equals itself.
  uint64_t hash() const;
  /// "3", "0.5" (shortest round-trip), "true", "\"same\"", "[1, 2]", "f32", "none", "$0".
  std::string toText() const;
  /// Reads what toText() wrote for a value of `kind`; "none" gives None for every kind. InvalidArgument otherwise.
  static llvm::Expected<AttrValue> parse(AttrKind kind, llvm::StringRef text);

private:
  std::variant<std::monostate, int64_t, double, bool, std::string, IntList, tess::DType, ScalarParameter, HeldBody>
      value;
};

} // namespace tess
