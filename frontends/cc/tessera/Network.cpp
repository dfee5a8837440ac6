//===- Network.cpp - the graph of a dumped file as data ------------------===//
#include "tessera/Network.h"

#include "compiler/ProgramFile.h"
#include "eager/classes/HostOptions.h"
#include "eager/stack/Apply.h"
#include "eager/stack/GraphValue.h"
#include "ir/GraphEditor.h"
#include "ops/vocabulary/SizeExpr.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera {

namespace eager = tess::eager;
namespace ir = tess::ir;

static Tensor tensorOf(const ir::Var &var) { return Tensor(eager::tensorOf(var)); }

static const ir::Var &varOf(const Tensor &variable) {
  eager::TensorRef tensor = variable.ref();
  if (!tensor->isGraphValue())
    throw Error(ErrorCode::TypeMismatch,
                "network: a variable must be one of a network, got a tensor " + tess::toString(tensor->meta()));
  return eager::varOf(*tensor);
}

NetworkNode::Kind NetworkNode::kind() const { return Kind(node->kind()); }

OpDef NetworkNode::op() const {
  if (node->isOperator())
    return node->op;
  throw Error(ErrorCode::InvalidArgument, "op: the node must be an operator, got '" + node->names.front() + "'");
}

std::vector<Tensor> NetworkNode::inputs() const {
  std::vector<Tensor> list;
  llvm::append_range(list, llvm::map_range(node->operands, tensorOf));
  return list;
}

std::vector<Tensor> NetworkNode::outputs() const {
  std::vector<Tensor> list;
  for (unsigned result = 0; result < node->numResults(); ++result)
    list.push_back(tensorOf(node->var(result)));
  return list;
}

Tensor NetworkNode::value() const {
  if (!node->bytes)
    return Tensor();
  eager::start();
  return Tensor(valueOrThrow(eager::createTensor(node->metas.front(), node->bytes->data())));
}

std::string NetworkNode::location() const { return node->location; }

Network::Network() : editor(std::make_unique<ir::GraphEditor>()) {}
Network::Network(std::unique_ptr<ir::GraphEditor> editor) : editor(std::move(editor)) {}
Network::~Network() = default;
Network::Network(Network &&) noexcept = default;
Network &Network::operator=(Network &&) noexcept = default;

Network Network::load(const std::string &path) {
  ir::Graph graph = valueOrThrow(tess::compiler::readGraph(path));
  return Network(std::make_unique<ir::GraphEditor>(valueOrThrow(ir::GraphEditor::open(graph))));
}

void Network::dump(const std::string &path, const jit::DumpOptions &options) const {
  auto outputs = editor->outputs();
  if (options.outputs.size() > outputs.size())
    throw Error(ErrorCode::InvalidArgument, "dump: names must not be more than " + std::to_string(outputs.size()) +
                                                " outputs, got " + std::to_string(options.outputs.size()));
  for (auto [name, output] : llvm::zip(options.outputs, outputs))
    output.var.name() = name;
  ir::Graph graph =
      valueOrThrow(editor->graph({/*outputs=*/true, /*values=*/true, /*operators=*/false, /*constants=*/true}));
  valueOrThrow(tess::compiler::writeProgram(path, graph, options.targets, options.metadata, eager::hostOptions()));
}

std::vector<NetworkNode> Network::nodes() const {
  std::vector<NetworkNode> list;
  for (ir::NodeRef &node : editor->nodes())
    list.emplace_back(std::move(node));
  return list;
}

std::vector<Tensor> Network::inputs() const {
  std::vector<Tensor> list;
  for (const ir::NodeRef &node : editor->inputs())
    list.push_back(tensorOf(node->var()));
  return list;
}

std::vector<Tensor> Network::outputs() const {
  std::vector<Tensor> list;
  for (const ir::GraphEditor::Output &output : editor->outputs())
    list.push_back(tensorOf(output.var));
  return list;
}

