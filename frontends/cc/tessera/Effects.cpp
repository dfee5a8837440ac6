//===- Effects.cpp - state beside tensors that a trace depends on --------===//
#include "tessera/Effects.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::detail {

static thread_local Effects *active = nullptr;

Effects *Effects::current() { return active; }
Effects::Effects(llvm::ArrayRef<Tensor> arguments) : arguments(arguments) { active = this; }
Effects::~Effects() { active = nullptr; }

void Effects::seeMode(const ModeRef &mode) {
  if (!llvm::is_contained(llvm::make_first_range(replay.modes), mode))
    replay.modes.push_back({mode, *mode});
}

static bool isSame(const Tensor &x, const Tensor &y) {
  return x.isDefined() == y.isDefined() && (!x.isDefined() || x.ref() == y.ref());
}

void Effects::touchGrad(const Tensor &tensor) {
  if (!active)
    return;
  for (const GradEffect &effect : active->replay.grads)
    if (isSame(effect.target, tensor))
      return;
  active->replay.grads.push_back({tensor, -1, tensor.grad()});
}

Replay Effects::finish(std::vector<Tensor> &results) {
  int count = 0;
  for (GradEffect &effect : replay.grads) {
    Tensor after = effect.target.grad();
    effect.same = isSame(after, effect.before);
    if (after.isDefined() && !effect.same) {
      effect.result = count++;
      results.push_back(after);
    }
    for (unsigned i = 0; i < arguments.size() && effect.argument < 0; ++i)
      if (isSame(arguments[i], effect.target))
        effect.argument = i;
    if (effect.argument >= 0)
      effect.target = Tensor();
  }
  return replay;
}

static Tensor targetOf(const GradEffect &effect, llvm::ArrayRef<Tensor> arguments) {
  return effect.argument >= 0 ? arguments[effect.argument] : effect.target;
}

void Effects::undo() const {
  for (const GradEffect &effect : replay.grads)
    targetOf(effect, arguments).setGrad(effect.before);
}

bool Replay::holds(llvm::ArrayRef<Tensor> arguments) const {
  for (const auto &[mode, value] : modes)
    if (*mode != value)
      return false;
  return llvm::all_of(grads, [&](const GradEffect &effect) {
    return targetOf(effect, arguments).grad().isDefined() == effect.before.isDefined();
  });
}

void Replay::prepare(llvm::ArrayRef<Tensor> arguments) const {
  for (const GradEffect &effect : grads) {
    Tensor target = targetOf(effect, arguments);
    if (!effect.before.isDefined() || isSame(target.grad(), effect.before))
      continue;
    effect.before.assign(target.grad());
    target.setGrad(effect.before);
  }
}

void Replay::apply(llvm::ArrayRef<Tensor> arguments, llvm::ArrayRef<Tensor> results) const {
  for (const GradEffect &effect : grads)
    if (!effect.same)
      targetOf(effect, arguments).setGrad(effect.result < 0 ? Tensor() : results[effect.result]);
}

} // namespace tessera::detail
