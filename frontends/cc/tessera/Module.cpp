//===- Module.cpp - functions with parameters ----------------------------===//
#include "tessera/Module.h"

#include "eager/tensor/Location.h"
#include "tessera/Autodiff.h"
#include "tessera/Frozen.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cxxabi.h>
#include <map>
#include <typeinfo>

namespace tessera {

namespace eager = tess::eager;

/// The name of the class without its namespaces, as in "Net".
static std::string className(const Module &module) {
  int status = 0;
  char *text = abi::__cxa_demangle(typeid(module).name(), nullptr, nullptr, &status);
  std::string name = status == 0 ? text : "module";
  std::free(text);
  size_t colon = name.rfind("::");
  return colon == std::string::npos ? name : name.substr(colon + 2);
}

Module::Module() = default;

Tensor Module::forward(const Tensor &) {
  throw Error(ErrorCode::Unimplemented, className(*this) + ": forward must be given, got none");
}

Tensor Module::operator()(const Tensor &x) {
  Scope inside(*this);
  return forward(x);
}

Module::Scope::Scope(Module &module) {
  if (detail::Effects *effects = detail::Effects::current())
    module.enterTrace(*effects);
  if (module.scope.empty())
    module.scope = className(module);
  eager::pushScope(module.scope);
}
Module::Scope::~Scope() { eager::popScope(); }

void Module::enterTrace(detail::Effects &effects) {
  effects.seeMode(training);
  for (const auto &[path, entry] : entries())
    if (entry->tensor.name().empty())
      entry->tensor.setName(path);
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

void Module::checkName(const std::string &name) const {
  bool isKnown = llvm::any_of(tensors, [&](const Entry &entry) { return entry.name == name; }) ||
                 llvm::is_contained(llvm::make_first_range(children), name);
  if (name.empty() || name.find('.') != std::string::npos || isKnown)
    throw Error(ErrorCode::InvalidArgument,
                "Module: names of parts must be new, not empty and without dots, got '" + name + "'");
}

Tensor Module::registerParameter(const std::string &name, const Tensor &value) {
  checkName(name);
  tensors.push_back({name, Tensor(value.ref()), true, this});
  return tensors.back().tensor;
}

Tensor Module::registerBuffer(const std::string &name, const Tensor &value) {
  checkName(name);
  tensors.push_back({name, Tensor(value.ref()), false, this});
  return tensors.back().tensor;
}

void Module::registerModule(const std::string &name, Module &child) {
  checkName(name);
  children.push_back({name, &child});
  if (child.scope.empty())
    child.scope = name;
}

void Module::collect(const std::string &prefix, std::vector<std::pair<std::string, const Entry *>> &found) const {
  std::map<std::string, std::pair<const Entry *, const Module *>> parts; // in the order of names, as in Python
  for (const Entry &entry : tensors)
    parts[entry.name].first = &entry;
  for (const auto &[name, child] : children)
    parts[name].second = child;
  for (const auto &[name, part] : parts) {
    auto [entry, child] = part;
    if (child)
      child->collect(prefix + name + ".", found);
    else if (llvm::none_of(found, [&](auto &known) { return known.second->tensor.ref() == entry->tensor.ref(); }))
      found.push_back({prefix + name, entry});
  }
}

std::vector<std::pair<std::string, const Module::Entry *>> Module::entries() const {
  std::vector<std::pair<std::string, const Entry *>> found;
  collect("", found);
  return found;
}

Module::NamedTensors Module::named(bool parameters) const {
  NamedTensors list;
  for (const auto &[path, entry] : entries())
    if (entry->isParameter == parameters)
      list.push_back({path, entry->tensor});
  return list;
}

Module::NamedTensors Module::namedParameters() const { return named(true); }
Module::NamedTensors Module::namedBuffers() const { return named(false); }

std::vector<Tensor> Module::parameters() const {
  std::vector<Tensor> list;
  for (const auto &[path, tensor] : namedParameters())
    list.push_back(tensor);
  return list;
}

void Module::collectModules(const std::string &prefix, std::vector<std::pair<std::string, Module *>> &found) {
  if (llvm::is_contained(llvm::make_second_range(found), this))
    return;
  found.push_back({prefix, this});
  for (const auto &[name, child] : std::map<std::string, Module *>(children.begin(), children.end()))
    child->collectModules(prefix.empty() ? name : prefix + "." + name, found);
}

std::vector<std::pair<std::string, Module *>> Module::namedModules() {
  std::vector<std::pair<std::string, Module *>> found;
  collectModules("", found);
  return found;
}

Module &Module::train(bool mode) {
  for (const auto &[path, module] : namedModules())
    *module->training = mode;
  return *this;
}

Module &Module::freeze(bool frozen) {
  detail::setFrozen(parameters(), frozen);
  return *this;
}

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

StateDict Module::stateDict() const {
  StateDict state;
  for (const auto &[path, entry] : entries())
    state[path] = entry->owner->hasFlatState() ? entry->tensor.detach().reshape({-1}) : entry->tensor.detach();
  return state;
}

static void checkNames(const std::string &module, llvm::ArrayRef<std::string> missing,
                       llvm::ArrayRef<std::string> unexpected) {
  if (missing.empty() && unexpected.empty())
    return;
  throw Error(ErrorCode::NotFound, "loadStateDict: names must be those of " + module + ", got missing [" +
                                       llvm::join(missing, ", ") + "] and unexpected [" + llvm::join(unexpected, ", ") +
                                       "]");
}

/// The sizes other than 1: what a parameter's shape means, [C] for each channel's [1, C, 1, 1].
static Shape squeezed(Shape shape) {
  llvm::erase(shape, 1);
  return shape;
}

/// Whether a value can be that of a tensor: any shape of as many elements where states are flat.
static bool fits(const Tensor &value, const Tensor &tensor, bool isFlat) {
  return isFlat ? value.numElements() == tensor.numElements() : squeezed(value.shape()) == squeezed(tensor.shape());
}

std::vector<std::string> Module::loadStateDict(const StateDict &state, bool strict) {
  std::vector<std::string> missing, unexpected;
  std::vector<std::pair<Tensor, Tensor>> changes;
  size_t found = 0;
  for (const auto &[path, entry] : entries()) {
    auto it = state.find(path);
    if (it == state.end()) {
      missing.push_back(path);
      continue;
    }
    ++found;
    if (!fits(it->second, entry->tensor, entry->owner->hasFlatState()))
      throw Error(ErrorCode::InvalidArgument, "loadStateDict: shapes must be those of " + className(*this) + ", got " +
                                                  path + " " + tess::toString(it->second.ref()->meta()) + " for " +
                                                  tess::toString(entry->tensor.ref()->meta()));
    changes.push_back({entry->tensor, it->second});
  }
  if (strict && found != state.size())
    for (const auto &[path, value] : state)
      if (llvm::none_of(entries(), [&, &name = path](auto &own) { return own.first == name; }))
        unexpected.push_back(path);
  if (strict)
    checkNames(className(*this), missing, unexpected);
  NoGrad noGrad;
  for (const auto &[target, value] : changes) {
    Tensor shaped = value.shape() == target.shape() ? value.detach() : value.reshape(target.shape());
    target.assign(shaped.dtype() == target.dtype() ? shaped : shaped.astype(target.dtype()));
  }
  return missing;
}

} // namespace tessera
