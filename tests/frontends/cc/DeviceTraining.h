//===- DeviceTraining.h - a training run on a device ------------*- C++ -*-===//
#pragma once

#include "runtime/Devices.h"
#include "tessera/Autodiff.h"
#include "tessera/Jit.h"
#include "tessera/Layers.h"
#include "tessera/Optimizer.h"
#include "tessera/Random.h"
#include "tessera/functional.h"

namespace tess::test {

/// Losses of a few training steps of a small net of images, and its weights after them, in bytes.
inline std::vector<char> trainOn(runtime::Device &device, bool traced) {
  using namespace tessera;
  runtime::Device &before = runtime::defaultDevice();
  runtime::setDefaultDevice(device);
  seed(5);
  Sequential net;
  net.add<Conv2d>(1, 4, 3, Conv2dOptions{.padding = 1}).add<BatchNorm2d>(4).add<ReLU>().add<MaxPool2d>(2);
  net.add<Flatten>().add<Linear>(16, 3);
  GradManager manager;
  manager.attach(net.parameters());
  Adam optimizer(net.parameters(), {.lr = 0.01});
  auto step = [&](const Tensor &x, const Tensor &y) {
    auto recording = manager.record();
    Tensor loss = functional::cross_entropy(net(x), y);
    manager.backward(loss);
    optimizer.step().clearGrad();
    return loss;
  };
  auto compiled = jit::trace(step);
  std::vector<char> bytes;
  auto append = [&](const Tensor &tensor) { llvm::append_range(bytes, tensor.toBytes()); };
  for (int i = 0; i < 6; ++i) {
    Tensor x = uniform({8, 1, 4, 4}), y = tensor({0, 1, 2, 0, 1, 2, 0, 1});
    append(traced ? compiled(x, y) : step(x, y));
  }
  for (const auto &[name, value] : net.stateDict())
    append(value);
  runtime::setDefaultDevice(before);
  return bytes;
}

} // namespace tess::test
