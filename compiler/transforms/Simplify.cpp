//===- Simplify.cpp - remove operators that change no bit -----------------===//
//
// Every rewrite here is exact for every input, NaN and -0.0 included. A rewrite
// that may round differently stays out (x*1 is exact, x+0 is not for -0.0).
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/ImpliedSizes.h"
#include "compiler/transforms/Passes.h"
#include "ir/OpBridge.h"
#include "ir/Types.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tess::compiler {
#define GEN_PASS_DEF_SIMPLIFYPASS
#include "compiler/transforms/Passes.h.inc"

namespace {
using namespace mlir;
using namespace tess::ir;

/// A pattern for every operator; subclasses look at the operator's record.
struct TessPattern : RewritePattern {
  explicit TessPattern(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
};

ViewKind viewKindOf(Operation *op) {
  const OpInfo *info = op ? infoOf(op) : nullptr;
  return info ? info->viewKind : ViewKind::None;
}

bool keepsOrder(Operation *op) {
  const OpInfo *info = op ? infoOf(op) : nullptr;
  return info && info->keepsOrder();
}

LogicalResult replaceWith(PatternRewriter &rewriter, Operation *op, const OpDef &def, Value operand) {
  FailureOr<Operation *> made = createInferred(rewriter, op->getLoc(), def, operand);
  if (failed(made))
    return failure();
  rewriter.replaceOp(op, (*made)->getResults());
  return success();
}

/// A cast to the operand's own dtype -> the operand.
struct DropSameCast : TessPattern {
  using TessPattern::TessPattern;
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    const OpInfo *info = infoOf(op);
    if (!info || !info->scalar || !isCast(*info->scalar))
      return rewriter.notifyMatchFailure(op, "not a cast");
    if (op->getOperand(0).getType() != op->getResult(0).getType())
      return rewriter.notifyMatchFailure(op, "the cast changes the dtype");
    rewriter.replaceOp(op, op->getOperand(0));
    return success();
  }
};

/// A view with the static shape of its operand -> the operand.
struct DropSameShapeView : TessPattern {
  using TessPattern::TessPattern;
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!keepsOrder(op) && viewKindOf(op) != ViewKind::Broadcast)
      return rewriter.notifyMatchFailure(op, "not a view that keeps the order of the elements");
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (!type.hasStaticShape() || op->getOperand(0).getType() != type)
      return rewriter.notifyMatchFailure(op, "the view changes the shape, or may");
    rewriter.replaceOp(op, op->getOperand(0));
    return success();
  }
};

IntList shapeOf(RankedTensorType type) { return IntList(type.getShape().begin(), type.getShape().end()); }

/// A reshape of an order-keeping view of x -> a reshape of x, when the shape is known.
struct MergeReshapes : TessPattern {
  using TessPattern::TessPattern;
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    Operation *source = viewKindOf(op) == ViewKind::Reshape ? op->getOperand(0).getDefiningOp() : nullptr;
    if (!keepsOrder(source))
      return rewriter.notifyMatchFailure(op, "not a reshape of a view that keeps the order of the elements");
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (!type.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "the new shape is not known");
    return replaceWith(rewriter, op, OpDef::get("reshape").set("shape", shapeOf(type)), source->getOperand(0));
  }
};

/// A view that takes its shape from another value -> the same view with the shape as an attribute, when the shape is
/// known: the other value need not be computed.
struct NameKnownShape : TessPattern {
  using TessPattern::TessPattern;
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    ViewKind kind = viewKindOf(op);
    if (kind == ViewKind::None || op->getNumOperands() != 2)
      return rewriter.notifyMatchFailure(op, "not a view in the shape of another value");
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (!type.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "the shape is not known");
    bool reshapes = kind == ViewKind::Reshape;
    OpDef view = OpDef::get(reshapes ? "reshape" : "broadcast_to");
    return replaceWith(rewriter, op, view.set("shape", shapeOf(type)), op->getOperand(0));
  }
};

