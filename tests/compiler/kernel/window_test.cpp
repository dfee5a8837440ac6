//===- kernel_window_test.cpp - reductions over windows -------------------===//
//
// One result for each column, to which elements are added one by one; positions
// that have no element are left out. On every target, whole or in pieces: the
// bits of the model below.
//
//===----------------------------------------------------------------------===//
#include "runtime/device/Elements.h"
#include "tests/compiler/kernel/KernelSupport.h"

#include <catch2/catch.hpp>
#include <limits>

using namespace tess;
using namespace tess::test;
using runtime::BoundNumber;

namespace {

/// Windows over the rows and columns of some planes.
struct Windows {
  int64_t planes;
  int64_t size[2], kernel[2], stride[2], padding[2], dilation[2];

  int64_t out(int axis) const {
    return (size[axis] + 2 * padding[axis] - dilation[axis] * (kernel[axis] - 1) - 1) / stride[axis] + 1;
  }
};

const std::vector<Windows> kWindows = {
    {2, {6, 40}, {2, 2}, {2, 2}, {0, 0}, {1, 1}},   {3, {9, 7}, {3, 3}, {2, 2}, {1, 1}, {1, 1}},
    {1, {5, 70}, {3, 5}, {1, 1}, {1, 4}, {1, 1}},   {2, {11, 100}, {3, 4}, {2, 3}, {2, 3}, {2, 3}},
    {1, {1, 33}, {1, 32}, {1, 1}, {0, 31}, {1, 1}}, {2, {6, 14}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, // short rows
    {2, {5, 13}, {2, 2}, {2, 2}, {0, 0}, {1, 1}},   {1, {4, 30}, {1, 2}, {1, 3}, {0, 0}, {1, 1}},
};

KernelSpec windowKernel(ReduceKind kind, DType dtype) {
  SpecBuilder b(3, 2, VectorAxis::Parallel);
  b.spec.order = ReductionOrder::Sequential;
  int x = b.input(dtype, InnerClass::Strided, true);
  b.spec.bounds = {{1, 0}, {2, 1}};
  b.output(b.reduce(kind, dtype, x, true), dtype);
  return b.spec;
}

template <typename T> using Wide = decltype(runtime::widen(T()));

template <typename T> T modelOf(const Windows &w, ReduceKind kind, const T *plane, int64_t row, int64_t column) {
  Wide<T> result = kind == ReduceKind::Max ? -std::numeric_limits<Wide<T>>::infinity() : Wide<T>(-0.0);
  for (int64_t h = 0; h < w.kernel[0]; ++h)
    for (int64_t v = 0; v < w.kernel[1]; ++v) {
      int64_t y = row * w.stride[0] + h * w.dilation[0] - w.padding[0];
      int64_t x = column * w.stride[1] + v * w.dilation[1] - w.padding[1];
      if (y < 0 || y >= w.size[0] || x < 0 || x >= w.size[1])
        continue;
      Wide<T> value = runtime::widen(plane[y * w.size[1] + x]);
      if (kind == ReduceKind::Max)
        result = value != value || value > result ? value : result;
      else
        result += value;
    }
  return runtime::narrow<T>(result);
}

/// Calls the kernel on the rows [outer * piece / pieces, ...) of every piece.
void runPieces(const runtime::CodeImage &code, const std::vector<void *> &pointers, const std::vector<int64_t> &dims,
               int64_t outer, int64_t inner, int64_t pieces) {
  for (int64_t piece = 0; piece < pieces; ++piece)
    code.entry(0)(pointers.data(), dims.data(), nullptr, outer * piece / pieces, outer * (piece + 1) / pieces, 0,
                  inner);
}

template <typename T> void check(const Windows &w, ReduceKind kind, DType dtype) {
  KernelSpec spec = windowKernel(kind, dtype);
  int64_t rows = w.out(0), columns = w.out(1), width = w.size[1], area = w.size[0] * width;
  Random random(7);
  std::vector<T> x(w.planes * area), expected(w.planes * rows * columns);
  for (T &value : x)
    value = runtime::narrow<T>(Wide<T>(random.uniform(-2, 2)));
  x[x.size() / 2] = runtime::narrow<T>(std::numeric_limits<Wide<T>>::quiet_NaN());
  for (size_t i = 0; i < expected.size(); ++i)
    expected[i] = modelOf(w, kind, x.data() + int64_t(i) / (rows * columns) * area, int64_t(i) / columns % rows,
                          int64_t(i) % columns);
  std::vector<int64_t> dims(spec.dims().count(0));
  auto setGroups = [&](unsigned first, std::vector<int64_t> values) { llvm::copy(values, dims.begin() + first); };
  setGroups(spec.dims().size(0), {w.planes, rows, columns, w.kernel[0], w.kernel[1]});
  setGroups(spec.dims().stride(0, 0), {area, w.stride[0] * width, w.stride[1], w.dilation[0] * width, w.dilation[1]});
  setGroups(spec.dims().stride(1, 0), {rows * columns, columns, 1, 0, 0});
  for (unsigned axis : {0, 1})
    setGroups(spec.dims().bound(axis, BoundNumber::Stride),
              {w.stride[axis], w.dilation[axis], w.padding[axis], w.size[axis]});
  for (const std::string &target : targetsHere())
    for (int64_t pieces : {1, 3}) {
      Kernel kernel(spec, target);
      std::vector<T> got(expected.size());
      std::vector<void *> pointers = {x.data() - w.padding[0] * width - w.padding[1], got.data()};
      auto code = runtime::CodeImage::map(kernel.image, kernel.image.kind);
      REQUIRE(bool(code));
      if (kernel.image.kind == runtime::ImageKind::Grid)
        kernel.runGrid({pointers, dims}, w.planes * rows * columns);
      else
        runPieces(**code, pointers, dims, w.planes * rows, columns, pieces);
      auto isSame = [](T a, T b) {
        Wide<T> x = runtime::widen(a), y = runtime::widen(b);
        return (x != x && y != y) || !std::memcmp(&a, &b, sizeof(T));
      };
      CHECK(llvm::equal(got, expected, isSame));
    }
}

const std::string kRows = "kernel parallel=1 reduced=1 lanes=parallel order=sequential attrs=0\n";

} // namespace

TEST_CASE("windows have the largest element of each, in every float type") {
  for (const Windows &w : kWindows) {
    check<float>(w, ReduceKind::Max, DType::Float32);
    check<double>(w, ReduceKind::Max, DType::Float64);
    check<runtime::F16>(w, ReduceKind::Max, DType::Float16);
    check<runtime::BF16>(w, ReduceKind::Max, DType::BFloat16);
  }
}

TEST_CASE("windows are added up in the order of their elements") {
  for (const Windows &w : kWindows) {
    check<float>(w, ReduceKind::Sum, DType::Float32);
    check<double>(w, ReduceKind::Sum, DType::Float64);
    check<runtime::BF16>(w, ReduceKind::Sum, DType::BFloat16);
  }
}

TEST_CASE("a sequential kernel that has no meaning is refused") {
  const std::string bound = "bound p0 r0\n", in = "o0 = input f32 strided varies\n";
  const std::string out = "o1 = output f32 contiguous\n", sum = "n0 = load o0 : f32\nn1 = reduce sum n0 : f32\n";
  CHECK(refusalOf(kRows + bound + in + out + sum + "store n1 o1\n") == "");
  for (const char *other : {"bound p0 r1\n", "bound p1 r0\n"})
    CHECK(refusalOf(kRows + other + in + out + sum + "store n1 o1\n") ==
          "kernel: a bound must name a parallel and a reduced group that no other names, got " +
              std::string(other + 6, 5));
  CHECK(refusalOf(kRows + bound + bound + in + out + sum + "store n1 o1\n") ==
        "kernel: a bound must name a parallel and a reduced group that no other names, got p0 r0");
  CHECK(refusalOf("kernel parallel=1 reduced=1 lanes=parallel attrs=0\n" + bound + in + out + sum + "store n1 o1\n") ==
        "kernel: bounds must be of a sequential kernel, got another");
  CHECK(refusalOf(kRows + in + out + sum + "n2 = sub n0 n1 : f32\nn3 = reduce sum n2 : f32\nstore n3 o1\n") ==
        "kernel: a sequential kernel must reduce once, to values, and write rows, got another");
  CHECK(refusalOf("kernel parallel=1 reduced=1 lanes=reduced order=sequential attrs=0\n"
                  "o0 = input f32 contiguous varies\n" +
                  out + sum + "store n1 o1\n") ==
        "kernel: a sequential kernel must have lanes along a parallel group, and a reduced group, got lanes along a "
        "reduced one");
}
