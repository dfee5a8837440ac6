//===- FuseElementwise.cpp - groups become tess.fusion --------------------===//
//
// FusionGroups finds the groups; this pass moves them into regions. Results
// that others read are yielded, values from outside become region arguments.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Bodies.h"
#include "compiler/transforms/FusionGroups.h"
#include "compiler/transforms/Passes.h"
#include "compiler/transforms/SizeReaders.h"
#include "ir/GraphBuilder.h"
#include "ir/GraphImpl.h"
#include "ir/OpBridge.h"
#include "ir/Types.h"

#include "mlir/IR/IRMapping.h"

namespace tess::compiler {
#define GEN_PASS_DEF_FUSEELEMENTWISEPASS
#include "compiler/transforms/Passes.h.inc"

namespace {
using namespace mlir;
using namespace tess::ir;

/// What has the elements at indices, and along which axes: an input of its own, since it is walked in no other way.
using LookedUp = std::pair<Value, Attribute>;

LookedUp lookedUpBy(Operation *op) { return {op->getOperand(0), op->getAttr("axes")}; }

/// The inputs of a group in order of first use: values from outside, those that have the elements at indices, and
/// numbers that the kernel makes itself.
struct Inputs {
  llvm::SetVector<Value> values;
  llvm::SetVector<LookedUp> lookedUp;
  llvm::SetVector<Operation *> numbers;

  SmallVector<Value> all() const {
    SmallVector<Value> inputs(values.begin(), values.end());
    for (const LookedUp &each : lookedUp)
      inputs.push_back(each.first);
    return inputs;
  }
};

Inputs inputsOf(const FusionGroup &group, const llvm::DenseSet<Operation *> &members, bool fuse) {
  Inputs inputs;
  for (Operation *op : group.ops) {
    if (countsByIndices(op))
      inputs.lookedUp.insert(lookedUpBy(op));
    for (Value operand : op->getOperands().drop_front(countsByIndices(op))) {
      Operation *producer = operand.getDefiningOp();
      if (fuse && isScalarSource(producer))
        inputs.numbers.insert(producer);
      else if (!members.contains(producer))
        inputs.values.insert(operand);
    }
  }
  return inputs;
}

SmallVector<Value> outputsOf(const FusionGroup &group, const llvm::DenseSet<Operation *> &members) {
  SmallVector<Value> outputs;
  for (Operation *op : group.ops)
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !members.contains(user); }))
        outputs.push_back(result);
  return outputs;
}

Location locationOfGroup(const FusionGroup &group, MLIRContext *context) {
  SmallVector<Location> locations = llvm::map_to_vector(group.ops, [](Operation *op) { return op->getLoc(); });
  return locations.size() == 1 ? locations.front() : FusedLoc::get(context, locations);
}

void buildFusion(OpBuilder &builder, const FusionGroup &group, bool fuse) {
  llvm::DenseSet<Operation *> members(group.ops.begin(), group.ops.end());
  Inputs inputs = inputsOf(group, members, fuse);
  SmallVector<Value> outputs = outputsOf(group, members);
  builder.setInsertionPointAfter(group.ops.back());
  auto fusion = FusionOp::create(builder, locationOfGroup(group, builder.getContext()), ValueRange(outputs).getTypes(),
                                 inputs.all(), group.axes);
  Block *block = builder.createBlock(&fusion.getBody());
  IRMapping mapping;
  for (Value input : inputs.values)
    mapping.map(input, block->addArgument(input.getType(), input.getLoc()));
  llvm::DenseMap<LookedUp, Value> lookedUp;
  for (const LookedUp &each : inputs.lookedUp)
    lookedUp[each] = block->addArgument(each.first.getType(), each.first.getLoc());
  builder.setInsertionPointToEnd(block);
  for (Operation *number : inputs.numbers)
    builder.clone(*number, mapping);
  for (Operation *op : group.ops) {
    Operation *made = builder.clone(*op, mapping);
    if (countsByIndices(op))
      made->setOperand(0, lookedUp.lookup(lookedUpBy(op)));
  }
  YieldOp::create(builder, fusion.getLoc(), llvm::map_to_vector(outputs, [&](Value v) { return mapping.lookup(v); }));
  for (auto [old, result] : llvm::zip(outputs, fusion.getOutputs()))
    old.replaceAllUsesWith(result);
  for (Operation *op : llvm::reverse(group.ops))
    op->erase();
}

KernelBoundary boundaryBetween(Operation *reader, Operation *producer, StringRef why) {
  return {reader->getName().stripDialect().str(), locationText(reader->getLoc()),
          producer->getName().stripDialect().str(), locationText(producer->getLoc()), why.str()};
}

struct FuseElementwise : impl::FuseElementwisePassBase<FuseElementwise> {
  using FuseElementwisePassBase::FuseElementwisePassBase;
  FuseElementwise(bool fuse, ReportBoundary report)
      : FuseElementwisePassBase(FuseElementwisePassOptions{fuse, /*why=*/false}), report(std::move(report)) {}

  void runOnOperation() override {
    for (Block *block : bodiesOf(getOperation()))
      fuseBlock(*block);
  }

  void fuseBlock(Block &block) {
    FusionGroups groups(block, fuse, apart());
    OpBuilder builder(&getContext());
    for (Operation &op : block)
      forgetPhase(&op);
    for (const auto &group : groups.groups())
      buildFusion(builder, *group, fuse);
    for (Operation &op : llvm::make_early_inc_range(block))
      if (isScalarSource(&op) && op.use_empty())
        op.erase();
    sortByReads(block);
  }

  /// Hears of neighbours in kernels of their own; empty where nobody asks.
  FusionGroups::Apart apart() {
    if (!report && !why)
      return nullptr;
    return [this](Operation *reader, Operation *producer, StringRef reason) {
      KernelBoundary boundary = boundaryBetween(reader, producer, reason);
      if (report)
        report(boundary);
      else
        reader->emitRemark(boundary.message());
    };
  }

  ReportBoundary report;
};

} // namespace

std::unique_ptr<Pass> createFuseElementwisePass(bool fuse, ReportBoundary report) {
  return std::make_unique<FuseElementwise>(fuse, std::move(report));
}
} // namespace tess::compiler
