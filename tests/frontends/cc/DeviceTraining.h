//===- DeviceTraining.h - a training run on a device ------------*- C++ -*-===//
#pragma once

#include "runtime/Devices.h"
#include "tessera/Autodiff.h"
#include "tessera/Jit.h"
#include "tessera/Layers.h"
#include "tessera/Optimizers.h"
#include "tessera/Random.h"
#include "tessera/functional.h"

namespace tess::test {

/// A training step on images and labels.
inline auto stepOf(tessera::Sequential &net, tessera::GradManager &manager, tessera::Adam &optimizer) {
  using namespace tessera;
  return [&](const Tensor &x, const Tensor &y) {
    auto recording = manager.record();
    Tensor loss = functional::cross_entropy(net(x), y);
    manager.backward(loss);
    optimizer.step().clearGrad();
    return loss;
  };
}

/// Losses of a few training steps of a small net of images, and its weights after them, in bytes.
inline std::pair<std::vector<char>, std::vector<char>> trainOn(runtime::Device &device, bool traced) {
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
  auto step = stepOf(net, manager, optimizer);
  auto compiled = jit::trace(step);
  std::vector<char> losses, weights;
  for (int i = 0; i < 6; ++i) {
    Tensor x = uniform({8, 1, 4, 4}), y = tensor({0, 1, 2, 0, 1, 2, 0, 1});
    llvm::append_range(losses, (traced ? compiled(x, y) : step(x, y)).toBytes());
  }
  for (const auto &[name, value] : net.stateDict())
    llvm::append_range(weights, value.toBytes());
  runtime::setDefaultDevice(before);
  return {losses, weights};
}

} // namespace tess::test
