//===- Random.cpp - random numbers ---------------------------------------===//
#include "tessera/Random.h"

#include "tessera/functional.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tessera {

/// The seed of Python's default generator.
static constexpr int64_t kDefaultSeed = 0x7E55E7A;

Generator::Generator(int64_t seed) : seed(tensor(seed)), offset(tensor(int64_t(0))) {}

void Generator::reseed(int64_t value) {
  seed.assign(tensor(value));
  offset.assign(tensor(int64_t(0)));
}

Tensor Generator::draw(const std::function<Tensor(const Tensor &, const Tensor &)> &function, int64_t count) {
  Tensor result = function(seed, offset);
  offset.assign(offset + count);
  return result;
}

static int64_t countOf(const Shape &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<int64_t>());
}

/// Below `high` in the dtype: rounding takes some numbers of [low, high) to the end.
static double lastBelow(double low, double high, DType dtype) {
  int digits = dtype == DType::Float64 ? 53 : dtype == DType::Float32 ? 24 : dtype == DType::Float16 ? 11 : 8;
  if (high == 0)
    return std::ldexp(low, -digits);
  return high - std::ldexp(std::abs(high), high < 0 ? 1 - digits : -digits); // powers of 2 have two distances
}

Tensor Generator::uniform(const Shape &shape, double low, double high, DType dtype) {
  Tensor unit =
      draw([&](const Tensor &s, const Tensor &o) { return functional::uniform(s, o, shape, dtype); }, countOf(shape));
  bool isUnit = low == 0 && high == 1, isNarrow = byteWidth(dtype) == 2;
  Tensor numbers = isUnit ? unit : unit * (high - low) + low;
  if ((isUnit && !isNarrow) || !(low < high))
    return numbers;
  return functional::minimum(numbers, lastBelow(low, high, dtype));
}

Tensor Generator::normal(const Shape &shape, double mean, double std, DType dtype) {
  Tensor unit =
      draw([&](const Tensor &s, const Tensor &o) { return functional::normal(s, o, shape, dtype); }, countOf(shape));
  return mean == 0 && std == 1 ? unit : unit * std + mean;
}

std::vector<int64_t> Generator::permutation(int64_t count) {
  std::vector<double> keys = uniform({count}, 0, 1, DType::Float64).toVector<double>();
  std::vector<int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int64_t a, int64_t b) { return std::pair(keys[a], a) < std::pair(keys[b], b); });
  return order;
}

Generator &defaultGenerator() {
  static Generator *generator = new Generator(kDefaultSeed); // never destroyed: kernels may still run at exit
  return *generator;
}

void seed(int64_t seed) { defaultGenerator().reseed(seed); }
Tensor uniform(const Shape &shape, double low, double high, DType dtype) {
  return defaultGenerator().uniform(shape, low, high, dtype);
}
Tensor normal(const Shape &shape, double mean, double std, DType dtype) {
  return defaultGenerator().normal(shape, mean, std, dtype);
}

} // namespace tessera
