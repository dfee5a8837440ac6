//===- SinkUpdates.cpp - kernels of outputs only, moved last --------------===//
//
// The executor launches independent kernels in a row as one batch. The updates
// of an optimizer are such kernels; this pass brings them together, whatever
// the order in which gradients were ready.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/FusionGroups.h"
#include "compiler/transforms/Passes.h"

namespace tess::compiler {
#define GEN_PASS_DEF_SINKUPDATESPASS
#include "compiler/transforms/Passes.h.inc"

namespace {
using namespace mlir;

/// Whether `fusion` is an elementwise kernel whose results are outputs and have no other reader.
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
