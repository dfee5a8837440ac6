//===- Stages.h - a program cut where data decides sizes --------*- C++ -*-===//
//
// What reads a value whose size data decides can be bound only when the value
// is there. Such a program is cut into stages: each is a program of its own,
// whose outputs are results of the whole and what later stages read. A loop with
// such sizes in its trips is a stage too: its body is a program, in stages again,
// which runs once for each trip.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/graphs/Control.h"
#include "runtime/bind/Bind.h"

#include <list>

namespace tess::runtime {

/// Where an input of a stage comes from.
struct StageInput {
  int32_t stage = -1; // -1: the program's input number `index`; else that output of the earlier stage
  uint32_t index = 0;
};
/// What a stage gives.
struct StageOutput {
  int32_t result = -1; // the program's output; -1: only later stages read it
  TensorMeta meta;     // with the sizes that follow from no input
};

/// How a loop runs the program that is its body. The first inputs of that are the loop's arguments: what is carried,
/// then elements of the xs; the others stay.
struct StageLoop {
  uint32_t numCarried = 0, numXs = 0;
  int64_t length = -1;
  bool reverse = false, isGuarded = false;
  /// By output of the body: the result of the loop. A carried value has none where trips do not change it, else it
  /// takes over the memory of its input.
  std::vector<uint32_t> results;
  /// Whether nothing says before a run how large the stacked result is.
  bool isGrown(size_t result) const { return result >= numCarried && control::hasNoBound(isGuarded, length); }
};

/// One stage, as an executable.
struct StageCode {
  Executable exe;
  std::vector<StageInput> inputs;
  std::vector<StageOutput> outputs; // of a loop: its results
  std::optional<StageLoop> loop;    // `exe` is its body
  std::vector<int32_t> images;      // by image of the stage: that of the program
};

/// The stages of `exe`, from which they take the bytes of constants; none where no operator reads a value whose size
/// data decides.
llvm::Expected<std::vector<StageCode>> splitAtData(Executable &exe);

/// Bytes of a value whose sizes are known.
inline uint64_t bytesOf(const TensorMeta &meta) { return uint64_t(meta.numElements()) * byteWidth(meta.dtype); }

/// The inputs of the body for those of the loop.
Metas bodyInputsOf(const StageLoop &loop, Metas inputs);

/// One stage, ready to be bound.
struct Stage {
  ProgramRef program;
  std::vector<StageInput> inputs;
  std::vector<StageOutput> outputs;
  std::optional<StageLoop> loop;
};
struct Stages : std::vector<Stage> {};
/// The results of a loop, of which trips have such inputs and outputs, for `trips` of them: one without a bound.
std::vector<TensorMeta> loopResults(const StageLoop &loop, llvm::ArrayRef<TensorMeta> inputs,
                                    llvm::ArrayRef<TensorMeta> outputs, size_t numResults, int64_t trips);

/// What a binding of a program in stages keeps: bindings of each stage for the sizes of the latest runs.
class StagedBinding {
public:
  StagedBinding(const Stages &stages, llvm::ArrayRef<TensorMeta> inputs, const BindOptions &options)
      : stages(stages), inputs(inputs.begin(), inputs.end()), options(options), known(stages.size()) {
    this->options.set(options.settings()); // stages that runs bind have the same
  }

  /// The inputs of a stage, in metas, xs of a loop whole; `made`: the outputs of the stages before it.
  Metas inputsOf(size_t stage, llvm::ArrayRef<std::vector<TensorMeta>> made) const;
  /// The binding of a stage for these inputs; of a loop that of its body.
  llvm::Expected<BoundRef> bind(size_t stage, llvm::ArrayRef<TensorMeta> metas);
  /// Bytes and launches of the bindings that it keeps; of launches the latest of each stage.
  uint64_t heldBytes() const;
  uint64_t launches() const;
  /// The latest binding of a stage; null: none yet.
  const Bound *latest(size_t stage) const { return known[stage].empty() ? nullptr : known[stage].front().bound.get(); }

  const Stages &stages;

private:
  struct Known {
    Metas inputs;
    BoundRef bound;
  };
  Metas inputs;
  BindOptions options;
  std::vector<std::list<Known>> known; // by stage, the latest first
};

} // namespace tess::runtime
