//===- Optimizer.h - updates of parameters ----------------------*- C++ -*-===//
#pragma once

#include "tessera/Serialization.h"

#include <map>
#include <memory>
#include <optional>

namespace tessera {

/// The tensors of one parameter's state, by name.
class ParameterState {
public:
  /// NotFound when there is none of that name.
  const Tensor &operator[](const std::string &name) const;
  /// Undefined when there is none.
  Tensor get(const std::string &name) const;
  /// In the order of their names.
  std::map<std::string, Tensor> tensors;
};

/// Base class: parameters in groups with settings of their own, their state, the learning rates as tensors, which
/// traced steps read.
class Optimizer {
public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer &) = delete;
  Optimizer &operator=(const Optimizer &) = delete;

  /// Updates every parameter that has a gradient and is not frozen; returns the optimizer.
  Optimizer &step();
  /// Forgets the gradients; returns the optimizer.
  Optimizer &clearGrad();
  /// Sets the gradients to zero; returns the optimizer.
  Optimizer &zeroGrad();
  /// Number of groups: one, and one more for each addParamGroup().
  size_t numGroups() const { return groups.size(); }
  /// The learning rate of a group.
  double lr(size_t group = 0) const { return groups.at(group)->learningRate; }
  /// Sets the learning rate of all groups, or of one.
  void setLr(double lr);
  void setLr(size_t group, double lr);
  /// The learning rate that a group had before its first schedule, if there was one.
  std::optional<double> initialLr(size_t group) const { return groups.at(group)->initialLearningRate; }
  /// A schedule begins; returns the initialLr() from then on.
  double beginSchedule(size_t group);

  /// State by number of the parameter and name ("0.momentum_buffer"), "lr", and "lr.1", ... of more groups: the values
  /// now.
  StateDict stateDict() const;
  /// Goes on where stateDict() was taken; names must be exactly those of this optimizer.
  void loadStateDict(const StateDict &state);

protected:
  /// Parameters with settings of their own. A subclass adds the settings.
  struct Group {
    virtual ~Group() = default;
    std::vector<Tensor> params;
    Tensor rate; // float32, rank 0
    double learningRate = 0;
    std::optional<double> initialLearningRate;
  };

  explicit Optimizer(std::string name) : name(std::move(name)) {}
  /// InvalidArgument when `params` is empty, names a tensor twice, or one that is there.
  void addGroup(std::unique_ptr<Group> group, std::vector<Tensor> params, double lr);
  /// InvalidArgument unless the setting is finite, at least 0 and below the limit.
  void checkSetting(const std::string &what, double value, std::optional<int64_t> below = std::nullopt) const;
  /// Adds a state tensor of a parameter: `value`, or zeros like it.
  void addState(const Tensor &parameter, const std::string &name, const Tensor &value = Tensor());
  /// The state of a parameter.
  ParameterState &stateOf(const Tensor &parameter);
  /// Gives a parameter and its state their new values.
  virtual void updateParameter(Group &group, const Tensor &parameter, const Tensor &grad) = 0;

private:
  struct Parameter {
    Tensor tensor;
    ParameterState state;
  };
  std::string name;
  std::vector<std::unique_ptr<Group>> groups;
  std::vector<Parameter> parameters;
  std::map<const void *, size_t> numbers; // of a variable: which of `parameters`
};

/// Scales all gradients so that their joint norm is at most `maxNorm`; returns the norm before, float32[]. Tensors
/// without a gradient are left out. InvalidArgument unless `ord` is positive; it may be infinite.
Tensor clipGradNorm(const std::vector<Tensor> &tensors, double maxNorm, double ord = 2);
/// Limits every element of every gradient to [lower, upper]. InvalidArgument when lower > upper.
void clipGradValue(const std::vector<Tensor> &tensors, double lower, double upper);

} // namespace tessera
