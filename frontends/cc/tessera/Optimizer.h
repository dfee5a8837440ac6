//===- Optimizer.h - updates of parameters ----------------------*- C++ -*-===//
#pragma once

#include "tessera/Serialization.h"

#include <functional>

namespace tessera {

/// Base class: parameters, their state, the learning rate as a tensor, which traced steps read.
class Optimizer {
public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer &) = delete;
  Optimizer &operator=(const Optimizer &) = delete;

  /// Updates every parameter that has a gradient; returns the optimizer.
  Optimizer &step();
  /// Forgets the gradients; returns the optimizer.
  Optimizer &clearGrad();
  /// The learning rate, rounded to float32.
  double lr() const { return rate.item<float>(); }
  void setLr(double lr);

  /// State by number of the parameter and name ("0.momentum_buffer"), and "lr": the values now.
  StateDict stateDict() const;
  /// Goes on where stateDict() was taken; names must be exactly those of this optimizer.
  void loadStateDict(const StateDict &state);

protected:
  /// InvalidArgument when `params` is empty, names a tensor twice, or `lr` is negative.
  Optimizer(std::string name, std::vector<Tensor> params, double lr);
  /// A new state tensor of every parameter, in their order.
  std::vector<Tensor> addState(const std::string &name, const std::function<Tensor(const Tensor &)> &initial);
  void checkRange(const std::string &what, double value, double low, double below) const;
  /// The new value of parameter number `index`, whose state it updates.
  virtual Tensor update(size_t index, const Tensor &parameter, const Tensor &grad) = 0;

  Tensor rate; // float32, rank 0

private:
  std::string name;
  std::vector<Tensor> params;
  std::vector<std::pair<std::string, std::vector<Tensor>>> states;
};

/// Numbers of SGD; see there.
struct SGDOptions {
  double lr;
  double momentum = 0, weightDecay = 0;
  bool nesterov = false;
};

/// p -= lr * v, with v = momentum * v + g and g = grad + weightDecay * p; with `nesterov` the step is lr * (g +
/// momentum * v).
class SGD : public Optimizer {
public:
  SGD(std::vector<Tensor> params, const SGDOptions &options);

private:
  Tensor update(size_t index, const Tensor &parameter, const Tensor &grad) override;
  SGDOptions options;
  std::vector<Tensor> velocity;
};

/// Numbers of Adam; see there.
struct AdamOptions {
  double lr = 1e-3;
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weightDecay = 0;
  /// AdamW: p shrinks by lr * weightDecay * p on its own, and g = grad.
  bool decoupled = false;
};

/// Steps of lr * m / (sqrt(v) + eps), m and v the corrected moving means of g and g * g, g = grad + weightDecay * p.
class Adam : public Optimizer {
public:
  Adam(std::vector<Tensor> params, const AdamOptions &options = {});

private:
  Tensor update(size_t index, const Tensor &parameter, const Tensor &grad) override;
  AdamOptions options;
  std::vector<Tensor> mean, square, count;
};

} // namespace tessera
