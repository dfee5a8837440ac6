//===- Layers.cpp - the modules that come with the library ---------------===//
#include "tessera/Layers.h"

#include "tessera/Init.h"
#include "tessera/functional.h"

#include <cmath>

namespace tessera {

Linear::Linear(int64_t inFeatures, int64_t outFeatures, bool hasBias) {
  weight = registerParameter("weight", zeros({outFeatures, inFeatures}));
  if (hasBias)
    bias = registerParameter("bias", zeros({outFeatures}));
  init::normal(weight, 0, std::sqrt(1.0 / double(inFeatures)));
}

Tensor Linear::forward(const Tensor &x) { return functional::linear(x, weight, bias); }

Conv2d::Conv2d(int64_t inChannels, int64_t outChannels, Pair kernelSize, const Conv2dOptions &options)
    : options(options) {
  int64_t groups = options.groups;
  if (groups < 1 || inChannels % groups || outChannels % groups)
    throw Error(ErrorCode::InvalidArgument, "Conv2d: groups must divide the channels, got " + std::to_string(groups) +
                                                " for " + std::to_string(inChannels) + " in and " +
                                                std::to_string(outChannels) + " out");
  Shape shape = {outChannels / groups, inChannels / groups, kernelSize.height, kernelSize.width};
  if (groups > 1)
    shape.insert(shape.begin(), groups);
  weight = registerParameter("weight", zeros(shape));
  if (options.bias)
    bias = registerParameter("bias", zeros({1, outChannels, 1, 1}));
  init::normal(weight, 0, std::sqrt(1.0 / double(init::fansOf(weight).in)));
}

Tensor Conv2d::forward(const Tensor &x) {
  Tensor kernels = options.groups > 1 ? weight.flatten(0, 1) : weight;
  Tensor out = functional::conv2d(x, kernels, options.stride.list(), options.padding.list(), options.dilation.list(),
                                  options.groups);
  return options.bias ? out + bias : out;
}

BatchNorm2d::BatchNorm2d(int64_t numFeatures, double eps, double momentum) : eps(eps), momentum(momentum) {
  Shape shape = {1, numFeatures, 1, 1};
  weight = registerParameter("weight", ones(shape));
  bias = registerParameter("bias", zeros(shape));
  runningMean = registerBuffer("running_mean", zeros(shape));
  runningVar = registerBuffer("running_var", ones(shape));
}

Tensor BatchNorm2d::forward(const Tensor &x) {
  if (!isTraining())
    return functional::batch_norm_inference(x, weight, bias, runningMean, runningVar, eps);
  std::vector<Tensor> results = functional::batch_norm(x, weight, bias, runningMean, runningVar, momentum, eps);
  runningMean.assign(results[1].detach());
  runningVar.assign(results[2].detach());
  return results[0];
}

Tensor ReLU::forward(const Tensor &x) { return functional::relu(x); }

MaxPool2d::MaxPool2d(Pair kernelSize, Pair stride, Pair padding)
    : kernelSize(kernelSize), stride(stride.height ? stride : kernelSize), padding(padding) {}

Tensor MaxPool2d::forward(const Tensor &x) {
  return functional::max_pool2d(x, kernelSize.list(), stride.list(), padding.list());
}

Tensor Flatten::forward(const Tensor &x) { return x.flatten(start); }

Sequential &Sequential::append(std::unique_ptr<Module> module) {
  registerModule(std::to_string(modules.size()), *module);
  modules.push_back(std::move(module));
  return *this;
}

Tensor Sequential::forward(const Tensor &x) {
  Tensor result = x;
  for (const std::unique_ptr<Module> &module : modules)
    result = (*module)(result);
  return result;
}

} // namespace tessera
