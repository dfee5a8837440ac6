//===- RecordGraph.h - dags of a record that a file brought -----*- C++ -*-===//
//
// Operators over values, as data: the forward graph of a composite, or a gradient.
// It builds what the generated function of a record of our own would.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/custom/RecordData.h"
#include "ops/graphs/Subgraph.h"

#include <functional>

namespace tess::custom {

/// Finds the row of an operator by its IR name; null where there is none.
using FindRow = std::function<const OpInfo *(llvm::StringRef)>;

/// The graph of one row.
class RecordGraph {
public:
  /// Checks that operators, attributes and values are there and fit. `row`: the row that it is of, of which operands,
  /// results and attributes are set and stay where they are. InvalidArgument otherwise.
  static llvm::Expected<RecordGraph> make(const data::Graph &from, const OpInfo &row, bool isGradient,
                                          const FindRow &find);
  /// Appends its operators; the ids of its results, -1 for none. `values`: operands; of a gradient also results and
  /// their gradients, and only the results in `wanted` are made.
  llvm::SmallVector<int, 4> build(SubgraphBuilder &builder, const OpDef &op, llvm::ArrayRef<int> values,
                                  std::optional<llvm::ArrayRef<bool>> wanted = std::nullopt) const;
  /// Calls `f` for each operator that it applies.
  template <typename F> void forEachCallee(F f) const {
    for (const Node &node : nodes)
      if (node.callee)
        f(*node.callee);
  }

private:
  friend class GraphReader;
  friend class GraphRun;

  /// Where a value is.
  enum class Place : uint8_t { None, Node, Operand, Result, Gradient };
  struct Ref {
    Place place = Place::None;
    unsigned number = 0;
  };
  /// The value of an attribute in a call: as it is, or that of the row's own attribute, or a dtype.
  struct Argument {
    unsigned attr = 0; // of the callee
    AttrValue value;
    int own = -1; // an attribute of the row
    Ref dtypeOf;
  };
  struct Node {
    enum Kind : uint8_t { Call, Constant, AttributeChoice, DTypeChoice } kind = Call;
    const OpInfo *callee = nullptr;
    unsigned result = 0;
    llvm::SmallVector<Ref, 3> inputs;
    std::vector<Argument> arguments;
    AttrValue value; // of a constant; what the attribute of a choice is compared with
    int own = -1;    // the attribute of the row with the constant; the one of a choice
    Ref like;        // of a constant, and of the choice by a dtype
  };

  std::vector<Node> nodes;
  llvm::SmallVector<Ref, 4> results;
};

} // namespace tess::custom
