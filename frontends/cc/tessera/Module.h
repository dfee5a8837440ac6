//===- Module.h - functions with parameters ---------------------*- C++ -*-===//
//
// A module has parameters, buffers and children under names; dots join the way
// to those below. Parts are registered in the constructor:
//
//     class Net : public Module {
//     public:
//       Net() { registerModule("fc1", fc1); registerModule("fc2", fc2); }
//       Tensor forward(const Tensor &x) override { return fc2(functional::relu(fc1(x))); }
//     private:
//       Linear fc1{64, 32}, fc2{32, 10};
//     };
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tessera/Effects.h"
#include "tessera/Serialization.h"

#include <string>
#include <utility>
#include <vector>

namespace tessera {

namespace translated {
struct Parts;
} // namespace translated

/// A function of tensors with named parameters, buffers and children. Not thread-safe.
class Module {
public:
  Module();
  virtual ~Module() = default;
  /// Modules stay where they are: parents refer to their children.
  Module(const Module &) = delete;
  Module &operator=(const Module &) = delete;

  /// Computes the module. A module of several operands has functions of its own instead, which open a Scope.
  virtual Tensor forward(const Tensor &x);
  /// Calls forward() within the module's scope, so that errors and dumps name its path.
  Tensor operator()(const Tensor &x);

  /// While alive, operators belong to the module's path.
  class [[nodiscard]] Scope {
  public:
    explicit Scope(Module &module);
    Scope(const Scope &) = delete;
    ~Scope();
  };

  /// (path, tensor) in the order of names ("10" before "2"), as in Python.
  using NamedTensors = std::vector<std::pair<std::string, Tensor>>;
  /// Parameters of this module and all below, each once, by path.
  NamedTensors namedParameters() const;
  /// Tensors that are state and not trained (running statistics).
  NamedTensors namedBuffers() const;
  /// This module (path "") and all below, each once.
  std::vector<std::pair<std::string, Module *>> namedModules();
  /// The tensors of namedParameters().
  std::vector<Tensor> parameters() const;

  /// Training mode here and below; returns the module.
  Module &train(bool mode = true);
  /// Inference mode here and below.
  Module &eval() { return train(false); }
  /// What train() set last; true at first.
  bool isTraining() const { return *training; }

  /// Leaves the parameters here and below as they are: they lose their gradient and get none, and optimizers pass them
  /// by. Returns the module. Running statistics still move in training.
  Module &freeze(bool frozen = true);
  /// Ends what freeze() began, here and below.
  Module &unfreeze() { return freeze(false); }

  /// Parameters and buffers by path, with their present values, which later updates do not change.
  StateDict stateDict() const;
  /// Sets parameters and buffers by path; sizes other than 1 must agree (Python writes [C] for [1, C, 1, 1]), dtypes
  /// are converted. With `strict` the names must be exactly those of this module; otherwise unknown names are ignored,
  /// and missing ones are returned. Nothing changes when it throws.
  std::vector<std::string> loadStateDict(const StateDict &state, bool strict = true);
  /// stateDict() in a file that Python's tessera.load reads, and back.
  void save(const std::string &path) const { tessera::save(stateDict(), path); }
  void load(const std::string &path) { (void)loadStateDict(tessera::load(path)); }

protected:
  /// Returns `value`, now a parameter. Names must be new and without dots.
  Tensor registerParameter(const std::string &name, const Tensor &value);
  /// Returns `value`, now a buffer.
  Tensor registerBuffer(const std::string &name, const Tensor &value);
  /// `child` lives as long as this module: a member, or owned by one.
  void registerModule(const std::string &name, Module &child);
  /// Whether the state has one axis for each tensor, as that of Python's normalisations.
  virtual bool hasFlatState() const { return false; }

private:
  friend struct translated::Parts;
  struct Entry {
    std::string name;
    Tensor tensor;
    bool isParameter;
    const Module *owner;
  };
  void checkName(const std::string &name) const;
  void collect(const std::string &prefix, std::vector<std::pair<std::string, const Entry *>> &found) const;
  void collectModules(const std::string &prefix, std::vector<std::pair<std::string, Module *>> &found);
  std::vector<std::pair<std::string, const Entry *>> entries() const;
  NamedTensors named(bool parameters) const;
  void enterTrace(detail::Effects &effects);

  std::vector<Entry> tensors;
  std::vector<std::pair<std::string, Module *>> children;
  std::string scope; // empty: the class's name
  detail::ModeRef training = std::make_shared<bool>(true);
};

} // namespace tessera
