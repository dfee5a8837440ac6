//===- GraphFeatures.cpp - what a reader of a graph must know -------------===//
#include "ir/GraphFeatures.h"
#include "ir/Dialect.h"
#include "ir/OpBridge.h"
#include "ir/Types.h"
#include "ops/graphs/Control.h"

using namespace mlir;

namespace tess::ir {

runtime::Features featuresOf(func::FuncOp func) {
  runtime::Features features;
  auto addType = [&](Type type) {
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      features.add(dtypeOf(tensor.getElementType()));
  };
  func.walk([&](Operation *op) {
    llvm::for_each(op->getResultTypes(), addType);
    for (Region &region : op->getRegions())
      llvm::for_each(region.getArgumentTypes(), addType);
    if (isa<NamedSizeOp>(op))
      features.add(runtime::Feature::DataSizes);
    if (!infoOf(op))
      return;
    OpDef def = opDefOf(op);
    if (control::hasBody(def.info())) {
      control::ScanGroups groups(def);
      features.add(runtime::Feature::Loops);
      if (control::decidesSizes(def))
        features.add(runtime::Feature::TripSizes);
      if (control::hasNoBound(def) && (op->getNumOperands() > groups.firstX() || op->getNumResults() > groups.carried))
        features.add(runtime::Feature::GrownValues);
    }
    if (def.hasExpressions())
      features.add(runtime::Feature::SizeExpressions);
  });
  return features;
}

} // namespace tess::ir
