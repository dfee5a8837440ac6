//===- Node.cpp - a program as nodes that can be edited -------------------===//
#include "ir/Node.h"
#include "ops/vocabulary/SizeExpr.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <atomic>
#include <queue>

namespace tess::ir {

const TensorMeta &Var::meta() const { return node->metas[result]; }
std::string &Var::name() const { return node->names[result]; }

static uint64_t nextSerial() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

Node::Node(Kind kind) : is(kind), number(nextSerial()) {}

/// Frees what only this node keeps alive one by one: a chain of nodes may be longer than the stack is deep.
Node::~Node() {
  std::vector<NodeRef> pending = std::move(readSizes);
  auto take = [&](std::vector<Var> &vars) {
    for (Var &var : vars)
      pending.push_back(std::move(var.node));
    vars.clear();
  };
  take(operands);
  while (!pending.empty()) {
    NodeRef node = std::move(pending.back());
    pending.pop_back();
    if (node.use_count() > 1)
      continue;
    take(node->operands);
    llvm::append_range(pending, node->readSizes);
    node->readSizes.clear();
  }
}

NodeRef Node::input(llvm::StringRef name, const TensorMeta &meta) {
  NodeRef node(new Node(Kind::Input));
  node->metas = {meta};
  node->names = {name.empty() ? "input_" + std::to_string(node->serial()) : name.str()};
  return node;
}

NodeRef Node::constant(llvm::StringRef name, const TensorMeta &meta, std::string bytes, Kind kind) {
  NodeRef node(new Node(kind));
  node->metas = {meta};
  node->names = {name.str()};
  node->bytes = std::make_shared<const std::string>(std::move(bytes));
  return node;
}

llvm::Expected<NodeRef> Node::apply(const OpDef &op, llvm::ArrayRef<Var> operands, llvm::ArrayRef<unsigned> segments,
                                    llvm::StringRef location) {
  NodeRef node(new Node(Kind::Operator));
  node->op = op;
  node->operands.assign(operands.begin(), operands.end());
  node->segments.assign(segments.begin(), segments.end());
  node->location = location.str();
  node->findSizeNodes();
  llvm::Expected<Metas> metas = node->infer();
  if (!metas)
    return metas.takeError();
  node->metas = std::move(*metas);
  node->names.resize(node->metas.size());
  node->nameDataSizes();
  return node;
}

Metas metasOf(llvm::ArrayRef<Var> vars) {
  Metas metas;
  for (const Var &var : vars)
    metas.push_back(var.meta());
  return metas;
}

static Metas examplesOf(Metas metas) {
  for (TensorMeta &meta : metas)
    for (int64_t &size : meta.shape)
      size = exampleSize(size);
  return metas;
}

void Node::findSizeNodes() {
  readSizes.clear();
  op.forEachSymbol([&](uint32_t symbol) {
    if (NodeRef owner = nodeOfSymbol(symbol))
      readSizes.push_back(std::move(owner));
  });
}

OpDef Node::normalised() const {
  if (!op.info().normalise || !op.info().hasSizes())
    return op;
  OpDef normal = op;
  if (llvm::Error error = op.info().normalise(normal, metasOf(operands))) {
    llvm::consumeError(std::move(error)); // inference refuses it
    return op;
  }
  return normal;
}

llvm::Expected<Metas> Node::infer() const {
  if (!isOperator())
    return metas;
  llvm::Expected<Metas> results = normalised().infer(metasOf(operands), segments);
  if (!results)
    return at(results.takeError(), location);
  for (const DataSize &size : dataSizes) {
    Shape &shape = (*results)[size.result].shape;
    if (size.axis < shape.size() && shape[size.axis] == kUnknown)
      shape[size.axis] = sizes::symbol(size.symbol());
  }
  return results;
}

/// Gives each size that data decides a symbol.
void Node::nameDataSizes() {
  if (!op.info().boundRule)
    return;
  OpDef example = normalised().withSymbols([](uint32_t symbol) { return exampleOf(symbol); });
  llvm::Expected<Metas> bounds = op.info().boundRule(example, examplesOf(metasOf(operands)), segments);
  if (!bounds)
    return llvm::consumeError(bounds.takeError()); // the sizes stay unknown
  for (auto [result, meta] : llvm::enumerate(metas))
    for (auto [axis, size] : llvm::enumerate(meta.shape))
      if (size == kUnknown) {
        dataSizes.emplace_back(shared_from_this(), op.name(), unsigned(result), unsigned(axis),
                               (*bounds)[result].shape[axis]);
        size = sizes::symbol(dataSizes.back().symbol());
      }
}

namespace {
/// Nodes with what they depend on, each thing once.
struct Dependencies {
  llvm::DenseMap<Node *, unsigned> missing; // how many of its dependencies come before a node and have not come yet
  llvm::DenseMap<Node *, std::vector<NodeRef>> users;

  void add(const NodeRef &node, std::vector<NodeRef> &pending) {
    if (!missing.try_emplace(node.get(), 0).second)
      return;
    pending.push_back(node);
  }
  void need(const NodeRef &node, const NodeRef &dependency, std::vector<NodeRef> &pending) {
    add(dependency, pending);
    ++missing[node.get()];
    users[dependency.get()].push_back(node);
  }
};
} // namespace

std::vector<NodeRef> withDependencies(llvm::ArrayRef<NodeRef> nodes) {
  Dependencies all;
  std::vector<NodeRef> pending, ready, order;
  for (const NodeRef &node : nodes)
    all.add(node, pending);
  while (!pending.empty()) {
    NodeRef node = std::move(pending.back());
    pending.pop_back();
    for (const Var &operand : node->operands)
      all.need(node, operand.node, pending);
    for (const NodeRef &sizes : node->sizeNodes())
      all.need(node, sizes, pending);
    if (!all.missing[node.get()])
      ready.push_back(std::move(node));
  }
  auto later = [](const NodeRef &a, const NodeRef &b) { return a->serial() > b->serial(); };
  std::priority_queue queue(later, std::move(ready));
  while (!queue.empty()) {
    NodeRef node = queue.top();
    queue.pop();
    for (const NodeRef &user : all.users[node.get()])
      if (--all.missing[user.get()] == 0)
        queue.push(user);
    order.push_back(std::move(node));
  }
  return order;
}

} // namespace tess::ir
