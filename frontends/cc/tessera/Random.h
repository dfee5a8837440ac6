//===- Random.h - random numbers --------------------------------*- C++ -*-===//
//
// Counter-based: the same numbers on any number of threads, eager or traced,
// and the same as in Python for the same seed. The state is two tensors, seed
// and offset; drawing advances the offset by an operator, so that a traced
// function goes on drawing new numbers.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tessera/Tensor.h"

#include <functional>

namespace tessera {

/// A stream of random numbers: a seed, and an offset that counts the numbers drawn. Not thread-safe.
class Generator {
public:
  explicit Generator(int64_t seed);
  /// Starts again from `seed`.
  void reseed(int64_t seed);
  /// Numbers of [low, high).
  Tensor uniform(const Shape &shape, double low = 0, double high = 1, DType dtype = DType::Float32);
  /// Numbers of the normal distribution.
  Tensor normal(const Shape &shape, double mean = 0, double std = 1, DType dtype = DType::Float32);
  /// The numbers below `count` in random order. It is made on the host, so a traced function cannot use it.
  std::vector<int64_t> permutation(int64_t count);
  /// The variables of the state: assign() both to go on where another generator was.
  Tensor seedState() const { return seed; }
  Tensor offsetState() const { return offset; }
  /// The result of `function(seed, offset)`, which uses `count` numbers; moves the offset behind them.
  Tensor draw(const std::function<Tensor(const Tensor &, const Tensor &)> &function, int64_t count);

private:
  Tensor seed, offset; // int64, rank 0
};

/// The generator behind the functions below, init and dropout.
Generator &defaultGenerator();
/// Restarts the default generator from `seed`.
void seed(int64_t seed);
/// Numbers of the default generator, as those of Generator.
Tensor uniform(const Shape &shape, double low = 0, double high = 1, DType dtype = DType::Float32);
Tensor normal(const Shape &shape, double mean = 0, double std = 1, DType dtype = DType::Float32);

} // namespace tessera
