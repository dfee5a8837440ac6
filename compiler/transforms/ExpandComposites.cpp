//===- ExpandComposites.cpp - composites to primitives --------------------===//
//
// Inlines make_forward_graph until only kernels, views and movements are left,
// and brings reductions to the one form that fusion and kernels know.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Bodies.h"
#include "compiler/transforms/FusionGroups.h"
#include "compiler/transforms/InlineSubgraph.h"
#include "compiler/transforms/Passes.h"
#include "ir/GraphBuilder.h"
#include "ir/GraphImpl.h"
#include "ir/OpBridge.h"
#include "ir/Types.h"
#include "ops/graphs/Terms.h"

namespace tess::compiler {
#define GEN_PASS_DEF_EXPANDCOMPOSITESPASS
#include "compiler/transforms/Passes.h.inc"

namespace {
using namespace mlir;
using namespace tess::ir;

/// Gives the user's name of `op` to `value`, which is about to replace it.
void keepName(Operation *op, Value value) {
  Attribute name = op->getAttr(kNameAttr);
  if (name && value.getDefiningOp())
    value.getDefiningOp()->setAttr(kNameAttr, name);
}

/// Gives the result of an operator the sizes that only the type of the result that it replaces knows: those who read
/// that one were typed by them.
void keepSizes(RankedTensorType known, OpResult result) {
  auto type = cast<RankedTensorType>(result.getType());
  SmallVector<int64_t> shape(type.getShape());
  for (auto [size, other] : llvm::zip_equal(shape, known.getShape()))
    size = ShapedType::isDynamic(size) ? other : size;
  result.setType(type.clone(shape));
}

/// Notes on the operators before `op`, up to `first`, which composite of the user's they are parts of: `op`, or the one
/// that `op` is a part of itself.
void markParts(Operation *op, Block::iterator first) {
  Attribute mark = op->getAttr(kPartOfAttr);
  if (!mark)
    mark = StringAttr::get(op->getContext(), op->getName().stripDialect());
  for (Operation &part : llvm::make_range(first, op->getIterator()))
    part.setAttr(kPartOfAttr, mark);
}

/// Replaces one composite; its name goes to the operator that computes its first result.
LogicalResult expand(Operation *op, OpBuilder &builder, bool marksParts) {
  builder.setInsertionPoint(op);
  Operation *before = op->getPrevNode();
  llvm::Expected<Subgraph> graph = opDefWithParameters(op).makeForwardGraph(metasOf(op->getOperands()), segmentsOf(op));
  if (!graph)
    return op->emitError(takeError(graph.takeError()).second);
  auto results = inlineSubgraph(builder, op->getLoc(), *graph, llvm::to_vector(op->getOperands()));
  if (failed(results))
    return failure();
  if (marksParts)
    markParts(op, before ? std::next(before->getIterator()) : op->getBlock()->begin());
  keepName(op, results->front());
  for (auto [type, result] : llvm::zip_equal(op->getResultTypes(), *results))
    if (auto made = dyn_cast<OpResult>(result))
      keepSizes(cast<RankedTensorType>(type), made);
  op->replaceAllUsesWith(*results);
  op->erase();
  return success();
}

/// The axes of a reduction, which has a list of axes or one axis.
IntList reducedAxes(const OpDef &op, unsigned rank) {
  if (givesIndex(op.info().reduceKind))
    return terms::allAxes({op.i64("axis")}, rank);
  return terms::allAxes(op.ints("axes"), rank);
}

OpDef withAxes(OpDef op, const IntList &axes) {
  if (givesIndex(op.info().reduceKind))
    op.set("axis", axes.front());
  else
    op.set("axes", axes);
  return op.set("keepdims", true);
}

FailureOr<Value> createView(OpBuilder &builder, Location location, StringRef name, Value x, const IntList &axes) {
  FailureOr<Operation *> op = createInferred(builder, location, OpDef::get(name).set("axis", axes), x);
  if (failed(op))
    return failure();
  return (*op)->getResult(0);
}

LogicalResult canonicaliseReduction(Operation *op, OpBuilder &builder) {
  OpDef def = opDefOf(op);
  Value x = op->getOperand(0);
  unsigned rank = cast<RankedTensorType>(x.getType()).getRank();
  IntList axes = reducedAxes(def, rank);
  OpDef wanted = withAxes(def, axes);
  if (rank > 0 && wanted.isSame(def))
    return success();
  builder.setInsertionPoint(op);
  FailureOr<Value> input = x;
  if (rank == 0) {
    axes = {0};
    wanted = withAxes(def, axes);
    input = createView(builder, op->getLoc(), "expand_dims", x, axes);
  }
  if (failed(input))
    return failure();
  FailureOr<Operation *> reduced = createInferred(builder, op->getLoc(), wanted, *input);
  if (failed(reduced))
    return failure();
  FailureOr<Value> result = (*reduced)->getResult(0);
  if (rank == 0 || !def.boolean("keepdims"))
    result = createView(builder, op->getLoc(), "squeeze", *result, axes);
  if (failed(result))
    return failure();
  keepName(op, *result);
  op->getResult(0).replaceAllUsesWith(*result);
  op->erase();
  return success();
}

/// Sets the function's result types anew: an expansion may know more or fewer sizes of a result than the composite did.
void fitResultTypes(func::FuncOp func) {
  Operation *ret = func.getBody().front().getTerminator();
  func.setType(FunctionType::get(func.getContext(), func.getArgumentTypes(), ret->getOperandTypes()));
}

struct ExpandComposites : impl::ExpandCompositesPassBase<ExpandComposites> {
  using ExpandCompositesPassBase::ExpandCompositesPassBase;

  LogicalResult expandAll(Block &block) {
    OpBuilder builder(&getContext());
    for (bool changed = true; changed;) {
      changed = false;
      for (Operation &op : llvm::make_early_inc_range(block)) {
        const OpInfo *info = infoOf(&op);
        if (!info || info->lowering != Lowering::Composite)
          continue;
        if (failed(expand(&op, builder, marksParts)))
          return failure();
        changed = true;
      }
    }
    for (Operation &op : llvm::make_early_inc_range(block))
      if (const OpInfo *info = infoOf(&op); info && info->lowering == Lowering::Reduction)
        if (failed(canonicaliseReduction(&op, builder)))
          return failure();
    return success();
  }

  void runOnOperation() override {
    for (Block *block : bodiesOf(getOperation()))
      if (failed(expandAll(*block)))
        return signalPassFailure();
    fitResultTypes(getOperation());
  }
};

} // namespace
} // namespace tess::compiler
