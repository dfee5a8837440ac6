//===- SizedProgram.h - one program for calls of other sizes ----*- C++ -*-===//
//
// What every frontend's traces decide alike about sizes: recordings that differ in
// sizes of arguments only share a program in which these are free; and a recording
// in which data decides sizes serves other data only if it is the same at others.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/tracing/FreeDims.h"
#include "eager/tracing/Recorder.h"
#include "eager/tracing/TracedProgram.h"

namespace tess::eager {

/// A size below it is never free: such an axis repeats, or has nothing to compute.
constexpr int64_t kLeastFreeSize = 2;

/// The program of recordings that differ in sizes at some axes of their arguments, compiled from the latest of them
/// when it is first asked for. Thread-safe.
class SizedProgram {
public:
  using Ref = std::shared_ptr<SizedProgram>;
  using Axis = SizeDifference::Axis;

  /// A program for two recordings, or why none serves both.
  struct Shared {
    Ref program;
    std::string why;
  };
  /// For `first` and `second`, and all recordings that `known` serves; that may be the answer, and may be null.
  static llvm::Expected<Shared> of(const RecordingRef &first, const RecordingRef &second, const Ref &known);

  /// The program, bound to the sizes of the arguments; null where it cannot be, because a rule needs to know a size.
  /// `options` and `fuse` are those of the first call.
  llvm::Expected<std::shared_ptr<TracedProgram>> get(llvm::ArrayRef<TensorRef> arguments, const GraphOptions &options,
                                                     bool fuse);
  /// The free axes.
  llvm::ArrayRef<Axis> axes() const { return freeAxes; }
  /// Whether it is made from `other`.
  bool isOf(const RecordingRef &other) const { return recording == other; }
  /// Whether get() need not compile any more.
  bool isCompiled();
  /// Why there is no program for any sizes; empty as long as there may be one.
  std::string why();

private:
  SizedProgram(RecordingRef recording, std::vector<Axis> axes)
      : recording(std::move(recording)), freeAxes(std::move(axes)) {}
  llvm::Error compile(GraphOptions options, bool fuse);

  RecordingRef recording;
  std::vector<Axis> freeAxes; // in order, each once
  std::mutex mutex;
  std::shared_ptr<TracedProgram> program;
  std::string reason;
};

/// Records a function again, by inference, where data decides the sizes of the recorded call, moved.
/// InvalidArgument: the function takes no such sizes.
using RecordMoved = llvm::function_ref<llvm::Expected<RecordingRef>(const SizeMove &)>;
/// Why `recording` holds only where data decides sizes as it did; empty: it holds for others, too.
llvm::Expected<std::string> whyFixedByData(const Recording &recording, RecordMoved record);
/// Why the graph of a recorded operator would take sizes for equal that were not: one that data decided was 1, and
/// other axes are summed or repeated then. Empty: it takes none. A trace needs not ask: a run of its program refuses
/// them, and the function takes its place, which a file has not.
std::string whyTakenForEqual(const Recording &recording);

} // namespace tess::eager
