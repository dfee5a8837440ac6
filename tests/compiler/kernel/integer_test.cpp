//===- kernel_integer_test.cpp - integer functions without traps ----------===//
#include "tests/compiler/kernel/KernelSupport.h"

#include <catch2/catch.hpp>
#include <limits>

namespace tess::test {

namespace {

// The model computes in 128 bits and wraps.
using Wide = __int128;
using Unsigned = unsigned __int128;

Wide floorDivide(Wide n, Wide d) {
  if (d == 0)
    return 0;
  Wide q = n / d;
  return n % d != 0 && (n < 0) != (d < 0) ? q - 1 : q;
}

Wide modulus(Wide n, Wide d) { return d == 0 ? 0 : n - floorDivide(n, d) * d; }

template <typename T> Wide power(T base, T exponent) {
  if (exponent < 0)
    return base == 1 ? 1 : base == T(-1) ? (exponent & 1 ? -1 : 1) : 0;
  uint64_t result = 1, square = uint64_t(base), e = uint64_t(exponent);
  for (; e; e >>= 1, square *= square)
    if (e & 1)
      result *= square;
  return T(result);
}

template <typename T> Wide model(ScalarFn fn, T a, T b) {
  constexpr int width = 8 * sizeof(T);
  using U = std::make_unsigned_t<T>;
  switch (fn) {
  case ScalarFn::Add:
    return Wide(a) + b;
  case ScalarFn::Sub:
    return Wide(a) - b;
  case ScalarFn::Mul:
    return Wide(Unsigned(a) * Unsigned(b));
  case ScalarFn::FloorDiv:
    return floorDivide(a, b);
  case ScalarFn::Mod:
    return modulus(a, b);
  case ScalarFn::Max:
    return a > b ? a : b;
  case ScalarFn::Min:
    return a < b ? a : b;
  case ScalarFn::Pow:
    return power(a, b);
  case ScalarFn::Shl:
    return U(b) < width ? Wide(a) << U(b) : 0;
  case ScalarFn::Shr:
    return a >> (U(b) < width ? U(b) : width - 1) >> (U(b) < width || std::is_signed_v<T> ? 0 : 1);
  case ScalarFn::BitAnd:
    return a & b;
  case ScalarFn::BitOr:
    return a | b;
  default:
    return a ^ b;
  }
}

const ScalarFn kBinary[] = {ScalarFn::Add,    ScalarFn::Sub,   ScalarFn::Mul,   ScalarFn::FloorDiv, ScalarFn::Mod,
                            ScalarFn::Max,    ScalarFn::Min,   ScalarFn::Pow,   ScalarFn::Shl,      ScalarFn::Shr,
                            ScalarFn::BitAnd, ScalarFn::BitOr, ScalarFn::BitXor};

template <typename T> void checkBinary(DType dtype) {
  using L = std::numeric_limits<T>;
  std::vector<T> edge = {0,     1,     2,    3, 7, 63, 64, 100, L::max(), L::min(), T(L::min() + 1), T(L::max() - 1),
                         T(-1), T(-2), T(-7)},
                 x, y;
  for (T a : edge)
    for (T b : edge) {
      x.push_back(a);
      y.push_back(b);
    }
  Random random(17);
  for (int i = 0; i < 2000; ++i) {
    x.push_back(T(random.bits() >> random.below(64)));
    y.push_back(T(random.bits() >> random.below(64)));
  }
  for (const std::string &target : targetsHere())
    for (ScalarFn fn : kBinary) {
      SpecBuilder s;
      int a = s.input(dtype), b = s.input(dtype);
      s.output(s.apply(fn, dtype, {a, b}), dtype);
      std::vector<T> out(x.size()), expected;
      for (size_t i = 0; i < x.size(); ++i)
        expected.push_back(T(model(fn, x[i], y[i])));
      Kernel(s.spec, target).run({int64_t(x.size())}, {{x.data(), {1}}, {y.data(), {1}}, {out.data(), {1}}});
      size_t wrong = 0, first = 0;
      for (size_t i = 0; i < x.size(); ++i)
        if (out[i] != expected[i] && !wrong++)
          first = i;
      INFO(infoOf(fn).name << ' ' << shortName(dtype).str() << " on " << target << ": " << int64_t(x[first]) << ", "
                           << int64_t(y[first]) << " gave " << int64_t(out[first]) << ", wanted "
                           << int64_t(expected[first]));
      CHECK(wrong == 0);
    }
}

template <typename T> void checkUnary(DType dtype) {
  using L = std::numeric_limits<T>;
  std::vector<T> x = {0, 1, 5, L::max(), L::min(), T(-1), T(-5)}, out(x.size());
  auto run = [&](ScalarFn fn) {
    SpecBuilder s;
    s.output(s.apply(fn, dtype, {s.input(dtype)}), dtype);
    Kernel(s.spec).run({int64_t(x.size())}, {{x.data(), {1}}, {out.data(), {1}}});
    return out;
  };
  std::vector<T> negated = run(ScalarFn::Neg), magnitude = run(ScalarFn::Abs), signs = run(ScalarFn::Sign),
                 squares = run(ScalarFn::Square), inverse = run(ScalarFn::BitNot), floors = run(ScalarFn::Floor);
  for (size_t i = 0; i < x.size(); ++i) {
    uint64_t word = uint64_t(x[i]);
    CHECK(negated[i] == T(0 - word));
    CHECK(magnitude[i] == (x[i] < 0 ? T(0 - word) : x[i]));
    CHECK(signs[i] == T((x[i] > 0) - (x[i] < 0)));
    CHECK(squares[i] == T(word * word));
    CHECK(inverse[i] == T(~x[i]));
    CHECK(floors[i] == x[i]);
  }
}

} // namespace

TEST_CASE("integer functions of two arguments") {
  checkBinary<int8_t>(DType::Int8);
  checkBinary<uint8_t>(DType::UInt8);
  checkBinary<int16_t>(DType::Int16);
  checkBinary<int32_t>(DType::Int32);
  checkBinary<int64_t>(DType::Int64);
  checkBinary<uint16_t>(DType::UInt16);
  checkBinary<uint32_t>(DType::UInt32);
  checkBinary<uint64_t>(DType::UInt64);
}

TEST_CASE("integer functions of one argument") {
  checkUnary<int8_t>(DType::Int8);
  checkUnary<uint8_t>(DType::UInt8);
  checkUnary<int16_t>(DType::Int16);
  checkUnary<int32_t>(DType::Int32);
  checkUnary<int64_t>(DType::Int64);
  checkUnary<uint16_t>(DType::UInt16);
  checkUnary<uint32_t>(DType::UInt32);
  checkUnary<uint64_t>(DType::UInt64);
}

/// Compares around the sign bit, as if the bits were of `dtype`.
template <typename U> static std::vector<uint8_t> lessAs(DType dtype) {
  constexpr U half = U(1) << (8 * sizeof(U) - 1);
  std::vector<U> x = {0, 1, U(half - 1), half, U(~U(0))}, y = {half, 1, half, U(half - 1), 0};
  std::vector<uint8_t> less(5);
  SpecBuilder s;
  int a = s.input(dtype), b = s.input(dtype);
  s.output(s.apply(ScalarFn::Lt, DType::Bool, {a, b}), DType::Bool);
  Kernel(s.spec).run({5}, {{x.data(), {1}}, {y.data(), {1}}, {less.data(), {1}}});
  return less;
}

TEST_CASE("comparisons know unsigned from signed") {
  const std::vector<uint8_t> ofUnsigned = {1, 0, 1, 0, 0}, ofSigned = {0, 0, 0, 1, 1};
  CHECK(lessAs<uint8_t>(DType::UInt8) == ofUnsigned);
  CHECK(lessAs<uint16_t>(DType::UInt16) == ofUnsigned);
  CHECK(lessAs<uint32_t>(DType::UInt32) == ofUnsigned);
  CHECK(lessAs<uint64_t>(DType::UInt64) == ofUnsigned);
  CHECK(lessAs<uint8_t>(DType::Int8) == ofSigned);
  CHECK(lessAs<uint16_t>(DType::Int16) == ofSigned);
  CHECK(lessAs<uint32_t>(DType::Int32) == ofSigned);
  CHECK(lessAs<uint64_t>(DType::Int64) == ofSigned);
}

TEST_CASE("a comparison with a constant takes the operand's type") {
  SpecBuilder s;
  int x = s.input(DType::Float32);
  s.output(s.apply(ScalarFn::Ge, DType::Bool, {s.constant(DType::Float64, 0.5), x}), DType::Bool);
  std::vector<float> data = {0.25f, 0.5f, 0.75f};
  std::vector<uint8_t> out(3);
  Kernel(s.spec).run({3}, {{data.data(), {1}}, {out.data(), {1}}});
  CHECK(out == std::vector<uint8_t>{1, 1, 0});
}

TEST_CASE("tests of floats") {
  std::vector<float> data = {1, NAN, INFINITY, -INFINITY, 0};
  auto run = [&](ScalarFn fn) {
    SpecBuilder s;
    s.output(s.apply(fn, DType::Bool, {s.input(DType::Float32)}), DType::Bool);
    std::vector<uint8_t> out(5);
    Kernel(s.spec).run({5}, {{data.data(), {1}}, {out.data(), {1}}});
    return out;
  };
  CHECK(run(ScalarFn::IsNan) == std::vector<uint8_t>{0, 1, 0, 0, 0});
  CHECK(run(ScalarFn::IsInf) == std::vector<uint8_t>{0, 0, 1, 1, 0});
  CHECK(run(ScalarFn::IsFinite) == std::vector<uint8_t>{1, 0, 0, 0, 1});
  CHECK(run(ScalarFn::Not) == std::vector<uint8_t>{0, 0, 0, 0, 1});
  CHECK(run(ScalarFn::SignBit) == std::vector<uint8_t>{0, 0, 0, 1, 0});
  data[1] = std::copysign(NAN, -1.0f);
  data[4] = -0.0f;
  CHECK(run(ScalarFn::SignBit) == std::vector<uint8_t>{0, 1, 0, 1, 1});
}

TEST_CASE("select takes a value of either type by a bool") {
  SpecBuilder s;
  int c = s.input(DType::Bool), a = s.input(DType::Int32), b = s.input(DType::Float32, InnerClass::Broadcast);
  s.output(s.apply(ScalarFn::Select, DType::Float32, {c, a, b}), DType::Float32);
  std::vector<uint8_t> choice = {1, 0, 1};
  std::vector<int32_t> numbers = {10, 20, 30};
  float other = 0.5f;
  std::vector<float> out(3);
  Kernel(s.spec).run({3}, {{choice.data(), {1}}, {numbers.data(), {1}}, {&other, {0}}, {out.data(), {1}}});
  CHECK(out == std::vector<float>{10, 0.5f, 30});
}

} // namespace tess::test
