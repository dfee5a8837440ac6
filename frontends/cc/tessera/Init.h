//===- Init.h - initial values of parameters --------------------*- C++ -*-===//
//
// Every function gives its tensor new values, drawn from the default generator.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tessera/Tensor.h"

namespace tessera::init {

/// Every element `value`.
void fill(const Tensor &x, double value);
void zeros(const Tensor &x);
void ones(const Tensor &x);
/// Numbers of [low, high).
void uniform(const Tensor &x, double low = 0, double high = 1);
void normal(const Tensor &x, double mean = 0, double std = 1);

/// How many inputs and outputs one element of a weight joins. InvalidArgument below rank 2.
struct Fans {
  int64_t in, out;
};
Fans fansOf(const Tensor &weight);
/// By how much a nonlinearity shrinks its input ("relu", "tanh", "leaky_relu", "linear", "sigmoid", "conv2d", ...).
double gainOf(const std::string &nonlinearity, double param = 0.01);

enum class Fan { In, Out };
/// With the variance gain^2 * 2 / (in + out).
void xavierUniform(const Tensor &x, double gain = 1);
void xavierNormal(const Tensor &x, double gain = 1);
/// With the variance gain^2 / fan, the gain that of leaky ReLU with slope `a`.
void msraUniform(const Tensor &x, double a = 0, Fan mode = Fan::In);
void msraNormal(const Tensor &x, double a = 0, Fan mode = Fan::In);

} // namespace tessera::init
