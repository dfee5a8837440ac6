//===- kernel_math_test.cpp - elementary functions against long double ---===//
//
// Every float function at random and edge arguments, in units of the last place
// of the exact result; the same bits on every target and in a scalar expansion.
//
//===----------------------------------------------------------------------===//
#include "tests/compiler/kernel/KernelSupport.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

namespace tess::test {

namespace {

using Ref1 = long double (*)(long double);
using Ref2 = long double (*)(long double, long double);

struct Unary {
  ScalarFn fn;
  Ref1 reference;
};

struct Binary {
  ScalarFn fn;
  Ref2 reference;
};

long double sigmoid(long double x) { return 1 / (1 + expl(-x)); }
long double rsqrt(long double x) { return 1 / sqrtl(x); }
long double square(long double x) { return x * x; }
long double negate(long double x) { return -x; }
long double sign(long double x) { return std::isnan(x) ? x : (x > 0) - (x < 0); }

long double pythonMod(long double x, long double y) {
  long double r = fmodl(x, y);
  if (r != 0 && (r < 0) != (y < 0))
    return r + y;
  return r == 0 ? copysignl(0, y) : r;
}

long double floorDiv(long double x, long double y) {
  if (y == 0 || std::isinf(x) || std::isinf(y) || std::isnan(x + y))
    return y == 0                               ? x / y
           : std::isinf(x) || std::isnan(x + y) ? x * y - x * y
                                                : ((x < 0) != (y < 0) && x != 0 ? -1 : copysignl(0, x / y));
  long double r = pythonMod(x, y);
  long double q = (x - r) / y;
  return q == 0 ? copysignl(0, x / y) : roundl(q);
}

long double logAddExp(long double a, long double b) {
  if (a == b)
    return a + logl(2);
  return fmaxl(a, b) + log1pl(expl(-fabsl(a - b))) + (std::isnan(a) || std::isnan(b) ? a + b : 0);
}

long double maxNan(long double a, long double b) { return std::isnan(a) ? a : std::isnan(b) ? b : b > a ? b : a; }
long double minNan(long double a, long double b) { return std::isnan(a) ? a : std::isnan(b) ? b : b < a ? b : a; }
long double plus(long double a, long double b) { return a + b; }
long double minus(long double a, long double b) { return a - b; }
long double times(long double a, long double b) { return a * b; }
long double over(long double a, long double b) { return a / b; }

const Unary kUnary[] = {
    {ScalarFn::Exp, expl},         {ScalarFn::Expm1, expm1l},  {ScalarFn::Log, logl},        {ScalarFn::Log1p, log1pl},
    {ScalarFn::Sin, sinl},         {ScalarFn::Cos, cosl},      {ScalarFn::Tan, tanl},        {ScalarFn::Asin, asinl},
    {ScalarFn::Acos, acosl},       {ScalarFn::Atan, atanl},    {ScalarFn::Sinh, sinhl},      {ScalarFn::Cosh, coshl},
    {ScalarFn::Tanh, tanhl},       {ScalarFn::Asinh, asinhl},  {ScalarFn::Acosh, acoshl},    {ScalarFn::Atanh, atanhl},
    {ScalarFn::Erf, erfl},         {ScalarFn::Erfc, erfcl},    {ScalarFn::Sigmoid, sigmoid}, {ScalarFn::Sqrt, sqrtl},
    {ScalarFn::Rsqrt, rsqrt},      {ScalarFn::Square, square}, {ScalarFn::Floor, floorl},    {ScalarFn::Ceil, ceill},
    {ScalarFn::Round, nearbyintl}, {ScalarFn::Trunc, truncl},  {ScalarFn::Neg, negate},      {ScalarFn::Abs, fabsl},
    {ScalarFn::Sign, sign},
};

const Binary kBinary[] = {
    {ScalarFn::Add, plus},          {ScalarFn::Sub, minus},           {ScalarFn::Mul, times},
    {ScalarFn::Div, over},          {ScalarFn::Max, maxNan},          {ScalarFn::Min, minNan},
    {ScalarFn::Pow, powl},          {ScalarFn::Atan2, atan2l},        {ScalarFn::Mod, pythonMod},
    {ScalarFn::FloorDiv, floorDiv}, {ScalarFn::LogAddExp, logAddExp},
};

template <typename T> struct Traits;
template <> struct Traits<float> {
  using Bits = uint32_t;
  static constexpr DType dtype = DType::Float32;
};
template <> struct Traits<double> {
  using Bits = uint64_t;
  static constexpr DType dtype = DType::Float64;
};

template <typename T> T fromBits(uint64_t word) {
  typename Traits<T>::Bits bits = static_cast<typename Traits<T>::Bits>(word);
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// Error in units of the last place of the exact result; `scale` is at least this magnitude.
template <typename T> double ulpError(T got, long double exact, long double scale = 0) {
  T rounded = T(exact);
  if (std::isnan(got) || std::isnan(exact))
    return std::isnan(got) && std::isnan(exact) ? 0 : 1e30;
  if (got == rounded)
    return got == 0 && exact == 0 && std::signbit(got) != std::signbit(exact) ? 1e30 : 0;
  if (std::isinf(got)) { // too early: how far was the result from overflow?
    long double end = ldexpl(1, std::numeric_limits<T>::max_exponent);
    return std::signbit(got) == std::signbit(exact)
               ? double((end - fabsl(exact)) /
                        ldexpl(1, std::numeric_limits<T>::max_exponent - std::numeric_limits<T>::digits))
               : 1e30;
  }
  long double magnitude = std::min(fmaxl(fabsl(exact), scale), (long double)std::numeric_limits<T>::max());
  int exponent = std::max(ilogbl(magnitude == 0 ? 1e-4940L : magnitude), std::numeric_limits<T>::min_exponent - 1);
  return double(fabsl(got - exact) / ldexpl(1, exponent - std::numeric_limits<T>::digits + 1));
}

template <typename T> std::vector<T> edges() {
  using L = std::numeric_limits<T>;
  std::vector<T> values = {0,
                           T(0.5),
                           1,
                           T(1.5),
                           2,
                           T(2.5),
                           3,
                           4,
                           5,
                           7,
                           10,
                           22,
                           T(88.72),
                           T(88.73),
                           89,
                           T(103.9),
                           T(104),
                           T(709.7),
                           T(709.8),
                           710,
                           745,
                           746,
                           1000,
                           T(0.84375),
                           T(1.25),
                           T(0.9277),
                           6,
                           28,
                           T(1e5),
                           T(1e6),
                           T(1e9),
                           T(1e22),
                           L::min(),
                           L::max(),
                           L::denorm_min(),
                           L::epsilon(),
                           L::infinity(),
                           L::quiet_NaN(),
                           L::min() / 4,
                           T(0.70710678),
                           T(1.41421356),
                           T(0.4375),
                           T(0.6875),
                           T(1.1875),
                           T(2.4375),
                           T(1.5707963267948966),
                           T(3.1415926535897931),
                           T(0.7853981633974483),
                           T(6.283185307179586),
                           T(8388607.5),
                           T(8388608),
                           T(16777217),
                           T(4503599627370495.5),
                           T(9007199254740993.0),
                           std::nextafter(T(1), T(0)),
                           std::nextafter(T(1), T(2)),
                           T(0x1p-12),
                           T(0.5625),
                           T(89.4),
                           T(10.2),
                           T(0x1p20),
                           T(0x1p29),
                           T(0x1p30),
                           T(0x1.8p40)};
  size_t n = values.size();
  for (size_t i = 0; i < n; ++i)
    values.push_back(-values[i]);
  return values;
}

/// Edges, any bit pattern, and numbers of usual size; a multiple of 16 and a rest.
template <typename T> std::vector<T> arguments(uint64_t seed, size_t count) {
  Random random(seed);
  std::vector<T> values = edges<T>();
  while (values.size() < count) {
    values.push_back(fromBits<T>(random.bits()));
    values.push_back(T(random.uniform(-1, 1)));
    values.push_back(T(random.uniform(-10, 10)));
    values.push_back(T(random.uniform(-800, 800)));
    values.push_back(T(std::ldexp(random.uniform(-1, 1), int(random.below(40)) - 20)));
  }
  return values;
}

template <typename T>
std::vector<T> evaluate(ScalarFn fn, const std::vector<const std::vector<T> *> &inputs, llvm::StringRef target) {
  SpecBuilder s;
  DType dtype = Traits<T>::dtype;
  int a = s.input(dtype), b = inputs.size() > 1 ? s.input(dtype) : -1;
  s.output(b < 0 ? s.apply(fn, dtype, {a}) : s.apply(fn, dtype, {a, b}), dtype);
  std::vector<T> out(inputs[0]->size());
  std::vector<Bound> operands;
  for (const std::vector<T> *input : inputs)
    operands.push_back({const_cast<T *>(input->data()), {1}});
  operands.push_back({out.data(), {1}});
  Kernel(s.spec, target).run({int64_t(out.size())}, operands);
  return out;
}

/// The bound of the function's record. Where that is half a unit, the reference's own rounding counts: it has 11 bits
/// more than a double, which tell for operators of two.
template <typename T> double boundOf(ScalarFn fn) {
  constexpr bool isSingle = std::is_same_v<T, float>;
  double bound = isSingle ? infoOf(fn).ulp32 : infoOf(fn).ulp64;
  if (bound != 0.5)
    return bound;
  return !isSingle && infoOf(fn).arity == 2 ? 0.501 : 0.5001;
}

template <typename T> void checkUnary(const Unary &f) {
  std::vector<T> x = arguments<T>(7, 60000);
  std::vector<T> first;
  for (const std::string &target : targetsHere()) {
    std::vector<T> got = evaluate<T>(f.fn, {&x}, target);
    double worst = 0;
    size_t at = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      double error = ulpError(got[i], f.reference(x[i]));
      if (error > worst) {
        worst = error;
        at = i;
      }
    }
    INFO(infoOf(f.fn).name << " on " << target << " at " << x[at] << ": got " << got[at] << ", exact "
                           << double(f.reference(x[at])));
    CHECK(worst <= boundOf<T>(f.fn));
    for (T &value : got)
      value = std::isnan(value) ? std::numeric_limits<T>::quiet_NaN() : value;
    if (!first.empty())
      CHECK(sameBits(first, got));
    first = got;
  }
}

template <typename T> void checkBinary(const Binary &f) {
  std::vector<T> edge = edges<T>(), some = arguments<T>(11, 40000), other = arguments<T>(13, 40000), x, y;
  for (T a : edge)
    for (T b : edge) {
      x.push_back(a);
      y.push_back(b);
    }
  x.insert(x.end(), some.begin(), some.end());
  y.insert(y.end(), other.rbegin(), other.rbegin() + some.size());
  std::vector<T> first;
  for (const std::string &target : targetsHere()) {
    std::vector<T> got = evaluate<T>(f.fn, {&x, &y}, target);
    double worst = 0;
    size_t at = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      // A sum of logarithms near 0 keeps the digits of the larger operand only.
      long double scale = f.fn == ScalarFn::LogAddExp ? fmaxl(fabsl(x[i]), fabsl(y[i])) : 0;
      double error = ulpError(got[i], f.reference(x[i], y[i]), std::isfinite(double(scale)) ? scale : 0);
      if (error > worst) {
        worst = error;
        at = i;
      }
    }
    INFO(infoOf(f.fn).name << " on " << target << " at " << x[at] << ", " << y[at] << ": got " << got[at] << ", exact "
                           << double(f.reference(x[at], y[at])));
    CHECK(worst <= boundOf<T>(f.fn));
    for (T &value : got)
      value = std::isnan(value) ? std::numeric_limits<T>::quiet_NaN() : value;
    if (!first.empty())
      CHECK(sameBits(first, got));
    first = got;
  }
}

} // namespace

