//===- Reassociate.cpp - constant factors and terms, joined ---------------===//
//
// Rewrites that move bits, for programs whose numerics allow it. The result of
// each is that of its formula with at most two roundings more on every path, and
// factors lie within bounds in which no product of two overflows.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/ConstantFactors.h"
#include "compiler/transforms/Passes.h"
#include "compiler/transforms/ScalarBodies.h"
#include "ir/OpBridge.h"
#include "ir/Types.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tess::compiler {
#define GEN_PASS_DEF_REASSOCIATEPASS
#include "compiler/transforms/Passes.h.inc"

namespace {
using namespace mlir;
using namespace tess::ir;

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// The operator as its user knows it: the composite that it is a part of, if it is one's.
StringRef userName(Operation *op) {
  auto composite = op->getAttrOfType<StringAttr>(kPartOfAttr);
  return composite ? composite.getValue() : op->getName().stripDialect();
}

std::string described(Operation *op) {
  std::string line = locationText(op->getLoc());
  return (userName(op) + (line.empty() ? "" : " of " + line)).str();
}

/// An operator of one float dtype that has a constant operand.
struct WithConstant {
  Value other, constant;
};

/// The operands of `op`, an operator that is `fn`, where one is constant and the other is not; `commutes`: either may
/// be the constant, else the second.
std::optional<WithConstant> constantOperand(Operation *op, ScalarFn fn, bool commutes) {
  if (binaryFunctionOf(op) != fn || !hasWideFloat(op))
    return std::nullopt;
  Value a = op->getOperand(0), b = op->getOperand(1);
  if (isConstant(b) && !isConstant(a))
    return WithConstant{a, b};
  if (commutes && isConstant(a) && !isConstant(b))
    return WithConstant{b, a};
  return std::nullopt;
}

/// The operands of a product with a constant factor that may be joined to others.
std::optional<WithConstant> constantFactor(Operation *op) {
  std::optional<WithConstant> found = constantOperand(op, ScalarFn::Mul, /*commutes=*/true);
  std::optional<Magnitudes> factors = found ? magnitudesOf(found->constant) : std::nullopt;
  return factors && factors->areFactors() ? found : std::nullopt;
}

/// The operands of a sum or a difference with a constant term.
std::optional<WithConstant> constantTerm(Operation *op) {
  std::optional<WithConstant> found = constantOperand(op, ScalarFn::Add, /*commutes=*/true);
  if (!found)
    found = constantOperand(op, ScalarFn::Sub, /*commutes=*/false);
  std::optional<Magnitudes> terms = found ? magnitudesOf(found->constant) : std::nullopt;
  return terms && terms->areTerms() ? found : std::nullopt;
}

/// Whether `op`, which has a constant term, takes it away.
bool subtracts(Operation *op) { return binaryFunctionOf(op) == ScalarFn::Sub; }

/// Creates operators in the place of `root` and replaces it by the last one.
class Maker {
public:
  Maker(PatternRewriter &rewriter, Operation *root) : rewriter(rewriter), root(root) {}

  /// An operator that readers of remarks find where `like` is; the root without it.
  Value make(const OpDef &def, ValueRange operands, Operation *like = nullptr) {
    like = like ? like : root;
    Operation *made = *createInferred(rewriter, like->getLoc(), def, operands);
    if (Attribute composite = like->getAttr(kPartOfAttr))
      made->setAttr(kPartOfAttr, composite);
    return made->getResult(0);
  }
  Value binary(StringRef name, Value a, Value b, Operation *like = nullptr) {
    return make(OpDef::get(name), {a, b}, like);
  }
  /// `product`, with `factor` in its weight along `channels`, and `input` as its other operand.
  Value scaled(const WeightedProduct &product, Value factor, const ChannelAxes &channels, Value input) {
    Value weight = product.op->getOperand(product.weight);
    Value scale = along(factor, channels.ofWeight, typeOf(weight).getRank());
    Value operands[2] = {input, input};
    operands[product.weight] = binary("mul", weight, scale);
    Value made = make(opDefOf(product.op), operands, product.op);
    if (Attribute name = product.op->getAttr(kNameAttr))
      made.getDefiningOp()->setAttr(kNameAttr, name);
    return made;
  }
  /// Replaces the root by `value`, which gets its type and its name.
  void replace(Value value) {
    value.setType(root->getResult(0).getType());
    if (Attribute name = root->getAttr(kNameAttr))
      value.getDefiningOp()->setAttr(kNameAttr, name);
    rewriter.replaceOp(root, value);
  }

private:
  /// `constant`, which has at most one axis with more than one element, with this axis as axis `axis` of `rank`.
  Value along(Value constant, int64_t axis, int64_t rank) {
    IntList shape;
    if (int64_t size = typeOf(constant).getNumElements(); size != 1) {
      shape.assign(size_t(rank), 1);
      shape[size_t(axis)] = size;
    }
    if (llvm::equal(typeOf(constant).getShape(), shape))
      return constant;
    return make(OpDef::get("reshape").set("shape", shape), constant);
  }

