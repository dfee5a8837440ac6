//===- TracedProgram.h - a recording, compiled ------------------*- C++ -*-===//
//
// Runs in place of the recorded function: reads the captured variables as they
// are now, and writes the updated ones, into their own buffers when nobody else
// looks at them. Also programs from files, which have arguments, and variables of their own: their state.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/CompileOptions.h"
#include "eager/eviction/Eviction.h"
#include "eager/tracing/RecordingGraph.h"
#include "runtime/bind/Account.h"
#include "runtime/bind/Bind.h"
#include "runtime/run/Executor.h"

#include <list>
#include <mutex>

namespace tess::eager {

/// A compiled recording or file, with its bindings and state. Thread-safe; runs of one program take turns.
class TracedProgram {
public:
  /// Outcome of a limit of memory.
  struct Fitting {
    MemoryLimit limit;
    uint64_t plain = 0, arena = 0; // bytes of a run without the limit, and of its arena
    uint64_t taken = 0;            // bytes of a run
    double plainCost = 0;          // of a run without the limit, as the schedule counts it
    compiler::FittedSchedule schedule;
    /// The estimated time of a run, by that without the limit.
    double timeFactor() const { return plainCost > 0 && schedule.cost() > 0 ? schedule.cost() / plainCost : 1; }
    /// Whether a run takes no more than it may.
    bool isKept() const { return limit.isGoal || taken <= limit.bytes; }
  };
  /// Compiles a recording; errors name the user's line. Where a limit of memory cannot be kept the program is the one
  /// that takes the least, and the caller makes the error: see fitted().
  static llvm::Expected<std::shared_ptr<TracedProgram>> compile(const RecordingRef &recording,
                                                                const GraphOptions &options, bool fuse);
  /// The program of a `.tess` file: compiled from its graph, or, with `allowCode`, from its code where that fits this
  /// machine.
  static llvm::Expected<std::shared_ptr<TracedProgram>> load(llvm::StringRef path, bool allowCode);

  /// Runs the program on one tensor for each argument, and returns the results of the function.
  llvm::Expected<Tensors> run(llvm::ArrayRef<TensorRef> arguments);

  /// Binds to the shapes of the arguments, for memory() and launches(); values are not read.
  llvm::Error bindTo(llvm::ArrayRef<TensorRef> arguments);

  /// Of the function: captured variables, updates and state do not count.
  size_t numArguments() const { return arguments; }
  size_t numResults() const { return functionOutputs; }
  /// Their names.
  std::vector<std::string> inputs() const;
  std::vector<std::string> outputs() const;
  /// The state of a program from a file by name, with the present values.
  std::vector<std::pair<std::string, TensorRef>> state();
  /// Copies `values` into the state, all or none. InvalidArgument unless names, dtypes and shapes are those of state().
  llvm::Error setState(llvm::ArrayRef<std::pair<std::string, TensorRef>> values);
  /// Outcome of the limit that it was compiled for; null: it has none.
  const Fitting *fitted() const { return fitting ? &*fitting : nullptr; }
  /// Where it runs.
  runtime::Device &placement() const { return *device; }
  const runtime::Executable &executable() const { return program->executable(); }
  /// Launches and memory of a run at the latest shapes; 0 before the first run of a program with free dimensions.
  uint64_t launches();
  runtime::MemoryEstimate memory();
  uint64_t plannedBytes() { return memory().total(); }
  /// Calls of the kernel table at the latest shapes, in words (Bound::kernelChoices).
  std::vector<std::string> kernelChoices();
  /// Bytes that it keeps between runs: code, constants, arenas.
  uint64_t heldBytes();
  /// A line for each rewrite that the numerics of its graph allowed, with the user's lines.
  llvm::ArrayRef<std::string> rewrites() const { return rewriteLines; }
  /// The binding of the latest run, else for the recorded shapes, in facts (runtime/bind/Account.h); beside them
  /// "passes", the seconds of each part of the compilation (none where a file brought the code), "boundaries",
  /// neighbours in kernels of their own, and "rewrites". InvalidArgument where no sizes are known. Binds again, and
  /// compiles again `withBoundaries`; without them they are none.
  llvm::Expected<llvm::json::Object> account(bool withBoundaries);
  std::string graphText() const { return graph ? graph->toText() : ""; }
  /// The version of the bits (runtime/schema/BitsVersion.h) of the graph where there is one, else of the code.
  unsigned bitsVersion() const { return graph ? graph->bitsVersion() : executable().bitsVersion; }

private:
  struct Binding {
    Metas inputs;
    runtime::BindSettings settings;
    runtime::BoundRef bound;
  };
  struct Values {
    llvm::SmallVector<TensorRef, 8> kept;
    Metas metas;
    llvm::SmallVector<void *, 8> inputs, outputs;
    Tensors results;
  };
  /// What the callbacks of a run need, behind one reference: a function of two words needs no memory.
  struct Running {
    llvm::ArrayRef<TensorRef> given;
    const runtime::Bound &bound;
    Values &values;
  };