TEST_CASE("every function of floats has a reference") {
  std::vector<ScalarFn> tested;
  for (const Unary &f : kUnary)
    tested.push_back(f.fn);
  for (const Binary &f : kBinary)
    tested.push_back(f.fn);
  llvm::sort(tested);
  CHECK(tested == floatFunctions());
}

TEST_CASE("functions of one float32 keep their bound") {
  for (const Unary &f : kUnary)
    checkUnary<float>(f);
}

TEST_CASE("functions of one float64 keep their bound") {
  for (const Unary &f : kUnary)
    checkUnary<double>(f);
}

TEST_CASE("functions of two float32 keep their bound") {
  for (const Binary &f : kBinary)
    checkBinary<float>(f);
}

TEST_CASE("functions of two float64 keep their bound") {
  for (const Binary &f : kBinary)
    checkBinary<double>(f);
}

TEST_CASE("shorter forms keep their bound and have one result") {
  const Unary shorter[] = {{ScalarFn::Sigmoid, sigmoid}, {ScalarFn::Tanh, tanhl}};
  std::vector<float> x = arguments<float>(17, 60000);
  for (uint64_t bits = 0; bits < uint64_t(1) << 32; bits += 9973) // each range alike
    x.push_back(fromBits<float>(bits));
  for (const Unary &f : shorter) {
    std::vector<float> first;
    for (const std::string &target : targetsHere()) {
      SpecBuilder s;
      int node = s.apply(f.fn, DType::Float32, {s.input(DType::Float32)});
      s.spec.nodes[node].isShort = true;
      s.output(node, DType::Float32);
      std::vector<float> got(x.size());
      Kernel(s.spec, target).run({int64_t(x.size())}, {{x.data(), {1}}, {got.data(), {1}}});
      double worst = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        long double exact = f.reference(x[i]);
        bool isTiny = f.fn == ScalarFn::Sigmoid && x[i] < -87;
        worst = std::max(worst, isTiny ? double(got[i] - exact) / 0x1p-126 : ulpError(got[i], exact));
      }
      INFO(infoOf(f.fn).name << " on " << target);
      CHECK(worst <= 2.5);
      CHECK(worst > 1.5); // the long form is nearer
      CHECK((first.empty() || llvm::equal(first, got, [](float a, float b) { return a == b || std::isnan(a + b); })));
      first = got;
    }
  }
}

