//===- Recomputation.h - calls whose gradient runs them again ---*- C++ -*-===//
//
// A tape keeps nothing of such a call but its arguments. Backward runs it again
// while the tape records, and goes on with what that gives, so gradients add up
// in the order of the plain call. T. Chen, B. Xu, C. Zhang, C. Guestrin:
// Training Deep Nets with Sublinear Memory Cost, arXiv:1604.06174.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/gradients/Tape.h"
#include "eager/stack/Autocast.h"
#include "eager/stack/Watcher.h"
#include "eager/tensor/Operator.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace tess::eager {

/// One call: between the constructor and end() it runs, and this thread's tapes keep nothing. For one thread.
class Recomputation final : public Watcher {
public:
  /// The call begins, with these tensors among its arguments.
  explicit Recomputation(llvm::ArrayRef<TensorRef> arguments);
  ~Recomputation();
  Recomputation(const Recomputation &) = delete;

  /// The call has ended, and its caller holds no results but those that stay: tapes record again.
  void end();
  /// Writes the call down on the tapes that track something that it read. `outputs`: what of its results may get a
  /// gradient, variables that nobody else has.
  void record(llvm::ArrayRef<TensorRef> outputs, const Rerun &rerun);

  /// The arguments for the call that runs again, with the gradients of the first ones. Until finish(), variables that
  /// it read or updated have the values that they had. An error when memory of one was written since.
  llvm::Expected<Tensors> begin();
  void finish();

  void noteRead(TensorImpl &tensor) override;
  void noteUpdate(TensorImpl &variable) override;
  /// The call around, or null; the tapes that this one stopped.
  const Recomputation *outerCall() const { return outer; }
  llvm::ArrayRef<TapeRef> stopped() const { return tapes; }

private:
  /// A value that the call reads again.
  struct Kept {
    TensorRef variable, value;
    uint32_t version;
    explicit Kept(TensorImpl &tensor);
    bool isChanged() const;
  };
  llvm::Error check(const Kept &kept) const;

  StoppedTapes stops;         // until end()
  std::vector<TapeRef> tapes; // those that the call stopped
  std::vector<bool> isRead;   // by tape: whether the call read what it tracks
  std::vector<Kept> arguments, reads, updates;
  llvm::SmallPtrSet<TensorImpl *, 16> known;            // of `reads` and `updates`
  std::vector<std::pair<TensorRef, TensorRef>> present; // between begin() and finish(): variables and their values
  Autocast cast, castBefore;
  Recomputation *outer = nullptr;
  bool runs = true;
};

/// Tapes of this thread that record or are stopped by a call that runs; none while recording is paused.
size_t numTapes();
/// Whether one of those tracks the value.
bool isTracked(const TensorImpl &tensor);

} // namespace tess::eager
