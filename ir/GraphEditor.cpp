//===- GraphEditor.cpp - graphs as data -----------------------------------===//
#include "ir/GraphEditor.h"
#include "ops/vocabulary/Error.h"
#include "ops/vocabulary/SizeExpr.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"

namespace tess::ir {

using NodeSet = llvm::DenseSet<const Node *>;

static NodeSet setOf(llvm::ArrayRef<NodeRef> nodes) {
  NodeSet set;
  for (const NodeRef &node : nodes)
    set.insert(node.get());
  return set;
}

/// What outputs and updates are computed by.
std::vector<NodeRef> GraphEditor::roots() const {
  std::vector<NodeRef> nodes;
  for (const Output &output : outputList)
    nodes.push_back(output.var.node);
  for (const Update &update : updateList) {
    nodes.push_back(update.state);
    nodes.push_back(update.value.node);
  }
  return nodes;
}

std::vector<NodeRef> GraphEditor::nodes() const {
  std::vector<NodeRef> all = roots();
  llvm::append_range(all, unusedInputs);
  return withDependencies(all);
}

std::vector<NodeRef> GraphEditor::inputs() const {
  std::vector<NodeRef> inputs;
  for (const NodeRef &node : nodes())
    if (node->kind() == Node::Kind::Input)
      inputs.push_back(node);
  llvm::sort(inputs, [](const NodeRef &a, const NodeRef &b) { return a->serial() < b->serial(); });
  return inputs;
}

void GraphEditor::addOutput(const Var &var) {
  if (llvm::none_of(outputList, [&](const Output &output) { return output.var == var; }))
    outputList.push_back({var, ""});
}

bool GraphEditor::removeOutput(const Var &var) {
  size_t before = outputList.size();
  llvm::erase_if(outputList, [&](const Output &output) { return output.var == var; });
  return outputList.size() < before;
}

/// The value of a state must stay what its program can keep.
llvm::Error GraphEditor::checkUpdates() const {
  for (const Update &update : updateList)
    if (!(update.value.meta() == update.state->metas.front()))
      return invalidArgument("update: a state must keep its dtype and shape, got " + toString(update.value.meta()) +
                             " for '" + update.state->names.front() + "' of " + toString(update.state->metas.front()));
  return llvm::Error::success();
}

/// Infers what `changed` and all that depends on it give; an error leaves all metas as they were.
llvm::Error GraphEditor::inferAgain(llvm::ArrayRef<NodeRef> changed) const {
  NodeSet dirty = setOf(changed);
  std::vector<std::pair<NodeRef, Metas>> before;
  std::vector<NodeRef> all = roots();
  llvm::append_range(all, changed);
  llvm::Error error = llvm::Error::success();
  for (const NodeRef &node : withDependencies(all)) {
    auto isDirty = [&](const Var &operand) { return dirty.contains(operand.node.get()); };
    bool isChanged = dirty.contains(node.get()) || llvm::any_of(node->operands, isDirty);
    if (error || !isChanged || !node->isOperator())
      continue;
    Metas metas;
    error = node->infer().moveInto(metas);
    dirty.insert(node.get());
    if (!error)
      before.emplace_back(node, std::exchange(node->metas, std::move(metas)));
  }
  if (!error)
    error = checkUpdates();
  if (error)
    for (auto &[node, metas] : before)
      node->metas = std::move(metas);
  return error;
}

static Var replaced(const Var &var, llvm::ArrayRef<std::pair<Var, Var>> pairs) {
  const auto *found = llvm::find_if(pairs, [&](const auto &pair) { return pair.first == var; });
  return found == pairs.end() ? var : found->second;
}

llvm::Error GraphEditor::replaceVars(llvm::ArrayRef<std::pair<Var, Var>> pairs) {
  std::vector<NodeRef> all = roots(), made, changed;
  for (const auto &[from, to] : pairs)
    made.push_back(to.node);
  NodeSet kept = setOf(withDependencies(made));
  std::vector<std::pair<NodeRef, std::vector<Var>>> before;
  for (const NodeRef &node : withDependencies(all)) {
    auto isReplaced = [&](const Var &operand) { return !(replaced(operand, pairs) == operand); };
    if (kept.contains(node.get()) || llvm::none_of(node->operands, isReplaced))
      continue;
    before.emplace_back(node, node->operands);
    changed.push_back(node);
    for (Var &operand : node->operands)
      operand = replaced(operand, pairs);
  }
  std::vector<Output> outputsBefore = outputList;
  std::vector<Update> updatesBefore = updateList;
  redirect(pairs);
  llvm::Error error = inferAgain(changed);
  if (!error) {
    nameOutputs(outputsBefore);
    return error;
  }
  for (auto &[node, operands] : before)
    node->operands = std::move(operands);
  outputList = std::move(outputsBefore);
  updateList = std::move(updatesBefore);
  return error;
}

/// Replaces values among outputs, which keep their names, and updates.
void GraphEditor::redirect(llvm::ArrayRef<std::pair<Var, Var>> pairs) {
  for (Output &output : outputList) {
    Var value = replaced(output.var, pairs);
    if (output.name.empty() && !(value == output.var))
      output.name = output.var.name();
    output.var = std::move(value);
  }
  for (Update &update : updateList)
    update.value = replaced(update.value, pairs);
}

/// Gives values that took an output's place its name where they have none; the values of before lose it.
void GraphEditor::nameOutputs(llvm::ArrayRef<Output> before) {
  for (auto [output, old] : llvm::zip_equal(outputList, before)) {
    if (output.var == old.var || !old.name.empty())
      continue;
    old.var.name().clear();
    if (output.var.name().empty())
      output.var.name() = std::exchange(output.name, "");
  }
}

namespace {
/// Copies of nodes that read something else.
class Copies {
public:
  explicit Copies(llvm::ArrayRef<std::pair<Var, Var>> pairs) : pairs(pairs) {}

