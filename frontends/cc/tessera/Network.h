//===- Network.h - the graph of a dumped file as data -----------*- C++ -*-===//
//
//     Network network = Network::load("net.tess");
//     Tensor y = network.variable("y");
//     network.replaceVariables({{y, functional::relu(y) + 1}});
//     network.dump("edited.tess");
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tessera/Jit.h"

#include <memory>
#include <utility>

namespace tess::ir {
class GraphEditor;
class Node;
} // namespace tess::ir

namespace tessera {

/// A node of a network: an operator, an input, a constant or a state. Copies refer to the same one.
class NetworkNode {
public:
  enum class Kind : uint8_t { Input, State, Constant, Operator };

  explicit NetworkNode(std::shared_ptr<tess::ir::Node> node) : node(std::move(node)) {}
  Kind kind() const;
  /// The operator with its attributes; throws InvalidArgument where it is none.
  OpDef op() const;
  /// The variables that it reads, and those that it gives.
  std::vector<Tensor> inputs() const, outputs() const;
  /// The value of a constant, or that of a state before the first run; undefined for others.
  Tensor value() const;
  /// The user's line that called it, and the module's path; empty when unknown.
  std::string location() const;
  const std::shared_ptr<tess::ir::Node> &ref() const { return node; }

private:
  std::shared_ptr<tess::ir::Node> node;
};

/// The outputs of a program, and so its operators. A variable of it is a Tensor without a value, which every function
/// takes: what it makes joins the graph, where other tensors become constants. An edit infers again what depends on it;
/// where that does not fit, it throws the error of the operator that refuses, and the network is as it was.
class Network {
public:
  /// A network without outputs.
  Network();
  ~Network();
  Network(Network &&) noexcept;
  Network &operator=(Network &&) noexcept;

  /// The network of a file. Throws NotFound, or DataLoss for a damaged file.
  static Network load(const std::string &path);
  /// Writes the program, of which `options` may name outputs in their order, targets and metadata. Throws
  /// InvalidArgument when a name comes twice or there is no output.
  void dump(const std::string &path, const jit::DumpOptions &options = {}) const;

  /// All nodes, each behind what it reads; the inputs and the outputs of a call.
  std::vector<NetworkNode> nodes() const;
  std::vector<Tensor> inputs() const, outputs() const;
  /// The variable with this name. Throws NotFound where there is none.
  Tensor variable(const std::string &name) const;
  /// The node that gives a variable of a network.
  static NetworkNode nodeOf(const Tensor &variable);
  /// "f32[batch, 3]" of a variable of a network.
  static std::string describe(const Tensor &variable);

  /// A variable for a new input, whose sizes at the axes of `dims` are free, or for a new constant.
  static Tensor makeInput(const std::string &name, DType dtype, const Shape &shape,
                          const std::map<int64_t, jit::Dim> &dims = {});
  static Tensor makeConstant(const std::string &name, const Tensor &value);

  void addOutput(const Tensor &variable);
  /// False when it is no output.
  bool removeOutput(const Tensor &variable);
  /// Makes all that reads the first of a pair read the second; only what the second depends on goes on reading the
  /// first. Outputs keep their names.
  void replaceVariables(const std::vector<std::pair<Tensor, Tensor>> &pairs);
  /// The same for each result of an operator. Throws InvalidArgument unless there are equally many.
  void replaceNodes(const std::vector<std::pair<NetworkNode, NetworkNode>> &pairs);
  /// Gives an operator other attributes, or a constant or a state another value.
  void setOp(const NetworkNode &node, const OpDef &op);
  void setValue(const NetworkNode &node, const Tensor &value);
  /// Makes the first size of every input `size`, or free. Throws InvalidArgument for an input of rank 0.
  void resetBatchSize(int64_t size);
  void resetBatchSize(const jit::Dim &dim);

private:
  explicit Network(std::unique_ptr<tess::ir::GraphEditor> editor);
  void setFirstSizes(int64_t size);

  std::unique_ptr<tess::ir::GraphEditor> editor;
};

} // namespace tessera
