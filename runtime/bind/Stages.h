//===- Stages.h - a program cut where data decides sizes --------*- C++ -*-===//
//
// What reads a value whose size data decides can be bound only when the value
// is there. Such a program is cut into stages: each is a program of its own,
// whose outputs are results of the whole and what later stages read.
//
//===----------------------------------------------------------------------===//
#pragma once

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

/// One stage, as an executable.
struct StageCode {
  Executable exe;
  std::vector<StageInput> inputs;
  std::vector<StageOutput> outputs;
  std::vector<int32_t> images; // by image of the stage: that of the program
};

/// The stages of `exe`, from which they take the bytes of constants; none where no operator reads a value whose size
/// data decides.
llvm::Expected<std::vector<StageCode>> splitAtData(Executable &exe);

/// One stage, ready to be bound.
struct Stage {
  ProgramRef program;
  std::vector<StageInput> inputs;
  std::vector<StageOutput> outputs;
};
struct Stages : std::vector<Stage> {};

/// What a binding of a program in stages keeps: bindings of each stage for the sizes of the latest runs.
class StagedBinding {
public:
  StagedBinding(const Stages &stages, llvm::ArrayRef<TensorMeta> inputs, const BindOptions &options)
      : stages(stages), inputs(inputs.begin(), inputs.end()), options(options), known(stages.size()) {}

  /// The inputs of a stage, in metas; `made`: the outputs of the stages before it.
  Metas inputsOf(size_t stage, llvm::ArrayRef<std::vector<TensorMeta>> made) const;
  /// The binding of a stage for these inputs.
  llvm::Expected<BoundRef> bind(size_t stage, llvm::ArrayRef<TensorMeta> metas);
  /// Bytes and launches of the bindings that it keeps; of launches the latest of each stage.
  uint64_t heldBytes() const;
  uint64_t launches() const;

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
