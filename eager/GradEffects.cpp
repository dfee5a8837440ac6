//===- GradEffects.cpp - what a traced function does to gradients --------===//
#include "eager/GradEffects.h"

#include "llvm/ADT/STLExtras.h"

namespace tess::eager {

GradEffects::GradEffects(const Recorder &recorder, llvm::ArrayRef<TensorRef> arguments,
                         std::vector<TensorRef> &results) {
  int count = 0;
  for (const Recorder::GradBefore &touched : recorder.gradsBefore()) {
    Effect effect;
    const TensorRef &after = touched.variable->grad();
    effect.before = touched.grad;
    effect.stays = after == touched.grad;
    if (after && !effect.stays) {
      effect.result = count++;
      results.push_back(after);
    }
    auto position = llvm::find(arguments, touched.variable);
    if (position == arguments.end())
      effect.outside = WeakTensor(*touched.variable);
    else
      effect.argument = position - arguments.begin();
    effects.push_back(std::move(effect));
  }
}

bool GradEffects::holds(llvm::ArrayRef<TensorRef> arguments) const {
  return llvm::all_of(effects, [&](const Effect &effect) {
    TensorRef variable = effect.variable(arguments);
    return !variable || !variable->grad() == !effect.before;
  });
}

llvm::Error GradEffects::prepare(llvm::ArrayRef<TensorRef> arguments) const {
  for (const Effect &effect : effects) {
    TensorRef variable = effect.variable(arguments);
    if (!effect.before || !variable || variable->grad() == effect.before)
      continue;
    TensorRef now = variable->grad();
    variable->setGrad(effect.before);
    if (!now)
      continue;
    if (!now->isUnique())
      now->storage().noteCopy(); // other users keep this value
    if (llvm::Error error = assign(*effect.before, *now))
      return error;
  }
  return llvm::Error::success();
}

void GradEffects::apply(llvm::ArrayRef<TensorRef> arguments, llvm::ArrayRef<TensorRef> results) const {
  for (const Effect &effect : effects)
    if (TensorRef variable = effect.stays ? nullptr : effect.variable(arguments))
      variable->setGrad(effect.result < 0 ? nullptr : results[effect.result]);
}

std::string GradEffects::Effect::line() const {
  std::string whose = "arg" + std::to_string(argument);
  if (argument < 0) {
    TensorRef variable = outside.lock();
    whose = !variable ? "a tensor that is gone" : variable->name().empty() ? "outside" : variable->name().str();
  }
  if (stays)
    return "grad of " + whose + " stays";
  return "grad of " + whose + " becomes " + (result < 0 ? "None" : "gradient " + std::to_string(result));
}

std::vector<std::string> GradEffects::lines() const {
  std::vector<std::string> lines;
  for (const Effect &effect : effects)
    lines.push_back(effect.line());
  return lines;
}

} // namespace tess::eager
