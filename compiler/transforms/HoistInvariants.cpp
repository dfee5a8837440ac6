//===- HoistInvariants.cpp - what each trip would compute alike -----------===//
//
// An operator that reads constants of a loop only gives the same in each trip:
// it moves before the loop, and its results are further constants. What every
// kernel makes itself stays, and so does what has no operands, whose memory is
// made in a trip; what data may refuse, which must not happen without a trip; and
// all of a guarded loop, whose trips may be none.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/FusionGroups.h"
#include "compiler/transforms/Passes.h"
#include "ir/OpBridge.h"
#include "ops/graphs/Control.h"

namespace tess::compiler {
#define GEN_PASS_DEF_HOISTINVARIANTSPASS
#include "compiler/transforms/Passes.h.inc"

namespace {
using namespace mlir;

bool isConstantOf(ir::ScanOp scan, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == &scan.getBody().front() &&
         int64_t(argument.getArgNumber()) < scan.getConstants();
}

/// Whether a size in the operator is one that data decides in the trip.
bool readsSizesOfTrip(Operation &op) {
  bool found = false;
  if (op.hasAttr(ir::kSizesAttr))
    ir::opDefOf(&op).forEachSymbol([&](uint32_t symbol) { found |= control::isBodySymbol(symbol); });
  return found;
}

bool isInvariant(ir::ScanOp scan, Operation &op) {
  const OpInfo *info = ir::infoOf(&op);
  return op.getNumOperands() && info && !readsSizesOfTrip(op) && info->lowering != Lowering::Sequential &&
         info->lowering != Lowering::Lookup && info->lowering != Lowering::Scatter && !scan.getGuarded() &&
         llvm::all_of(op.getOperands(), [&](Value operand) { return isConstantOf(scan, operand); });
}

/// Makes `outside` a constant of the loop and returns its argument.
Value addConstant(ir::ScanOp scan, Value outside) {
  unsigned place = unsigned(scan.getConstants());
  scan->insertOperands(place, outside);
  auto type = IntegerType::get(scan.getContext(), 64, IntegerType::Signed);
  scan.setConstantsAttr(IntegerAttr::get(type, place + 1));
  return scan.getBody().front().insertArgument(place, outside.getType(), outside.getLoc());
}

/// Moves the operator before the loop.
void hoist(ir::ScanOp scan, Operation &op) {
  op.moveBefore(scan);
  for (OpOperand &operand : op.getOpOperands())
    operand.set(scan.getInputs()[cast<BlockArgument>(operand.get()).getArgNumber()]);
  for (Value result : op.getResults()) {
    if (result.use_empty())
      continue;
    SmallVector<OpOperand *> uses = llvm::map_to_vector(result.getUses(), [](OpOperand &use) { return &use; });
    Value argument = addConstant(scan, result);
    for (OpOperand *use : uses)
      use->set(argument);
  }
}

struct HoistInvariants : impl::HoistInvariantsPassBase<HoistInvariants> {
  void runOnOperation() override {
    getOperation().walk([](ir::ScanOp scan) { // inner loops first
      for (Operation &op : llvm::make_early_inc_range(scan.getBody().front().without_terminator()))
        if (isInvariant(scan, op))
          hoist(scan, op);
    });
  }
};

} // namespace
} // namespace tess::compiler
