//===- Simplify.cpp - remove operators that change no bit -----------------===//
//
// Every rewrite here is exact for every input, NaN and -0.0 included. Anything
// that rounds differently (x*1 is exact, x+0 is not for -0.0) stays out.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Passes.h"
#include "ir/OpBridge.h"
#include "ir/Types.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tess::compiler {
#define GEN_PASS_DEF_SIMPLIFYPASS
#include "compiler/Passes.h.inc"

namespace {
using namespace mlir;
using namespace tess::ir;

bool isOp(Operation *op, StringRef name) {
  const OpInfo *info = op ? infoOf(op) : nullptr;
  return info && name == info->name;
}

/// A pattern on every operator; subclasses look at the name.
struct TessPattern : RewritePattern {
  explicit TessPattern(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
};

/// cast to the own dtype -> operand.
struct DropSameCast : TessPattern {
  using TessPattern::TessPattern;
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isOp(op, "cast"))
      return rewriter.notifyMatchFailure(op, "not a cast");
    if (op->getOperand(0).getType() != op->getResult(0).getType())
      return rewriter.notifyMatchFailure(op, "the cast changes the dtype");
    rewriter.replaceOp(op, op->getOperand(0));
    return success();
  }
};

bool isShapeOnlyView(Operation *op) {
  return isOp(op, "reshape") || isOp(op, "flatten") || isOp(op, "squeeze") || isOp(op, "expand_dims") ||
         isOp(op, "broadcast_to");
}

/// A view into the static shape it comes from -> operand.
struct DropSameShapeView : TessPattern {
  using TessPattern::TessPattern;
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isShapeOnlyView(op))
      return rewriter.notifyMatchFailure(op, "not a view that keeps the order of the elements");
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (!type.hasStaticShape() || op->getOperand(0).getType() != type)
      return rewriter.notifyMatchFailure(op, "the view changes the shape, or may");
    rewriter.replaceOp(op, op->getOperand(0));
    return success();
  }
};

/// reshape of a shape-only view of x -> reshape of x, when the shapes are known.
struct MergeReshapes : TessPattern {
  using TessPattern::TessPattern;
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    Operation *source = isOp(op, "reshape") ? op->getOperand(0).getDefiningOp() : nullptr;
    if (!source ||
        !(isOp(source, "reshape") || isOp(source, "flatten") || isOp(source, "squeeze") || isOp(source, "expand_dims")))
      return rewriter.notifyMatchFailure(op, "not a reshape of a view that keeps the order of the elements");
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (!type.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "the new shape is not known");
    rewriter.modifyOpInPlace(op, [&] { op->setOperand(0, source->getOperand(0)); });
    return success();
  }
};

/// A view in the shape of another value -> the same in a shape of its own, when that is known: the other value need not
/// be made.
struct NameKnownShape : TessPattern {
  using TessPattern::TessPattern;
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isOp(op, "reshape_like") && !isOp(op, "broadcast_like"))
      return rewriter.notifyMatchFailure(op, "not a view in the shape of another value");
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (!type.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "the shape is not known");
    OpDef view = OpDef::get(isOp(op, "reshape_like") ? "reshape" : "broadcast_to");
    view.set("shape", IntList(type.getShape().begin(), type.getShape().end()));
    FailureOr<Operation *> known = createInferred(rewriter, op->getLoc(), view, op->getOperand(0));
    if (failed(known))
      return failure();
    rewriter.replaceOp(op, (*known)->getResults());
    return success();
  }
};

/// transpose of transpose -> one transpose, or nothing.
struct MergeTransposes : TessPattern {
  using TessPattern::TessPattern;
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    Operation *source = isOp(op, "transpose") ? op->getOperand(0).getDefiningOp() : nullptr;
    if (!isOp(source, "transpose"))
      return rewriter.notifyMatchFailure(op, "not a transpose of a transpose");
    OpDef outer = opDefOf(op), inner = opDefOf(source);
    IntList merged;
    bool identity = true;
    for (int64_t axis : outer.ints("pattern")) {
      merged.push_back(inner.ints("pattern")[axis]);
      identity &= merged.back() == int64_t(merged.size()) - 1;
    }
    if (identity) {
      rewriter.replaceOp(op, source->getOperand(0));
      return success();
    }
    FailureOr<Operation *> both =
        createInferred(rewriter, op->getLoc(), outer.set("pattern", merged), source->getOperand(0));
    if (failed(both))
      return failure();
    rewriter.replaceOp(op, (*both)->getResults());
    return success();
  }
};

struct Simplify : impl::SimplifyPassBase<Simplify> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<DropSameCast, DropSameShapeView, NameKnownShape, MergeReshapes, MergeTransposes>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace tess::compiler
