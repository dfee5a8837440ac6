//===- GraphSummary.cpp - what a graph is made of -------------------------===//
#include "ir/GraphSummary.h"
#include "ir/Contents.h"
#include "ir/Dialect.h"
#include "ir/OpBridge.h"
#include "ir/OutputEntry.h"
#include "ir/Types.h"

using namespace mlir;

namespace tess::ir {
namespace {

class Summarizer {
public:
  explicit Summarizer(func::FuncOp func) : func(func) {}

  GraphSummary take() {
    for (BlockArgument argument : func.getArguments())
      addArgument(argument);
    for (Operation &op : func.getBody().front()) {
      summary.numNodes += infoOf(&op) != nullptr;
      if (auto constant = dyn_cast<ConstantOp>(op))
        addConstant(constant);
    }
    func.walk([&](Operation *op) { addOperation(op); });
    addOutputs();
    return std::move(summary);
  }

private:
  void addType(Type type) {
    if (isa<RankedTensorType>(type))
      summary.dtypes.insert(numpyName(kindOf(metaOf(type).dtype)).str());
  }

  void addArgument(BlockArgument argument) {
    std::string name = func.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kNameAttr).str();
    auto initial = func.getArgAttrOfType<DenseResourceElementsAttr>(argument.getArgNumber(), kInitialAttr);
    (initial ? summary.parameters : summary.inputs).push_back(std::move(name));
    summary.valueBytes += initial ? bytesOf(initial).size() : 0;
    ++summary.numNodes;
    addType(argument.getType());
  }

  void addConstant(ConstantOp constant) {
    ++summary.numNodes;
    summary.valueBytes += bytesOf(cast<DenseResourceElementsAttr>(constant.getValue())).size();
    if (!constant.getKey().empty())
      summary.parameters.push_back(constant.getKey().str());
  }

  void addOperation(Operation *op) {
    llvm::for_each(op->getResultTypes(), [&](Type type) { addType(type); });
    if (const OpInfo *info = infoOf(op))
      summary.operators.insert(info->name);
  }

  void addOutputs() {
    for (Attribute entry : func->getAttrOfType<ArrayAttr>(kOutputsAttr)) {
      auto fields = cast<DictionaryAttr>(entry);
      if (!updatesState(func, fields))
        summary.outputs.push_back(fields.getAs<StringAttr>("name").str());
    }
  }

  func::FuncOp func;
  GraphSummary summary;
};

} // namespace

GraphSummary summarize(const Graph &graph) {
  std::lock_guard lock(graph.impl().mutex);
  return Summarizer(graph.impl().main()).take();
}

} // namespace tess::ir
