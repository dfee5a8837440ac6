//===- kernel_scan_test.cpp - running results along an axis ---------------===//
//
// Lanes along the row, lanes along columns and one element at a time, on every
// target, whole or in pieces, from either end: the bits of the plain loop below.
//
//===----------------------------------------------------------------------===//
#include "runtime/device/Elements.h"
#include "tests/compiler/kernel/KernelSupport.h"

#include <catch2/catch.hpp>
#include <limits>

using namespace tess;
using namespace tess::test;

namespace {

template <typename T> using Wide = decltype(runtime::widen(T()));

/// One scan; `weighted`: with a weight for each element.
struct Scan {
  ScalarFn fn;
  bool exclusive, backward, weighted = false;
};

std::vector<Scan> scansOf(std::initializer_list<ScalarFn> functions, bool weighted = false) {
  std::vector<Scan> scans;
  for (ScalarFn fn : functions)
    for (bool exclusive : {false, true})
      for (bool backward : {false, true})
        scans.push_back({fn, exclusive, backward, weighted});
  return scans;
}

/// `rows` x `length`, or, in columns, `length` x `rows`.
struct Rows {
  int64_t rows, length;
};
const Rows kRows[] = {{1, 0}, {3, 1}, {1, 16}, {5, 15}, {2, 100}, {17, 33}, {40, 3}, {4200, 2}, {130, 20}};

/// Integers wrap around.
template <typename T> T combineModel(ScalarFn fn, T before, T x) {
  using Wrapping = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;
  switch (fn) {
  case ScalarFn::Add:
    return T(Wrapping(before) + Wrapping(x));
  case ScalarFn::Mul:
    return T(Wrapping(before) * Wrapping(x));
  case ScalarFn::Max:
    return x != x || x > before ? x : before;
  default:
    return x != x || x < before ? x : before;
  }
}

template <typename T> T startModel(ScalarFn fn) {
  using L = std::numeric_limits<T>;
  if (fn == ScalarFn::Add || fn == ScalarFn::Mul)
    return fn == ScalarFn::Mul;
  if (fn == ScalarFn::Max)
    return L::has_infinity ? T(-L::infinity()) : L::lowest();
  return L::has_infinity ? L::infinity() : L::max();
}

/// The plain loop.
template <typename T> std::vector<T> model(const Scan &scan, std::vector<T> x, std::vector<T> weight) {
  using W = Wide<T>;
  std::vector<T> out(x.size());
  W before = startModel<W>(scan.fn);
  for (size_t i = 0; i < x.size(); ++i) {
    size_t t = scan.backward ? x.size() - 1 - i : i;
    W value = runtime::widen(x[t]);
    W carry = scan.weighted ? before * runtime::widen(weight[t]) : before;
    W next = i == 0 ? value : combineModel(scan.fn, carry, value);
    out[t] = runtime::narrow<T>(scan.exclusive ? before : next);
    before = next;
  }
  return out;
}

KernelSpec specOf(const Scan &scan, DType dtype, VectorAxis axis, InnerClass inner) {
  SpecBuilder b(1, 1, axis);
  b.spec.order = scan.backward ? ReductionOrder::Backward : ReductionOrder::Sequential;
  llvm::SmallVector<int16_t, 3> args = {int16_t(b.input(dtype, inner, true))};
  if (scan.weighted)
    args.push_back(int16_t(b.input(dtype, inner, true)));
  int node = b.scan(scan.fn, dtype, args, scan.exclusive, /*rounds=*/true);
  b.output(node, dtype, inner, true);
  return b.spec;
}

template <typename T> struct Data {
  std::vector<T> x, weight;
};

template <typename T> Data<T> dataOf(int64_t count) {
  using W = Wide<T>;
  Random random(7);
  Data<T> data;
  for (int64_t i = 0; i < count; ++i) {
    data.x.push_back(runtime::narrow<T>(W(random.uniform(-3, 3))));
    data.weight.push_back(runtime::narrow<T>(W(random.uniform(-1, 1))));
  }
  if (std::numeric_limits<W>::has_infinity && count > 4) { // the first weight of a row and a number beside it
    data.weight[0] = data.weight[count - 1] = runtime::narrow<T>(std::numeric_limits<W>::infinity());
    data.x[0] = runtime::narrow<T>(W(-0.0));
    data.x[count / 2] = runtime::narrow<T>(std::numeric_limits<W>::quiet_NaN());
  }
  return data;
}

template <typename T> bool isSame(T a, T b) {
  Wide<T> x = runtime::widen(a), y = runtime::widen(b);
  return (x != x && y != y) || !std::memcmp(&a, &b, sizeof(T));
}

/// `stride`: of the elements of a row; rows lie so that nothing overlaps.
template <typename T>
void check(const Scan &scan, DType dtype, const Rows &shape, VectorAxis axis, InnerClass inner, int64_t row,
           int64_t step) {
  int64_t memory = shape.rows * row + shape.length * step + 1;
  Data<T> data = dataOf<T>(memory);
  std::vector<T> expected(memory);
  for (int64_t r = 0; r < shape.rows; ++r) {
    std::vector<T> x, weight;
    for (int64_t t = 0; t < shape.length; ++t) {
      x.push_back(data.x[r * row + t * step]);
      weight.push_back(data.weight[r * row + t * step]);
    }
    std::vector<T> out = model(scan, x, weight);
    for (int64_t t = 0; t < shape.length; ++t)
      expected[r * row + t * step] = out[t];
  }
  std::vector<int64_t> strides = {row, step};
  for (const std::string &target : targetsHere())
    for (unsigned pieces : {1u, 3u}) {
      INFO(infoOf(scan.fn).name << " exclusive " << scan.exclusive << " backward " << scan.backward << " of "
                                << shape.rows << "x" << shape.length << " on " << target << " axis " << int(axis));
      std::vector<T> got(memory);
      std::vector<Bound> operands = {{data.x.data(), strides}};
      if (scan.weighted)
        operands.push_back({data.weight.data(), strides});
      operands.push_back({got.data(), strides});
      Kernel(specOf(scan, dtype, axis, inner), target).run({shape.rows, shape.length}, operands, {}, pieces);
      CHECK(llvm::equal(got, expected, isSame<T>));
    }
}

template <typename T> void checkAll(llvm::ArrayRef<Scan> scans, DType dtype) {
  for (const Scan &scan : scans)
    for (const Rows &shape : kRows) {
      check<T>(scan, dtype, shape, VectorAxis::Reduced, InnerClass::Contiguous, shape.length, 1);
      check<T>(scan, dtype, shape, VectorAxis::Parallel, InnerClass::Contiguous, 1, shape.rows);
    }
  for (VectorAxis axis : {VectorAxis::Reduced, VectorAxis::Parallel}) // every third element, every second row
    check<T>(scans.front(), dtype, {19, 21}, axis, InnerClass::Strided, 2 * 3 * 21, 3);
}

} // namespace

