//===- Node.h - a program as nodes that can be edited -----------*- C++ -*-===//
//
// A node is an operator with its operands, an input, a constant or a state. It
// keeps alive what it reads, so a value is all that it depends on; a graph is its
// outputs (GraphEditor.h), and a node may be part of several.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/FreeSizes.h"

#include <list>

namespace tess::ir {

using NodeRef = std::shared_ptr<Node>;

/// A result of a node; an input, a constant or a state has one.
struct Var {
  NodeRef node;
  unsigned result = 0;
  explicit operator bool() const { return bool(node); }
  bool operator==(const Var &) const = default;
  /// Its dtype and shape; free sizes are expressions (FreeSizes.h), kUnknown where there is none.
  const TensorMeta &meta() const;
  /// Its name; empty when it has none.
  std::string &name() const;
};
/// Results, or operands, of a node.
using Vars = llvm::SmallVector<Var, 4>;
Metas metasOf(llvm::ArrayRef<Var> vars);

/// One node. GraphEditor changes what it reads and is; its names anyone may change. One thread at a time.
class Node : public std::enable_shared_from_this<Node> {
public:
  enum class Kind : uint8_t { Input, State, Constant, Operator };

  /// An input that each call gives; free sizes of `meta` are expressions.
  static NodeRef input(llvm::StringRef name, const TensorMeta &meta);
  /// A value that is part of the program: `bytes` row-major; that of a state only before the first run.
  static NodeRef constant(llvm::StringRef name, const TensorMeta &meta, std::string bytes, Kind kind = Kind::Constant);
  /// An operator on `operands`. The inference error, with `location`, when they do not fit. `op` may be as a caller
  /// gave it, before its record's `normalise`.
  static llvm::Expected<NodeRef> apply(const OpDef &op, llvm::ArrayRef<Var> operands,
                                       llvm::ArrayRef<unsigned> segments = {}, llvm::StringRef location = "");
  ~Node();

  Kind kind() const { return is; }
  bool isOperator() const { return is == Kind::Operator; }
  /// Numbers nodes in the order in which they were made; no two have the same.
  uint64_t serial() const { return number; }
  /// Of one of this node's results.
  Var var(unsigned result = 0) { return {shared_from_this(), result}; }
  unsigned numResults() const { return unsigned(metas.size()); }
  /// Nodes that it depends on by a size that their data decides.
  llvm::ArrayRef<NodeRef> sizeNodes() const { return readSizes; }
  /// The operator with what its record's `normalise` makes of the operands' sizes.
  OpDef normalised() const;
  /// The metas that its operands give its results.
  llvm::Expected<Metas> infer() const;

  /// What an operator is; without meaning for other nodes.
  OpDef op;
  std::vector<Var> operands;
  llvm::SmallVector<unsigned, 4> segments;
  std::string location;
  /// Of the results.
  Metas metas;
  std::vector<std::string> names;
  /// Of a constant or a state; shared by nodes that were copied.
  std::shared_ptr<const std::string> bytes;
  /// Of an operator whose results' sizes data decides.
  std::list<DataSize> dataSizes;
  /// What a frontend keeps with the node.
  std::shared_ptr<void> attached;

private:
  explicit Node(Kind kind);
  void nameDataSizes();
  void findSizeNodes();

  Kind is;
  uint64_t number;
  std::vector<NodeRef> readSizes;
  friend class GraphEditor;
};

/// `nodes` and all that they depend on, each behind what it depends on, else in the order of serial().
std::vector<NodeRef> withDependencies(llvm::ArrayRef<NodeRef> nodes);

} // namespace tess::ir
