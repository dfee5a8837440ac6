//===- SinkUpdates.cpp - kernels of outputs only, moved together ----------===//
//
// The executor launches independent kernels in a row as one batch. The updates
// of an optimizer are such kernels; this pass brings them together, whatever
// the order in which gradients were ready. Where memory is short each comes as
// early as it may instead, so that no gradient waits for the others: behind all
// that reads the old value, and all that might be computed again from it.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/FusionGroups.h"
#include "compiler/transforms/Passes.h"
#include "ir/OpBridge.h"

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

/// Whether `op` may refuse the data that it gets: what an error leaves must be as it was.
bool mayFail(Operation *op) {
  const OpInfo *info = ir::infoOf(op);
  if (!info)
    return isa<ir::ScanOp>(op);
  switch (info->lowering) {
  case Lowering::Lookup:
  case Lowering::Sequential:
  case Lowering::Control:
    return true;
  case Lowering::Library:
    return !info->multiplyAdds || info->custom;
  default:
    return info->custom || info->boundRule;
  }
}

/// Moves updates, in their order, up to the operator that they wait for.
class Raising {
public:
  Raising(Block &block, ArrayRef<ir::FusionOp> all)
      : updates(llvm::map_to_vector(all, [](ir::FusionOp op) { return op.getOperation(); })) {
    for (Operation &op : block) {
      positions[&op] = unsigned(order.size());
      order.push_back(&op);
      if (op.walk([](Operation *inner) {
              return mayFail(inner) ? WalkResult::interrupt() : WalkResult::advance();
            }).wasInterrupted())
        least = positions[&op];
    }
  }

  void run() {
    SmallVector<unsigned> places;
    for (Operation *update : updates)
      places.push_back(placeOf(update));
    for (auto [update, place] : llvm::zip_equal(updates, places))
      update->moveAfter(order[place]);
  }

private:
  /// The position of the last operator that must be before the update.
  unsigned placeOf(Operation *update) const {
    unsigned place = least;
    for (Value operand : update->getOperands()) {
      if (Operation *made = operand.getDefiningOp())
        place = std::max(place, positions.lookup(made));
      else if (llvm::is_contained(update->getResultTypes(), operand.getType()))
        waitForReaders(operand, place, /*andTheirs=*/true);
    }
    return place;
  }

  /// Raises `place` to the last operator that reads the value or a view of it; `andTheirs`: or a result of such one.
  void waitForReaders(Value value, unsigned &place, bool andTheirs) const {
    for (Operation *reader : value.getUsers()) {
      if (reader->hasTrait<OpTrait::IsTerminator>() || llvm::is_contained(updates, reader))
        continue;
      place = std::max(place, positions.lookup(reader));
      for (Value result : reader->getResults())
        if (andTheirs || isView(reader))
          waitForReaders(result, place, andTheirs && isView(reader));
    }
  }

  SmallVector<Operation *> updates;
  llvm::DenseMap<Operation *, unsigned> positions;
  std::vector<Operation *> order;
  unsigned least = 0;
};

struct SinkUpdates : impl::SinkUpdatesPassBase<SinkUpdates> {
  using SinkUpdatesPassBase::SinkUpdatesPassBase;

  void runOnOperation() override {
    Block &block = getOperation().getBody().front();
    Operation *terminator = block.getTerminator();
    SmallVector<ir::FusionOp> updates;
    for (auto fusion : block.getOps<ir::FusionOp>())
      if (onlyMakesOutputs(fusion, terminator))
        updates.push_back(fusion);
    if (raise)
      return Raising(block, updates).run();
    for (ir::FusionOp update : updates)
      update->moveBefore(terminator);
  }
};

} // namespace
} // namespace tess::compiler