TEST_CASE("floats are scanned in their order, in every type") {
  auto functions = {ScalarFn::Add, ScalarFn::Mul, ScalarFn::Max, ScalarFn::Min};
  checkAll<float>(scansOf(functions), DType::Float32);
  checkAll<double>(scansOf({ScalarFn::Add}), DType::Float64);
  checkAll<runtime::F16>(scansOf({ScalarFn::Add}), DType::Float16);
  checkAll<runtime::BF16>(scansOf({ScalarFn::Add, ScalarFn::Max}), DType::BFloat16);
}

TEST_CASE("integers are scanned, and wrap around") {
  checkAll<int32_t>(scansOf({ScalarFn::Add, ScalarFn::Mul, ScalarFn::Max}), DType::Int32);
  checkAll<uint8_t>(scansOf({ScalarFn::Add, ScalarFn::Min}), DType::UInt8);
  checkAll<int64_t>(scansOf({ScalarFn::Add}), DType::Int64);
}

TEST_CASE("a weight multiplies what comes before, and that of the first element does not count") {
  checkAll<float>(scansOf({ScalarFn::Add}, /*weighted=*/true), DType::Float32);
  checkAll<runtime::F16>(scansOf({ScalarFn::Add}, /*weighted=*/true), DType::Float16);
}

TEST_CASE("logarithms of sums are those of the function, whichever way lanes go") {
  for (const Scan &scan : scansOf({ScalarFn::LogAddExp}))
    for (const Rows &shape : {Rows{3, 37}, Rows{18, 5}}) {
      std::vector<float> x = dataOf<float>(shape.rows * shape.length).x;
      std::vector<std::vector<float>> results;
      for (const std::string &target : targetsHere())
        for (VectorAxis axis : {VectorAxis::Reduced, VectorAxis::Parallel}) {
          std::vector<float> got(x.size());
          InnerClass inner = axis == VectorAxis::Reduced ? InnerClass::Contiguous : InnerClass::Strided;
          std::vector<int64_t> strides = {shape.length, 1};
          Kernel(specOf(scan, DType::Float32, axis, inner), target)
              .run({shape.rows, shape.length}, {{x.data(), strides}, {got.data(), strides}});
          results.push_back(got);
          CHECK(sameBits(results.front(), got));
        }
      if (!scan.exclusive && !scan.backward)
        CHECK(results.front()[1] == Approx(std::log(std::exp(double(x[0])) + std::exp(double(x[1])))));
    }
}

