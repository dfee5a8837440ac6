//===- AccumulateProducts.cpp - products added where the sum stands -------===//
//
// The gradient of a weight that several layers share is a sum of products
// x^T g, each as large as the weight. A product that only such a sum reads is
// added by the call that computes it, in the memory of the sum: it needs none
// of its own, and has the roundings that it had.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Bodies.h"
#include "compiler/transforms/Passes.h"
#include "compiler/transforms/RowProducts.h"
#include "compiler/transforms/ScalarBodies.h"
#include "ir/OpBridge.h"

namespace tess::compiler {
#define GEN_PASS_DEF_ACCUMULATEPRODUCTSPASS
#include "compiler/transforms/Passes.h.inc"

namespace {
using namespace mlir;

/// Whether a call may write into the memory of `value`: nothing else reads it, and it is no input.
bool mayBeOverwritten(Value value) {
  Operation *made = value.getDefiningOp();
  return made && value.hasOneUse() && ir::infoOf(made);
}

/// The operand of `add` that is a product to be added to the other one, which is there first; null: there is none.
Operation *addedProductOf(Operation *add) {
  if (binaryFunctionOf(add) != ScalarFn::Add)
    return nullptr;
  for (unsigned number : {1u, 0u}) {
    Operation *product = add->getOperand(number).getDefiningOp();
    Value sum = add->getOperand(1 - number);
    if (isProductOfRows(product) && mayBeOverwritten(sum) && sum.getType() == add->getOperand(number).getType() &&
        sum.getDefiningOp()->getBlock() == product->getBlock() && sum.getDefiningOp()->isBeforeInBlock(product))
      return product;
  }
  return nullptr;
}

/// Replaces the product and its addition by one operator.
LogicalResult accumulate(Operation *add, Operation *product) {
  OpBuilder builder(product);
  SmallVector<Value> values = {add->getOperand(add->getOperand(0) == product->getResult(0))};
  OpDef trip = OpDef::get("expand_dims").set("axis", llvm::ArrayRef<int64_t>{0});
  for (Value factor : product->getOperands()) {
    FailureOr<Operation *> expanded = ir::createInferred(builder, product->getLoc(), trip, factor);
    if (failed(expanded))
      return failure();
    values.push_back((*expanded)->getResult(0));
  }
  FailureOr<Operation *> sum = ir::createInferred(builder, product->getLoc(), OpDef::get("add_products"), values);
  if (failed(sum))
    return failure();
  add->getResult(0).replaceAllUsesWith((*sum)->getResult(0));
  add->erase();
  product->erase();
  return success();
}

struct AccumulateProducts : impl::AccumulateProductsPassBase<AccumulateProducts> {
  void runOnOperation() override {
    for (Block *block : bodiesOf(getOperation()))
      for (Operation &add : llvm::make_early_inc_range(*block))
        if (Operation *product = addedProductOf(&add))
          if (failed(accumulate(&add, product)))
            return signalPassFailure();
  }
};

} // namespace
} // namespace tess::compiler
