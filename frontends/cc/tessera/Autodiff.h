//===- Autodiff.h - gradients -----------------------------------*- C++ -*-===//
#pragma once

#include "eager/gradients/Tape.h"
#include "tessera/Effects.h"
#include "tessera/Tensor.h"

namespace tessera {

/// While alive, nothing is recorded for gradients on this thread.
using NoGrad = tess::eager::NoGrad;

/// Records operators on attached tensors, and adds gradients up in their grad(). For one thread.
///
///     GradManager manager;
///     manager.attach(model.parameters());
///     {
///       auto recording = manager.record();
///       manager.backward(functional::cross_entropy(model(x), y));
///     }
class GradManager {
public:
  /// Called with a tensor and a gradient that arrived for it; returns the gradient to add.
  using Callback = std::function<Tensor(const Tensor &tensor, const Tensor &grad)>;

  GradManager() = default;
  ~GradManager() { release(); }
  GradManager(const GradManager &) = delete;
  GradManager &operator=(const GradManager &) = delete;

  /// Makes backward() compute gradients of `tensors` too; a tensor that is attached again gets one more callback.
  /// Parameters of a module that is frozen (Module::freeze()) get none while they are.
  GradManager &attach(const std::vector<Tensor> &tensors, const Callback &callback = nullptr);
  GradManager &attach(const Tensor &tensor, const Callback &callback = nullptr) {
    return attach(std::vector<Tensor>{tensor}, callback);
  }
  /// The attached tensors, each once, in the order of attach().
  std::vector<Tensor> attachedTensors() const;

  /// Recording ends with the scope's life, or with backward(). Managers nest: the outer one differentiates the inner
  /// one's backward().
  class [[nodiscard]] Scope {
  public:
    explicit Scope(GradManager &manager) : manager(&manager) {}
    Scope(const Scope &) = delete;
    ~Scope() { manager->release(); }

  private:
    GradManager *manager;
  };
  /// Begins to record on this thread; InvalidArgument when it records already.
  Scope record();
  bool isRecording() const { return tape != nullptr; }

  /// Adds the gradient of `y`, weighted with `dy` (default: ones), to the grad() of every attached tensor. Ends the
  /// recording.
  void backward(const Tensor &y, const Tensor &dy = Tensor()) { backward(std::vector<Tensor>{y}, {dy}); }
  /// The same for the sum over several results.
  void backward(const std::vector<Tensor> &ys, const std::vector<Tensor> &dys = {});

private:
  struct Attached {
    Tensor tensor;
    std::vector<Callback> callbacks;
    void add(Tensor grad) const;
  };
  void watch(const Attached &entry);
  void release();

  /// What is attached has changed, for traces that saw it.
  void noteChange();

  std::vector<Attached> attached;
  detail::ModeRef unchanged = std::make_shared<bool>(true); // since the present traces were recorded
  std::vector<size_t> watched;                              // by number of the tape's leaf: which of `attached`
  tess::eager::TapeRef tape;
};

} // namespace tessera
