//===- Optimizer.cpp - updates of parameters -----------------------------===//
#include "tessera/Optimizer.h"

#include "tessera/Autodiff.h"
#include "tessera/Frozen.h"
#include "tessera/Texts.h"
#include "tessera/functional.h"

#include <algorithm>
#include <cmath>

namespace tessera {

const Tensor &ParameterState::operator[](const std::string &name) const {
  auto found = tensors.find(name);
  if (found == tensors.end())
    throw Error(ErrorCode::NotFound, "ParameterState: name must be that of a tensor, got '" + name + "'");
  return found->second;
}

Tensor ParameterState::get(const std::string &name) const {
  auto found = tensors.find(name);
  return found == tensors.end() ? Tensor() : found->second;
}

void Optimizer::addGroup(std::unique_ptr<Group> group, std::vector<Tensor> params, double lr) {
  if (params.empty())
    throw Error(ErrorCode::InvalidArgument, name + ": params must not be empty, got none");
  for (const Tensor &each : params) {
    auto [known, isNew] = numbers.insert({each.ref().get(), parameters.size()});
    if (!isNew)
      throw Error(ErrorCode::InvalidArgument, name + ": a parameter must be given once, got numbers " +
                                                  std::to_string(known->second) + " and " +
                                                  std::to_string(parameters.size()) + " the same");
    parameters.push_back({each, {}});
  }
  group->params = std::move(params);
  group->rate = tensor(float(lr));
  group->learningRate = lr;
  groups.push_back(std::move(group));
}

void Optimizer::checkSetting(const std::string &what, double value, std::optional<int64_t> below) const {
  if (std::isfinite(value) && value >= 0 && (!below || value < *below))
    return;
  std::string limit = below ? texts::text(" and < ", *below) : "", finite = std::isfinite(value) ? "" : "finite and ";
  throw Error(ErrorCode::InvalidArgument,
              texts::text(name, ": ", what, " must be ", finite, ">= 0", limit, ", got ", value));
}

void Optimizer::setLr(double lr) {
  for (size_t group = 0; group < groups.size(); ++group)
    setLr(group, lr);
}

void Optimizer::setLr(size_t group, double lr) {
  checkSetting("lr", lr);
  groups.at(group)->learningRate = lr;
  groups[group]->rate.assign(tensor(float(lr)));
}

double Optimizer::beginSchedule(size_t group) {
  Group &own = *groups.at(group);
  if (!own.initialLearningRate)
    own.initialLearningRate = own.learningRate;
  return *own.initialLearningRate;
}

void Optimizer::addState(const Tensor &parameter, const std::string &name, const Tensor &value) {
  // State of half precision is float32, in which squares of gradients do not vanish.
  auto start = [&] {
    return zeros(parameter.shape(), byteWidth(parameter.dtype()) == 2 ? DType::Float32 : parameter.dtype());
  };
  stateOf(parameter).tensors[name] = value.isDefined() ? value : start();
}

ParameterState &Optimizer::stateOf(const Tensor &parameter) {
  return parameters[numbers.at(parameter.ref().get())].state;
}

Optimizer &Optimizer::step() {
  NoGrad noGrad;
  detail::noteFrozen();
  for (const std::unique_ptr<Group> &group : groups)
    for (const Tensor &parameter : group->params) {
      Tensor grad = parameter.grad();
      if (grad.isDefined() && !detail::isFrozen(parameter))
        updateParameter(*group, parameter, grad);
    }
  return *this;
}

Optimizer &Optimizer::clearGrad() {
  for (const Parameter &each : parameters)
    each.tensor.setGrad(Tensor());
  return *this;
}

Optimizer &Optimizer::zeroGrad() {
  for (const Parameter &each : parameters)
    if (each.tensor.grad().isDefined())
      each.tensor.setGrad(zerosLike(each.tensor.grad()));
  return *this;
}

StateDict Optimizer::stateDict() const {
  StateDict state;
  for (size_t group = 0; group < groups.size(); ++group)
    state[group ? "lr." + std::to_string(group) : "lr"] = tensor(groups[group]->learningRate);
  for (size_t number = 0; number < parameters.size(); ++number)
    for (const auto &[key, tensor] : parameters[number].state.tensors)
      state[std::to_string(number) + "." + key] = tensor.detach();
  return state;
}

void Optimizer::loadStateDict(const StateDict &state) {
  StateDict own = stateDict();
  auto fits = [](const StateDict::value_type &mine, const StateDict::value_type &given) {
    return mine.first == given.first && mine.second.shape() == given.second.shape() &&
           (mine.first.starts_with("lr") || mine.second.dtype() == given.second.dtype());
  };
  auto [mine, given] = std::ranges::mismatch(own, state, fits);
  if (mine != own.end() || given != state.end()) {
    auto describe = [](const StateDict &from, StateDict::const_iterator entry) {
      return entry == from.end() ? "nothing" : entry->first + " " + tess::toString(entry->second.ref()->meta());
    };
    throw Error(ErrorCode::NotFound, name + ": the state must be this optimizer's, with " + describe(own, mine) +
                                         ", got " + describe(state, given));
  }
  for (size_t group = 0; group < groups.size(); ++group)
    setLr(group, state.at(group ? "lr." + std::to_string(group) : "lr").item<double>());
  for (size_t number = 0; number < parameters.size(); ++number)
    for (const auto &[key, tensor] : parameters[number].state.tensors)
      tensor.assign(state.at(std::to_string(number) + "." + key));
}

//===----------------------------------------------------------------------===//
// Clipping of gradients
//===----------------------------------------------------------------------===//

static std::vector<Tensor> withGrad(const std::vector<Tensor> &tensors) {
  std::vector<Tensor> kept;
  for (const Tensor &each : tensors)
    if (each.grad().isDefined())
      kept.push_back(each);
  return kept;
}

/// Float32 for half precision, in which powers of gradients overflow or vanish.
static Tensor wide(const Tensor &grad) {
  return byteWidth(grad.dtype()) == 2 ? functional::astype(grad, DType::Float32) : grad;
}

Tensor clipGradNorm(const std::vector<Tensor> &tensors, double maxNorm, double ord) {
  if (!(ord > 0))
    throw Error(ErrorCode::InvalidArgument, texts::text("clip_grad_norm: ord must be positive, got ", ord));
  NoGrad noGrad;
  std::vector<Tensor> kept = withGrad(tensors), parts;
  if (kept.empty())
    return tensor(0.0f);
  for (const Tensor &each : kept) {
    Tensor sizes = functional::abs(wide(each.grad()));
    parts.push_back(std::isinf(ord) ? functional::max(sizes) : functional::sum(functional::pow(sizes, ord)));
  }
  Tensor all = functional::stack(parts);
  Tensor norm = std::isinf(ord) ? functional::max(all) : functional::pow(functional::sum(all), 1 / ord);
  Tensor scale = functional::minimum(maxNorm / (norm + 1e-6), 1.0);
  for (const Tensor &each : kept)
    each.setGrad(functional::astype(each.grad() * scale, each.grad().dtype()));
  return norm;
}

void clipGradValue(const std::vector<Tensor> &tensors, double lower, double upper) {
  if (lower > upper)
    throw Error(ErrorCode::InvalidArgument,
                texts::text("clip_grad_value: lower must be <= upper, got ", lower, " and ", upper));
  NoGrad noGrad;
  for (const Tensor &each : withGrad(tensors))
    each.setGrad(functional::clip(each.grad(), lower, upper));
}

} // namespace tessera