  TracedProgram() = default;
  llvm::Error finish(runtime::Executable exe, runtime::ProgramOptions options);
  llvm::Error fit(MemoryLimit limit);
  llvm::Error fitToShares();
  enum class Choice : uint8_t { Faster, Last };
  llvm::Error compileWithin(std::optional<int64_t> bytes, Choice choice);
  llvm::Expected<runtime::Executable> compileFaster();
  llvm::Expected<runtime::Executable> compileScheduled();
  llvm::Error makeState();
  size_t numState() const { return executable().inputs.size() - executable().numArguments(); }
  std::string stateName(size_t index) const { return executable().inputs[arguments + index].name; }
  const runtime::Bound *latestBound();
  llvm::Expected<llvm::json::Object> accountOfBinding();
  llvm::Expected<llvm::json::Array> boundaries() const;
  compiler::CompileOptions options() const;
  compiler::CompileOptions optionsToCompile();
  llvm::Error checkCount(size_t given) const;
  TensorImpl &inputAt(llvm::ArrayRef<TensorRef> given, unsigned index) const;
  llvm::Error keepInputs(llvm::ArrayRef<TensorRef> given, eviction::Use &use) const;
  llvm::Error readInputs(llvm::ArrayRef<TensorRef> given, Values &values) const;
  llvm::Expected<runtime::BoundRef> bind(llvm::ArrayRef<TensorMeta> metas);
  void trimBindings();
  bool mayDonate(llvm::ArrayRef<TensorRef> given, unsigned output) const;
  llvm::Expected<Tensors> infer(llvm::ArrayRef<TensorRef> given);
  llvm::Error makeOutputs(llvm::ArrayRef<TensorRef> given, const runtime::Bound &bound, Values &values) const;
  runtime::RunOptions runOptions(const Running &running) const;
  void update(llvm::ArrayRef<TensorRef> given, const runtime::Bound &bound, Values &values) const;

  std::string name = "program";
  runtime::Device *device = nullptr; // where it runs
  std::optional<ir::Graph> graph;
  std::vector<std::string> rewriteLines;
  std::vector<std::pair<std::string, double>> times;
  bool isFromFile = false, fuses = true;
  std::optional<int64_t> allowed; // bytes of values at a time, so that a run is within its limit
  bool keepsCheapValues = false;  // within them: what is cheap runs again by the schedule, not in kernels that read it
  std::optional<Fitting> fitting;
  runtime::ProgramRef program;
  size_t arguments = 0, functionOutputs = 0;
  std::vector<TensorRef> captured; // inputs after the arguments
  std::vector<Recording::Update> updates;
  Metas recordedInputs;
  std::mutex mutex; // a Bound runs on one thread at a time
  std::list<Binding> bindings;
};

} // namespace tess::eager
