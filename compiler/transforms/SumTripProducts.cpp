//===- SumTripProducts.cpp - products that trips add, behind the loop -----===//
//
// The gradient of a weight that every trip of a loop multiplies by is carried
// from trip to trip: each adds x^T g, a product of few rows, to a sum as large
// as the weight. The loop stacks the factors instead, and one operator behind it
// adds the products in the order of the trips, with the same roundings. A
// guarded loop says too late how many trips there were.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Passes.h"
#include "compiler/transforms/RowProducts.h"
#include "compiler/transforms/ScalarBodies.h"
#include "ir/OpBridge.h"
#include "ir/Types.h"
#include "ops/graphs/Control.h"
#include "runtime/schema/KernelAbi.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tess::compiler {
#define GEN_PASS_DEF_SUMTRIPPRODUCTSPASS
#include "compiler/transforms/Passes.h.inc"

namespace {
using namespace mlir;
using ir::ScanOp;

/// A carried sum to which each trip adds a product of two matrices.
struct TripSum {
  unsigned carried; // its number among the carried values
  Operation *add, *product;
};

/// Such a product of few rows, of sizes that are known: what a loop's gradient makes of a weight.
bool isProductOfFewRows(Operation *op) {
  if (!isProductOfRows(op))
    return false;
  TensorMeta x = ir::metaOf(op->getOperand(0).getType()), y = ir::metaOf(op->getOperand(1).getType());
  if (!x.isStatic() || !y.isStatic())
    return false;
  const int64_t depth = x.shape[0], rows = x.shape[1], columns = y.shape[1];
  return depth > 0 && depth <= runtime::kContractLines && depth * (rows + columns) <= rows * columns;
}

/// Whether each trip has another value, or the loop may stack it: a constant of the loop would be stacked for nothing.
bool isOfTrip(ScanOp scan, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return !argument || int64_t(argument.getArgNumber()) >= scan.getConstants();
}

std::optional<TripSum> tripSumOf(ScanOp scan, unsigned carried) {
  Block &body = scan.getBody().front();
  Value sum = body.getArgument(unsigned(scan.getConstants()) + carried);
  Operation *add = body.getTerminator()->getOperand(carried).getDefiningOp();
  if (!add || !sum.hasOneUse() || *sum.user_begin() != add || !add->hasOneUse() ||
      binaryFunctionOf(add) != ScalarFn::Add)
    return std::nullopt;
  Operation *product = add->getOperand(add->getOperand(0) == sum).getDefiningOp();
  if (!isProductOfFewRows(product) || product->getResult(0).getType() != sum.getType() ||
      !llvm::all_of(product->getOperands(), [&](Value factor) { return isOfTrip(scan, factor); }))
    return std::nullopt;
  return TripSum{carried, add, product};
}

/// The first carried value that is such a sum.
std::optional<TripSum> findTripSum(ScanOp scan) {
  for (unsigned carried = 0; carried < scan.getCarried() && !scan.getGuarded(); ++carried)
    if (auto found = tripSumOf(scan, carried))
      return found;
  return std::nullopt;
}

/// How many trips the loop makes, as far as the program says.
int64_t tripsOf(ScanOp scan) {
  for (Value x : scan.getInputs().drop_front(scan.getConstants() + scan.getCarried()))
    if (int64_t size = ir::metaOf(x.getType()).shape[0]; size != kUnknown)
      return size;
  std::optional<int64_t> length = scan.getLength();
  return length && !sizes::isSymbolic(*length) ? *length : kUnknown;
}

/// A loop that carries a sum of products -> one that stacks the factors, and the sum behind it.
struct StackFactors : OpRewritePattern<ScanOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ScanOp scan, PatternRewriter &rewriter) const override {
    std::optional<TripSum> sum = findTripSum(scan);
    if (!sum)
      return rewriter.notifyMatchFailure(scan, "no carried value is a sum of products of few rows");
    const unsigned place = unsigned(scan.getConstants()) + sum->carried;
    Value first = scan.getInputs()[place];
    llvm::SmallVector<Value, 2> factors(sum->product->getOperands());
    ScanOp made = withoutSum(scan, *sum, rewriter);
    SmallVector<Value> values = {first};
    for (Value factor : factors)
      values.push_back(stackOf(made, factor));
    rewriter.setInsertionPointAfter(made);
    OpDef added = OpDef::get("add_products").set("reverse", made.getReverse());
    FailureOr<Operation *> total = ir::createInferred(rewriter, scan.getLoc(), added, values);
    if (failed(total))
      return failure();
    SmallVector<Value> results(made.getOuts().take_front(scan.getNumResults() - 1));
    results.insert(results.begin() + sum->carried, (*total)->getResult(0));
    rewriter.replaceOp(scan, results);
    return success();
  }

private:
  static bool isElement(ScanOp scan, Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && int64_t(argument.getArgNumber()) >= scan.getConstants() + scan.getCarried();
  }

  /// The loop that stacks the factors instead of the sum, with the body of `scan`.
  static ScanOp withoutSum(ScanOp scan, const TripSum &sum, PatternRewriter &rewriter) {
    Block &body = scan.getBody().front();
    const unsigned place = unsigned(scan.getConstants()) + sum.carried;
    SmallVector<Value> inputs(scan.getInputs()), yields(body.getTerminator()->getOperands());
    SmallVector<Type> types(scan.getResultTypes());
    inputs.erase(inputs.begin() + place);
    types.erase(types.begin() + sum.carried);
    yields.erase(yields.begin() + sum.carried);
    for (Value factor : sum.product->getOperands()) {
      if (isElement(scan, factor) || llvm::is_contained(stackedBy(scan, yields), factor))
        continue;
      yields.push_back(factor);
      types.push_back(ir::typeOf(scan.getContext(), control::stacked(ir::metaOf(factor.getType()), tripsOf(scan))));
    }
    auto made = ScanOp::create(rewriter, scan.getLoc(), types, inputs, scan->getAttrs());
    auto type = IntegerType::get(scan.getContext(), 64, IntegerType::Signed);
    made.setCarriedAttr(IntegerAttr::get(type, scan.getCarried() - 1));
    rewriter.inlineRegionBefore(scan.getBody(), made.getBody(), made.getBody().end());
    rewriter.modifyOpInPlace(body.getTerminator(), [&] { body.getTerminator()->setOperands(yields); });
    rewriter.eraseOp(sum.add);
    rewriter.eraseOp(sum.product);
    body.eraseArgument(place);
    return made;
  }

  /// Values that a trip yields for stacks, of a loop that has got one carried value less than `scan`.
  static llvm::ArrayRef<Value> stackedBy(ScanOp scan, llvm::ArrayRef<Value> yields) {
    return yields.drop_front(scan.getCarried() - 1);
  }

  /// The values of all trips of a factor.
  static Value stackOf(ScanOp made, Value factor) {
    if (isElement(made, factor))
      return made.getInputs()[cast<BlockArgument>(factor).getArgNumber()];
    auto yields = made.getBody().front().getTerminator()->getOperands().drop_front(made.getCarried());
    return made.getOuts()[made.getCarried() + (llvm::find(yields, factor) - yields.begin())];
  }
};

struct SumTripProducts : impl::SumTripProductsPassBase<SumTripProducts> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<StackFactors>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace tess::compiler