  PatternRewriter &rewriter;
  Operation *root;
};

struct TessPattern : RewritePattern {
  explicit TessPattern(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
};

/// (x * w) * c -> x * (w * c) for a product with channels along which alone c varies.
struct ScaleWeight : TessPattern {
  using TessPattern::TessPattern;
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    std::optional<WithConstant> factor = constantFactor(op);
    if (!factor || !factor->other.hasOneUse() || factor->other.getType() != op->getResult(0).getType())
      return rewriter.notifyMatchFailure(op, "no constant factor of a value that nothing else reads");
    std::optional<WeightedProduct> product = weightedProduct(factor->other.getDefiningOp());
    if (!product || !variesAlong(factor->constant, product->result, typeOf(factor->other).getRank()))
      return rewriter.notifyMatchFailure(op, "no product with a constant weight that takes the factor in");
    op->emitRemark(userName(op)) << ": folded into the weight of " << described(product->op);
    Maker maker(rewriter, op);
    Value input = product->op->getOperand(1 - product->weight);
    maker.replace(maker.scaled(*product, factor->constant, product->result, input));
    return success();
  }
};

/// (x * c) * w -> x * (c * w) for a product with channels of x along which alone c varies.
struct ScaleWeightByInput : TessPattern {
  using TessPattern::TessPattern;
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    std::optional<WeightedProduct> product = weightedProduct(op);
    if (!product)
      return rewriter.notifyMatchFailure(op, "no product with a constant weight");
    Value input = op->getOperand(1 - product->weight);
    std::optional<WithConstant> factor = constantFactor(input.getDefiningOp());
    if (!factor || !input.hasOneUse() || input.getType() != factor->other.getType() ||
        !variesAlong(factor->constant, product->input, typeOf(input).getRank()))
      return rewriter.notifyMatchFailure(op, "no operand that is scaled for this product alone");
    Operation *scaling = input.getDefiningOp();
    scaling->emitRemark(userName(scaling)) << ": folded into the weight of " << described(op);
    Maker maker(rewriter, op);
    maker.replace(maker.scaled(*product, factor->constant, product->input, factor->other));
    return success();
  }
};

/// (y + b) * c -> y * c + b * c where y is a product that takes c in, perhaps behind further terms.
struct ScaleTerm : TessPattern {
  using TessPattern::TessPattern;
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    std::optional<WithConstant> factor = constantFactor(op);
    if (!factor || factor->other.getType() != op->getResult(0).getType())
      return rewriter.notifyMatchFailure(op, "no constant factor of a value of its type");
    Operation *sum = factor->other.getDefiningOp();
    std::optional<WithConstant> term = constantTerm(sum);
    if (!term || !endsInProduct(factor->other, factor->constant) || !fitTogether(term->constant, factor->constant) ||
        !(*magnitudesOf(term->constant) * *magnitudesOf(factor->constant)).areTerms())
      return rewriter.notifyMatchFailure(op, "no sum of a constant and a product that takes the factor in");
    Maker maker(rewriter, op);
    Value scaled = maker.binary("mul", term->other, factor->constant);
    Value constant = maker.binary("mul", term->constant, factor->constant);
    maker.replace(maker.binary(subtracts(sum) ? "sub" : "add", scaled, constant, sum));
    return success();
  }

