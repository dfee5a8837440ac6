//===- Operator.h - what the stack transforms -------------------*- C++ -*-===//
//
// Operators, of which an OpDef is one kind, and their operands, of which a
// tensor is one kind (a Python number is weakly typed until Scalar gives it a
// dtype).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/tensor/Tensor.h"
#include "ops/operator/OpDef.h"

#include <complex>
#include <variant>

namespace tess::eager {

/// A number without a dtype of its own.
struct Number {
  enum Kind : uint8_t { Bool, Int, Float, Complex } kind = Int; // Bool and Int: in `i`, Float: in `f`, Complex: in `c`
  uint32_t sizeHandle = 0; // of an Int that is an expression of sizes: the handle less kUnknown; 0: it is none
  union {
    int64_t i;
    double f;
    const std::complex<double> *c; // refers, so that what every call copies stays small
  };
  Number() : i(0) {}
  /// A number of the kind Bool, Int, Float or Complex.
  static Number boolean(bool v) { return {Bool, v}; }
  static Number integer(int64_t v) { return {Int, v}; }
  static Number floating(double v) { return Number(v); }
  /// A Complex refers to `v`, which must outlive the call.
  static Number complex(const std::complex<double> &v) { return Number(&v); }
  /// The number, of any kind.
  std::complex<double> toComplex() const {
    return kind == Complex ? *c : std::complex<double>(kind == Float ? f : double(i));
  }
  /// An Int with the value `v`, for which a recording writes down `expression` (ops/vocabulary/SizeExpr.h).
  static Number size(int64_t v, int64_t expression) {
    Number number(Int, v);
    number.sizeHandle = uint32_t(expression - kUnknown);
    return number;
  }
  /// What a recording writes down for an Int.
  int64_t recorded() const { return sizeHandle ? kUnknown + int64_t(sizeHandle) : i; }
  /// A dtype that stands for the kind, as ops/inference/Promotion.h expects of weak operands.
  DType kindDType() const {
    constexpr DType dtypes[] = {DType::Bool, DType::Int64, DType::Float64, DType::Complex128};
    return dtypes[kind];
  }

private:
  Number(Kind kind, int64_t v) : kind(kind), i(v) {}
  explicit Number(double v) : kind(Float), f(v) {}
  explicit Number(const std::complex<double> *v) : kind(Complex), c(v) {}
};

/// A borrowed tensor, or a number.
struct Operand {
  TensorImpl *tensor = nullptr;
  Number number;
  Operand(TensorImpl *t) : tensor(t) {}
  Operand(const TensorRef &t) : tensor(t.get()) {}
  Operand(Number n) : number(n) {}
};

/// The dtypes and shapes of operands; a number has the dtype that stands for its kind.
inline Metas metasOf(llvm::ArrayRef<Operand> operands) {
  Metas metas;
  for (const Operand &operand : operands)
    metas.push_back(operand.tensor ? operand.tensor->meta() : TensorMeta(operand.number.kindDType(), {}));
  return metas;
}

/// Memory that a call offers for its result: that of the operand that the record's `inplace` names. Only a hint, unless
/// it is required: where the kernel or a layout does not allow it, the result has memory of its own.
struct Destination {
  TensorImpl &target;
  /// Whether others may look at the memory, so that a write must count a version.
  bool isSeen;
  /// Whether the write waits for the queue, however small it is: memory apart would not do.
  bool isRequired = false;
  /// Of the memory, before the call.
  uint32_t version;

  Destination(TensorImpl &target, bool isSeen) : target(target), isSeen(isSeen), version(target.storage().version()) {}
  /// The version of the operand's memory that the call read.
  uint32_t versionRead(const TensorImpl &operand) const {
    return &operand.storage() == &target.storage() ? version : operand.storage().version();
  }
};

/// The class derived from Operator that an operator is.
enum class OperatorKind : uint8_t { OpDef, CreateTensor, GetAttr, DupTensor, RenameValue, GetName };

/// One operator with its parameters; the referred objects outlive the call.
struct Operator {
  OperatorKind kind;
};

/// An operator of the records.
struct OpDefOperator : Operator {
  const OpDef &op;
  /// Operands per ODS group; empty when each has one.
  llvm::ArrayRef<unsigned> segments;
  /// What a recording writes down for it: sizes as the call gave them, which hold at other sizes of its arguments.
  /// Null: `op`.
  const OpDef *recorded;
  OpDefOperator(const OpDef &op, llvm::ArrayRef<unsigned> segments, const OpDef *recorded = nullptr)
      : Operator{OperatorKind::OpDef}, op(op), segments(segments), recorded(recorded) {}
};

/// A tensor from row-major bytes (null: uninitialised). No operands.
struct CreateTensor : Operator {
  const TensorMeta &meta;
  const void *bytes;
  runtime::Device *device; // null: what this thread makes of no tensor lies there
  CreateTensor(const TensorMeta &meta, const void *bytes, runtime::Device *device)
      : Operator{OperatorKind::CreateTensor}, meta(meta), bytes(bytes), device(device) {}
};

/// Writes a fact about its operand to `answer`; no results. Value waits for the data and copies it, row-major, to
/// `destination`; Data waits too, and gives the address of the first element.
struct GetAttr : Operator {
  /// What is asked, and the type of the answer; none for Value.
  enum Attr : uint8_t { DTypeOf, DeviceOf, ShapeOf, Value, Data } attr;
  using Answer = std::variant<std::monostate, DType, std::string, Shape, const void *>;
  Answer &answer;
  void *destination; // Value
  GetAttr(Attr attr, Answer &answer, void *destination = nullptr)
      : Operator{OperatorKind::GetAttr}, attr(attr), answer(answer), destination(destination) {}
};

/// Another variable of the same value; `detach` leaves the gradient behind.
struct DupTensor : Operator {
  bool detach;
  explicit DupTensor(bool detach) : Operator{OperatorKind::DupTensor}, detach(detach) {}
};

/// Names the variable of its operand.
struct RenameValue : Operator {
  llvm::StringRef name;
  explicit RenameValue(llvm::StringRef name) : Operator{OperatorKind::RenameValue}, name(name) {}
};

/// Writes the name of its operand's variable to `answer`; empty when it has none.
struct GetName : Operator {
  std::string &answer;
  explicit GetName(std::string &answer) : Operator{OperatorKind::GetName}, answer(answer) {}
};

} // namespace tess::eager
