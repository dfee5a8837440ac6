//===- Frozen.cpp - parameters that are left as they are -----------------===//
#include "tessera/Frozen.h"

#include "tessera/Effects.h"

#include <mutex>
#include <unordered_map>

namespace tessera::detail {

namespace eager = tess::eager;

namespace {

/// Variables of all threads by address; one that is gone leaves an entry until its address is used again.
struct Registry {
  std::mutex mutex;
  std::unordered_map<const eager::TensorImpl *, eager::WeakTensor> variables;
  ModeRef unchanged = std::make_shared<bool>(true); // since the present traces were recorded
};

Registry &registry() {
  static auto *instance = new Registry; // never destroyed: threads may outlive main
  return *instance;
}

} // namespace

bool isFrozen(const Tensor &variable) {
  eager::TensorRef ref = variable.ref();
  std::lock_guard<std::mutex> lock(registry().mutex);
  auto found = registry().variables.find(ref.get());
  return found != registry().variables.end() && found->second.is(*ref);
}

void setFrozen(const std::vector<Tensor> &variables, bool frozen) {
  if (Effects::current())
    throw Error(ErrorCode::InvalidArgument,
                "freeze: a module must be frozen outside of traced functions, got a call within one");
  for (const Tensor &variable : variables) {
    if (frozen)
      variable.setGrad(Tensor());
    std::lock_guard<std::mutex> lock(registry().mutex);
    eager::TensorRef ref = variable.ref();
    if (frozen)
      registry().variables[ref.get()] = eager::WeakTensor(*ref);
    else
      registry().variables.erase(ref.get());
  }
  std::lock_guard<std::mutex> lock(registry().mutex);
  *registry().unchanged = false;
  registry().unchanged = std::make_shared<bool>(true);
}

void noteFrozen() {
  Effects *effects = Effects::current();
  if (!effects)
    return;
  std::lock_guard<std::mutex> lock(registry().mutex);
  effects->seeMode(registry().unchanged);
}

} // namespace tessera::detail
