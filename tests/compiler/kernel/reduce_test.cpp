//===- kernel_reduce_test.cpp - one result for every way to reduce --------===//
//
// Lanes along the reduced group and lanes along columns, on every target, whole
// or in pieces: the bits of the model below, which is the promise written down.
//
//===----------------------------------------------------------------------===//
#include "tests/compiler/kernel/KernelSupport.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

namespace tess::test {

namespace {

using runtime::kLanes;
using runtime::kReductionChunk;
using runtime::kSumPiece;

template <typename T> bool isNanValue(T value) { return value != value; }

template <typename T> T combineModel(ReduceKind kind, T acc, T value) {
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Mean:
    return T(acc + value);
  case ReduceKind::Prod:
    return T(acc * value);
  case ReduceKind::Max:
    return isNanValue(value) ? value : value > acc ? value : acc;
  default:
    return isNanValue(value) ? value : value < acc ? value : acc;
  }
}

template <typename T> T neutralModel(ReduceKind kind) {
  using L = std::numeric_limits<T>;
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Mean:
    return L::is_integer ? T(0) : T(-0.0);
  case ReduceKind::Prod:
    return 1;
  case ReduceKind::Max:
    return L::has_infinity ? T(-L::infinity()) : L::lowest();
  default:
    return L::has_infinity ? L::infinity() : L::max();
  }
}

/// [outer][e] in row-major order: partial result e mod 16, then the tree.
template <typename T> T foldModel(ReduceKind kind, llvm::ArrayRef<T> values, int64_t last) {
  T part[kLanes];
  std::fill(part, part + kLanes, neutralModel<T>(kind));
  for (size_t i = 0; i < values.size(); ++i) {
    T &acc = part[int64_t(i) % last % kLanes];
    acc = combineModel(kind, acc, values[i]);
  }
  for (int width = kLanes / 2; width >= 1; width /= 2)
    for (int i = 0; i < width; ++i)
      part[i] = combineModel(kind, part[i], part[i + width]);
  return part[0];
}

template <typename T> T finishModel(ReduceKind kind, T result, size_t count) {
  if (count == 0 && kind == ReduceKind::Sum)
    result = 0;
  return kind == ReduceKind::Mean ? T(result / T(count)) : result;
}

template <typename T> bool sumsFloats(ReduceKind kind) {
  return std::is_floating_point_v<T> && (kind == ReduceKind::Sum || kind == ReduceKind::Mean);
}

/// Totals of pieces and chunks: of sums of floats in float64.
template <typename T> using Total = std::conditional_t<std::is_floating_point_v<T>, double, T>;

template <typename T> Total<T> addModel(ReduceKind kind, Total<T> total, Total<T> next) {
  return sumsFloats<T>(kind) ? total + next : Total<T>(combineModel(kind, T(total), T(next)));
}

/// The values with these positions in each reduced group, in row-major order.
template <typename T>
std::vector<T> valuesOf(llvm::ArrayRef<T> values, llvm::ArrayRef<int64_t> sizes,
                        llvm::ArrayRef<std::pair<int64_t, int64_t>> box) {
  std::vector<T> found;
  for (size_t i = 0; i < values.size(); ++i) {
    size_t rest = i;
    bool isIn = true;
    for (size_t group = sizes.size(); group-- > 0; rest /= sizes[group]) {
      int64_t at = rest % sizes[group];
      isIn = isIn && at >= box[group].first && at < box[group].second;
    }
    if (isIn)
      found.push_back(values[i]);
  }
  return found;
}

/// Positions of group `group` that a piece has: as many as make 64 steps of a lane, one at least.
int64_t positionsOfPiece(llvm::ArrayRef<int64_t> sizes, size_t group) {
  if (group + 1 == sizes.size())
    return kSumPiece;
  int64_t steps = (sizes.back() + kLanes - 1) / kLanes;
  for (int64_t size : sizes.slice(group + 1).drop_back())
    steps *= size;
  return std::max<int64_t>(1, kSumPiece / kLanes / std::max<int64_t>(1, steps));
}

