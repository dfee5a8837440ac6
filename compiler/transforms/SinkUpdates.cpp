//===- SinkUpdates.cpp - kernels that only make outputs, last -------------===//
//
// The executor starts kernels in a row that touch no memory of each other as one
// launch. The updates of an optimizer are such kernels; here they come together,
// whatever the order in which gradients were ready.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/FusionGroups.h"
#include "compiler/transforms/Passes.h"

namespace tess::compiler {
#define GEN_PASS_DEF_SINKUPDATESPASS
#include "compiler/transforms/Passes.h.inc"

namespace {
using namespace mlir;

/// An elementwise kernel whose results leave the function and are read by nothing else.
bool onlyMakesOutputs(ir::FusionOp fusion, Operation *terminator) {
  return fusion.getAxes().empty() && isFusible(&fusion.getBody().front().front()) && !fusion->use_empty() &&
         llvm::all_of(fusion->getUsers(), [&](Operation *user) { return user == terminator; });
}

struct SinkUpdates : impl::SinkUpdatesPassBase<SinkUpdates> {
  void runOnOperation() override {
    Block &block = getOperation().getBody().front();
    Operation *terminator = block.getTerminator();
    SmallVector<ir::FusionOp> updates;
    for (auto fusion : block.getOps<ir::FusionOp>())
      if (onlyMakesOutputs(fusion, terminator))
        updates.push_back(fusion);
    for (ir::FusionOp update : updates)
      update->moveBefore(terminator);
  }
};

} // namespace
} // namespace tess::compiler
