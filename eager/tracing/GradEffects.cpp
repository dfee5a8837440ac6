//===- GradEffects.cpp - what a traced function does to gradients --------===//
#include "eager/tracing/GradEffects.h"
#include "eager/stack/Apply.h"
#include "eager/tracing/Recorder.h"

#include "llvm/ADT/STLExtras.h"

namespace tess::eager {

GradEffects::GradEffects(const Recorder &recorder, llvm::ArrayRef<TensorRef> arguments,
                         llvm::SmallVectorImpl<TensorRef> &results) {
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
    const auto *position = llvm::find(arguments, touched.variable);
    if (position != arguments.end())
      effect.argument = position - arguments.begin();
    else if (recorder.uses(*touched.variable))
      effect.captured = touched.variable;
    else
      effect.outside = WeakTensor(*touched.variable);
    effects.push_back(std::move(effect));
  }
}

TensorImpl *GradEffects::Effect::variable(llvm::ArrayRef<TensorRef> arguments, TensorRef &locked) const {
  if (argument >= 0)
    return arguments[argument].get();
  if (captured)
    return captured.get();
  locked = outside.lock();
  return locked.get();
}

bool GradEffects::holds(llvm::ArrayRef<TensorRef> arguments) const {
  return llvm::all_of(effects, [&](const Effect &effect) {
    TensorRef locked;
    TensorImpl *variable = effect.variable(arguments, locked);
    return !variable || !variable->grad() == !effect.before;
  });
}

void GradEffects::prepare(llvm::ArrayRef<TensorRef> arguments) const {
  for (const Effect &effect : effects) {
    TensorRef locked;
    TensorImpl *variable = effect.variable(arguments, locked);
    if (!effect.before || !variable || variable->grad() == effect.before)
      continue;
    TensorRef now = variable->grad();
    variable->setGrad(effect.before);
    if (!now)
      continue;
    if (!now->isUnique())
      now->storage().noteCopy(); // other users keep this value
    assign(*effect.before, *now);
  }
}

void GradEffects::apply(llvm::ArrayRef<TensorRef> arguments, llvm::ArrayRef<TensorRef> results) const {
  for (const Effect &effect : effects) {
    TensorRef locked;
    TensorImpl *variable = effect.stays ? nullptr : effect.variable(arguments, locked);
    if (variable)
      variable->setGrad(effect.result < 0 ? nullptr : results[effect.result]);
  }
}

std::string GradEffects::Effect::line() const {
  std::string whose = "arg" + std::to_string(argument);
  if (argument < 0) {
    TensorRef locked;
    TensorImpl *variable = this->variable({}, locked);
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
