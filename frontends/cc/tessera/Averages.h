//===- Averages.h - averages of parameters over the steps -------*- C++ -*-===//
#pragma once

#include "tessera/Serialization.h"

namespace tessera {

/// Averages of tensors, for evaluation: update() takes their values in, after each step or epoch.
class Averages {
public:
  virtual ~Averages() = default;
  Averages(const Averages &) = delete;
  Averages &operator=(const Averages &) = delete;

  /// Takes the values in; returns the averages' object.
  Averages &update();
  /// Gives the tensors the averages as values.
  void copyToParams() const;
  /// The averages, in the order of the tensors.
  const std::vector<Tensor> &values() const { return averages; }

  /// While alive, the tensors have the averages as values, after it their own again.
  class [[nodiscard]] Applied {
  public:
    explicit Applied(const Averages &averages);
    Applied(const Applied &) = delete;
    ~Applied();

  private:
    const Averages &averages;
    std::vector<Tensor> own;
  };

  /// The averages by number ("0", "1", ...), and "count", how many values they have taken in.
  StateDict stateDict() const;
  /// Goes on where stateDict() was taken; names and shapes must be exactly those. Nothing changes when it throws.
  void loadStateDict(const StateDict &state);

protected:
  /// InvalidArgument when `params` is empty, TypeMismatch when they are no floats. `name`: of the class, in errors.
  Averages(std::string name, std::vector<Tensor> params);
  /// The share of the next value, float64; `count` is how many values came before, float32.
  virtual Tensor share(const Tensor &count) const = 0;

private:
  std::string name;
  std::vector<Tensor> params, averages;
  Tensor count;
};

/// Exponential moving averages: a = decay * a + (1 - decay) * p, starting at the values now.
class EMA : public Averages {
public:
  /// InvalidArgument unless `decay` is of [0, 1].
  explicit EMA(std::vector<Tensor> params, double decay = 0.999);

private:
  Tensor share(const Tensor &count) const override;
  Tensor rest; // 1 - decay
};

/// Stochastic weight averages: the mean of the values at all updates.
class SWA : public Averages {
public:
  explicit SWA(std::vector<Tensor> params) : Averages("SWA", std::move(params)) {}

private:
  Tensor share(const Tensor &count) const override;
};

} // namespace tessera
