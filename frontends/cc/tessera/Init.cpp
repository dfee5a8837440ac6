//===- Init.cpp - initial values of parameters ---------------------------===//
#include "tessera/Init.h"

#include "tessera/Autodiff.h"
#include "tessera/Random.h"

#include <cmath>

namespace tessera::init {

void fill(const Tensor &x, double value) { x.assign(full(x.shape(), value, x.dtype())); }
void zeros(const Tensor &x) { fill(x, 0); }
void ones(const Tensor &x) { fill(x, 1); }

static void set(const Tensor &x, const Tensor &value) {
  NoGrad noGrad;
  x.assign(x.dtype() == value.dtype() ? value : value.astype(x.dtype()));
}

void uniform(const Tensor &x, double low, double high) { set(x, tessera::uniform(x.shape(), low, high)); }
void normal(const Tensor &x, double mean, double std) { set(x, tessera::normal(x.shape(), mean, std)); }

Fans fansOf(const Tensor &weight) {
  Shape shape = weight.shape();
  if (shape.size() < 2)
    throw Error(ErrorCode::InvalidArgument, "init: a tensor with fans must have 2 axes or more, got shape " +
                                                tess::toString(llvm::ArrayRef(shape)));
  if (shape.size() == 5) // a grouped convolution has axes groups, out, in, kernel
    shape.erase(shape.begin());
  int64_t area = 1;
  for (size_t axis = 2; axis < shape.size(); ++axis)
    area *= shape[axis];
  return {shape[1] * area, shape[0] * area};
}

double gainOf(const std::string &nonlinearity, double param) {
  if (nonlinearity == "tanh")
    return 5.0 / 3;
  if (nonlinearity == "relu")
    return std::sqrt(2.0);
  if (nonlinearity == "leaky_relu")
    return std::sqrt(2.0 / (1 + param * param));
  if (nonlinearity == "linear" || nonlinearity == "sigmoid" || nonlinearity.rfind("conv", 0) == 0)
    return 1;
  throw Error(ErrorCode::InvalidArgument,
              "gainOf: nonlinearity must be linear, sigmoid, conv*, tanh, relu or leaky_relu, got '" + nonlinearity +
                  "'");
}

void xavierUniform(const Tensor &x, double gain) {
  Fans fans = fansOf(x);
  double bound = gain * std::sqrt(6.0 / double(fans.in + fans.out));
  uniform(x, -bound, bound);
}

void xavierNormal(const Tensor &x, double gain) {
  Fans fans = fansOf(x);
  normal(x, 0, gain * std::sqrt(2.0 / double(fans.in + fans.out)));
}

static double msraDeviation(const Tensor &x, double a, Fan mode) {
  Fans fans = fansOf(x);
  return gainOf("leaky_relu", a) / std::sqrt(double(mode == Fan::In ? fans.in : fans.out));
}

void msraUniform(const Tensor &x, double a, Fan mode) {
  double bound = std::sqrt(3.0) * msraDeviation(x, a, mode);
  uniform(x, -bound, bound);
}
void msraNormal(const Tensor &x, double a, Fan mode) { normal(x, 0, msraDeviation(x, a, mode)); }

} // namespace tessera::init
