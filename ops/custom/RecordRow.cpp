//===- RecordRow.cpp - a row that a record of a file made -----------------===//
#include "ops/custom/RecordRow.h"
#include "ops/graphs/ForwardRules.h"

namespace tess::custom {

static llvm::SmallVector<int, 4> forwardOf(SubgraphBuilder &builder, const OpDef &op, llvm::ArrayRef<int> operands) {
  return RecordRow::of(op.info())->forward()->build(builder, op, operands);
}

static llvm::SmallVector<int, 4> gradientOf(SubgraphBuilder &builder, const OpDef &op, llvm::ArrayRef<int> values,
                                            llvm::ArrayRef<bool> needed) {
  return RecordRow::of(op.info())->gradient()->build(builder, op, values, needed);
}

llvm::Error RecordRow::readGraphs(const data::Row &given, const FindRow &find) {
  for (auto [graph, to, isGradient] :
       {std::tuple(&given.forward, &forwardGraph, false), std::tuple(&given.gradient, &gradientGraph, true)}) {
    if (!*graph)
      continue;
    llvm::Expected<RecordGraph> read = RecordGraph::make(**graph, row, isGradient, find);
    if (!read)
      return read.takeError();
    *to = std::move(*read);
  }
  if (forwardGraph) {
    row.makeForward = forwardOf;
    row.channelRule = row.keepsAxes ? nullptr : channels::ofForward;
  }
  row.gradient = gradientGraph ? gradientOf : given.differentiates && forwardGraph ? differentiateForward : nullptr;
  return llvm::Error::success();
}

std::string documentationOf(const OpInfo &info) {
  if (const RecordRow *record = RecordRow::of(info))
    return record->documentation();
  return Operator::of(info)->documentation();
}

} // namespace tess::custom