  Var of(const Var &var) const {
    if (Var other = replaced(var, pairs); !(other == var))
      return other;
    auto copy = copies.find(var.node.get());
    return copy == copies.end() ? var : copy->second->var(var.result);
  }

  llvm::Error add(Node &node) {
    auto operands = llvm::map_to_vector<4>(node.operands, [&](const Var &operand) { return of(operand); });
    OpDef op = node.op.withSymbols([&](uint32_t symbol) { return sizeOf(symbol); });
    if (llvm::equal(operands, node.operands) && op.isSame(node.op))
      return llvm::Error::success();
    llvm::Expected<NodeRef> copy = Node::apply(op, operands, node.segments, node.location);
    if (!copy)
      return copy.takeError();
    (*copy)->names = node.names;
    for (auto [from, to] : llvm::zip(node.dataSizes, (*copy)->dataSizes))
      symbols[from.symbol()] = to.symbol();
    copies[&node] = std::move(*copy);
    return llvm::Error::success();
  }

private:
  int64_t sizeOf(uint32_t symbol) const {
    auto copy = symbols.find(symbol);
    return sizes::symbol(copy == symbols.end() ? symbol : copy->second);
  }

  llvm::ArrayRef<std::pair<Var, Var>> pairs;
  llvm::DenseMap<const Node *, NodeRef> copies;
  llvm::DenseMap<uint32_t, uint32_t> symbols; // of sizes that data decides
};
} // namespace

llvm::Expected<Vars> withReplaced(llvm::ArrayRef<Var> vars, llvm::ArrayRef<std::pair<Var, Var>> pairs) {
  auto nodesOf = [](const auto &list, auto node) { return llvm::map_to_vector<8>(list, node); };
  NodeSet kept = setOf(withDependencies(nodesOf(pairs, [](const auto &pair) { return pair.second.node; })));
  Copies copies(pairs);
  for (const NodeRef &node : withDependencies(nodesOf(vars, [](const Var &var) { return var.node; })))
    if (node->isOperator() && !kept.contains(node.get()))
      if (llvm::Error error = copies.add(*node))
        return std::move(error);
  return Vars(llvm::map_range(vars, [&](const Var &var) { return copies.of(var); }));
}

/// "relu()", or what the node is.
static std::string describe(const Node &node) {
  return node.isOperator() ? node.op.toString() : "'" + node.names.front() + "'";
}

llvm::Error GraphEditor::replaceNodes(llvm::ArrayRef<std::pair<NodeRef, NodeRef>> pairs) {
  std::vector<std::pair<Var, Var>> vars;
  for (const auto &[from, to] : pairs) {
    if (from->numResults() != to->numResults())
      return invalidArgument("replace_oprs: operators must have equally many results, got " + describe(*from) +
                             " with " + llvm::Twine(from->numResults()) + " and " + describe(*to) + " with " +
                             llvm::Twine(to->numResults()));
    for (unsigned result = 0; result < from->numResults(); ++result)
      vars.emplace_back(from->var(result), to->var(result));
  }
  return replaceVars(vars);
}

llvm::Error GraphEditor::setOp(const NodeRef &node, OpDef op) {
  if (!node->isOperator() || &node->op.info() != &op.info())
    return invalidArgument("set_op: parameters must be those of the operator, got " + op.toString() + " for " +
                           describe(*node));
  std::swap(node->op, op);
  std::vector<NodeRef> before = node->readSizes;
  node->findSizeNodes();
  llvm::Error error = inferAgain({node});
  if (error) {
    node->op = std::move(op);
    node->readSizes = std::move(before);
  }
  return error;
}

llvm::Error GraphEditor::setValue(const NodeRef &node, const TensorMeta &meta, std::string bytes) {
  if (!node->bytes)
    return invalidArgument("set_value: a constant or a state must be given, got " + describe(*node));
  if (node->kind() == Node::Kind::State && !(meta == node->metas.front()))
    return invalidArgument("set_value: the value of a state must be " + toString(node->metas.front()) + ", got " +
                           toString(meta));
  Metas before = std::exchange(node->metas, {meta});
  if (llvm::Error error = inferAgain({node})) {
    node->metas = std::move(before);
    return error;
  }
  node->bytes = std::make_shared<const std::string>(std::move(bytes));
  return llvm::Error::success();
}

llvm::Error GraphEditor::setShapes(llvm::ArrayRef<std::pair<NodeRef, Shape>> shapes) {
  std::vector<NodeRef> changed;
  std::vector<Metas> before;
  for (const auto &[node, shape] : shapes) {
    changed.push_back(node);
    before.push_back(node->metas);
    node->metas.front().shape = shape;
  }
  llvm::Error error = inferAgain(changed);
  if (error)
    for (auto [node, metas] : llvm::zip_equal(changed, before))
      node->metas = metas;
  return error;
}

} // namespace tess::ir
