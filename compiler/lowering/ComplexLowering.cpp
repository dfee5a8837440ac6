//===- ComplexLowering.cpp - complex functions as real nodes --------------===//
#include "compiler/lowering/ComplexLowering.h"

#include <cmath>
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
    int16_t large = f(ScalarFn::Max, {size.re, size.im});
    int16_t scale = over(number(1), large);
    Parts above = scaled(x, scale), below = scaled(y, scale);
    int16_t rr = times(below.re, below.re), ii = times(below.im, below.im), square = f(ScalarFn::Add, {rr, ii});
    Parts top = mul(above, {below.re, f(ScalarFn::Neg, {below.im})});
    int16_t re = over(top.re, square), im = over(top.im, square);
    return endQuotient({re, im}, x, y, large);
  }

  /// The larger part times sqrt(1 + r^2), r the smaller by the larger one; infinite where a part is.
  int16_t abs(Parts x) {
    Parts size = eachPart(ScalarFn::Abs, x);
    int16_t large = f(ScalarFn::Max, {size.re, size.im}), small = f(ScalarFn::Min, {size.re, size.im});
    int16_t ratio = over(small, large), square = times(ratio, ratio);
    int16_t root = f(ScalarFn::Sqrt, {f(ScalarFn::Add, {square, number(1)})});
    int16_t length = times(large, root);
    // 0 / 0 says nothing: the larger part is the length.
    int16_t isZero = test(ScalarFn::Eq, {large, number(0)});
    int16_t isInf = testParts(ScalarFn::IsInf, {x}, false);
    return chosen(isInf, number(kInf), chosen(isZero, large, length));
  }

  /// e^re (cos im, sin im), with the special values of C11, Annex G.6.3.1. Where e^re is too large alone, a factor of
  /// it is multiplied last.
  Parts exp(Parts x) {
    double most = part == DType::Float64 ? 709 : 88, rest = part == DType::Float64 ? 640 : 64;
    int16_t isLarge = test(ScalarFn::Gt, {x.re, number(most)});
    int16_t less = f(ScalarFn::Sub, {x.re, number(rest)});
    int16_t length = f(ScalarFn::Exp, {chosen(isLarge, less, x.re)});
    int16_t after = chosen(isLarge, number(std::exp(rest)), number(1));
    int16_t cos = times(length, f(ScalarFn::Cos, {x.im})), sin = times(length, f(ScalarFn::Sin, {x.im}));
    int16_t re = times(cos, after), im = times(sin, after);
    im = chosen(test(ScalarFn::Eq, {x.im, number(0)}), x.im, im);
    int16_t isOdd = invert(test(ScalarFn::IsFinite, {x.im}));
    int16_t isInf = both(isOdd, test(ScalarFn::Eq, {x.re, number(kInf)}));
    int16_t isZero = both(isOdd, test(ScalarFn::Eq, {x.re, number(-kInf)}));
    re = chosen(isInf, number(kInf), chosen(isZero, number(0), re));
    return {re, chosen(isZero, number(0), im)};
  }

  /// (log |x|, angle).
  Parts log(Parts x) {
    int16_t length = logOfLength(x), angle = f(ScalarFn::Atan2, {x.im, x.re});
    return {length, angle};
  }

  /// Products of x where y is a whole number, else exp(y log(x)). Where y is 0 it is 1; else a power of 0 is 0, or NaN
  /// unless the real part of y is positive.
  Parts pow(Parts x, Parts y) {
    Parts zero = {number(0), number(0)};
    Parts logarithm = log(x), ofProduct = exp(mul(y, logarithm)), products = wholePower(x, y.re);
    Parts plain = chosenParts(isSmallWhole(y), products, ofProduct);
    int16_t isZero = testParts(ScalarFn::Eq, {x, zero}, true);
    int16_t ofZero = chosen(test(ScalarFn::Gt, {y.re, zero.re}), zero.re, number(kNan));
    int16_t isOne = testParts(ScalarFn::Eq, {y, zero}, true);
    Parts other = chosenParts(isZero, {ofZero, ofZero}, plain);
    return chosenParts(isOne, {number(1), zero.re}, other);
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
  static constexpr double kInf = std::numeric_limits<double>::infinity();
  /// Whole exponents below 2^kExponentBits are powers by products, as Python's and NumPy's up to 100 are.
  static constexpr unsigned kExponentBits = 7;

  /// log |x|. Near 1 the logarithm of |x|^2 = 1 + (large - 1) (large + 1) + small^2 keeps the digits, and a number
  /// whose length is too large is divided by 4.
  int16_t logOfLength(Parts x) {
    int16_t one = number(1), half = number(0.5), two = number(2);
    Parts size = eachPart(ScalarFn::Abs, x);
    int16_t large = f(ScalarFn::Max, {size.re, size.im}), small = f(ScalarFn::Min, {size.re, size.im});
    int16_t less = f(ScalarFn::Sub, {large, one}), more = f(ScalarFn::Add, {large, one});
    int16_t above = times(less, more), square = times(small, small);
    int16_t near = times(half, f(ScalarFn::Log1p, {f(ScalarFn::Add, {above, square})}));
    int16_t isAbove = test(ScalarFn::Gt, {large, half}), isBelow = test(ScalarFn::Lt, {large, two});
    int16_t isFar = test(ScalarFn::Gt, {large, number(part == DType::Float64 ? 0x1p1022 : 0x1p126)});
    int16_t length = abs(scaled(size, chosen(isFar, number(0.25), one)));
    int16_t far = f(ScalarFn::Add, {f(ScalarFn::Log, {length}), chosen(isFar, number(std::log(4.0)), number(0))});
    return chosen(both(isAbove, isBelow), near, far);
  }

  /// The quotient with C11's special values (Annex G.5.1, example 2) where both parts of `plain` are NaN: infinite if y
  /// is 0 or x alone infinite, 0 if y alone is infinite. `large` is the larger part of y.
  Parts endQuotient(Parts plain, Parts x, Parts y, int16_t large) {
    int16_t isInfX = testParts(ScalarFn::IsInf, {x}, false), isInfY = testParts(ScalarFn::IsInf, {y}, false);
    int16_t isOfInf = both(isInfX, testParts(ScalarFn::IsFinite, {y}, true));
    int16_t isByInf = both(isInfY, testParts(ScalarFn::IsFinite, {x}, true));
    Parts above = chosenParts(isOfInf, eachPart(&PartArithmetic::infAsOne, x), x);
    Parts below = chosenParts(isByInf, eachPart(&PartArithmetic::infAsOne, y), y);
    Parts top = mul(above, {below.re, f(ScalarFn::Neg, {below.im})});
    int16_t isEnd = nodes.apply(ScalarFn::Or, DType::Bool, {isOfInf, isByInf});
    Parts ends = scaled(top, chosen(isOfInf, number(kInf), number(0)));
    Parts byZero = scaled(x, withSign(number(kInf), y.re));
    int16_t isByZero = test(ScalarFn::Eq, {large, number(0)}), isNan = testParts(ScalarFn::IsNan, {plain}, true);
    Parts special = chosenParts(isByZero, byZero, chosenParts(isEnd, ends, plain));
    return chosenParts(isNan, special, plain);
  }

  /// 1 for an infinite part and 0 for others, with its sign.
  int16_t infAsOne(int16_t x) { return withSign(chosen(test(ScalarFn::IsInf, {x}), number(1), number(0)), x); }

  /// Positive `size` with the sign of `x`.
  int16_t withSign(int16_t size, int16_t x) {
    int16_t isNegative = test(ScalarFn::SignBit, {x}), opposite = f(ScalarFn::Neg, {size});
    return chosen(isNegative, opposite, size);
  }

  /// Whether y is a whole number below 2^kExponentBits, without an imaginary part.
  int16_t isSmallWhole(Parts y) {
    int16_t size = f(ScalarFn::Abs, {y.re}), whole = f(ScalarFn::Floor, {y.re});
    int16_t isReal = test(ScalarFn::Eq, {y.im, number(0)}), isWhole = test(ScalarFn::Eq, {whole, y.re});
    int16_t isSmall = test(ScalarFn::Lt, {size, number(1u << kExponentBits)});
    return both(both(isReal, isWhole), isSmall);
  }

  /// x to the power of a small whole number, by squares of x for the bits of it, the lowest first.
  Parts wholePower(Parts x, int16_t exponent) {
    int16_t rest = f(ScalarFn::Abs, {exponent}), hasFactor = -1;
    Parts power = x, square = x;
    for (unsigned bit = 0; bit < kExponentBits; ++bit) {
      int16_t half = f(ScalarFn::Floor, {times(rest, number(0.5))});
      int16_t isOdd = test(ScalarFn::Ne, {f(ScalarFn::Add, {half, half}), rest});
      if (bit)
        square = mul(square, square);
      // The lowest bit that is set gives the square itself: a product with 1 loses signs of zeros.
      Parts next = bit ? chosenParts(hasFactor, mul(power, square), square) : square;
      power = chosenParts(isOdd, next, power);
      hasFactor = bit ? nodes.apply(ScalarFn::Or, DType::Bool, {hasFactor, isOdd}) : isOdd;
      rest = half;
    }
    Parts below = div({number(1), number(0)}, power);
    return chosenParts(test(ScalarFn::Lt, {exponent, number(0)}), below, power);
  }

  int16_t both(int16_t a, int16_t b) { return nodes.apply(ScalarFn::And, DType::Bool, {a, b}); }
  int16_t invert(int16_t condition) { return nodes.apply(ScalarFn::Not, DType::Bool, {condition}); }

  int16_t chosen(int16_t condition, int16_t a, int16_t b) {
    return nodes.apply(ScalarFn::Select, part, {condition, a, b});
  }

  Parts chosenParts(int16_t condition, Parts a, Parts b) {
    int16_t re = chosen(condition, a.re, b.re), im = chosen(condition, a.im, b.im);
    return {re, im};
  }

  Parts eachPart(int16_t (PartArithmetic::*function)(int16_t), Parts x) {
    int16_t re = (this->*function)(x.re), im = (this->*function)(x.im);
    return {re, im};
  }

  int16_t number(double value) { return nodes.constant(value, part); }

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