TEST_CASE("what has no shorter form is not short") {
  auto refusal = [](const std::string &node, const std::string &dtype) {
    return refusalOf("kernel parallel=1 reduced=0 lanes=parallel attrs=0\no0 = input " + dtype +
                     " contiguous\no1 = output " + dtype + " contiguous\nn0 = load o0 : " + dtype + "\nn1 = " + node +
                     " n0 : " + dtype + " short\nstore n1 o1\n");
  };
  CHECK(refusal("tanh", "f16") == "");
  for (const char *dtype : {"f32", "f64"})
    CHECK(refusal(std::string(dtype) == "f32" ? "exp" : "tanh", dtype) ==
          "kernel: a node that is short must apply a function that has a shorter form, got node 1");
}

TEST_CASE("a scalar expansion gives the bits of a lane") {
  std::vector<float> x = {0.3f, -1.7f, 42, 1e7f, 3e30f, -0.0f, 1e-40f, std::numeric_limits<float>::infinity()};
  for (const Unary &f : kUnary)
    for (float value : x) {
      std::vector<float> lanes(16, value);
      std::vector<float> vector = evaluate<float>(f.fn, {&lanes}, "host");
      SpecBuilder s;
      s.output(s.apply(f.fn, DType::Float32, {s.input(DType::Float32, InnerClass::Broadcast)}), DType::Float32);
      std::vector<float> scalar(16);
      Kernel(s.spec).run({16}, {{&value, {0}}, {scalar.data(), {1}}});
      INFO(infoOf(f.fn).name << " at " << value);
      CHECK((sameBits(vector, scalar) || std::isnan(vector[0])));
    }
}

} // namespace tess::test
