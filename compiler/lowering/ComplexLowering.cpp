//===- ComplexLowering.cpp - complex functions as real nodes --------------===//
#include "compiler/lowering/ComplexLowering.h"

#include <limits>

namespace tess::compiler {

namespace {

/// The nodes of a complex number's parts.
struct Parts {
  int16_t re, im;
};

/// Formulas over parts, which are floats of one dtype.
class PartArithmetic {
public:
  PartArithmetic(NodeBuilder &nodes, DType part) : nodes(nodes), part(part) {}

  Parts partsOf(int16_t node) {
    int16_t re = nodes.real(node), im = nodes.imag(node);
    return {re, im};
  }

  Parts eachPart(ScalarFn fn, Parts x) {
    int16_t re = f(fn, {x.re}), im = f(fn, {x.im});
    return {re, im};
  }

  Parts eachPart(ScalarFn fn, Parts x, Parts y) {
    int16_t re = f(fn, {x.re, y.re}), im = f(fn, {x.im, y.im});
    return {re, im};
  }

  Parts mul(Parts x, Parts y) {
    int16_t rr = times(x.re, y.re), ii = times(x.im, y.im), ri = times(x.re, y.im), ir = times(x.im, y.re);
    int16_t re = f(ScalarFn::Sub, {rr, ii}), im = f(ScalarFn::Add, {ri, ir});
    return {re, im};
  }

  /// x conj(y) / |y|^2, of numbers that are divided by the larger part of y.
  Parts div(Parts x, Parts y) {
    Parts size = eachPart(ScalarFn::Abs, y);
    int16_t scale = over(nodes.constant(1, part), f(ScalarFn::Max, {size.re, size.im}));
    Parts above = scaled(x, scale), below = scaled(y, scale);
    int16_t rr = times(below.re, below.re), ii = times(below.im, below.im), square = f(ScalarFn::Add, {rr, ii});
    Parts top = mul(above, {below.re, f(ScalarFn::Neg, {below.im})});
    int16_t re = over(top.re, square), im = over(top.im, square);
    return {re, im};
  }

  /// The larger part times sqrt(1 + r^2), r the smaller by the larger one.
  int16_t abs(Parts x) {
    Parts size = eachPart(ScalarFn::Abs, x);
    int16_t large = f(ScalarFn::Max, {size.re, size.im}), small = f(ScalarFn::Min, {size.re, size.im});
    int16_t ratio = over(small, large), square = times(ratio, ratio);
    int16_t root = f(ScalarFn::Sqrt, {f(ScalarFn::Add, {square, nodes.constant(1, part)})});
    int16_t length = times(large, root);
    // 0 / 0 and inf / inf say nothing: the larger part is the length.
    int16_t isZero = test(ScalarFn::Eq, {large, nodes.constant(0, part)}), isInf = test(ScalarFn::IsInf, {large});
    int16_t isPlain = nodes.apply(ScalarFn::Or, DType::Bool, {isZero, isInf});
    return nodes.apply(ScalarFn::Select, part, {isPlain, large, length});
  }

  Parts exp(Parts x) {
    int16_t length = f(ScalarFn::Exp, {x.re}), cos = f(ScalarFn::Cos, {x.im}), sin = f(ScalarFn::Sin, {x.im});
    int16_t re = times(length, cos), im = times(length, sin);
    return {re, im};
  }

  /// (log |x|, angle).
  Parts log(Parts x) {
    int16_t length = logOfLength(x), angle = f(ScalarFn::Atan2, {x.im, x.re});
    return {length, angle};
  }

  /// exp(y log(x)). Where y is 0 it is 1; else a power of 0 is 0, or NaN unless the real part of y is positive.
  Parts pow(Parts x, Parts y) {
    int16_t zero = nodes.constant(0, part), one = nodes.constant(1, part), nan = nodes.constant(kNan, part);
    Parts plain = exp(mul(y, log(x)));
    int16_t isZero = testParts(ScalarFn::Eq, {x, {zero, zero}}, true);
    int16_t ofZero = chosen(test(ScalarFn::Gt, {y.re, zero}), zero, nan);
    int16_t isOne = testParts(ScalarFn::Eq, {y, {zero, zero}}, true);
    int16_t re = chosen(isOne, one, chosen(isZero, ofZero, plain.re));
    int16_t im = chosen(isOne, zero, chosen(isZero, ofZero, plain.im));
    return {re, im};
  }