private:
  /// Whether `value` is a product that takes `factor` in, with constant terms added, all of its type and read once.
  static bool endsInProduct(Value value, Value factor) {
    while (value.hasOneUse()) {
      if (std::optional<WeightedProduct> product = weightedProduct(value.getDefiningOp()))
        return variesAlong(factor, product->result, typeOf(value).getRank());
      std::optional<WithConstant> term = constantTerm(value.getDefiningOp());
      if (!term || term->other.getType() != value.getType())
        return false;
      value = term->other;
    }
    return false;
  }
};

/// (x * a) * b -> x * (a * b).
struct JoinFactors : TessPattern {
  using TessPattern::TessPattern;
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    std::optional<WithConstant> outer = constantFactor(op);
    std::optional<WithConstant> inner = outer ? constantFactor(outer->other.getDefiningOp()) : std::nullopt;
    if (!inner || !outer->other.hasOneUse() || !fitTogether(inner->constant, outer->constant) ||
        !(*magnitudesOf(inner->constant) * *magnitudesOf(outer->constant)).areFactors())
      return rewriter.notifyMatchFailure(op, "no two constant factors in a row");
    op->emitRemark(userName(op)) << ": factor joined to that of " << described(outer->other.getDefiningOp());
    Maker maker(rewriter, op);
    maker.replace(maker.binary("mul", inner->other, maker.binary("mul", inner->constant, outer->constant)));
    return success();
  }
};

/// (x + a) + b -> x + (a + b), and differences alike.
struct JoinTerms : TessPattern {
  using TessPattern::TessPattern;
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    std::optional<WithConstant> outer = constantTerm(op);
    std::optional<WithConstant> inner = outer ? constantTerm(outer->other.getDefiningOp()) : std::nullopt;
    if (!inner || !outer->other.hasOneUse() || !fitTogether(inner->constant, outer->constant))
      return rewriter.notifyMatchFailure(op, "no two constant terms in a row");
    Operation *first = outer->other.getDefiningOp();
    op->emitRemark(userName(op)) << ": term joined to that of " << described(first);
    Maker maker(rewriter, op);
    const bool hasOneSign = subtracts(op) == subtracts(first);
    Value constant = maker.binary(hasOneSign ? "add" : "sub", inner->constant, outer->constant);
    maker.replace(maker.binary(subtracts(first) ? "sub" : "add", inner->other, constant));
    return success();
  }
};

/// x / c -> x * (1 / c).
struct MultiplyByReciprocal : TessPattern {
  using TessPattern::TessPattern;
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    std::optional<WithConstant> quotient = constantOperand(op, ScalarFn::Div, /*commutes=*/false);
    std::optional<Magnitudes> divisors = quotient ? magnitudesOf(quotient->constant) : std::nullopt;
    if (!divisors || !divisors->areFactors() || divisors->hasZero)
      return rewriter.notifyMatchFailure(op, "no quotient by a constant that has a reciprocal");
    op->emitRemark(userName(op)) << ": division by a constant became a product with its reciprocal";
    Maker maker(rewriter, op);
    OpDef one = OpDef::get("full").set("shape", IntList{}).set("value", 1.0);
    one.set("dtype", dtypeOf(typeOf(quotient->constant).getElementType()));
    Value reciprocal = maker.binary("div", maker.make(one, {}), quotient->constant);
    maker.replace(maker.binary("mul", quotient->other, reciprocal));
    return success();
  }
};

struct Reassociate : impl::ReassociatePassBase<Reassociate> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ScaleWeight, ScaleWeightByInput, ScaleTerm, JoinFactors, JoinTerms, MultiplyByReciprocal>(
        &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
    getOperation().walk([](Operation *op) { op->removeAttr(kPartOfAttr); }); // equal operators are one for later passes
  }
};

} // namespace
} // namespace tess::compiler
