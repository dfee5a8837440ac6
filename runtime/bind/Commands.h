//===- Commands.h - what the executor walks ---------------------*- C++ -*-===//
#pragma once

#include "ops/graphs/Control.h"
#include "runtime/bind/Bind.h"
#include "runtime/device/KernelTable.h"
#include "runtime/tuning/Pick.h"

namespace tess::runtime {

using control::Guard;

/// One call of a run. Its pointers are a range of Commands::pointers: inputs, then outputs.
struct Command {
  /// Which of the fields below count.
  enum Kind : uint8_t { Launch, Library, Copy, Batch, Loop } kind = Launch;
  uint32_t firstPointer = 0;
  const Step *step = nullptr; // null: a copy to an output
  const char *label = "";     // operator or value, for the profile
  // Launch
  KernelLaunch launch = {};
  bool looksUp = false; // it reports wrong indices in the memory that it has for itself
  uint32_t firstDim = 0;
  // Launch, Library: the memory that it has for itself
  int64_t scratchOffset = -1; // in the arena
  // Batch (Batches.h): Commands::batched
  uint32_t firstLaunch = 0, numLaunches = 0;
  unsigned parts = 1; // threads of a batch or a copy
  // Library
  PreparedRef kernel;
  uint16_t numInputs = 0, numOutputs = 0;
  // Copy: pointers are source, destination
  uint32_t copy = 0; // index into Commands::copies
  // Loop: the commands of a trip follow; those of their pointers that move are a range of Commands::moves
  uint32_t numCommands = 0;
  uint32_t firstMove = 0, numMoves = 0;
  int64_t trips = 0;
  bool reverse = false;
  Guard guard = Guard::None; // its one pointer is that of the guard
  // Loop without a bound: of Commands::grownOfLoops those that it stacks, then those that it reads
  uint32_t firstGrown = 0, numGrownResults = 0, numGrownXs = 0;
};

/// A grown value (runtime/schema/GrownValues.h), and its memory in the present run.
struct GrownValue {
  int64_t bytes = 0;               // of a trip
  int32_t input = -1, output = -1; // of the program; -1: none
  void *base = nullptr;            // where its pointers begin
  int64_t saved = 0, expected = 0; // trips that it has, and that the last run had
  int64_t capacity = 0;            // trips for which `buffer` has room
  BufferRef buffer;                // null for an input
};

/// What a copy walks, in elements of `width` bytes.
struct CopyLayouts {
  Layout from, to;
  int64_t width = 0;
  int64_t bytes = -1; // where both sides are in one piece
};

/// `pointers[slot]` is base number `index` plus `bytes`; the arena is the one base of what lies there.
struct PointerPatch {
  uint32_t slot;
  uint32_t index;
  int64_t bytes;
};
/// `pointers[slot]` is `bytes` further on in each trip of a loop.
struct PointerMove {
  uint32_t slot;
  int64_t bytes;
};
/// `dims[dim]` is scalar number `parameter` of the run.
struct ScalarPatch {
  uint32_t dim;
  uint32_t parameter;
};

class StagedBinding;

/// A program for given shapes, as the executor reads it; a run writes pointers and scalars into it.
struct Commands {
  ProgramRef program;
  std::vector<TensorMeta> outputs;
  std::vector<TensorMeta> mostOutputs;                     // as bound; empty unless a run changes them
  std::vector<llvm::SmallVector<unsigned, 2>> unknownAxes; // per output; all empty unless it depends on data
  bool dependsOnData = false;
  MemoryEstimate memory;
  uint64_t shapesHash = 0;
  // BindOptions::keepPlan
  std::vector<PlannedMemory> plan;
  Metas values;                      // by value
  std::vector<std::string> packings; // by value
  std::vector<Command> commands;
  std::vector<KernelLaunch> batched;
  std::vector<CopyLayouts> copies;
  std::vector<void *> pointers;
  std::vector<int64_t> dims;
  std::vector<PointerPatch> inputPatches, outputPatches, arenaPatches, grownPatches;
  std::vector<ScalarPatch> scalarPatches;
  std::vector<PointerMove> moves;
  std::vector<GrownValue> grown;
  std::vector<uint32_t> grownOfLoops;                       // Command::firstGrown
  std::vector<std::pair<const Step *, tuning::Pick>> picks; // of the table's kernels
  unsigned packedValues = 0;
  bool needsWorker = false;
  bool checksData = false;
  std::vector<bool> isOutputGrown;       // empty: none is
  std::shared_ptr<StagedBinding> staged; // of a program in stages, which has no commands of its own; else null
  BufferRef arena;                       // allocated by the first run
  void *currentArena = nullptr;          // what arenaPatches were applied for
};

} // namespace tess::runtime
