//===- Layers.h - the modules that come with the library --------*- C++ -*-===//
//
// Names, shapes and initial values of parameters are Python's, so that a state
// saved by one is read by the other.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tessera/Module.h"

#include <array>

namespace tessera {

/// x @ weight^T + bias, over the last axis; weight [out, in].
class Linear : public Module {
public:
  Linear(int64_t inFeatures, int64_t outFeatures, bool bias = true);
  Tensor forward(const Tensor &x) override;

private:
  Tensor weight, bias;
};

/// A size for height and width.
struct Pair {
  int64_t height, width;
  Pair(int64_t both) : height(both), width(both) {}
  Pair(int64_t height, int64_t width) : height(height), width(width) {}
  /// {height, width}.
  Shape list() const { return {height, width}; }
};

/// As in functional::conv2d; `padding` on both sides.
struct Conv2dOptions {
  Pair stride = 1, padding = 0, dilation = 1;
  int64_t groups = 1;
  bool bias = true;
};

/// Convolution of images [N, C, H, W]; weight [out, in, height, width], with groups [groups, out/groups, in/groups,
/// height, width]; bias [1, out, 1, 1].
class Conv2d : public Module {
public:
  Conv2d(int64_t inChannels, int64_t outChannels, Pair kernelSize, const Conv2dOptions &options = {});
  Tensor forward(const Tensor &x) override;

private:
  Conv2dOptions options;
  Tensor weight, bias;
};

/// Normalises each channel of [N, C, H, W] by a mean and a variance: in training those of the batch, towards which the
/// running ones move by 1 - momentum; in inference the running ones.
class BatchNorm2d : public Module {
public:
  explicit BatchNorm2d(int64_t numFeatures, double eps = 1e-5, double momentum = 0.9);
  Tensor forward(const Tensor &x) override;

private:
  double eps, momentum;
  Tensor weight, bias, runningMean, runningVar;
};

/// The element, or 0 below it.
class ReLU : public Module {
public:
  Tensor forward(const Tensor &x) override;
};

/// The largest element of each window; a stride of 0 is the kernel's size.
class MaxPool2d : public Module {
public:
  explicit MaxPool2d(Pair kernelSize, Pair stride = 0, Pair padding = 0);
  Tensor forward(const Tensor &x) override;

private:
  Pair kernelSize, stride, padding;
};

/// Axes from `start` on as one.
class Flatten : public Module {
public:
  explicit Flatten(int64_t start = 1) : start(start) {}
  Tensor forward(const Tensor &x) override;

private:
  int64_t start;
};

/// Modules one after the other, named "0", "1", ...:
///
///     Sequential net;
///     net.add<Linear>(64, 32).add<ReLU>().add<Linear>(32, 10);
class Sequential : public Module {
public:
  /// Appends a module of type M, made of `args`; returns this.
  template <typename M, typename... Args> Sequential &add(Args &&...args) {
    return append(std::make_unique<M>(std::forward<Args>(args)...));
  }
  /// Appends a module, which this owns from then on; returns this.
  Sequential &append(std::unique_ptr<Module> module);
  /// Number of modules.
  size_t size() const { return modules.size(); }
  Module &operator[](size_t index) { return *modules.at(index); }
  Tensor forward(const Tensor &x) override;

private:
  std::vector<std::unique_ptr<Module>> modules;
};

} // namespace tessera
