//===- FoldEpilogue.cpp - elementwise operators into library calls --------===//
//
// conv2d and matmul apply multiplications and additions per channel, and relu,
// to their result before they store it. Each step rounds as the operator does
// on its own, so no bit depends on folding. A call with its epilogue is a
// tess.fusion that starts with the library's operator.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/FusionGroups.h"
#include "compiler/transforms/Passes.h"
#include "ir/OpBridge.h"
#include "ir/Types.h"

#include "mlir/IR/IRMapping.h"

namespace tess::compiler {
#define GEN_PASS_DEF_FOLDEPILOGUEPASS
#include "compiler/transforms/Passes.h.inc"

namespace {
using namespace mlir;
using namespace tess::ir;

/// The axis of the result along which the operand of an epilogue step may vary; none when `op` takes no epilogue.
std::optional<unsigned> channelAxis(Operation *op) {
  const OpInfo *info = infoOf(op);
  if (!info || info->lowering != Lowering::Library)
    return std::nullopt;
  unsigned rank = cast<RankedTensorType>(op->getResult(0).getType()).getRank();
  if (info->name == StringRef("conv2d"))
    return 1;
  return info->name == StringRef("matmul") && rank >= 2 ? std::optional(rank - 1) : std::nullopt;
}

/// One step of the epilogue; its operand becomes the next operand of the call.
struct Step {
  Operation *op;
  Value operand; // null for relu
};

/// Whether `value` is one number for each channel of `result`, whatever its unknown sizes will be.
bool isPerChannel(Value value, Value result, unsigned axis) {
  auto type = cast<RankedTensorType>(value.getType()), whole = cast<RankedTensorType>(result.getType());
  if (type.getElementType() != whole.getElementType() || type.getRank() > whole.getRank() || type.getRank() == 0)
    return false;
  int64_t lead = whole.getRank() - type.getRank();
  for (int64_t i = 0; i < type.getRank(); ++i) {
    int64_t size = type.getDimSize(i);
    if (size != 1 && (lead + i != axis || ShapedType::isDynamic(size) || size != whole.getDimSize(axis)))
      return false;
  }
  return true;
}

/// The epilogue step made of the only user of `value`; none when there are more users or it is no such operator.
std::optional<Step> stepAfter(Value value, Value result, unsigned axis) {
  if (!value.hasOneUse())
    return std::nullopt;
  Operation *user = *value.getUsers().begin();
  const OpInfo *info = infoOf(user);
  if (!info || user->getNumResults() != 1 || user->getResult(0).getType() != result.getType())
    return std::nullopt;
  if (info->name == StringRef("relu"))
    return Step{user, Value()};
  if (info->name != StringRef("mul") && info->name != StringRef("add"))
    return std::nullopt;
  Value other = user->getOperand(user->getOperand(0) == value ? 1 : 0);
  if (!isPerChannel(other, result, axis))
    return std::nullopt;
  return Step{user, other};
}

SmallVector<Step> stepsAfter(Operation *op, unsigned axis) {
  SmallVector<Step> steps;
  Value value = op->getResult(0);
  while (std::optional<Step> step = stepAfter(value, op->getResult(0), axis)) {
    steps.push_back(*step);
    value = step->op->getResult(0);
  }
  return steps;
}

void buildCall(OpBuilder &builder, Operation *op, ArrayRef<Step> steps) {
  SmallVector<Operation *> members = {op};
  SmallVector<Location> locations = {op->getLoc()};
  SmallVector<Value> inputs(op->getOperands());
  for (const Step &step : steps) {
    members.push_back(step.op);
    locations.push_back(step.op->getLoc());
    if (step.operand)
      inputs.push_back(step.operand);
  }
  Value last = members.back()->getResult(0);
  builder.setInsertionPointAfter(members.back());
  Location location = FusedLoc::get(builder.getContext(), locations);
  auto call = FusionOp::create(builder, location, last.getType(), inputs, ArrayRef<int64_t>());
  Block *block = builder.createBlock(&call.getBody());
  IRMapping mapping;
  for (Value input : inputs)
    mapping.map(input, block->addArgument(input.getType(), input.getLoc()));
  builder.setInsertionPointToEnd(block);
  for (Operation *member : members)
    builder.clone(*member, mapping);
  YieldOp::create(builder, location, mapping.lookup(last));
  last.replaceAllUsesWith(call.getOutputs().front());
  for (Operation *member : llvm::reverse(members))
    member->erase();
}

struct FoldEpilogue : impl::FoldEpiloguePassBase<FoldEpilogue> {
  FoldEpilogue() = default;
  FoldEpilogue(const KernelChoice *choice, StringRef target) : choice(choice), target(target) {}

  size_t chosenSteps(Operation *op, ArrayRef<Step> steps) const {
    if (!choice)
      return steps.size();
    SmallVector<TensorMeta, 4> operands = metasOf(op->getOperands());
    std::vector<std::string> epilogue;
    for (const Step &step : steps) {
      epilogue.push_back(epilogueStep(infoOf(step.op)->name, step.operand ? int(operands.size()) : -1));
      if (step.operand)
        operands.push_back(metaOf(step.operand.getType()));
    }
    OpDef def = opDefOf(op);
    return choice->epilogueSteps({def, operands, metasOf(op->getResults()), epilogue}, target).value_or(steps.size());
  }

  void runOnOperation() override {
    OpBuilder builder(&getContext());
    SmallVector<std::pair<Operation *, unsigned>> calls;
    for (Operation &op : getOperation().getBody().front())
      if (std::optional<unsigned> axis = channelAxis(&op))
        calls.push_back({&op, *axis});
    for (auto [op, axis] : calls) {
      SmallVector<Step> steps = stepsAfter(op, axis);
      steps.truncate(steps.empty() ? 0 : chosenSteps(op, steps));
      if (!steps.empty())
        buildCall(builder, op, steps);
    }
  }

  const KernelChoice *choice = nullptr;
  std::string target = "host";
};

} // namespace

std::unique_ptr<Pass> createFoldEpiloguePass(const KernelChoice *choice, StringRef target) {
  return std::make_unique<FoldEpilogue>(choice, target);
}

} // namespace tess::compiler