  int16_t test(ScalarFn fn, llvm::ArrayRef<int16_t> args) { return nodes.apply(fn, DType::Bool, args); }

  /// A question about both parts: whether it is true of each, or of any.
  int16_t testParts(ScalarFn fn, llvm::ArrayRef<Parts> args, bool ofEach) {
    llvm::SmallVector<int16_t, 2> re, im;
    for (Parts arg : args) {
      re.push_back(arg.re);
      im.push_back(arg.im);
    }
    int16_t ofReal = test(fn, re), ofImag = test(fn, im);
    return nodes.apply(ofEach ? ScalarFn::And : ScalarFn::Or, DType::Bool, {ofReal, ofImag});
  }

private:
  static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

  /// log |x|. Near 1 the logarithm of |x|^2 = 1 + (large - 1) (large + 1) + small^2 keeps the digits.
  int16_t logOfLength(Parts x) {
    int16_t one = nodes.constant(1, part), half = nodes.constant(0.5, part), two = nodes.constant(2, part);
    Parts size = eachPart(ScalarFn::Abs, x);
    int16_t large = f(ScalarFn::Max, {size.re, size.im}), small = f(ScalarFn::Min, {size.re, size.im});
    int16_t less = f(ScalarFn::Sub, {large, one}), more = f(ScalarFn::Add, {large, one});
    int16_t above = times(less, more), square = times(small, small);
    int16_t near = times(half, f(ScalarFn::Log1p, {f(ScalarFn::Add, {above, square})}));
    int16_t isAbove = test(ScalarFn::Gt, {large, half}), isBelow = test(ScalarFn::Lt, {large, two});
    int16_t isNear = nodes.apply(ScalarFn::And, DType::Bool, {isAbove, isBelow});
    return chosen(isNear, near, f(ScalarFn::Log, {abs(x)}));
  }

  int16_t chosen(int16_t condition, int16_t a, int16_t b) {
    return nodes.apply(ScalarFn::Select, part, {condition, a, b});
  }

  Parts scaled(Parts x, int16_t scale) {
    int16_t re = times(x.re, scale), im = times(x.im, scale);
    return {re, im};
  }

  int16_t f(ScalarFn fn, llvm::ArrayRef<int16_t> args) { return nodes.apply(fn, part, args); }
  int16_t times(int16_t a, int16_t b) { return f(ScalarFn::Mul, {a, b}); }
  int16_t over(int16_t a, int16_t b) { return f(ScalarFn::Div, {a, b}); }

  NodeBuilder &nodes;
  DType part;
};

} // namespace

int16_t applyComplex(NodeBuilder &nodes, ScalarFn fn, llvm::ArrayRef<int16_t> args) {
  PartArithmetic parts(nodes, partOf(nodes.dtypeOf(args[0])));
  Parts x = parts.partsOf(args[0]), y = args.size() > 1 ? parts.partsOf(args[1]) : Parts{-1, -1};
  auto joined = [&](Parts result) { return nodes.join(result.re, result.im); };
  switch (fn) {
  case ScalarFn::Add:
  case ScalarFn::Sub:
    return joined(parts.eachPart(fn, x, y));
  case ScalarFn::Neg:
    return joined(parts.eachPart(fn, x));
  case ScalarFn::Mul:
    return joined(parts.mul(x, y));
  case ScalarFn::Square:
    return joined(parts.mul(x, x));
  case ScalarFn::Div:
    return joined(parts.div(x, y));
  case ScalarFn::Exp:
    return joined(parts.exp(x));
  case ScalarFn::Log:
    return joined(parts.log(x));
  case ScalarFn::Pow:
    return joined(parts.pow(x, y));
  case ScalarFn::Abs:
    return parts.abs(x);
  case ScalarFn::Eq:
  case ScalarFn::Ne:
    return parts.testParts(fn, {x, y}, fn == ScalarFn::Eq);
  default:
    llvm_unreachable("a record must give complex operands to functions that have them");
  }
}

} // namespace tess::compiler
