//===- EditorReader.cpp - a graph as nodes --------------------------------===//
#include "ir/Contents.h"
#include "ir/Dialect.h"
#include "ir/GraphBuilder.h"
#include "ir/GraphEditor.h"
#include "ir/GraphImpl.h"
#include "ir/OpBridge.h"
#include "ir/Types.h"
#include "ops/vocabulary/SizeExpr.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace tess::ir {

/// Reads the operations of one graph in their order.
class EditorReader {
public:
  explicit EditorReader(func::FuncOp func) : func(func) {}

  llvm::Expected<GraphEditor> read() {
    editor.graphNumerics = numericsOf(func);
    for (Attribute entry : func->getAttrOfType<ArrayAttr>(kDimsAttr)) {
      auto fields = cast<DictionaryAttr>(entry);
      dims.push_back(symbolOf({fields.getAs<StringAttr>("name").str(), fields.getAs<IntegerAttr>("min").getInt(),
                               fields.getAs<IntegerAttr>("max").getInt()}));
    }
    for (BlockArgument argument : func.getArguments())
      readArgument(argument);
    for (Operation &op : func.getBody().front().without_terminator())
      if (llvm::Error error = readOperation(op))
        return std::move(error);
    readOutputs();
    llvm::DenseSet<const Node *> used;
    for (const NodeRef &node : editor.nodes())
      used.insert(node.get());
    for (const NodeRef &input : inputs)
      if (!used.contains(input.get()))
        editor.unusedInputs.push_back(input);
    return std::move(editor);
  }

private:
  void readArgument(BlockArgument argument) {
    unsigned index = argument.getArgNumber();
    std::string name = func.getArgAttrOfType<StringAttr>(index, kNameAttr).str();
    TensorMeta meta = metaOf(argument.getType());
    auto axes = func.getArgAttrOfType<DenseI64ArrayAttr>(index, kArgDimsAttr).asArrayRef();
    for (auto [size, dim] : llvm::zip(meta.shape, axes))
      size = size == kUnknown && dim >= 0 ? sizes::symbol(dims[dim]) : size;
    auto initial = func.getArgAttrOfType<DenseResourceElementsAttr>(index, kInitialAttr);
    NodeRef node =
        initial ? Node::constant(name, meta, bytesOf(initial).str(), Node::Kind::State) : Node::input(name, meta);
    values[argument] = node->var();
    if (!initial)
      inputs.push_back(std::move(node));
  }

  /// The symbol of nodes for one of the graph.
  int64_t sizeOf(uint32_t symbol) const {
    if (symbol < sizes::kDataSymbols)
      return symbol < dims.size() ? sizes::symbol(dims[symbol]) : kUnknown;
    auto found = dataSymbols.find(symbol - sizes::kDataSymbols);
    return found == dataSymbols.end() ? kUnknown : sizes::symbol(found->second);
  }

  llvm::Error readOperation(Operation &op) {
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      auto content = cast<DenseResourceElementsAttr>(constant.getValue());
      NodeRef node = Node::constant(constant.getKey(), metaOf(content.getType()), bytesOf(content).str());
      values[constant.getOut()] = node->var();
      return llvm::Error::success();
    }
    if (auto size = dyn_cast<NamedSizeOp>(op)) {
      const Var &var = values[size.getValue()];
      for (const DataSize &known : var.node->dataSizes)
        if (known.result == var.result && known.axis == size.getAxis())
          dataSymbols[size.getNumber()] = known.symbol();
      return llvm::Error::success();
    }
    if (!infoOf(&op))
      return invalidArgument("open: a graph must be made of records' operators, got " + op.getName().getStringRef());
    return readNode(op);
  }

  llvm::Error readNode(Operation &op) {
    OpDef def = opDefOf(&op);
    if (def.hasExpressions())
      def = def.withSymbols([&](uint32_t symbol) { return sizeOf(symbol); });
    Vars operands;
    for (Value operand : op.getOperands())
      operands.push_back(values[operand]);
    llvm::Expected<NodeRef> node = Node::apply(def, operands, segmentsOf(&op), locationText(op.getLoc()));
    if (!node)
      return node.takeError();
    if (auto name = op.getAttrOfType<StringAttr>(kNameAttr))
      (*node)->names.front() = name.str();
    for (auto [index, result] : llvm::enumerate(op.getResults()))
      values[result] = (*node)->var(unsigned(index));
    return llvm::Error::success();
  }

  void readOutputs() {
    auto entries = func->getAttrOfType<ArrayAttr>(kOutputsAttr);
    llvm::DenseSet<Value> named;
    for (auto [value, entry] : llvm::zip(func.getBody().front().getTerminator()->getOperands(), entries)) {
      auto fields = cast<DictionaryAttr>(entry);
      std::string name = fields.getAs<StringAttr>("name").str();
      int64_t donates = fields.getAs<IntegerAttr>("donates").getInt();
      const Var &var = values[value];
      if (donates >= 0 && values[func.getArgument(donates)].node->kind() == Node::Kind::State) {
        editor.updateList.push_back({values[func.getArgument(donates)].node, var, name});
        continue;
      }
      bool isFirst = named.insert(value).second && var.node->isOperator();
      if (isFirst)
        var.name() = name;
      editor.outputList.push_back({var, isFirst ? "" : name});
    }
  }

  func::FuncOp func;
  GraphEditor editor;
  std::vector<uint32_t> dims; // symbols of nodes
  std::vector<NodeRef> inputs;
  llvm::DenseMap<Value, Var> values;
  llvm::DenseMap<uint64_t, uint32_t> dataSymbols; // by number in the graph
};

llvm::Expected<GraphEditor> GraphEditor::open(const Graph &graph) {
  std::lock_guard lock(graph.impl().mutex);
  return EditorReader(graph.impl().main()).read();
}

} // namespace tess::ir
