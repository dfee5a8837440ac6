//===- Simplify.cpp - remove operators that change no bit -----------------===//
//
// Every rewrite here is exact for every input, NaN and -0.0 included. A rewrite
// that may round differently stays out (x*1 is exact, x+0 is not for -0.0).
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/ImpliedSizes.h"
#include "compiler/transforms/Passes.h"
#include "compiler/transforms/ScalarBodies.h"
#include "ir/OpBridge.h"
#include "ir/Types.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <cmath>

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

LogicalResult replaceWith(PatternRewriter &rewriter, Operation *op, const OpDef &def, ValueRange operands) {
  FailureOr<Operation *> made = createInferred(rewriter, op->getLoc(), def, operands);
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

/// Whether every number of `narrow` is one of `wide`.
bool holds(DType wide, DType narrow) {
  if (isFloat(narrow) && isFloat(wide))
    return byteWidth(wide) > byteWidth(narrow);
  return isInt(narrow) && isInt(wide) && isUnsignedInt(narrow) == isUnsignedInt(wide) &&
         byteWidth(wide) > byteWidth(narrow);
}

/// A cast of a cast to a dtype that holds all numbers of the operand's -> one cast, or nothing. Floats stay floats: how
/// a number becomes an integer is for each dtype to say.
struct MergeCasts : TessPattern {
  using TessPattern::TessPattern;
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    auto isCastOp = [](Operation *each) {
      return each && infoOf(each) && infoOf(each)->scalar && isCast(*infoOf(each)->scalar);
    };
    Operation *source = isCastOp(op) ? op->getOperand(0).getDefiningOp() : nullptr;
    if (!isCastOp(source))
      return rewriter.notifyMatchFailure(op, "not a cast of a cast");
    auto dtype = [](Value value) { return metaOf(value.getType()).dtype; };
    DType first = dtype(source->getOperand(0)), last = dtype(op->getResult(0));
    if (!holds(dtype(source->getResult(0)), first) || isFloat(first) != isFloat(last) || isInt(first) != isInt(last))
      return rewriter.notifyMatchFailure(op, "the first cast may round, or the last one gives numbers of another kind");
    if (first != last)
      return replaceWith(rewriter, op, OpDef::get("cast").set("dtype", last), source->getOperand(0));
    rewriter.replaceOp(op, source->getOperand(0));
    return success();
  }
};

/// x * 1, x / 1, x - 0 and x + -0.0, of integers x + 0 too -> x.
struct DropNeutralOperand : TessPattern {
  using TessPattern::TessPattern;
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (op->getNumOperands() != 2 || !infoOf(op) || op->getOperand(0).getType() != op->getResult(0).getType())
      return rewriter.notifyMatchFailure(op, "no operator of two operands whose result is like the first");
    DType dtype = metaOf(op->getResult(0).getType()).dtype;
    std::optional<double> number = isFloat(dtype) || isInt(dtype) ? numberOf(op->getOperand(1)) : std::nullopt;
    if (!number || !isNeutral(op, *number, isInt(dtype)))
      return rewriter.notifyMatchFailure(op, "no number that changes nothing");
    rewriter.replaceOp(op, op->getOperand(0));
    return success();
  }

private:
  static bool isNeutral(Operation *op, double number, bool isInteger) {
    switch (binaryFunctionOf(op).value_or(ScalarFn::Pow)) {
    case ScalarFn::Mul:
    case ScalarFn::Div:
      return number == 1;
    case ScalarFn::Sub:
      return number == 0 && !std::signbit(number);
    case ScalarFn::Add:
      return number == 0 && (isInteger || std::signbit(number));
    default:
      return false;
    }
  }
};

/// x / 2^k -> x * 2^-k: both round the same number, and a product takes a third of the time.
struct MultiplyByPowerOfTwo : TessPattern {
  using TessPattern::TessPattern;
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    std::optional<double> divisor = binaryFunctionOf(op) == ScalarFn::Div ? numberOf(op->getOperand(1)) : std::nullopt;
    if (!divisor || op->getOperand(0).getType() != op->getResult(0).getType() || !hasNormalReciprocal(*divisor))
      return rewriter.notifyMatchFailure(op, "no quotient by a power of two whose reciprocal is a normal number");
    Type element = cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
    if (!element.isF32() && !element.isF64()) // a narrow float may have no such number
      return rewriter.notifyMatchFailure(op, "no wide float");
    Operation *number = op->getOperand(1).getDefiningOp();
    OpDef reciprocal = opDefOf(number);
    reciprocal.set(infoOf(number)->attrs[*numberAttrOf(number)].name, 1 / *divisor);
    FailureOr<Operation *> made = createInferred(rewriter, op->getLoc(), reciprocal, {});
    if (failed(made))
      return failure();
    return replaceWith(rewriter, op, OpDef::get("mul"), {op->getOperand(0), (*made)->getResult(0)});
  }