Tensor Network::variable(const std::string &name) const {
  for (const ir::NodeRef &node : editor->nodes())
    for (unsigned result = 0; result < node->numResults(); ++result)
      if (node->names[result] == name)
        return tensorOf(node->var(result));
  throw Error(ErrorCode::NotFound, "variable: its name must be one of the network's, got '" + name + "'");
}

NetworkNode Network::nodeOf(const Tensor &variable) { return NetworkNode(varOf(variable).node); }

std::string Network::describe(const Tensor &variable) {
  const tess::TensorMeta &meta = varOf(variable).meta();
  std::string text = tess::shortName(meta.dtype).str() + "[";
  for (auto [axis, size] : llvm::enumerate(meta.shape))
    text += (axis ? ", " : "") + ir::sizeText(size);
  return text + "]";
}

static int64_t sizeOf(const jit::Dim &dim) { return tess::sizes::symbol(ir::symbolOf({dim.name, dim.min, dim.max})); }

Tensor Network::makeInput(const std::string &name, DType dtype, const Shape &shape,
                          const std::map<int64_t, jit::Dim> &dims) {
  tess::TensorMeta meta(dtype, shape);
  for (const auto &[axis, dim] : dims) {
    if (axis < 0 || axis >= int64_t(shape.size()))
      throw Error(ErrorCode::OutOfRange, "makeInput: a free dimension must be an axis of " +
                                             std::to_string(shape.size()) + ", got axis " + std::to_string(axis));
    meta.shape[axis] = sizeOf(dim);
  }
  return tensorOf(ir::Node::input(name, meta)->var());
}

Tensor Network::makeConstant(const std::string &name, const Tensor &value) {
  ir::NodeRef node = valueOrThrow(eager::constantOf(*value.ref()));
  node->names.front() = name;
  return tensorOf(node->var());
}

void Network::addOutput(const Tensor &variable) { editor->addOutput(varOf(variable)); }
bool Network::removeOutput(const Tensor &variable) { return editor->removeOutput(varOf(variable)); }

void Network::replaceVariables(const std::vector<std::pair<Tensor, Tensor>> &pairs) {
  std::vector<std::pair<ir::Var, ir::Var>> vars;
  for (const auto &[from, to] : pairs)
    vars.emplace_back(varOf(from), varOf(to));
  checkOrThrow(editor->replaceVars(vars));
}

void Network::replaceNodes(const std::vector<std::pair<NetworkNode, NetworkNode>> &pairs) {
  std::vector<std::pair<ir::NodeRef, ir::NodeRef>> nodes;
  for (const auto &[from, to] : pairs)
    nodes.emplace_back(from.ref(), to.ref());
  checkOrThrow(editor->replaceNodes(nodes));
}

void Network::setOp(const NetworkNode &node, const OpDef &op) { checkOrThrow(editor->setOp(node.ref(), op)); }

void Network::setValue(const NetworkNode &node, const Tensor &value) {
  ir::NodeRef constant = valueOrThrow(eager::constantOf(*value.ref()));
  checkOrThrow(editor->setValue(node.ref(), constant->metas.front(), *constant->bytes));
}

void Network::resetBatchSize(int64_t size) { setFirstSizes(size); }
void Network::resetBatchSize(const jit::Dim &dim) { setFirstSizes(sizeOf(dim)); }

void Network::setFirstSizes(int64_t size) {
  std::vector<std::pair<ir::NodeRef, tess::Shape>> shapes;
  for (const ir::NodeRef &node : editor->inputs()) {
    tess::Shape shape = node->metas.front().shape;
    if (shape.empty())
      throw Error(ErrorCode::InvalidArgument,
                  "resetBatchSize: inputs must have an axis, got '" + node->names.front() + "' of rank 0");
    shape.front() = size;
    shapes.emplace_back(node, shape);
  }
  checkOrThrow(editor->setShapes(shapes));
}

} // namespace tessera