TEST_CASE("what is beside a scan is computed with it, before and after, and once for a row") {
  for (VectorAxis axis : {VectorAxis::Reduced, VectorAxis::Parallel}) {
    SpecBuilder b(1, 1, axis);
    b.spec.order = ReductionOrder::Sequential;
    bool alongRow = axis == VectorAxis::Reduced;
    int x = b.input(DType::Float32, InnerClass::Strided, true);
    int scale = b.input(DType::Float32, alongRow ? InnerClass::Broadcast : InnerClass::Contiguous);
    int sums = b.scan(ScalarFn::Add, DType::Float32, {int16_t(b.apply(ScalarFn::Mul, DType::Float32, {x, scale}))});
    int tops = b.scan(ScalarFn::Max, DType::Float32, {int16_t(sums)}, /*exclusive=*/true);
    b.output(b.apply(ScalarFn::Sub, DType::Float32, {tops, sums}), DType::Float32, InnerClass::Strided, true);
    b.output(b.apply(ScalarFn::Neg, DType::Float32, {scale}), DType::Float32,
             alongRow ? InnerClass::Broadcast : InnerClass::Contiguous);
    const int64_t rows = 19, length = 23;
    std::vector<float> data = dataOf<float>(rows * length).x, scales = dataOf<float>(rows).x;
    data[rows * length / 2] = 1;
    std::vector<float> expected(rows * length), negated(rows);
    for (int64_t r = 0; r < rows; ++r) {
      float sum = 0, top = -std::numeric_limits<float>::infinity();
      negated[r] = -scales[r];
      for (int64_t t = 0; t < length; ++t) {
        sum = t ? sum + data[r * length + t] * scales[r] : data[r * length + t] * scales[r];
        expected[r * length + t] = top - sum;
        top = combineModel(ScalarFn::Max, top, sum);
      }
    }
    for (const std::string &target : targetsHere()) {
      std::vector<float> got(rows * length), gotRows(rows);
      std::vector<int64_t> strides = {length, 1}, rowStrides = {1, 0};
      Kernel(b.spec, target)
          .run({rows, length}, {{data.data(), strides},
                                {scales.data(), rowStrides},
                                {got.data(), strides},
                                {gotRows.data(), rowStrides}});
      CHECK(llvm::equal(got, expected, isSame<float>));
      CHECK(llvm::equal(gotRows, negated, isSame<float>));
    }
  }
}

TEST_CASE("a kernel with scans that has no meaning is refused") {
  const std::string header = "kernel parallel=1 reduced=1 lanes=reduced order=sequential attrs=0\n";
  const std::string in = "o0 = input f32 contiguous varies\no1 = output f32 contiguous varies\nn0 = load o0 : f32\n";
  CHECK(refusalOf(header + in + "n1 = scan add exclusive n0 : f32\nstore n1 o1\n") == "");
  CHECK(refusalOf(header + in + "n1 = scan sub n0 : f32\nstore n1 o1\n") ==
        "kernel: a scan must be of add, mul, max, min or logaddexp, got node 1 (sub)");
  CHECK(refusalOf(header + in + "n1 = scan mul n0 n0 : f32\nstore n1 o1\n") ==
        "kernel: a scan must have one argument, or, of add, a weight besides, got node 1 (mul) with 2");
  CHECK(refusalOf(header + in + "n1 = scan add n0 : f64\nstore n1 o1\n") ==
        "kernel: a scan must have real numbers of one type, floats for logaddexp, got node 1 (add) f64");
  const std::string must = "kernel: a scan must be of a sequential or backward kernel with one reduced group, no "
                           "reduction and no bound, got ";
  CHECK(refusalOf(header + in + "n1 = scan add n0 : f32\nn2 = reduce sum n0 : f32\nstore n1 o1\n") ==
        must + "1 groups, 0 bounds, a reduction");
  CHECK(refusalOf("kernel parallel=1 reduced=1 lanes=reduced attrs=0\n" + in +
                  "n1 = scan add n0 : f32\nstore n1 o1\n") == must + "1 groups, 0 bounds, no reduction");
  CHECK(refusalOf("kernel parallel=1 reduced=1 lanes=reduced order=backward attrs=0\n" + in + "store n0 o1\n") ==
        "kernel: a kernel that goes backward must scan, got no scan");
}
