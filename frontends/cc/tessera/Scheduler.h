//===- Scheduler.h - learning rates that change -----------------*- C++ -*-===//
#pragma once

#include "tessera/Optimizer.h"

#include <functional>

namespace tessera {

/// Sets the learning rate of each group of an optimizer at each step(), usually once an epoch. The optimizer lives
/// longer.
class LRScheduler {
public:
  virtual ~LRScheduler() = default;
  LRScheduler(const LRScheduler &) = delete;
  LRScheduler &operator=(const LRScheduler &) = delete;

  /// One learning rate for each group, for `currentEpoch`.
  virtual std::vector<double> getLr() = 0;
  /// The next epoch, or epoch number `epoch`; returns the scheduler.
  virtual LRScheduler &step(std::optional<int64_t> epoch = std::nullopt);

  Optimizer &optimizer;
  int64_t currentEpoch;
  /// The learning rates that the optimizer had before its first schedule.
  std::vector<double> baseLrs;

protected:
  /// `currentEpoch`: -1, or the one to go on from. NotFound when no schedule has begun there.
  LRScheduler(Optimizer &optimizer, int64_t currentEpoch);
};

/// The learning rate times `function(epoch)`.
class LambdaLR : public LRScheduler {
public:
  LambdaLR(Optimizer &optimizer, std::function<double(int64_t)> function, int64_t currentEpoch = -1);
  std::vector<double> getLr() override;

private:
  std::function<double(int64_t)> function;
};

/// One schedule after the other: the next one starts, at its epoch 0, at each of `milestones`. The schedules, all of
/// `optimizer`, live longer.
class SequentialLR : public LRScheduler {
public:
  /// InvalidArgument unless the milestones increase, one fewer than there are schedules.
  SequentialLR(Optimizer &optimizer, std::vector<LRScheduler *> schedulers, std::vector<int64_t> milestones,
               int64_t currentEpoch = -1);
  std::vector<double> getLr() override;

private:
  std::vector<LRScheduler *> schedulers;
  std::vector<int64_t> milestones;
};

/// Several schedules at once: the learning rate times the product of what each makes of it. They live longer.
class ChainedScheduler : public LRScheduler {
public:
  /// InvalidArgument when there are none, or not all are of one optimizer.
  explicit ChainedScheduler(std::vector<LRScheduler *> schedulers, int64_t currentEpoch = -1);
  std::vector<double> getLr() override;

private:
  std::vector<LRScheduler *> schedulers;
};

/// The settings of ReduceLROnPlateau; see there.
struct ReduceLROnPlateauOptions {
  std::string mode = "min";
  double factor = 0.1;
  int64_t patience = 10;
  double threshold = 1e-4;
  std::string thresholdMode = "rel";
  int64_t cooldown = 0;
  double minLr = 0, eps = 1e-8;
};

/// The learning rate times `factor` when a metric has not got better for `patience` epochs. Better is below (`mode`
/// "min") or above ("max") the best so far by `threshold`: a share of it ("rel") or a difference ("abs"). After a
/// reduction `cooldown` epochs are not counted. No rate goes below `minLr`, and a change of at most `eps` is left out.
class ReduceLROnPlateau {
public:
  explicit ReduceLROnPlateau(Optimizer &optimizer, const ReduceLROnPlateauOptions &options = {});
  /// The next epoch, with the metric so far; returns the scheduler. NaN is never better.
  ReduceLROnPlateau &step(double metric);

  Optimizer &optimizer;

private:
  bool isBetter(double metric) const;
  void reduce();

  ReduceLROnPlateauOptions options;
  double best;
  int64_t badEpochs = 0, coolingEpochs = 0;
};

} // namespace tessera
