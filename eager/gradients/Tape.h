//===- Tape.h - what a gradient needs ---------------------------*- C++ -*-===//
//
// One tape for one manager. While it records, every operator that reads a value
// it knows is written down with the values that its gradient reads, no others.
// Backward walks it in reverse, through apply(): outer tapes and recordings see
// the operators of the gradient. The tape refers to values, never to variables.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/gradients/SymbolicPlan.h"
#include "eager/stack/Apply.h"
#include "eager/tensor/Location.h"

#include <deque>
#include <functional>

namespace tess::eager {

struct Call;
class Tape;
/// A counted reference: a thread holds one to each tape that records it.
using TapeRef = llvm::IntrusiveRefCntPtr<Tape>;

/// Gradients of the inputs from those of the outputs (null where none arrives), for functions that users write.
using CustomBackward = std::function<llvm::Expected<Tensors>(llvm::ArrayRef<TensorRef> outputGrads)>;
/// A function that sees the gradient of a value, and gives what goes on in its place.
using GradHook = std::function<llvm::Expected<TensorRef>(TensorRef grad)>;
/// Runs a call again while a tape records; its outputs.
using Rerun = std::function<llvm::Expected<Tensors>()>;

/// The operators between start() and backward(), with the values that their gradients read. For one thread.
class Tape : public llvm::ThreadSafeRefCountedBase<Tape> {
public:
  /// An empty tape, which does not record.
  static TapeRef create();
  ~Tape();

  /// Records the operators of this thread until stop(). Tapes nest: one sees the operators of the gradients of those
  /// that began after it, and not of those that began before it or as one with it, `beside` it.
  void start(const Tape *beside = nullptr);
  void stop();
  bool isRecording() const;

  /// Makes backward() return the gradient of the present value of `tensor`, which may be computed from watched ones;
  /// gives its place among the results.
  unsigned watch(TensorImpl &tensor);
  /// Calls `hook` in backward() with the whole gradient of the present value of `tensor`, if one arrives and the tape
  /// tracks it. A second hook with the same `key` of one value is left out.
  void addHook(const TensorImpl &tensor, GradHook hook, const void *key);
  /// Whether the tensor has the value with which it was watched, in memory that nobody wrote since.
  bool isUnwritten(const TensorImpl &tensor) const;
  /// The number of the value in this tape, which counts them up; 0: it does not track it.
  uint32_t numberOf(const TensorImpl &tensor) const { return idOf(tensor); }
  uint32_t lastNumber() const { return lastId; }
  /// Whether the value was watched, or computed from watched ones.
  bool tracks(const TensorImpl &tensor) const { return tensor.gradId(id) != 0; }
  /// Whether the value was watched itself.
  bool watches(const TensorImpl &tensor) const;

  /// Gradients of `ys` weighted with `dys` (null: ones) for every watched value; null where none arrives. Ends the
  /// recording and empties the tape as it goes.
  llvm::Expected<Tensors> backward(llvm::ArrayRef<TensorRef> ys, llvm::ArrayRef<TensorRef> dys);
  /// Forgets everything recorded and watched.
  void clear();

  /// An error when the memory of `tensor`, which `op` is about to read, was written after the tape saw its value: a
  /// tape cannot follow what a write through one view makes of another.
  llvm::Error checkUnwritten(llvm::StringRef op, const TensorImpl &tensor) const;
  /// Writes down a call that ran and tags its results. `isTraced`: this thread records it.
  llvm::Error record(const Call &call, llvm::ArrayRef<TensorRef> results, bool isTraced);
  /// Keeps the values that the gradient of the call just recorded reads; called when every tape has tagged them.
  void save(const Call &call, llvm::ArrayRef<TensorRef> results);
  /// Writes down a function with a gradient of its own. An output that is one of the inputs, too, gives `backward` what
  /// has arrived at it from later calls, and its gradient of that input takes the place of this.
  void recordCustom(llvm::ArrayRef<TensorRef> inputs, llvm::ArrayRef<TensorRef> outputs, CustomBackward backward);
  /// Writes down a call whose operators were not: backward() runs it again, and goes on with what that records.
  void recordRerun(llvm::ArrayRef<TensorRef> outputs, Rerun rerun);

  /// While alive, the tapes that this thread started before are hidden, from `tape` on.
  class Outer {
  public:
    explicit Outer(const Tape &tape);
    ~Outer();
    Outer(const Outer &) = delete;
  };
  /// While alive, the tape, whose backward runs, records beside those before it.
  class Again {
  public:
    explicit Again(Tape &tape);
    ~Again();
    Again(const Again &) = delete;

