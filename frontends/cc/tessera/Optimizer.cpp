//===- Optimizer.cpp - updates of parameters -----------------------------===//
#include "tessera/Optimizer.h"

#include "tessera/Autodiff.h"
#include "tessera/functional.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>

namespace tessera {

Optimizer::Optimizer(std::string name, std::vector<Tensor> params, double lr)
    : name(std::move(name)), params(std::move(params)) {
  if (this->params.empty())
    throw Error(ErrorCode::InvalidArgument, this->name + ": params must not be empty, got none");
  for (size_t i = 0; i < this->params.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (this->params[i].ref() == this->params[j].ref())
        throw Error(ErrorCode::InvalidArgument, this->name + ": a parameter must be given once, got numbers " +
                                                    std::to_string(j) + " and " + std::to_string(i) + " the same");
  checkRange("lr", lr, 0, INFINITY);
  rate = tensor(float(lr));
}

void Optimizer::checkRange(const std::string &what, double value, double low, double below) const {
  if (!(value >= low && value < below))
    throw Error(ErrorCode::InvalidArgument,
                llvm::formatv("{0}: {1} must be >= {2} and < {3}, got {4}", name, what, low, below, value).str());
}

void Optimizer::setLr(double lr) {
  checkRange("lr", lr, 0, INFINITY);
  rate.assign(tensor(float(lr)));
}

std::vector<Tensor> Optimizer::addState(const std::string &name, const std::function<Tensor(const Tensor &)> &initial) {
  std::vector<Tensor> tensors;
  for (const Tensor &parameter : params)
    tensors.push_back(initial(parameter));
  states.push_back({name, tensors});
  return tensors;
}

Optimizer &Optimizer::step() {
  NoGrad noGrad;
  for (size_t i = 0; i < params.size(); ++i) {
    Tensor grad = params[i].grad();
    if (grad.isDefined())
      params[i].assign(update(i, params[i], grad));
  }
  return *this;
}

Optimizer &Optimizer::clearGrad() {
  for (const Tensor &parameter : params)
    parameter.setGrad(Tensor());
  return *this;
}

StateDict Optimizer::stateDict() const {
  StateDict state{{"lr", rate.detach()}};
  for (const auto &[name, tensors] : states)
    for (size_t i = 0; i < tensors.size(); ++i)
      state[std::to_string(i) + "." + name] = tensors[i].detach();
  return state;
}

void Optimizer::loadStateDict(const StateDict &state) {
  StateDict own = stateDict();
  auto fits = [](const StateDict::value_type &mine, const StateDict::value_type &given) {
    return mine.first == given.first && mine.second.shape() == given.second.shape() &&
           mine.second.dtype() == given.second.dtype();
  };
  auto [mine, given] = std::ranges::mismatch(own, state, fits);
  if (mine != own.end() || given != state.end()) {
    auto describe = [](const StateDict &from, StateDict::const_iterator entry) {
      return entry == from.end() ? "nothing" : entry->first + " " + tess::toString(entry->second.ref()->meta());
    };
    throw Error(ErrorCode::NotFound, name + ": the state must be this optimizer's, with " + describe(own, mine) +
                                         ", got " + describe(state, given));
  }
  rate.assign(state.at("lr"));
  for (const auto &[name, tensors] : states)
    for (size_t i = 0; i < tensors.size(); ++i)
      tensors[i].assign(state.at(std::to_string(i) + "." + name));
}

SGD::SGD(std::vector<Tensor> params, const SGDOptions &options)
    : Optimizer("SGD", std::move(params), options.lr), options(options) {
  checkRange("momentum", options.momentum, 0, INFINITY);
  checkRange("weightDecay", options.weightDecay, 0, INFINITY);
  if (options.nesterov && options.momentum == 0)
    throw Error(ErrorCode::InvalidArgument, "SGD: nesterov must come with momentum, got 0");
  velocity = addState("momentum_buffer", zerosLike);
}

Tensor SGD::update(size_t index, const Tensor &parameter, const Tensor &grad) {
  std::vector<Tensor> results = functional::sgd_update(parameter, grad, velocity[index], rate, options.momentum,
                                                       options.weightDecay, options.nesterov);
  velocity[index].assign(results[1]);
  return results[0];
}

Adam::Adam(std::vector<Tensor> params, const AdamOptions &options)
    : Optimizer("Adam", std::move(params), options.lr), options(options) {
  checkRange("beta1", options.beta1, 0, 1);
  checkRange("beta2", options.beta2, 0, 1);
  checkRange("eps", options.eps, 0, INFINITY);
  checkRange("weightDecay", options.weightDecay, 0, INFINITY);
  mean = addState("exp_avg", zerosLike);
  square = addState("exp_avg_sq", zerosLike);
  count = addState("step", [](const Tensor &) { return tensor(0.0f); });
}

Tensor Adam::update(size_t index, const Tensor &parameter, const Tensor &grad) {
  count[index].assign(count[index] + 1);
  std::vector<Tensor> results =
      functional::adam_update(parameter, grad, mean[index], square[index], rate, count[index], options.beta1,
                              options.beta2, options.eps, options.weightDecay, options.decoupled);
  mean[index].assign(results[1]);
  square[index].assign(results[2]);
  return results[0];
}

} // namespace tessera