/// Adds the pieces of `box`, which is cut from `group` on, to `total` in row-major order.
template <typename T>
void addPieces(ReduceKind kind, llvm::ArrayRef<T> values, llvm::ArrayRef<int64_t> sizes,
               std::vector<std::pair<int64_t, int64_t>> box, size_t group, Total<T> &total) {
  if (group == sizes.size()) {
    std::vector<T> piece = valuesOf(values, sizes, box);
    total = addModel<T>(kind, total, foldModel<T>(kind, piece, box.back().second - box.back().first));
    return;
  }
  auto [first, end] = box[group];
  int64_t step = sumsFloats<T>(kind) ? positionsOfPiece(sizes, group) : std::max<int64_t>(1, sizes[group]);
  for (int64_t start = first; start < end; start += step) {
    box[group] = {start, std::min(start + step, end)};
    addPieces(kind, values, sizes, box, group + 1, total);
  }
}

template <typename T> T reduceModel(ReduceKind kind, llvm::ArrayRef<T> values, llvm::ArrayRef<int64_t> sizes) {
  std::vector<std::pair<int64_t, int64_t>> box;
  for (int64_t size : sizes)
    box.push_back({0, size});
  Total<T> total = neutralModel<T>(kind);
  addPieces(kind, values, sizes, box, 0, total);
  return finishModel(kind, T(total), values.size());
}

/// Everything, in chunks.
template <typename T> T reduceAllModel(ReduceKind kind, llvm::ArrayRef<T> values) {
  Total<T> total = neutralModel<T>(kind);
  for (llvm::ArrayRef<T> rest = values; !rest.empty();) {
    int64_t count = std::min<int64_t>(kReductionChunk, rest.size());
    Total<T> chunk = neutralModel<T>(kind);
    addPieces(kind, rest.take_front(count), {count}, {{0, count}}, 0, chunk);
    total = addModel<T>(kind, total, chunk);
    rest = rest.drop_front(count);
  }
  return finishModel(kind, T(total), values.size());
}

template <typename T> int64_t placeModel(ReduceKind kind, const std::vector<T> &values) {
  size_t best = 0;
  for (size_t i = 1; i < values.size(); ++i) {
    T a = values[i], b = values[best];
    bool better = kind == ReduceKind::ArgMax ? a > b : a < b;
    if (better || (isNanValue(a) && !isNanValue(b)))
      best = i;
  }
  return int64_t(best);
}

/// Columns x rows, reduced over rows given as groups; the memory has columns last.
struct Shape {
  int64_t columns;
  std::vector<int64_t> reduced;
  int64_t count() const {
    int64_t n = 1;
    for (int64_t size : reduced)
      n *= size;
    return n;
  }
};

template <typename T, typename R>
std::vector<R> runReduce(ReduceKind kind, DType from, DType to, const std::vector<T> &data, const Shape &shape,
                         VectorAxis axis, llvm::StringRef target, unsigned pieces) {
  unsigned groups = shape.reduced.size();
  SpecBuilder s(1, groups, axis);
  InnerClass inner = axis == VectorAxis::Parallel ? InnerClass::Contiguous : InnerClass::Strided;
  s.output(s.reduce(kind, to, s.input(from, inner, true)), to,
           axis == VectorAxis::Parallel ? InnerClass::Contiguous : InnerClass::Broadcast);
  std::vector<int64_t> sizes = {shape.columns}, in = {1}, out(1 + groups, 0);
  sizes.insert(sizes.end(), shape.reduced.begin(), shape.reduced.end());
  for (int64_t stride : rowMajor(shape.reduced))
    in.push_back(stride * shape.columns);
  out[0] = 1;
  std::vector<R> result(shape.columns);
  Kernel(s.spec, target).run(sizes, {{const_cast<T *>(data.data()), in}, {result.data(), out}}, {}, pieces);
  return result;
}

template <typename T> std::vector<T> randomData(size_t n, uint64_t seed) {
  Random random(seed);
  std::vector<T> data(n);
  for (T &value : data)
    value = T(random.uniform(-3, 3));
  return data;
}

template <typename T> std::vector<T> column(const std::vector<T> &data, const Shape &shape, int64_t c) {
  std::vector<T> values;
  for (int64_t i = 0; i < shape.count(); ++i)
    values.push_back(data[i * shape.columns + c]);
  return values;
}

const Shape kShapes[] = {{1, {1}},
                         {5, {7}},
                         {16, {16}},
                         {17, {33}},
                         {40, {100}},
                         {3, {4, 5}},
                         {19, {3, 40}},
                         {18, {2, 3, 17}},
                         {33, {2, 64}},
                         {300, {20}},
                         {1029, {2, 3}},
                         // Several pieces: of one group, of the first and of the last of two, and of three.
                         {2, {1024}},
                         {140, {1025}},
                         {17, {5000}},
                         {3, {100, 7}},
                         {18, {3, 1500}},
                         {2, {70, 3, 40}},
                         {17, {2, 5, 1100}},
                         {3, {200, 1}}};