  private:
    Tape &tape;
  };

private:
  struct Saved {
    uint16_t position; // among the inputs of the backward graph
    uint32_t version;
    TensorRef value;
  };
  /// What few records have, apart from them because a tape has many.
  struct Rare {
    std::unique_ptr<SymbolicPlan> symbolic; // for the recording in which the call was made; null: for none
    CustomBackward custom;                  // null: the plan has the gradient
    Rerun rerun;                            // null: the operators of the call are on the tape
  };
  struct Record {
    BackwardPlanRef plan;                   // null: a function with a gradient of its own
    llvm::SmallVector<uint32_t, 4> inputs;  // ids; 0: not tracked
    llvm::SmallVector<uint32_t, 2> outputs; // ids; 0: no gradient can arrive (integers)
    llvm::SmallVector<Saved, 2> saved;
    Location place;             // of the call, when it saved something or values are checked
    std::unique_ptr<Rare> rare; // null in most
  };

  Tape();
  static void updateActive();
  uint32_t newId() { return ++lastId; }
  uint32_t idOf(const TensorImpl &tensor) const { return tensor.gradId(id); }
  void tagResults(Record &record, llvm::ArrayRef<TensorRef> results);
  llvm::Error runHooks(uint32_t value);
  llvm::Expected<TensorRef> takeGrad(uint32_t value);
  static bool returnsInput(const Record &record, uint32_t output);
  void takeGradsOfInputs(const Record &record, llvm::MutableArrayRef<TensorRef> outputGrads);
  llvm::Error seed(llvm::ArrayRef<TensorRef> ys, llvm::ArrayRef<TensorRef> dys);
  llvm::Error accumulate(uint32_t value, TensorRef grad);
  llvm::Error step(Record &record);
  llvm::Expected<Tensors> recordAgain(const Rerun &rerun);
  llvm::Error runAgain(const Rerun &rerun, llvm::ArrayRef<TensorRef> outputGrads);
  /// Of the inputs. Where `hasSum` is set, that is the sum with what was summed before.
  llvm::Expected<Tensors> gradientsOf(Record &record, llvm::ArrayRef<TensorRef> outputGrads,
                                      llvm::ArrayRef<bool> hasSum);
  llvm::SmallVector<bool, 4> sumsOf(const Record &record) const;
  llvm::Error checkSaved(const Record &record) const;
  static llvm::Error inGradientOf(const Record &record, llvm::Error error);
  llvm::Error walk();

  uint32_t id;
  uint64_t order = 0; // among the starts of all tapes; 0: not started
  uint32_t lastId = 0;
  std::deque<Record> records;
  llvm::SmallVector<uint32_t, 8> watched;
  llvm::SmallVector<uint32_t, 0> watchedResults; // those that records give
  struct Hook {
    uint32_t value;
    const void *key;
    GradHook run;
  };
  std::vector<Hook> hooks;      // in the order in which those of one value run
  std::vector<TensorRef> grads; // by id, during backward
};

/// Adds `grad` to the variable `total`, in place when no other variable, view or saved value has its memory.
llvm::Error accumulateGrad(TensorImpl &total, TensorImpl &grad);

/// While alive, nothing is recorded for gradients on this thread.
class NoGrad {
public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad &) = delete;
};
/// The same for frontends whose scopes are not C++ scopes; must be balanced.
void pauseGrad();
void resumeGrad();

/// Tapes of this thread that record now, outermost first. While one computes a gradient, those before it.
llvm::ArrayRef<TapeRef> activeTapes();
/// The active tapes of this thread, which record nothing until start().
class StoppedTapes {
public:
  StoppedTapes();
  void start();
  llvm::ArrayRef<TapeRef> list() const { return tapes; }

private:
  llvm::SmallVector<TapeRef, 2> tapes;
};
/// Whether recording is paused on this thread.
bool isGradPaused();
/// Counts who sees the operators of this thread that no tape records (Recomputation.h): one more (+1) or less (-1).
void watchOperators(int change);
/// Writes a custom function down on every active tape that tracks one of its inputs.
void recordCustomFunction(llvm::ArrayRef<TensorRef> inputs, llvm::ArrayRef<TensorRef> outputs,
                          const CustomBackward &backward);

} // namespace tess::eager
