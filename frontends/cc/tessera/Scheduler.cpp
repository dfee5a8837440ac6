//===- Scheduler.cpp - learning rates that change ------------------------===//
#include "tessera/Scheduler.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>

namespace tessera {

LRScheduler::LRScheduler(Optimizer &optimizer, int64_t currentEpoch)
    : optimizer(optimizer), currentEpoch(currentEpoch) {
  for (size_t group = 0; group < optimizer.numGroups(); ++group) {
    if (currentEpoch != -1 && !optimizer.initialLr(group))
      throw Error(
          ErrorCode::NotFound,
          llvm::formatv("LRScheduler: a schedule must have begun to go on from epoch {0}, got none", currentEpoch)
              .str());
    baseLrs.push_back(optimizer.beginSchedule(group));
  }
}

LRScheduler &LRScheduler::step(std::optional<int64_t> epoch) {
  currentEpoch = epoch ? *epoch : currentEpoch + 1;
  std::vector<double> rates = getLr();
  for (size_t group = 0; group < rates.size(); ++group)
    optimizer.setLr(group, rates[group]);
  return *this;
}

LambdaLR::LambdaLR(Optimizer &optimizer, std::function<double(int64_t)> function, int64_t currentEpoch)
    : LRScheduler(optimizer, currentEpoch), function(std::move(function)) {
  step();
}

std::vector<double> LambdaLR::getLr() {
  std::vector<double> rates = baseLrs;
  for (double &rate : rates)
    rate *= function(currentEpoch);
  return rates;
}

SequentialLR::SequentialLR(Optimizer &optimizer, std::vector<LRScheduler *> schedulers, std::vector<int64_t> milestones,
                           int64_t currentEpoch)
    : LRScheduler(optimizer, currentEpoch), schedulers(std::move(schedulers)), milestones(std::move(milestones)) {
  bool increases = std::ranges::adjacent_find(this->milestones, std::greater_equal()) == this->milestones.end();
  if (!increases || this->milestones.size() + 1 != this->schedulers.size())
    throw Error(ErrorCode::InvalidArgument,
                llvm::formatv("SequentialLR: milestones must increase, one fewer than {0} schedulers, got {1}",
                              this->schedulers.size(), tess::toString(llvm::ArrayRef(this->milestones)))
                    .str());
  step();
}

std::vector<double> SequentialLR::getLr() {
  size_t number = std::ranges::upper_bound(milestones, currentEpoch) - milestones.begin();
  LRScheduler &scheduler = *schedulers[number];
  scheduler.currentEpoch = currentEpoch - (number ? milestones[number - 1] : 0);
  return scheduler.getLr();
}

static Optimizer &optimizerOf(const std::vector<LRScheduler *> &schedulers) {
  if (schedulers.empty())
    throw Error(ErrorCode::InvalidArgument, "ChainedScheduler: schedulers must not be empty, got none");
  return schedulers[0]->optimizer;
}

ChainedScheduler::ChainedScheduler(std::vector<LRScheduler *> schedulers, int64_t currentEpoch)
    : LRScheduler(optimizerOf(schedulers), currentEpoch), schedulers(std::move(schedulers)) {
  if (llvm::any_of(this->schedulers, [&](LRScheduler *each) { return &each->optimizer != &optimizer; }))
    throw Error(ErrorCode::InvalidArgument, "ChainedScheduler: schedulers must have one optimizer, got another one's");
  step();
}

std::vector<double> ChainedScheduler::getLr() {
  std::vector<double> products(baseLrs.size(), 1);
  for (LRScheduler *scheduler : schedulers) {
    scheduler->currentEpoch = currentEpoch;
    std::vector<double> rates = scheduler->getLr();
    for (size_t group = 0; group < baseLrs.size(); ++group)
      products[group] *= rates[group] / baseLrs[group];
  }
  for (size_t group = 0; group < baseLrs.size(); ++group)
    products[group] = baseLrs[group] == 0 ? 0 : baseLrs[group] * products[group];
  return products;
}

static const char *const kModes[] = {"min", "max"}, *const kThresholdModes[] = {"rel", "abs"};

static void checkOneOf(const char *what, const std::string &value, llvm::ArrayRef<const char *> two) {
  if (value != two[0] && value != two[1])
    throw Error(
        ErrorCode::InvalidArgument,
        llvm::formatv("ReduceLROnPlateau: {0} must be '{1}' or '{2}', got '{3}'", what, two[0], two[1], value).str());
}

ReduceLROnPlateau::ReduceLROnPlateau(Optimizer &optimizer, const ReduceLROnPlateauOptions &options)
    : optimizer(optimizer), options(options), best(options.mode == kModes[0] ? INFINITY : -INFINITY) {
  checkOneOf("mode", options.mode, kModes);
  checkOneOf("threshold_mode", options.thresholdMode, kThresholdModes);
  if (!(options.factor >= 0 && options.factor < 1))
    throw Error(ErrorCode::InvalidArgument,
                llvm::formatv("ReduceLROnPlateau: factor must be >= 0 and < 1, got {0}", options.factor).str());
}

bool ReduceLROnPlateau::isBetter(double metric) const {
  double sign = options.mode == kModes[0] ? -1 : 1;
  if (options.thresholdMode == kThresholdModes[1])
    return metric * sign > best * sign + options.threshold;
  return metric * sign > best * (1 + sign * options.threshold) * sign;
}

void ReduceLROnPlateau::reduce() {
  for (size_t group = 0; group < optimizer.numGroups(); ++group) {
    double rate = std::max(optimizer.lr(group) * options.factor, options.minLr);
    if (optimizer.lr(group) - rate > options.eps)
      optimizer.setLr(group, rate);
  }
}

ReduceLROnPlateau &ReduceLROnPlateau::step(double metric) {
  if (isBetter(metric)) {
    best = metric;
    badEpochs = 0;
  } else {
    ++badEpochs;
  }
  if (coolingEpochs > 0) {
    --coolingEpochs;
    badEpochs = 0;
  }
  if (badEpochs > options.patience) {
    reduce();
    coolingEpochs = options.cooldown;
    badEpochs = 0;
  }
  return *this;
}

} // namespace tessera