template <typename T> void checkKind(ReduceKind kind, DType dtype) {
  for (const Shape &shape : kShapes) {
    std::vector<T> data = randomData<T>(shape.columns * shape.count(), 5), expected;
    for (int64_t c = 0; c < shape.columns; ++c)
      expected.push_back(reduceModel<T>(kind, column(data, shape, c), shape.reduced));
    for (const std::string &target : targetsHere())
      for (VectorAxis axis : {VectorAxis::Parallel, VectorAxis::Reduced})
        for (unsigned pieces : {1u, 3u}) {
          INFO("kind " << int(kind) << " columns " << shape.columns << " count " << shape.count() << " on " << target
                       << " axis " << int(axis));
          CHECK(sameBits(expected, runReduce<T, T>(kind, dtype, dtype, data, shape, axis, target, pieces)));
        }
  }
}

template <typename T, typename R>
void checkPlace(ReduceKind kind, DType from, DType to, const std::vector<T> &data, const Shape &shape) {
  std::vector<R> expected;
  for (int64_t c = 0; c < shape.columns; ++c)
    expected.push_back(R(placeModel(kind, column(data, shape, c))));
  for (const std::string &target : targetsHere())
    for (VectorAxis axis : {VectorAxis::Parallel, VectorAxis::Reduced}) {
      INFO("kind " << int(kind) << " columns " << shape.columns << " count " << shape.count() << " on " << target);
      CHECK(expected == runReduce<T, R>(kind, from, to, data, shape, axis, target, 1));
    }
}

} // namespace

TEST_CASE("float32 reductions follow the order of the promise") {
  for (ReduceKind kind : {ReduceKind::Sum, ReduceKind::Mean, ReduceKind::Prod, ReduceKind::Max, ReduceKind::Min})
    checkKind<float>(kind, DType::Float32);
}

TEST_CASE("a reduction of everything goes in chunks, alone or in parts") {
  SpecBuilder s(0, 1, VectorAxis::Reduced);
  int x = s.input(DType::Float32, InnerClass::Contiguous, true);
  int square = s.apply(ScalarFn::Mul, DType::Float32, {x, x});
  s.output(s.reduce(ReduceKind::Mean, DType::Float32, square), DType::Float32, InnerClass::Broadcast);
  s.output(s.reduce(ReduceKind::ArgMax, DType::Int64, x), DType::Int64, InnerClass::Broadcast);
  int sum = s.reduce(ReduceKind::Sum, DType::Float32, x);
  s.output(s.apply(ScalarFn::Add, DType::Float32, {sum, sum}), DType::Float32, InnerClass::Broadcast);
  s.output(square, DType::Float32, InnerClass::Contiguous, true);
  for (const std::string &target : targetsHere()) {
    Kernel kernel(s.spec, target);
    const bool isGrid = kernel.image.kind == runtime::ImageKind::Grid; // which has no scratch
    CHECK(kernel.image.entries[0].scratchBytesPerChunk == (isGrid ? 0 : 8 + 16 + 8));
    for (int64_t n : {0, 1, 15, 16, 17, 32767, 32768, 32769, 65536, 100000, 300001}) {
      std::vector<float> data = randomData<float>(n, 7), squares;
      for (float value : data)
        squares.push_back(value * value);
      float mean = reduceAllModel<float>(ReduceKind::Mean, squares);
      float total = reduceAllModel<float>(ReduceKind::Sum, data);
      for (unsigned pieces : {1u, 2u, 3u, 20u}) {
        INFO(n << " elements in " << pieces << " pieces on " << target);
        float gotMean = 0, gotSum = 0;
        int64_t place = -1;
        std::vector<float> gotSquares(n);
        kernel.run({n}, {{data.data(), {1}}, {&gotMean, {0}}, {&place, {0}}, {&gotSum, {0}}, {gotSquares.data(), {1}}},
                   {}, pieces);
        CHECK((n == 0 ? std::isnan(gotMean) : gotMean == mean));
        CHECK(gotSum == total + total);
        CHECK(place == placeModel(ReduceKind::ArgMax, data));
        CHECK(sameBits(gotSquares, squares));
      }
    }
  }
}

