//===- EditorWriter.cpp - nodes as a graph --------------------------------===//
#include "ir/GraphEditor.h"
#include "ir/SizeChecks.h"
#include "ops/vocabulary/Error.h"
#include "ops/vocabulary/SizeExpr.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

#include <map>

namespace tess::ir {
namespace {

using Value = GraphBuilder::Value;

/// Writes the nodes of one editor.
class EditorWriter {
public:
  explicit EditorWriter(const GraphEditor &editor) : editor(editor), nodes(editor.nodes()) {}

  llvm::Expected<Graph> write() {
    builder.setNumerics(editor.numerics());
    findSymbols();
    for (llvm::Error (EditorWriter::*step)() :
         {&EditorWriter::writeDims, &EditorWriter::writeInputs, &EditorWriter::writeNodes, &EditorWriter::writeOutputs})
      if (llvm::Error error = (this->*step)())
        return std::move(error);
    return builder.finish();
  }

private:
  /// Numbers the symbols that the graph needs, and finds the checks of its sizes.
  void findSymbols() {
    auto see = [&](uint32_t symbol) { (symbol < sizes::kDataSymbols ? dims : dataSizes).try_emplace(symbol, 0); };
    for (const NodeRef &node : nodes) {
      for (int64_t size : node->kind() == Node::Kind::Input ? node->metas.front().shape : Shape())
        sizes::forEachSymbol(size, see);
      if (!node->isOperator())
        continue;
      OpDef op = node->normalised();
      op.forEachSymbol(see);
      auto needed = sizeChecks(op, metasOf(node->operands), node->segments);
      for (const SizeCheck &check : needed)
        sizes::forEachSymbol(check.size, see);
      if (!needed.empty())
        checks[node.get()] = std::move(needed);
    }
    for (auto *symbols : {&dims, &dataSizes})
      for (auto [index, entry] : llvm::enumerate(*symbols))
        entry.second = int(index);
  }

  llvm::Error writeDims() {
    std::map<std::string, NamedDim> byName;
    for (const auto &[symbol, index] : dims) {
      NamedDim dim = dimOf(symbol);
      auto [known, isNew] = byName.try_emplace(dim.name, dim);
      if (!isNew)
        return invalidArgument("dump: a dimension must have the same bounds everywhere, got " + boundsOf(dim) +
                               " and " + boundsOf(known->second));
      (void)builder.dim(dim);
    }
    return llvm::Error::success();
  }

  static std::string boundsOf(const NamedDim &dim) {
    return dim.name + " in " + std::to_string(dim.min) + ".." + std::to_string(dim.max);
  }

  llvm::Error takeName(llvm::StringRef what, llvm::StringRef name, llvm::StringSet<> &names) {
    if (names.insert(name).second)
      return llvm::Error::success();
    return invalidArgument("dump: " + what + " must have different names, got two '" + name + "'");
  }

  /// The inputs of a call, then the states.
  llvm::Error writeInputs() {
    llvm::StringSet<> names;
    for (const NodeRef &node : editor.inputs()) {
      if (llvm::Error error = takeName("inputs", node->names.front(), names))
        return error;
      TensorMeta meta = node->metas.front();
      llvm::SmallVector<int> axes;
      for (int64_t &size : meta.shape) {
        auto isIt = [size = size](const auto &dim) { return sizes::symbol(dim.first) == size; };
        auto dim = llvm::find_if(dims, isIt);
        axes.push_back(dim == dims.end() ? -1 : dim->second);
        size = sizes::isSymbolic(size) ? kUnknown : size;
      }
      values[node.get()].push_back(builder.input(node->names.front(), meta, axes));
    }
    for (const GraphEditor::Update &update : editor.updates()) {
      Node &state = *update.state;
      if (llvm::Error error = takeName("inputs and states", state.names.front(), names))
        return error;
      values[&state].push_back(builder.input(state.names.front(), state.metas.front(), {}, *state.bytes));
    }
    return llvm::Error::success();
  }

  int64_t sizeOf(uint32_t symbol) const {
    if (symbol < sizes::kDataSymbols)
      return sizes::symbol(uint32_t(dims.at(symbol)));
    return sizes::symbol(sizes::kDataSymbols + uint32_t(dataSizes.at(symbol)));
  }

  llvm::Error writeNodes() {
    for (const NodeRef &node : nodes) {
      if (node->kind() == Node::Kind::State && !values.count(node.get()))
        return invalidArgument("dump: a state must be updated by the network that reads it, got '" +
                               node->names.front() + "' of another network");
      if (node->kind() == Node::Kind::Constant)
        values[node.get()].push_back(builder.constant(node->metas.front(), *node->bytes, node->names.front()));
      if (node->isOperator())
        if (llvm::Error error = writeOperator(*node))
          return error;
    }
    return llvm::Error::success();
  }

  llvm::Error writeOperator(Node &node) {
    llvm::SmallVector<Value, 4> operands;
    for (const Var &operand : node.operands)
      operands.push_back(values[operand.node.get()][operand.result]);
    auto needed = checks.lookup(&node);
    for (SizeCheck &check : needed)
      check.size = sizes::substitute(check.size, [&](uint32_t symbol) { return sizeOf(symbol); });
    if (llvm::Error error = appendChecks(builder, node.op, needed, operands, node.location))
      return error;
    OpDef op = node.normalised();
    if (op.hasExpressions())
      op = op.withSymbols([&](uint32_t symbol) { return sizeOf(symbol); });
    auto results = builder.apply(op, operands, node.segments, node.location);
    if (!results)
      return results.takeError();
    values[&node].assign(results->begin(), results->end());
    for (const DataSize &size : node.dataSizes)
      if (auto used = dataSizes.find(size.symbol()); used != dataSizes.end())
        builder.nameSize((*results)[size.result], size.axis, uint32_t(used->second));
    if (!node.names.front().empty())
      builder.setName(results->front(), node.names.front());
    return llvm::Error::success();
  }

  llvm::Error writeOutputs() {
    if (editor.outputs().empty())
      return invalidArgument("dump: a network must have an output, got none");
    llvm::StringSet<> names;
    for (auto [index, output] : llvm::enumerate(editor.outputs())) {
      std::string name = output.name.empty() ? output.var.name() : output.name;
      if (name.empty())
        name = "output" + std::to_string(index);
      if (llvm::Error error = takeName("outputs", name, names))
        return error;
      builder.output(values[output.var.node.get()][output.var.result], name);
    }
    for (auto [index, update] : llvm::enumerate(editor.updates()))
      builder.output(values[update.value.node.get()][update.value.result], update.name,
                     values[update.state.get()].front());
    return llvm::Error::success();
  }

  const GraphEditor &editor;
  std::vector<NodeRef> nodes;
  GraphBuilder builder;
  std::map<uint32_t, int> dims, dataSizes; // by symbol: number in the graph
  llvm::DenseMap<const Node *, llvm::SmallVector<SizeCheck, 2>> checks;
  llvm::DenseMap<const Node *, llvm::SmallVector<Value, 1>> values;
};

} // namespace

llvm::Expected<Graph> GraphEditor::graph(const KeptNames &names) const {
  llvm::Expected<Graph> graph = EditorWriter(*this).write();
  if (graph)
    keepNames(*graph, names);
  return graph;
}

} // namespace tess::ir
