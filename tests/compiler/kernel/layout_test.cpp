//===- kernel_layout_test.cpp - operands of every class and rank ----------===//
#include "compiler/kernel/KernelAnalysis.h"
#include "tests/compiler/kernel/KernelSupport.h"

#include <catch2/catch.hpp>

#include <cmath>

namespace tess::test {

namespace {

/// An operand's place in a buffer that is larger than it needs: what must not be touched shows.
struct Placed {
  std::vector<int64_t> strides;
  size_t extent;
};

Placed place(InnerClass inner, const std::vector<int64_t> &sizes) {
  std::vector<int64_t> padded = sizes;
  int64_t unit = inner == InnerClass::Strided ? 3 : 1;
  padded.back() = padded.back() * unit + 2;
  std::vector<int64_t> strides = rowMajor(padded);
  strides.back() = inner == InnerClass::Broadcast ? 0 : unit;
  int64_t extent = 1;
  for (int64_t size : padded)
    extent *= std::max<int64_t>(size, 1);
  return {strides, size_t(extent + 64)};
}

int64_t offsetOf(int64_t linear, const std::vector<int64_t> &sizes, const std::vector<int64_t> &strides) {
  int64_t offset = 0;
  for (size_t g = sizes.size(); g-- > 0;) {
    offset += linear % sizes[g] * strides[g];
    linear /= sizes[g];
  }
  return offset;
}

int64_t product(const std::vector<int64_t> &sizes) {
  int64_t n = 1;
  for (int64_t size : sizes)
    n *= size;
  return n;
}

enum class Length { Short, Long };

/// out = a - b over `sizes`, and nothing else in out. `Long`: the remainder of a whole number by 1 is added, which
/// makes one loop of main loop and tail.
template <typename T>
void checkSubtract(DType dtype, InnerClass ca, InnerClass cb, InnerClass co, const std::vector<int64_t> &sizes,
                   const std::string &target, unsigned pieces, Length length = Length::Short) {
  SpecBuilder s(sizes.size());
  int a = s.input(dtype, ca), b = s.input(dtype, cb);
  int difference = s.apply(ScalarFn::Sub, dtype, {a, b});
  if (length == Length::Long) {
    int nothing = s.apply(ScalarFn::Mod, dtype, {a, s.constant(dtype, 1)});
    difference = s.apply(ScalarFn::Add, dtype, {difference, nothing});
  }
  CHECK(hasLongBody(s.spec) == (length == Length::Long));
  s.output(difference, dtype, co);
  Placed pa = place(ca, sizes), pb = place(cb, sizes), po = place(co, sizes);
  std::vector<T> da(pa.extent), db(pb.extent), out(po.extent, T(77)), expected = out;
  for (size_t i = 0; i < da.size(); ++i)
    da[i] = T(int(i * 7 % 101));
  for (size_t i = 0; i < db.size(); ++i)
    db[i] = T(int(i * 5 % 89));
  for (int64_t i = 0; i < product(sizes); ++i)
    expected[offsetOf(i, sizes, po.strides)] =
        T(da[offsetOf(i, sizes, pa.strides)] - db[offsetOf(i, sizes, pb.strides)]);
  Kernel(s.spec, target)
      .run(sizes, {{da.data(), pa.strides}, {db.data(), pb.strides}, {out.data(), po.strides}}, {}, pieces);
  INFO("classes " << int(ca) << int(cb) << int(co) << " rank " << sizes.size() << " last " << sizes.back() << " on "
                  << target);
  CHECK(sameBits(out, expected));
}

/// out = a - b over `sizes`, where a is row-major, the elements of b have these strides, and its first is at `first`.
template <typename T>
void checkStrided(DType dtype, const std::vector<int64_t> &sizes, const std::vector<int64_t> &strides, int64_t first,
                  const std::string &target, unsigned pieces) {
  SpecBuilder s(sizes.size());
  int a = s.input(dtype), b = s.input(dtype, InnerClass::Strided);
  s.output(s.apply(ScalarFn::Sub, dtype, {a, b}), dtype);
  size_t extent = size_t(first) + 1;
  for (size_t g = 0; g < sizes.size(); ++g)
    extent += size_t(std::max<int64_t>(strides[g], 0) * (sizes[g] - 1));
  std::vector<T> da(size_t(product(sizes))), db(extent), out(da.size() + 64, T(77)), expected = out;
  for (size_t i = 0; i < da.size(); ++i)
    da[i] = T(i % 101);
  for (size_t i = 0; i < db.size(); ++i)
    db[i] = T(i * 5 % 89);
  for (int64_t i = 0; i < product(sizes); ++i)
    expected[size_t(i)] = T(da[size_t(i)] - db[size_t(first + offsetOf(i, sizes, strides))]);
  std::vector<int64_t> whole = rowMajor(sizes);
  Kernel(s.spec, target)
      .run(sizes, {{da.data(), whole}, {db.data() + first, strides}, {out.data(), whole}}, {}, pieces);
  INFO("rank " << sizes.size() << " last " << sizes.back() << " in " << pieces << " on " << target);
  CHECK(sameBits(out, expected));
}

const InnerClass kClasses[] = {InnerClass::Contiguous, InnerClass::Broadcast, InnerClass::Strided};

template <typename T>
void checkAllClasses(DType dtype, const std::vector<int64_t> &sizes, Length length = Length::Short) {
  for (const std::string &target : targetsHere())
    for (InnerClass a : kClasses)
      for (InnerClass b : kClasses)
        for (InnerClass out : {InnerClass::Contiguous, InnerClass::Strided})
          checkSubtract<T>(dtype, a, b, out, sizes, target, 1, length);
}

/// out = a - b over [2, 3, n], where b has `period` elements for each of the 3, repeated along n.
template <typename T>
void checkRepeated(DType dtype, int64_t period, int64_t n, const std::string &target, unsigned pieces, Length length) {
  SpecBuilder s(3);
  int a = s.input(dtype), b = s.input(dtype, InnerClass::Repeated);
  int difference = s.apply(ScalarFn::Sub, dtype, {a, b});
  if (length == Length::Long)
    difference = s.apply(ScalarFn::Mod, dtype, {difference, s.constant(dtype, 100)});
  CHECK(hasLongBody(s.spec) == (length == Length::Long));
  s.output(difference, dtype);
  std::vector<T> da(size_t(6 * n)), db(size_t(3 * period)), out(da.size() + 64, T(77)), expected = out;
  for (size_t i = 0; i < da.size(); ++i)
    da[i] = T(100 + i % 25);
  for (size_t i = 0; i < db.size(); ++i)
    db[i] = T(i + 1);
  for (int64_t i = 0; i < 6 * n; ++i)
    expected[size_t(i)] = T(da[size_t(i)] - db[size_t(i / n % 3 * period + i % n % period)]);
  if (length == Length::Long)
    for (size_t i = 0; i < da.size(); ++i)
      expected[i] = T(std::fmod(double(expected[i]), 100));
  Kernel(s.spec, target)
      .run({2, 3, n}, {{da.data(), {3 * n, n, 1}}, {db.data(), {0, period, period - 1}}, {out.data(), {3 * n, n, 1}}},
           {}, pieces);
  INFO("period " << period << " over " << n << " on " << target);
  CHECK(sameBits(out, expected));
}

} // namespace

TEST_CASE("a repeated operand has 1 to 16 elements in every vector") {
  for (const std::string &target : targetsHere())
    for (Length length : {Length::Short, Length::Long})
      for (int64_t period : {1, 2, 4, 8, 16})
        for (int64_t n : {1, 5, 16, 24, 49, 64}) {
          checkRepeated<float>(DType::Float32, period, n, target, 1, length);
          checkRepeated<int8_t>(DType::Int8, period, n, target, 3, length);
        }
  checkRepeated<double>(DType::Float64, 8, 392, "host", 7, Length::Short);
  checkRepeated<int16_t>(DType::Int16, 16, 784, "host", 2, Length::Short);
}

TEST_CASE("operands of every class in ranks 1 to 4") {
  for (const std::vector<int64_t> &sizes : {std::vector<int64_t>{37}, {3, 18}, {2, 3, 21}, {2, 3, 2, 33}}) {
    checkAllClasses<float>(DType::Float32, sizes);
    checkAllClasses<int8_t>(DType::Int8, sizes);
    checkAllClasses<int16_t>(DType::Int16, sizes);
    checkAllClasses<int64_t>(DType::Int64, sizes);
  }
  checkAllClasses<double>(DType::Float64, {2, 3, 2, 33});
  checkAllClasses<int32_t>(DType::Int32, {3, 18});
  checkAllClasses<uint8_t>(DType::UInt8, {3, 18});
}

TEST_CASE("a transposed operand is read in tiles") {
  for (const std::string &target : targetsHere())
    for (unsigned pieces : {1, 3, 7})
      for (int64_t rows : {15, 16, 37})
        for (int64_t columns : {15, 16, 50}) {
          checkStrided<float>(DType::Float32, {rows, columns}, {1, rows}, 0, target, pieces);
          checkStrided<int8_t>(DType::Int8, {rows, columns}, {1, rows + 3}, 0, target, pieces);
          checkStrided<double>(DType::Float64, {3, rows, columns}, {rows * columns, 1, rows}, 0, target, pieces);
          checkStrided<int16_t>(DType::Int16, {2, 2, rows, columns}, {0, rows * columns, 1, rows}, 0, target, pieces);
        }
}

TEST_CASE("the rows of an operand that lies across lie apart too") {
  for (const std::string &target : targetsHere()) {
    checkStrided<float>(DType::Float32, {20, 3, 40}, {1, 20 * 40, 20}, 0, target, 1);
    checkStrided<float>(DType::Float32, {18, 40}, {3, 60}, 0, target, 1);
    checkStrided<int32_t>(DType::Int32, {18, 40}, {-1, 18}, 17, target, 2);
  }
}

TEST_CASE("an operand is reversed or lies two elements apart") {
  for (const std::string &target : targetsHere())
    for (int64_t n = 1; n <= 40; ++n)
      for (int64_t step : {-2, -1, 2}) {
        int64_t first = step < 0 ? -step * (n - 1) : 0, row = std::abs(step) * n;
        checkStrided<float>(DType::Float32, {2, n}, {row, step}, first, target, 1);
        checkStrided<int8_t>(DType::Int8, {2, n}, {row, step}, first, target, 1);
        checkStrided<int64_t>(DType::Int64, {2, n}, {row, step}, first, target, 1);
      }
}

TEST_CASE("tails of 1 to 40 elements touch nothing beyond") {
  for (const std::string &target : targetsHere())
    for (int64_t n = 1; n <= 40; ++n) {
      checkSubtract<float>(DType::Float32, InnerClass::Contiguous, InnerClass::Contiguous, InnerClass::Contiguous,
                           {2, n}, target, 1);
      checkSubtract<int8_t>(DType::Int8, InnerClass::Contiguous, InnerClass::Strided, InnerClass::Contiguous, {n},
                            target, 1);
      checkSubtract<double>(DType::Float64, InnerClass::Strided, InnerClass::Contiguous, InnerClass::Strided, {n},
                            target, 1);
    }
}

TEST_CASE("a long body reads and writes operands of every class") {
  checkAllClasses<float>(DType::Float32, {2, 3, 21}, Length::Long);
  checkAllClasses<int8_t>(DType::Int8, {37}, Length::Long);
  checkAllClasses<int16_t>(DType::Int16, {3, 18}, Length::Long);
  checkAllClasses<double>(DType::Float64, {3, 18}, Length::Long);
}

TEST_CASE("tails of a long body touch nothing beyond") {
  for (const std::string &target : targetsHere())
    for (int64_t n = 1; n <= 40; ++n) {
      checkSubtract<float>(DType::Float32, InnerClass::Contiguous, InnerClass::Contiguous, InnerClass::Contiguous,
                           {2, n}, target, 1, Length::Long);
      checkSubtract<int8_t>(DType::Int8, InnerClass::Contiguous, InnerClass::Strided, InnerClass::Contiguous, {n},
                            target, 1, Length::Long);
    }
}

TEST_CASE("ranges in pieces give the whole") {
  for (unsigned pieces : {2u, 3u, 7u}) {
    checkSubtract<float>(DType::Float32, InnerClass::Contiguous, InnerClass::Broadcast, InnerClass::Contiguous,
                         {3, 5, 7, 20}, "host", pieces);
    checkSubtract<float>(DType::Float32, InnerClass::Contiguous, InnerClass::Strided, InnerClass::Contiguous, {1000},
                         "host", pieces);
  }
}

TEST_CASE("domains of no elements read and write nothing") {
  for (const std::vector<int64_t> &sizes : {std::vector<int64_t>{0}, {3, 0}, {0, 5}, {2, 0, 4}, {2, 3, 0}})
    for (InnerClass a : kClasses) {
      SpecBuilder s(sizes.size());
      s.output(s.apply(ScalarFn::Exp, DType::Float32, {s.input(DType::Float32, a)}), DType::Float32);
      std::vector<int64_t> strides(sizes.size(), 1);
      Kernel(s.spec).run(sizes, {{nullptr, strides}, {nullptr, strides}});
      SUCCEED();
    }
}

TEST_CASE("reductions over a domain of no elements do not read broadcast operands") {
  SpecBuilder s(1, 2, VectorAxis::Reduced);
  int a = s.input(DType::Float32, InnerClass::Broadcast, true),
      b = s.input(DType::Float32, InnerClass::Contiguous, true);
  s.output(s.reduce(ReduceKind::Sum, DType::Float32, s.apply(ScalarFn::Mul, DType::Float32, {a, b})), DType::Float32,
           InnerClass::Broadcast);
  float out[3] = {7, 7, 7};
  Kernel(s.spec).run({3, 4, 0}, {{nullptr, {0, 1, 0}}, {nullptr, {0, 0, 1}}, {out, {1, 0, 0}}});
  CHECK((out[0] == 0 && out[1] == 0 && out[2] == 0));
}

TEST_CASE("bool is a byte of 0 or 1") {
  SpecBuilder s;
  int a = s.input(DType::Float32), b = s.input(DType::Bool);
  int big = s.apply(ScalarFn::Gt, DType::Bool, {a, s.constant(DType::Float32, 10)});
  s.output(s.apply(ScalarFn::And, DType::Bool, {big, b}), DType::Bool);
  std::vector<float> x(45);
  std::vector<uint8_t> flag(45), out(50, 9), expected(50, 9);
  for (int i = 0; i < 45; ++i) {
    x[i] = float(i);
    flag[i] = uint8_t(i % 3 == 0 ? 0 : i % 3 == 1 ? 1 : 0x80); // anything but 0 is true
    expected[i] = i > 10 && i % 3 != 0;
  }
  for (const std::string &target : targetsHere()) {
    Kernel(s.spec, target).run({45}, {{x.data(), {1}}, {flag.data(), {1}}, {out.data(), {1}}});
    CHECK(out == expected);
  }
}

TEST_CASE("index leaves count in row-major order") {
  SpecBuilder s(3);
  s.output(s.apply(ScalarFn::Index, DType::Int64, {}), DType::Int64);
  for (int slot = 0; slot < 3; ++slot)
    s.output(s.dimIndex(slot), DType::Int64);
  std::vector<int64_t> sizes = {3, 4, 21};
  std::vector<std::vector<int64_t>> out(4, std::vector<int64_t>(3 * 4 * 21));
  std::vector<Bound> operands;
  for (auto &values : out)
    operands.push_back({values.data(), rowMajor(sizes)});
  Kernel(s.spec).run(sizes, operands);
  bool same = true;
  for (int64_t i = 0; i < 252; ++i)
    same &= out[0][i] == i && out[1][i] == i % 21 && out[2][i] == i / 21 % 4 && out[3][i] == i / 84;
  CHECK(same);
}

TEST_CASE("index leaves under a reduction count over parallel and reduced groups") {
  for (VectorAxis axis : {VectorAxis::Reduced, VectorAxis::Parallel}) {
    SpecBuilder s(2, 2, axis);
    int index = s.apply(ScalarFn::Index, DType::Int64, {}), inner = s.dimIndex(0), outer = s.dimIndex(3);
    int both = s.apply(ScalarFn::Add, DType::Int64, {index, s.apply(ScalarFn::Mul, DType::Int64, {inner, outer})});
    s.output(s.reduce(ReduceKind::Sum, DType::Int64, both), DType::Int64,
             axis == VectorAxis::Reduced ? InnerClass::Broadcast : InnerClass::Contiguous);
    std::vector<int64_t> out(2 * 18), expected(2 * 18, 0);
    for (int64_t p = 0; p < 36; ++p)
      for (int64_t r = 0; r < 3 * 19; ++r)
        expected[p] += p * 57 + r + (r % 19) * (p / 18);
    Kernel(s.spec).run({2, 18, 3, 19}, {{out.data(), {18, 1, 0, 0}}});
    CHECK(out == expected);
  }
}

TEST_CASE("attributes are operands of the kernel") {
  SpecBuilder s;
  int x = s.input(DType::Float32), scale = s.attr(DType::Float32), shift = s.attr(DType::Float32, true);
  s.output(s.apply(ScalarFn::Add, DType::Float32, {s.apply(ScalarFn::Mul, DType::Float32, {x, scale}), shift}),
           DType::Float32);
  Kernel kernel(s.spec);
  std::vector<float> data = {1, 2, 3}, out(3);
  for (double factor : {0.5, -3.0}) {
    uint64_t bits;
    std::memcpy(&bits, &factor, 8);
    kernel.run({3}, {{data.data(), {1}}, {out.data(), {1}}}, {bits, 5});
    CHECK(out == std::vector<float>{float(factor + 5), float(2 * factor + 5), float(3 * factor + 5)});
  }
}

} // namespace tess::test