TEST_CASE("a reduction of everything in two passes goes in chunks") {
  SpecBuilder s(0, 1, VectorAxis::Reduced);
  int x = s.input(DType::Float32, InnerClass::Contiguous, true);
  int centred = s.apply(ScalarFn::Sub, DType::Float32, {x, s.reduce(ReduceKind::Mean, DType::Float32, x)});
  s.output(s.reduce(ReduceKind::Sum, DType::Float32, centred), DType::Float32, InnerClass::Broadcast);
  std::vector<float> data = randomData<float>(100000, 8), rest;
  float mean = reduceAllModel<float>(ReduceKind::Mean, data), got = 0;
  for (float value : data)
    rest.push_back(value - mean);
  Kernel kernel(s.spec);
  CHECK(kernel.image.entries[0].scratchBytesPerChunk == 0);
  kernel.run({100000}, {{data.data(), {1}}, {&got, {0}}});
  CHECK(got == reduceAllModel<float>(ReduceKind::Sum, rest));
}

TEST_CASE("places of equal elements are found across chunks") {
  for (ReduceKind kind : {ReduceKind::ArgMax, ReduceKind::ArgMin}) {
    SpecBuilder s(0, 1, VectorAxis::Reduced);
    s.output(s.reduce(kind, DType::Int64, s.input(DType::Float32, InnerClass::Contiguous, true)), DType::Int64,
             InnerClass::Broadcast);
    Kernel kernel(s.spec);
    std::vector<float> flat(100000, kind == ReduceKind::ArgMax ? -INFINITY : INFINITY), ties = flat, nans = flat;
    ties[40000] = ties[80000] = 1;
    nans[33000] = nans[66000] = NAN;
    for (std::vector<float> *data : {&flat, &ties, &nans})
      for (unsigned pieces : {1u, 4u}) {
        int64_t place = -1;
        kernel.run({100000}, {{data->data(), {1}}, {&place, {0}}}, {}, pieces);
        CHECK(place == placeModel(kind, *data));
      }
  }
}

TEST_CASE("float64 reductions follow the order of the promise") {
  for (ReduceKind kind : {ReduceKind::Sum, ReduceKind::Mean, ReduceKind::Max, ReduceKind::Min})
    checkKind<double>(kind, DType::Float64);
}

TEST_CASE("integer reductions keep their width") {
  for (ReduceKind kind : {ReduceKind::Sum, ReduceKind::Prod, ReduceKind::Max, ReduceKind::Min}) {
    checkKind<int8_t>(kind, DType::Int8);
    checkKind<int16_t>(kind, DType::Int16);
    checkKind<int32_t>(kind, DType::Int32);
    checkKind<int64_t>(kind, DType::Int64);
  }
  for (ReduceKind kind : {ReduceKind::Max, ReduceKind::Min}) {
    // Above 127 an unsigned comparison differs from a signed one.
    Shape shape{17, {37}};
    std::vector<uint8_t> data(17 * 37), expected;
    for (size_t i = 0; i < data.size(); ++i)
      data[i] = uint8_t(i * 97 + 11);
    for (int64_t c = 0; c < 17; ++c)
      expected.push_back(reduceModel<uint8_t>(kind, column(data, shape, c), {37}));
    for (VectorAxis axis : {VectorAxis::Parallel, VectorAxis::Reduced})
      CHECK(sameBits(expected,
                     runReduce<uint8_t, uint8_t>(kind, DType::UInt8, DType::UInt8, data, shape, axis, "host", 1)));
  }
}

TEST_CASE("a sum may be wider than its elements") {
  Shape shape{5, {300}};
  std::vector<int8_t> data = randomData<int8_t>(1500, 3);
  std::vector<uint8_t> truth(1500, 1);
  for (VectorAxis axis : {VectorAxis::Parallel, VectorAxis::Reduced}) {
    std::vector<int64_t> sums =
        runReduce<int8_t, int64_t>(ReduceKind::Sum, DType::Int8, DType::Int64, data, shape, axis, "host", 1);
    for (int64_t c = 0; c < 5; ++c) {
      int64_t expected = 0;
      for (int8_t value : column(data, shape, c))
        expected += value;
      CHECK(sums[c] == expected);
    }
    CHECK(runReduce<uint8_t, int32_t>(ReduceKind::Sum, DType::Bool, DType::Int32, truth, shape, axis, "host", 1) ==
          std::vector<int32_t>(5, 300));
  }
}

