//===- Containers.h - modules made of modules -------------------*- C++ -*-===//
#pragma once

#include "tessera/Module.h"

#include <memory>

namespace tessera {

/// Modules one after the other, named "0", "1", ...:
///
///     Sequential net;
///     net.add<Linear>(64, 32).add<ReLU>().add<Linear>(32, 10);
class Sequential : public Module {
public:
  /// Appends a module of type M, made of `args`; returns this.
  template <typename M, typename... Args> Sequential &add(Args &&...args) {
    return append(std::make_unique<M>(std::forward<Args>(args)...));
  }
  /// Appends a module, which this owns from then on; returns this.
  Sequential &append(std::unique_ptr<Module> module) { return append(std::to_string(size()), std::move(module)); }
  /// The same under a name of its own.
  Sequential &append(const std::string &name, std::unique_ptr<Module> module);
  /// Number of modules.
  size_t size() const { return modules.size(); }
  Module &operator[](size_t index) { return *modules.at(index); }
  Tensor forward(const Tensor &x) override;

private:
  std::vector<std::unique_ptr<Module>> modules;
};

/// A list of modules of type M, named by their positions; it computes nothing itself.
template <typename M = Module> class ModuleList : public Module {
public:
  /// Appends a module of type T, made of `args`; returns it.
  template <typename T = M, typename... Args> T &add(Args &&...args) {
    auto made = std::make_unique<T>(std::forward<Args>(args)...);
    T &added = *made;
    registerModule(std::to_string(size()), added);
    modules.push_back(std::move(made));
    return added;
  }
  /// Number of modules.
  size_t size() const { return modules.size(); }
  M &operator[](size_t index) { return *modules.at(index); }

private:
  std::vector<std::unique_ptr<M>> modules;
};

/// Modules of type M by name, in the order of add(); it computes nothing itself.
template <typename M = Module> class ModuleDict : public Module {
public:
  /// Adds a module of type T, made of `args`; returns it.
  template <typename T = M, typename... Args> T &add(const std::string &name, Args &&...args) {
    auto made = std::make_unique<T>(std::forward<Args>(args)...);
    T &added = *made;
    registerModule(name, added);
    modules.push_back({name, std::move(made)});
    return added;
  }
  /// Number of modules.
  size_t size() const { return modules.size(); }
  /// The names, in the order of add().
  std::vector<std::string> keys() const {
    std::vector<std::string> list;
    for (const auto &[name, module] : modules)
      list.push_back(name);
    return list;
  }
  /// NotFound when there is no module of that name.
  M &operator[](const std::string &name) {
    for (auto &[known, module] : modules)
      if (known == name)
        return *module;
    throw Error(ErrorCode::NotFound, "ModuleDict: name must be that of a module, got '" + name + "'");
  }

private:
  std::vector<std::pair<std::string, std::unique_ptr<M>>> modules;
};

} // namespace tessera
