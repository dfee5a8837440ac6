//===- kernel_cast_test.cpp - conversions and narrow floats ---------------===//
//
// Every pair of element types against a model in long double and bit arithmetic.
//
//===----------------------------------------------------------------------===//
#include "tests/compiler/kernel/KernelSupport.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

namespace tess::test {

namespace {

std::vector<DType> dtypesIn(DTypeMask mask) {
  std::vector<DType> dtypes;
  for (unsigned i = 0; i < kNumDTypes; ++i)
    if (mask & maskOf(DType(i)))
      dtypes.push_back(DType(i));
  return dtypes;
}

struct FloatFormat {
  int digits, minExponent, maxExponent, mantissaBits;
};

FloatFormat formatOf(DType dtype) {
  switch (dtype) {
  case DType::Float16:
    return {11, -14, 15, 10};
  case DType::BFloat16:
    return {8, -126, 127, 7};
  case DType::Float32:
    return {24, -126, 127, 23};
  default:
    return {53, -1022, 1023, 52};
  }
}

/// Rounds once, to nearest even, with denormals and overflow; by scaling to whole numbers.
long double roundModel(long double x, FloatFormat f) {
  if (x == 0 || std::isnan(x) || std::isinf(x))
    return x;
  int exponent = std::max(ilogbl(x), f.minExponent);
  long double unit = ldexpl(1, exponent - f.digits + 1), rounded = nearbyintl(x / unit) * unit;
  return fabsl(rounded) >= ldexpl(1, f.maxExponent + 1) ? copysignl(INFINITY, x) : rounded;
}

uint64_t encode(long double x, DType dtype) {
  FloatFormat f = formatOf(dtype);
  uint64_t sign = std::signbit(x) ? uint64_t(1) << (8 * byteWidth(dtype) - 1) : 0;
  uint64_t infinity = uint64_t(f.maxExponent * 2 + 1) << f.mantissaBits;
  if (std::isnan(x))
    return sign | infinity | uint64_t(1) << (f.mantissaBits - 1);
  if (std::isinf(x))
    return sign | infinity;
  if (x == 0)
    return sign;
  int exponent = std::max(ilogbl(x), f.minExponent);
  uint64_t mantissa = uint64_t(ldexpl(fabsl(x), f.mantissaBits - exponent));
  bool normal = mantissa >> f.mantissaBits;
  return sign | (normal ? uint64_t(exponent + f.maxExponent) << f.mantissaBits : 0) |
         (mantissa & ((uint64_t(1) << f.mantissaBits) - 1));
}

long double decode(uint64_t bits, DType dtype) {
  FloatFormat f = formatOf(dtype);
  unsigned width = 8 * byteWidth(dtype);
  bool negative = bits >> (width - 1) & 1;
  uint64_t field = bits >> f.mantissaBits & uint64_t(f.maxExponent * 2 + 1);
  long double mantissa = bits & ((uint64_t(1) << f.mantissaBits) - 1), value;
  if (field == uint64_t(f.maxExponent * 2 + 1))
    value = mantissa != 0 ? NAN : INFINITY;
  else if (field == 0)
    value = ldexpl(mantissa, f.minExponent - f.mantissaBits);
  else
    value = ldexpl(mantissa + ldexpl(1, f.mantissaBits), int(field) - f.maxExponent - f.mantissaBits);
  return negative ? -value : value;
}

uint64_t readElement(const std::vector<uint8_t> &data, size_t i, DType dtype) {
  uint64_t bits = 0;
  std::memcpy(&bits, data.data() + i * byteWidth(dtype), byteWidth(dtype));
  return bits;
}

void writeElement(std::vector<uint8_t> &data, size_t i, DType dtype, uint64_t bits) {
  std::memcpy(data.data() + i * byteWidth(dtype), &bits, byteWidth(dtype));
}

long double valueOf(uint64_t bits, DType dtype) {
  if (isFloat(dtype))
    return decode(bits, dtype);
  if (isBool(dtype) || isUnsignedInt(dtype))
    return bits;
  unsigned unused = 64 - 8 * byteWidth(dtype);
  return int64_t(bits << unused) >> unused;
}

/// The bits of a whole number that int64 or uint64 holds.
uint64_t wholeOf(long double x) { return x < 0 ? uint64_t(int64_t(x)) : uint64_t(x); }

uint64_t castModel(uint64_t bits, DType from, DType to) {
  long double x = valueOf(bits, from);
  if (isBool(to))
    return x != 0;
  if (isFloat(to)) {
    // Integers reach bfloat16 through float32, as everywhere.
    if (!isFloat(from) && to == DType::BFloat16)
      x = roundModel(x, formatOf(DType::Float32));
    return encode(roundModel(x, formatOf(to)), to);
  }
  uint64_t mask = ~uint64_t(0) >> (64 - 8 * byteWidth(to));
  if (!isFloat(from))
    return wholeOf(x) & mask;
  if (std::isnan(x))
    return 0;
  unsigned width = 8 * byteWidth(to);
  bool isSigned = !isUnsignedInt(to);
  long double low = isSigned ? -ldexpl(1, width - 1) : 0, high = ldexpl(1, isSigned ? width - 1 : width) - 1;
  return wholeOf(std::min(std::max(truncl(x), low), high)) & mask;
}

std::vector<uint64_t> samples(DType dtype, size_t count) {
  Random random(unsigned(dtype) + 1);
  uint64_t mask = ~uint64_t(0) >> (64 - 8 * byteWidth(dtype));
  std::vector<uint64_t> values;
  if (isBool(dtype)) {
    for (size_t i = 0; i < count; ++i)
      values.push_back(i & 1);
    return values;
  }
  if (isFloat(dtype))
    for (double x : {0.0,
                     -0.0,
                     0.5,
                     1.5,
                     2.5,
                     -0.5,
                     -1.5,
                     127.0,
                     127.5,
                     128.0,
                     -128.0,
                     -129.0,
                     255.0,
                     255.9,
                     256.0,
                     32767.0,
                     32768.0,
                     65504.0,
                     65519.0,
                     65520.0,
                     65536.0,
                     2147483520.0,
                     2147483647.0,
                     2147483648.0,
                     -2147483648.0,
                     -2147483649.0,
                     9.2233715e18,
                     9.2233720368547758e18,
                     4294967040.0,
                     4294967295.0,
                     4294967296.0,
                     1.8446742974197924e19,
                     1.8446744073709552e19,
                     -9.2233720368547758e18,
                     1e19,
                     1e30,
                     1e-8,
                     6e-8,
                     2.98e-8,
                     5.97e-8,
                     1e-40,
                     1.0 + 0x1p-11,
                     1.0 + 0x1p-11 + 0x1p-40,
                     1.0 + 0x1p-9,
                     1.0 + 0x1p-8 + 0x1p-30,
                     1.0 + 3 * 0x1p-11 - 0x1p-45,
                     3.39e38,
                     3.4e38,
                     double(INFINITY),
                     double(-INFINITY),
                     double(NAN)})
      values.push_back(encode(roundModel(x, formatOf(dtype)), dtype));
  else
    for (int64_t x : {int64_t(0), int64_t(1), int64_t(-1), int64_t(127), int64_t(128), int64_t(255), int64_t(16777217),
                      int64_t(33554435), INT64_MAX, INT64_MIN, int64_t(1) << 53 | 1, int64_t(INT32_MAX)})
      values.push_back(uint64_t(x) & mask);
  while (values.size() < count) {
    values.push_back(random.bits() & mask);
    if (isFloat(dtype))
      values.push_back(
          encode(roundModel(std::ldexp(random.uniform(-1, 1), int(random.below(80)) - 20), formatOf(dtype)), dtype));
    else
      values.push_back((random.bits() >> random.below(64)) & mask);
  }
  values.resize(count);
  return values;
}

bool sameValue(uint64_t a, uint64_t b, DType dtype) {
  return a == b || (isFloat(dtype) && std::isnan(decode(a, dtype)) && std::isnan(decode(b, dtype)));
}

/// Runs a spec of one input and one output.
std::vector<uint8_t> runOne(const KernelSpec &spec, std::vector<uint8_t> &in, size_t n, DType to,
                            const std::string &target) {
  std::vector<uint8_t> out(n * byteWidth(to));
  Kernel(spec, target).run({int64_t(n)}, {{in.data(), {1}}, {out.data(), {1}}});
  return out;
}

} // namespace

TEST_CASE("every cast rounds once, truncates, saturates or wraps") {
  constexpr size_t n = 4003;
  for (DType from : dtypesIn(kNumberMask | kBoolMask)) {
    std::vector<uint64_t> values = samples(from, n);
    std::vector<uint8_t> in(n * byteWidth(from));
    for (size_t i = 0; i < n; ++i)
      writeElement(in, i, from, values[i]);
    for (DType to : dtypesIn(kNumberMask | kBoolMask))
      for (const std::string &target : targetsHere()) {
        SpecBuilder s;
        s.output(s.apply(ScalarFn::Cast, to, {s.input(from)}, true), to);
        std::vector<uint8_t> out = runOne(s.spec, in, n, to, target);
        size_t wrong = 0, first = 0;
        for (size_t i = 0; i < n; ++i)
          if (!sameValue(readElement(out, i, to), castModel(values[i], from, to), to) && !wrong++)
            first = i;
        INFO(shortName(from).str() << " to " << shortName(to).str() << " on " << target << ": " << std::hex
                                   << values[first] << " gave " << readElement(out, first, to) << ", wanted "
                                   << castModel(values[first], from, to));
        CHECK(wrong == 0);
      }
  }
}

TEST_CASE("every float16 and bfloat16 passes through unchanged") {
  for (DType dtype : {DType::Float16, DType::BFloat16}) {
    std::vector<uint8_t> in(2 << 16);
    for (size_t i = 0; i < 1 << 16; ++i)
      writeElement(in, i, dtype, i);
    SpecBuilder s;
    s.output(s.input(dtype), dtype);
    std::vector<uint8_t> out = runOne(s.spec, in, 1 << 16, dtype, "x86-64-v3");
    size_t wrong = 0;
    for (size_t i = 0; i < 1 << 16; ++i)
      wrong += !sameValue(readElement(out, i, dtype), i, dtype);
    CHECK(wrong == 0);
  }
}

TEST_CASE("a narrow float is rounded where an operator ends") {
  // (x + y) * z in bfloat16: two roundings when the sum is an operator, one when both are its scalar body.
  constexpr size_t n = 1000;
  for (DType dtype : {DType::Float16, DType::BFloat16})
    for (bool rounds : {false, true}) {
      SpecBuilder s;
      int x = s.input(dtype), y = s.input(dtype), z = s.input(dtype);
      int sum = s.apply(ScalarFn::Add, dtype, {x, y}, rounds);
      s.output(s.apply(ScalarFn::Mul, dtype, {sum, z}, true), dtype);
      Random random(3);
      std::vector<uint8_t> data[3], out(2 * n);
      for (auto &operand : data) {
        operand.resize(2 * n);
        for (size_t i = 0; i < n; ++i)
          writeElement(operand, i, dtype, encode(roundModel(random.uniform(-2, 2), formatOf(dtype)), dtype));
      }
      Kernel(s.spec).run({n}, {{data[0].data(), {1}}, {data[1].data(), {1}}, {data[2].data(), {1}}, {out.data(), {1}}});
      size_t wrong = 0;
      for (size_t i = 0; i < n; ++i) {
        long double a = decode(readElement(data[0], i, dtype), dtype),
                    b = decode(readElement(data[1], i, dtype), dtype),
                    c = decode(readElement(data[2], i, dtype), dtype);
        long double add = float(a + b);
        if (rounds)
          add = roundModel(add, formatOf(dtype));
        wrong += readElement(out, i, dtype) != encode(roundModel(float(add * c), formatOf(dtype)), dtype);
      }
      INFO(shortName(dtype).str() << " rounds " << rounds);
      CHECK(wrong == 0);
    }
}

} // namespace tess::test
