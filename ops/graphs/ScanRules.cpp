//===- ScanRules.cpp - the gradient of a scan -----------------------------===//
//
// Let h[t] = f(h[t-1], x[t]) be the results, or, of an exclusive scan, h[t-1].
// Of the gradient g[t] of h[t] a part arrives at h[t-1]: slope[t] * g[t], with
// slope = dh[t] / dh[t-1]. So g is a linear recurrence in the other direction,
// and dx[t] = g[t] * dh[t] / dx[t]. No division, so a zero is like any number.
//
//===----------------------------------------------------------------------===//
#include "ops/graphs/GradientRules.h"
#include "ops/graphs/GraphPieces.h"

#include <limits>

namespace tess::gradients {

using namespace pieces;
using Values = llvm::SmallVector<int, 4>;

namespace {

/// Writes the gradient of one call.
class ScanGradient {
public:
  ScanGradient(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v)
      : b(b), op(op), scan(*op.info().scan), operands(v.take_front(op.info().operands.size())), out(v[operands.size()]),
        dout(v[operands.size() + 1]) {}

  Values run() {
    switch (scan.fn) {
    case ScalarFn::Add:
      return operands.size() == 1 ? Values{again({dout}, isExclusive(), !isReverse())} : linear();
    case ScalarFn::Mul:
      return {mul(arriving(operands[0]), before())};
    case ScalarFn::LogAddExp:
      return logAddExp();
    default:
      return extremum();
    }
  }

private:
  bool isExclusive() const { return scan.isExclusive(op); }
  bool isReverse() const { return scan.isReverse(op); }
  int mul(int a, int c) { return call(b, "mul", {a, c}); }

  /// The same scan of other values.
  int again(llvm::ArrayRef<int> values, bool exclusive, bool reverse) {
    return call(b, op.info().name, values,
                {{"axis", op.attr(unsigned(scan.axis))}, {"exclusive", exclusive}, {"reverse", reverse}});
  }
  /// The results before the element.
  int before() { return isExclusive() ? out : again(operands, true, isReverse()); }

  /// The gradient that arrives at each result that includes the element.
  int arriving(int slope) {
    int own = isExclusive() ? dout : mul(slope, dout);
    int later = call(b, "linear_recurrence", {own, slope},
                     {{"axis", op.attr(unsigned(scan.axis))}, {"exclusive", true}, {"reverse", !isReverse()}});
    return isExclusive() ? later : call(b, "add", {dout, later});
  }

  /// h[t] = weight[t] * h[t-1] + x[t].
  Values linear() {
    int weight = operands[1], grad = arriving(weight);
    return {grad, mul(grad, before())};
  }

  /// h[t] = log(exp(h[t-1]) + exp(x[t])): the shares of both in the sum; 0 where the sum is -inf, as both are then.
  Values logAddExp() {
    int sum = isExclusive() ? again(operands, false, isReverse()) : out;
    int isNothing = call(b, "equal", {sum, constantLike(b, -std::numeric_limits<double>::infinity(), sum)});
    int divisor = call(b, "where", {isNothing, constantLike(b, 0.0, sum), sum});
    auto shareOf = [&](int value) { return call(b, "exp", {call(b, "sub", {value, divisor})}); };
    return {mul(arriving(shareOf(before())), shareOf(operands[0]))};
  }

  /// The first of equal elements has the gradient, as the first NaN has.
  Values extremum() {
    int last = before(), x = operands[0];
    int wins = call(b, scan.fn == ScalarFn::Max ? "greater" : "less", {x, last});
    int isNan = call(b, "isnan", {x}), wasNan = call(b, "isnan", {last});
    int isNew = call(b, "logical_or", {wins, call(b, "greater", {isNan, wasNan})});
    int zero = constantLike(b, 0.0, x), one = constantLike(b, 1.0, x);
    int grad = arriving(call(b, "where", {isNew, zero, one}));
    return {call(b, "where", {isNew, grad, zero})};
  }

  SubgraphBuilder &b;
  const OpDef &op;
  const ScanInfo &scan;
  llvm::ArrayRef<int> operands;
  int out, dout;
};

} // namespace

Values scanned(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v, llvm::ArrayRef<bool>) {
  return ScanGradient(b, op, v).run();
}

} // namespace tess::gradients
