//===- Containers.cpp - modules made of modules --------------------------===//
#include "tessera/Containers.h"

namespace tessera {

Sequential &Sequential::append(const std::string &name, std::unique_ptr<Module> module) {
  registerModule(name, *module);
  modules.push_back(std::move(module));
  return *this;
}

Tensor Sequential::forward(const Tensor &x) {
  Tensor result = x;
  for (const std::unique_ptr<Module> &module : modules)
    result = (*module)(result);
  return result;
}

} // namespace tessera
