//===- Init.h - initial values of parameters --------------------*- C++ -*-===//
//
// Every function gives its tensor new values, drawn from the default generator.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tessera/Tensor.h"

namespace tessera::init {

/// Sets every element to `value`.
void fill(const Tensor &x, double value);
void zeros(const Tensor &x);
void ones(const Tensor &x);
/// Numbers of [low, high).
void uniform(const Tensor &x, double low = 0, double high = 1);
void normal(const Tensor &x, double mean = 0, double std = 1);

/// Inputs that one output of a weight is the sum of, and outputs that one input goes to.
struct Fans {
  int64_t in, out;
};
/// The fans of a weight of Linear or Conv2d. InvalidArgument below rank 2.
Fans fansOf(const Tensor &weight);
/// The factor that makes up for how much a nonlinearity shrinks its input ("relu", "tanh", "leaky_relu", "linear",
/// "sigmoid", "conv2d", ...). `param`: the slope of leaky_relu.
double gainOf(const std::string &nonlinearity, double param = 0.01);

/// Which of the Fans a variance is divided by.
enum class Fan { In, Out };
/// Numbers of the variance gain^2 * 2 / (in + out).
void xavierUniform(const Tensor &x, double gain = 1);
void xavierNormal(const Tensor &x, double gain = 1);
/// Numbers of the variance gain^2 / fan, with the gain of a leaky ReLU of slope `a`.
void msraUniform(const Tensor &x, double a = 0, Fan mode = Fan::In);
void msraNormal(const Tensor &x, double a = 0, Fan mode = Fan::In);

} // namespace tessera::init
