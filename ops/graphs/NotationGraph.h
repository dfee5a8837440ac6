//===- NotationGraph.h - results in index notation as operators --*- C++ -*-===//
//
// What tess-tblgen writes for a `compute` that other operators make up: values
// know the dimensions of their axes, so that each call can bring its operands
// side by side.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/graphs/Subgraph.h"
#include "ops/inference/Notation.h"

#include <optional>

namespace tess {

/// Builds the graph of one operator.
class NotationGraph {
public:
  /// A value with its dimensions, in the order of its axes, a number, or a dimension's index.
  struct Value {
    struct Axis {
      NotationDim dim;
      bool isReduced = false; // of size 1 then
    };
    int id = -1;
    llvm::SmallVector<Axis, 8> axes;
    std::optional<AttrValue> number;
    std::optional<uint8_t> index;
    bool isGiven = true; // an optional operand may not be

    bool has(NotationDim dim) const {
      return llvm::any_of(axes, [&](const Axis &axis) { return axis.dim == dim; });
    }
  };

  /// `operands`: the values of `op`'s operands.
  NotationGraph(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> operands);

  /// A read of the notation, by its number.
  Value read(unsigned number);
  /// A number of the dtype that the other operands of its function have.
  static Value number(AttrValue value) { return {-1, {}, std::move(value), {}}; }
  /// The index along a dimension.
  static Value index(uint8_t symbol) { return {-1, {}, {}, symbol}; }
  /// An elementwise operator. A second operand that is not given leaves the first as it is.
  Value call(const char *name, llvm::ArrayRef<Value> operands);
  /// A reduction over all dimensions of the symbols, which stay with size 1.
  Value reduce(const char *name, llvm::ArrayRef<uint8_t> symbols, Value value);
  /// The value with the axes of the result.
  int result(Value value);
  /// A place of the result, and the read that holds indices along its axis.
  using Position = std::pair<unsigned, unsigned>;
  /// The result `into`, with `value` written by operator `name`.
  int write(const char *name, int into, llvm::ArrayRef<Position> positions, Value value);
  /// The same in the dtype of an operand.
  int result(Value value, int like);

private:
  using Slots = llvm::SmallVector<std::optional<NotationDim>, 8>; // the axes of what is written

  int orderOf(NotationDim dim) const;
  Value taken(Value value, llvm::ArrayRef<NotationAxis> axes);
  int partOf(int value, unsigned axis, const NotationPlace &place);
  Value split(Value value, unsigned axis, const NotationAxis &as);
  Value settled(const Value &value, const Value &like);
  void dropReduced(Value &value);
  void sortAxes(Value &value);
  int spread(Value value, llvm::ArrayRef<NotationDim> dims);
  Slots slotsFor(llvm::ArrayRef<int64_t> counted, llvm::ArrayRef<Value> values) const;
  int slotted(const Value &value, const Slots &slots, bool isWhole);
  int join(int value, unsigned axis, const NotationAxis &as, llvm::ArrayRef<NotationDim> present);

  SubgraphBuilder &b;
  const OpDef &op;
  llvm::ArrayRef<int> operands;
  std::optional<BoundNotation> bound; // none: the builder has the error
  llvm::SmallVector<NotationDim, 8> order;
};

} // namespace tess