/// The operand's axis for each axis of the result, computed by the view's own rule.
IntList patternOf(Operation *op) {
  OpDef def = opDefOf(op);
  Layout axes;
  for (int64_t axis = 0; axis < cast<RankedTensorType>(op->getOperand(0).getType()).getRank(); ++axis) {
    axes.shape.push_back(1);
    axes.strides.push_back(axis);
  }
  Layout permuted = llvm::cantFail(def.info().viewRule(def, axes, axes.shape));
  return IntList(permuted.strides.begin(), permuted.strides.end());
}

/// A transpose of a transpose -> one transpose, or nothing.
struct MergeTransposes : TessPattern {
  using TessPattern::TessPattern;
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    Operation *source = viewKindOf(op) == ViewKind::Permute ? op->getOperand(0).getDefiningOp() : nullptr;
    if (viewKindOf(source) != ViewKind::Permute)
      return rewriter.notifyMatchFailure(op, "not a transpose of a transpose");
    IntList inner = patternOf(source), merged;
    for (int64_t axis : patternOf(op))
      merged.push_back(inner[axis]);
    if (!llvm::is_sorted(merged))
      return replaceWith(rewriter, op, OpDef::get("transpose").set("pattern", merged), source->getOperand(0));
    rewriter.replaceOp(op, source->getOperand(0));
    return success();
  }
};

/// An operator of a value that is repeated beside others of that shape -> of the value itself. Kernels end at views.
struct DropImpliedBroadcast : TessPattern {
  using TessPattern::TessPattern;
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    for (unsigned index = 0; index < op->getNumOperands(); ++index) {
      if (!impliesBroadcast(op, index))
        continue;
      Value repeated = op->getOperand(index).getDefiningOp()->getOperand(0);
      rewriter.modifyOpInPlace(op, [&] { op->setOperand(index, repeated); });
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no operand that the others repeat");
  }
};

/// A broadcast of what has all sizes -> nothing.
struct DropEmptyBroadcast : TessPattern {
  using TessPattern::TessPattern;
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (viewKindOf(op) != ViewKind::Broadcast || !repeatsNothing(op))
      return rewriter.notifyMatchFailure(op, "no broadcast, or one that may repeat its operand");
    rewriter.replaceOp(op, op->getOperand(0));
    return success();
  }
};

/// A loop without the stacked results that nothing reads: they would take memory in every trip.
struct DropUnreadResults : OpRewritePattern<ScanOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ScanOp scan, PatternRewriter &rewriter) const override {
    auto carried = unsigned(scan.getCarried());
    llvm::BitVector unread(scan.getNumResults());
    SmallVector<Type> types;
    for (OpResult result : scan.getOuts())
      if (result.getResultNumber() >= carried && result.use_empty())
        unread.set(result.getResultNumber());
      else
        types.push_back(result.getType());
    if (unread.none())
      return rewriter.notifyMatchFailure(scan, "every result that is stacked has a reader");
    auto made = ScanOp::create(rewriter, scan.getLoc(), types, scan->getOperands(), scan->getAttrs());
    rewriter.inlineRegionBefore(scan.getBody(), made.getBody(), made.getBody().end());
    Operation *yield = made.getBody().front().getTerminator();
    rewriter.modifyOpInPlace(yield, [&] { yield->eraseOperands(unread); });
    SmallVector<Value> values(scan.getNumResults());
    for (unsigned i = 0, next = 0; i < values.size(); ++i)
      if (!unread[i])
        values[i] = made->getResult(next++);
    rewriter.replaceOp(scan, values);
    return success();
  }
};

struct Simplify : impl::SimplifyPassBase<Simplify> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<DropSameCast, DropSameShapeView, DropImpliedBroadcast, DropEmptyBroadcast, DropUnreadResults,
                 NameKnownShape, MergeReshapes, MergeTransposes>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace tess::compiler
