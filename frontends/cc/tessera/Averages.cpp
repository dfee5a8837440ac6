//===- Averages.cpp - averages of parameters over the steps --------------===//
#include "tessera/Averages.h"

#include "tessera/Autodiff.h"
#include "tessera/Texts.h"

namespace tessera {

Averages::Averages(std::string name, std::vector<Tensor> params)
    : name(std::move(name)), params(std::move(params)), count(tensor(0.0f)) {
  if (this->params.empty())
    throw Error(ErrorCode::InvalidArgument, this->name + ": params must not be empty, got none");
  for (const Tensor &each : this->params) {
    if (!tess::isFloat(each.dtype()))
      throw Error(ErrorCode::TypeMismatch,
                  this->name + ": params must be tensors of floats, got " + tess::toString(each.ref()->meta()));
    bool isNarrow = byteWidth(each.dtype()) == 2; // whose sums with small shares would stand still
    averages.push_back(isNarrow ? each.detach().astype(DType::Float32) : each.detach());
  }
}

Averages &Averages::update() {
  NoGrad noGrad;
  for (size_t i = 0; i < params.size(); ++i) {
    Tensor part = share(count).astype(averages[i].dtype());
    averages[i].assign((1 - part) * averages[i] + part * params[i].detach().astype(averages[i].dtype()));
  }
  count.assign(count + 1);
  return *this;
}

void Averages::copyToParams() const {
  NoGrad noGrad;
  for (size_t i = 0; i < params.size(); ++i)
    params[i].assign(averages[i].astype(params[i].dtype()));
}

Averages::Applied::Applied(const Averages &averages) : averages(averages) {
  for (const Tensor &each : averages.params)
    own.push_back(each.detach());
  averages.copyToParams();
}

Averages::Applied::~Applied() {
  NoGrad noGrad;
  for (size_t i = 0; i < own.size(); ++i)
    averages.params[i].assign(own[i]);
}

StateDict Averages::stateDict() const {
  StateDict state{{"count", count.detach()}};
  for (size_t i = 0; i < averages.size(); ++i)
    state[std::to_string(i)] = averages[i].detach();
  return state;
}

void Averages::loadStateDict(const StateDict &state) {
  StateDict own = stateDict();
  for (const auto &[key, tensor] : own) {
    auto found = state.find(key);
    if (found == state.end() || found->second.shape() != tensor.shape() || state.size() != own.size())
      throw Error(ErrorCode::InvalidArgument,
                  texts::text(name, ": averages must be ", averages.size(), " of the parameters' shapes, got ",
                              state.empty() ? 0 : state.size() - 1, ", with ", key, " of another"));
  }
  for (size_t i = 0; i < averages.size(); ++i)
    averages[i].assign(state.at(std::to_string(i)).astype(averages[i].dtype()));
  count.assign(state.at("count").astype(DType::Float32));
}

EMA::EMA(std::vector<Tensor> params, double decay) : Averages("EMA", std::move(params)), rest(tensor(1 - decay)) {
  if (!(decay >= 0 && decay <= 1))
    throw Error(ErrorCode::InvalidArgument, texts::text("EMA: decay must be >= 0 and <= 1, got ", decay));
}

Tensor EMA::share(const Tensor &) const { return rest; }

Tensor SWA::share(const Tensor &count) const { return 1 / (count.astype(DType::Float64) + 1); }

} // namespace tessera
