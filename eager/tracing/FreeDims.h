//===- FreeDims.h - that a recording fits every size ------------*- C++ -*-===//
//
// A program of a file runs at all sizes of its free dimensions. The recorded
// call saw one: whether a size stands in the program is seen when the function
// is recorded again at others, by inference.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/tracing/RecordingGraph.h"
#include "runtime/bind/Bind.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tess::eager {

/// How two recordings of one function differ in the sizes of their arguments.
struct SizeDifference {
  /// An axis of an argument.
  struct Axis {
    unsigned argument, axis;
  };
  /// Those whose sizes differ, where the recordings are one program with other sizes.
  std::vector<Axis> axes;
  /// Else the first operator, result or argument that differs, in words.
  std::string why;
};

/// Compares two recordings of one function, whose arguments have equal dtypes.
llvm::Expected<SizeDifference> differenceInSizes(const Recording &first, const Recording &second);

/// The program of a graph, for this machine.
llvm::Expected<runtime::ProgramRef> compiledHere(const ir::Graph &graph);

/// The free dimensions of a recorded call, and the other sizes at which it is recorded.
class FreeDims {
public:
  using Sizes = llvm::SmallVector<int64_t, 2>; // of the dimensions
  /// InvalidArgument when a dimension has two sizes in the call.
  static llvm::Expected<FreeDims> create(RecordingRef recorded, const GraphOptions &options);

  /// Records the function again, by inference, with these arguments, and gives the recording or why it refused them.
  using RecordAgain = llvm::function_ref<llvm::Expected<RecordingRef>(llvm::ArrayRef<TensorRef> arguments)>;
  /// InvalidArgument when the recorded call of the function `name` depends on a free size: it is recorded again at
  /// choices(). `aliases`: for each argument the first position of its variable.
  llvm::Error check(llvm::StringRef name, llvm::ArrayRef<unsigned> aliases, RecordAgain record) const;
  /// The recorded sizes, then those of choices() at which the function must run.
  std::vector<Sizes> neededSizes() const;
  /// The inputs of the call's program with these sizes: the arguments, then the state.
  Metas inputsAt(const runtime::Executable &exe, llvm::ArrayRef<int64_t> sizes) const;
  /// The error to report when the function `name` must run at `sizes` and failed there with the message `why`.
  llvm::Error refused(llvm::StringRef name, llvm::ArrayRef<int64_t> sizes, llvm::StringRef why) const;

private:
  /// Sizes at which the function is recorded again.
  struct Choice {
    Sizes sizes;
    /// Whether the function must run there. Where it need not, the program must refuse a size that it refuses.
    bool isNeeded;
  };
  /// Sizes near the recorded ones, larger ones, the lower bounds, and large ones within the upper bounds; none without
  /// a free dimension.
  std::vector<Choice> choices() const;
  /// InvalidArgument, with the operator and its line, when `again`, recorded at `sizes`, is another program.
  llvm::Error checkSame(const Recording &again, llvm::ArrayRef<int64_t> sizes) const;
  Metas argumentsAt(llvm::ArrayRef<int64_t> sizes) const;
  /// Whether the call's program binds inputs of these sizes, as far as shapes tell.
  llvm::Expected<bool> serves(llvm::ArrayRef<int64_t> sizes) const;
  std::string shown(llvm::ArrayRef<int64_t> sizes) const;

  RecordingRef recorded;
  std::vector<ir::NamedDim> dims;
  std::vector<ArgumentDims> argumentDims;
  Sizes recordedSizes;
};

} // namespace tess::eager
