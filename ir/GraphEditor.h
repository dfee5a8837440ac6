//===- GraphEditor.h - graphs as data ---------------------------*- C++ -*-===//
//
// A graph as nodes (Node.h) that are listed, replaced and changed, and the graph
// of what they are then. The one way in which frontends edit programs. An edit
// infers again what depends on it; one that does not fit changes nothing.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/GraphNames.h"
#include "ir/Node.h"

#include <utility>

namespace tess::ir {

/// The outputs of a program, and so its nodes. Movable. One thread at a time.
class GraphEditor {
public:
  /// A value that the program gives.
  struct Output {
    Var var;
    std::string name; // empty: that of the value
  };
  /// The value of a state after a run.
  struct Update {
    NodeRef state;
    Var value;
    std::string name;
  };

  /// The nodes of `graph`. An output's value has its name; where it has several, that of the first.
  static llvm::Expected<GraphEditor> open(const Graph &graph);
  /// The graph of what the nodes are now, with the names to keep. InvalidArgument when there is no output, when two
  /// inputs, states or outputs have one name or two dimensions of one name have other bounds, and when a state has no
  /// update here.
  llvm::Expected<Graph> graph(const KeptNames &names = {}) const;

  /// All nodes of the program, each behind what it depends on.
  std::vector<NodeRef> nodes() const;
  llvm::ArrayRef<Output> outputs() const { return outputList; }
  llvm::ArrayRef<Update> updates() const { return updateList; }
  /// The inputs that a call gives, in their order: those that were never used in the graph that was opened, too.
  std::vector<NodeRef> inputs() const;
  /// Numerics of the graph that was opened; the edited graph has them, too.
  Numerics numerics() const { return graphNumerics; }

  /// Adds an output, unless the value is one already.
  void addOutput(const Var &var);
  /// Takes an output away; false when the value is none.
  bool removeOutput(const Var &var);
  /// Makes everything that reads the first of a pair, an output too, read the second. Only what the second depends on
  /// itself goes on reading the first, so that `x` may be replaced by a function of `x`. Outputs keep their names.
  llvm::Error replaceVars(llvm::ArrayRef<std::pair<Var, Var>> pairs);
  /// The same for each result of a node; InvalidArgument unless both have equally many.
  llvm::Error replaceNodes(llvm::ArrayRef<std::pair<NodeRef, NodeRef>> pairs);
  /// Gives an operator other attributes; InvalidArgument for those of another record.
  llvm::Error setOp(const NodeRef &node, OpDef op);
  /// Gives a constant or a state another value.
  llvm::Error setValue(const NodeRef &node, const TensorMeta &meta, std::string bytes);
  /// Gives inputs other shapes.
  llvm::Error setShapes(llvm::ArrayRef<std::pair<NodeRef, Shape>> shapes);

private:
  std::vector<NodeRef> roots() const;
  llvm::Error inferAgain(llvm::ArrayRef<NodeRef> changed) const;
  llvm::Error checkUpdates() const;
  void redirect(llvm::ArrayRef<std::pair<Var, Var>> pairs);
  void nameOutputs(llvm::ArrayRef<Output> before);

  std::vector<Output> outputList;
  std::vector<Update> updateList;
  std::vector<NodeRef> unusedInputs;
  Numerics graphNumerics = Numerics::Strict;
  friend class EditorReader;
};

/// What `vars` are where everything reads the second of a pair in the place of the first: copies of what changes; the
/// nodes stay as they are. The inference error where something does not fit.
llvm::Expected<Vars> withReplaced(llvm::ArrayRef<Var> vars, llvm::ArrayRef<std::pair<Var, Var>> pairs);

} // namespace tess::ir