TEST_CASE("any and all are max and min of bool") {
  Shape shape{20, {21}};
  std::vector<uint8_t> data(20 * 21, 0);
  for (int64_t i = 0; i < 21; ++i)
    for (int64_t c = 0; c < 20; ++c)
      data[i * 20 + c] = c == 3 || (c == 7 && i != 20) || (c == 9 && i == 20);
  std::vector<uint8_t> any(20, 0), all(20, 0);
  any[3] = any[7] = any[9] = all[3] = 1;
  for (VectorAxis axis : {VectorAxis::Parallel, VectorAxis::Reduced}) {
    auto run = [&](ReduceKind kind) {
      return runReduce<uint8_t, uint8_t>(kind, DType::Bool, DType::Bool, data, shape, axis, "x86-64-v3", 1);
    };
    CHECK(run(ReduceKind::Max) == any);
    CHECK(run(ReduceKind::Min) == all);
  }
}

TEST_CASE("argmax and argmin take the first index") {
  for (ReduceKind kind : {ReduceKind::ArgMax, ReduceKind::ArgMin})
    for (const Shape &shape : kShapes) {
      std::vector<float> data = randomData<float>(shape.columns * shape.count(), 9);
      for (float &value : data)
        value = std::round(value); // many ties
      checkPlace<float, int64_t>(kind, DType::Float32, DType::Int64, data, shape);
      checkPlace<float, int32_t>(kind, DType::Float32, DType::Int32, data, shape);
      checkPlace<int8_t, int32_t>(kind, DType::Int8, DType::Int32, randomData<int8_t>(data.size(), 4), shape);
      checkPlace<double, int64_t>(kind, DType::Float64, DType::Int64, randomData<double>(data.size(), 4), shape);
      std::vector<float> flat(data.size(), kind == ReduceKind::ArgMax ? -INFINITY : INFINITY);
      checkPlace<float, int64_t>(kind, DType::Float32, DType::Int64, flat, shape);
    }
}

TEST_CASE("NaN wins in max, min, argmax and argmin") {
  Shape shape{3, {50}};
  std::vector<float> data = randomData<float>(150, 1);
  data[20 * 3] = data[30 * 3] = NAN;
  data[49 * 3 + 2] = NAN;
  for (VectorAxis axis : {VectorAxis::Parallel, VectorAxis::Reduced})
    for (ReduceKind kind : {ReduceKind::Max, ReduceKind::Min}) {
      std::vector<float> got =
          runReduce<float, float>(kind, DType::Float32, DType::Float32, data, shape, axis, "host", 1);
      CHECK((std::isnan(got[0]) && !std::isnan(got[1]) && std::isnan(got[2])));
    }
  checkPlace<float, int64_t>(ReduceKind::ArgMax, DType::Float32, DType::Int64, data, shape);
  checkPlace<float, int64_t>(ReduceKind::ArgMin, DType::Float32, DType::Int64, data, shape);
}

TEST_CASE("reductions of nothing give their neutral element, a sum +0") {
  Shape shape{18, {0}};
  std::vector<float> none;
  for (VectorAxis axis : {VectorAxis::Parallel, VectorAxis::Reduced}) {
    auto run = [&](ReduceKind kind) {
      return runReduce<float, float>(kind, DType::Float32, DType::Float32, none, shape, axis, "host", 1);
    };
    CHECK(sameBits(run(ReduceKind::Sum), std::vector<float>(18, 0.0f)));
    CHECK(sameBits(run(ReduceKind::Prod), std::vector<float>(18, 1.0f)));
    CHECK(std::isnan(run(ReduceKind::Mean)[17]));
    CHECK(sameBits(run(ReduceKind::Max), std::vector<float>(18, -INFINITY)));
  }
}

TEST_CASE("the sum of negative zeros is negative zero") {
  Shape shape{2, {40}};
  std::vector<float> data(80, -0.0f);
  for (VectorAxis axis : {VectorAxis::Parallel, VectorAxis::Reduced})
    CHECK(
        sameBits(runReduce<float, float>(ReduceKind::Sum, DType::Float32, DType::Float32, data, shape, axis, "host", 1),
                 std::vector<float>(2, -0.0f)));
}

} // namespace tess::test