private:
  static bool hasNormalReciprocal(double divisor) {
    int exponent = 0;
    return std::abs(std::frexp(divisor, &exponent)) == 0.5 && std::abs(exponent) <= 100;
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

/// An elementwise operator of which slices are read, by elementwise operators alone -> one of slices, for each: all of
/// them are one kernel, which views would end.
struct SliceBeforeElementwise : TessPattern {
  using TessPattern::TessPattern;
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isElementwise(op) || op->getNumOperands() == 0 || op->getNumResults() != 1 || op->use_empty())
      return rewriter.notifyMatchFailure(op, "no elementwise operator of operands");
    TensorMeta whole = metaOf(op->getResult(0).getType());
    int64_t count = 0;
    for (Operation *reader : op->getUsers()) {
      if (viewKindOf(reader) != ViewKind::Slice || !isReadBeside(reader) || !opDefOf(reader).ints("in_bounds").empty())
        return rewriter.notifyMatchFailure(op, "a reader that is no slice for elementwise operators");
      count += metaOf(reader->getResult(0).getType()).numElements();
    }
    if (!whole.isStatic() || count > whole.numElements())
      return rewriter.notifyMatchFailure(op, "sizes that are not known, or slices that overlap");
    for (Operation *slice : llvm::make_early_inc_range(op->getUsers()))
      if (failed(moveBefore(*op, *slice, rewriter)))
        return failure();
    return success();
  }

private:
  static bool isElementwise(Operation *op) {
    const OpInfo *info = infoOf(op);
    return info && info->lowering == Lowering::Elementwise && !info->stochastic && !readsIndex(*info->scalar);
  }

  static bool isReadBeside(Operation *slice) {
    return !slice->use_empty() && llvm::all_of(slice->getUsers(), [](Operation *reader) {
      const OpInfo *info = infoOf(reader);
      return info && info->lowering == Lowering::Elementwise;
    });
  }

  static LogicalResult moveBefore(Operation &op, Operation &slice, PatternRewriter &rewriter) {
    rewriter.setInsertionPoint(&slice);
    SmallVector<Value> operands;
    for (Value operand : op.getOperands()) {
      FailureOr<Value> sliced = sliceOf(operand, op, slice, rewriter);
      if (failed(sliced))
        return failure();
      operands.push_back(*sliced);
    }
    Operation *made = rewriter.clone(op);
    rewriter.modifyOpInPlace(made, [&] {
      made->setOperands(operands);
      made->getResult(0).setType(slice.getResult(0).getType());
    });
    rewriter.replaceOp(&slice, made->getResults());
    return success();
  }

  /// The elements of an operand that are those of the slice; an axis of size 1 stays.
  static FailureOr<Value> sliceOf(Value operand, Operation &op, Operation &slice, PatternRewriter &rewriter) {
    const Shape own = metaOf(operand.getType()).shape, whole = metaOf(op.getResult(0).getType()).shape,
                part = metaOf(slice.getResult(0).getType()).shape;
    const OpDef def = opDefOf(&slice);
    const size_t front = whole.size() - own.size();
    IntList starts(own.size(), 0), stops(own.begin(), own.end()), steps(own.size(), 1);
    bool isWhole = true;
    for (size_t axis = 0; axis < own.size(); ++axis) {
      const size_t of = front + axis;
      const int64_t step = def.ints("steps").empty() ? 1 : def.ints("steps")[of];
      if (own[axis] != whole[of] || (part[of] == whole[of] && step == 1))
        continue;
      starts[axis] = def.ints("starts")[of];
      stops[axis] = def.ints("stops")[of];
      steps[axis] = step;
      isWhole = false;
    }
    if (isWhole)
      return operand;
    OpDef made = OpDef::get("slice").set("starts", starts).set("stops", stops).set("steps", steps);
    FailureOr<Operation *> result = createInferred(rewriter, slice.getLoc(), made, operand);
    return failed(result) ? FailureOr<Value>() : (*result)->getResult(0);
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
    patterns.add<DropSameCast, DropNeutralOperand, DropSameShapeView, DropImpliedBroadcast, DropEmptyBroadcast,
                 DropUnreadResults, NameKnownShape, SliceBeforeElementwise, MergeCasts, MergeReshapes, MergeTransposes,
                 MultiplyByPowerOfTwo>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace tess::compiler
