//===- Operator.h - what the stack transforms -------------------*- C++ -*-===//
//
// Operators, of which an OpDef is one kind, and their operands, of which a
// tensor is one kind (a Python number is weakly typed until Scalar gives it a
// dtype).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/Tensor.h"
#include "ops/Subgraph.h"

#include <variant>

namespace tess::eager {

/// A number without a dtype of its own.
struct Number {
  enum Kind : uint8_t { Bool, Int, Float } kind = Int;
  union {
    int64_t i;
    double f;
  };
  Number() : i(0) {}
  static Number boolean(bool v) { return make(Bool, v); }
  static Number integer(int64_t v) { return make(Int, v); }
  static Number floating(double v) {
    Number n;
    n.kind = Float;
    n.f = v;
    return n;
  }
  /// A dtype of the number's kind, as Promotion.h wants it.
  DType kindDType() const { return kind == Bool ? DType::Bool : kind == Int ? DType::Int64 : DType::Float64; }

private:
  static Number make(Kind kind, int64_t v) {
    Number n;
    n.kind = kind;
    n.i = v;
    return n;
  }
};

/// A borrowed tensor, or a number.
struct Operand {
  TensorImpl *tensor = nullptr;
  Number number;
  Operand(TensorImpl *t) : tensor(t) {}
  Operand(const TensorRef &t) : tensor(t.get()) {}
  Operand(Number n) : number(n) {}
};

/// Memory that the result of a call may take over instead of new memory: that of the operand that the record's
/// `inplace` names. A hint: where kernel or form do not allow it the result has memory of its own.
struct Destination {
  TensorImpl &target;
  /// Others may look at the memory: a write counts a version.
  bool isSeen;
  /// Of the memory, before the call.
  uint32_t version;

  Destination(TensorImpl &target, bool isSeen) : target(target), isSeen(isSeen), version(target.storage().version()) {}
  /// The version of the operand's memory that the call read.
  uint32_t versionRead(const TensorImpl &operand) const {
    return &operand.storage() == &target.storage() ? version : operand.storage().version();
  }
};

enum class OperatorKind : uint8_t { OpDef, Subgraph, CreateTensor, GetAttr, DupTensor, RenameValue, GetName };

/// One operator with its parameters; the referred objects outlive the call.
struct Operator {
  OperatorKind kind;
};

struct OpDefOperator : Operator {
  const OpDef &op;
  /// Operands per ODS group; empty when each has one.
  llvm::ArrayRef<unsigned> segments;
  OpDefOperator(const OpDef &op, llvm::ArrayRef<unsigned> segments)
      : Operator{OperatorKind::OpDef}, op(op), segments(segments) {}
};

struct SubgraphOperator : Operator {
  const Subgraph &graph;
  explicit SubgraphOperator(const Subgraph &graph) : Operator{OperatorKind::Subgraph}, graph(graph) {}
};

/// A tensor from row-major bytes (null: uninitialised). No operands.
struct CreateTensor : Operator {
  const TensorMeta &meta;
  const void *bytes;
  CreateTensor(const TensorMeta &meta, const void *bytes)
      : Operator{OperatorKind::CreateTensor}, meta(meta), bytes(bytes) {}
};

/// A fact about the operand, written to `answer`. Value waits for the data and copies it, row-major; Data gives the
/// address.
struct GetAttr : Operator {
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

struct RenameValue : Operator {
  llvm::StringRef name;
  explicit RenameValue(llvm::StringRef name) : Operator{OperatorKind::RenameValue}, name(name) {}
};

struct GetName : Operator {
  std::string &answer;
  explicit GetName(std::string &answer) : Operator{OperatorKind::GetName}, answer(answer) {}
};

} // namespace tess::eager
