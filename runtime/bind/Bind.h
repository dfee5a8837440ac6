//===- Bind.h - a program, and a program bound to shapes --------*- C++ -*-===//
//
// Program: an executable with its code mapped and its constants in place.
// Bound: the same for given input shapes: every shape inferred, memory planned,
// kernel operands laid out, library kernels prepared. Executor.h runs it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/bind/BindSettings.h"
#include "runtime/device/Buffer.h"
#include "runtime/schema/Executable.h"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace tess::runtime {

class Bound;
struct Commands;
struct Packing;
struct StageCode;
struct Stages;

/// What a program is told of its surroundings.
struct ProgramOptions {
  /// Opens every message.
  std::string name = "program";
  /// A reader has validated the executable, or the compiler of this process has made it: create() does not do it again.
  bool isValidated = false;
  /// Where it runs; null: on the host.
  Device *device = nullptr;
  /// Bytes of a constant that the executable only names. They live as long as `keepAlive`.
  std::function<llvm::Expected<llvm::StringRef>(llvm::StringRef tensor)> tensor;
  std::shared_ptr<void> keepAlive;
  /// Called by each bind: an error when that memory no longer has its content, because the file was changed.
  std::function<llvm::Error()> check;
  /// Told of constants that were copied or packed, and are read again by later bindings at most.
  std::function<void(llvm::StringRef bytes)> giveBack;
  /// Kernels that replace the executable's images (tests).
  std::function<KernelFn(unsigned image, unsigned entry)> kernel;
};

/// Choices for one binding.
struct BindOptions {
  /// 0: numThreads() now.
  unsigned threads = 0;
  /// Off: every value is row-major (tests compare the bits).
  bool packing = true;
  /// Off: a launch for each kernel (tests compare the bits).
  bool batches = true;
  /// Fill in Bound::plan(), and keep what accountOf() tells (Account.h).
  bool keepPlan = false;
  /// In the place of a program's one operator: the same with other attributes, of those that bind time reads. Null:
  /// its own. Read by bind alone.
  const OpDef *op = nullptr;
  /// What the program's outputs are for these inputs, where the caller has inferred it: a program of one operator then
  /// infers nothing. Empty: bind infers. Read by bind alone.
  llvm::ArrayRef<TensorMeta> outputs = {};
  /// None: kernelSettings() now.
  std::optional<KernelSettings> kernels = std::nullopt;

  /// Settings of the options, and of the process where they have none.
  void set(const BindSettings &settings) {
    threads = settings.threads;
    kernels = settings.kernels;
  }
  BindSettings settings() const { return {threads ? threads : numThreads(), kernels ? *kernels : kernelSettings()}; }
};

/// Immutable: any number of threads may bind at once.
class Program : public std::enable_shared_from_this<Program> {
public:
  /// Validates, has the device load the code (which must be for it), and places the constants.
  static llvm::Expected<std::shared_ptr<Program>> create(Executable executable, ProgramOptions options = {});
  ~Program();

  /// Checks the inputs against the signature and does everything that needs their shapes only.
  llvm::Expected<std::shared_ptr<Bound>> bind(llvm::ArrayRef<TensorMeta> inputs, const BindOptions &options = {});

  /// What the program was made of, its name in messages, and where it runs.
  const Executable &executable() const { return exe; }
  const std::string &name() const { return options.name; }
  /// Error that ProgramOptions::check gives.
  llvm::Error check() const { return options.check ? options.check() : llvm::Error::success(); }
  Device &device() const { return *options.device; }
  /// The operators that a kernel computes, of a step of the executable; found at the first call.
  const std::string &operatorsOf(const Step &step);
  /// Bytes of all constants, including those that bindings have packed so far.
  uint64_t constantBytes() const;
  /// "f32[batch, 1, 8, 8] with batch in 1..512".
  std::string describeInput(size_t input) const;
  /// The bytes that an input which holds state has before the first run; they live as long as the program.
  llvm::Expected<llvm::StringRef> initialValue(size_t input) const { return bytesOf(exe.inputs[input].initial); }

private:
  friend class Binder;
  Program(Executable exe, ProgramOptions options) : exe(std::move(exe)), options(std::move(options)) {}
  llvm::Error mapCode();
  llvm::Error placeConstants();
  llvm::Error placeConstant(size_t index);
  llvm::Expected<llvm::StringRef> bytesOf(size_t constant) const;
  /// Bytes that a constant takes in a packing, 0 where it is made already.
  size_t bytesToPack(uint32_t index, const Packing &packing);
  /// A constant as `fill` writes it, made once for each packing.
  llvm::Expected<void *> packedConstant(uint32_t index, const Packing &packing,
                                        llvm::function_ref<llvm::Error(const void *from, void *to)> fill);
  llvm::Error checkInputs(llvm::ArrayRef<TensorMeta> inputs) const;
  llvm::Error createStages(std::vector<StageCode> codes);
  llvm::Expected<std::shared_ptr<Bound>> bindStages(llvm::ArrayRef<TensorMeta> inputs, const BindOptions &options);

  std::shared_ptr<const Stages> stages; // null where shapes decide every size that an operator reads
  Executable exe;
  ProgramOptions options;
  std::vector<LoadedCodeRef> images;
  std::vector<std::vector<KernelFn>> kernels; // by image, entry
  std::vector<void *> constants;
  std::vector<BufferRef> constantBuffers;
  std::atomic<uint64_t> totalConstantBytes = 0;
  std::once_flag named;
  std::vector<std::string> stepNames;
  std::mutex packedMutex;
  std::map<std::pair<uint32_t, std::string>, BufferRef> packedConstants; // by index, packing
};
/// Bound programs keep their program alive.
using ProgramRef = std::shared_ptr<Program>;

/// Bytes that a run needs, known before it runs.
struct MemoryEstimate {
  uint64_t arena = 0, outputs = 0, constants = 0;
  uint64_t rounding = 0; // by which the allocator's blocks for the arena and the outputs are larger
  /// What each trip of loops without a bound adds to all that, for a gradient: nothing says how often. It is not part
  /// of the total.
  uint64_t savedPerTrip = 0;
  /// Without the rounding.
  uint64_t total() const { return arena + outputs + constants; }
};

/// A piece of the arena: a value of the program, or what a step needs for itself.
struct PlannedMemory {
  ValueId value = -1; // -1: scratch of step `first`
  int64_t offset = 0, bytes = 0;
  int32_t first = 0, last = 0; // steps, both included; values that share memory have one lifetime
};

/// A program for given shapes. Run by one thread at a time (Executor.h).
class Bound {
public:
  explicit Bound(std::unique_ptr<Commands> data);
  ~Bound();

  /// In the order of the program's outputs. A dimension that depends on data is at its upper bound before a run, or
  /// unknown where it has none, and at its size after one.
  llvm::ArrayRef<TensorMeta> outputs() const;
  /// As outputs(), with every dimension that depends on data at its upper bound, after a run too: what it is where data
  /// picks all that it can. A slice whose ends count from both sides may be larger where it picks less.
  llvm::ArrayRef<TensorMeta> mostOutputs() const;
  /// Whether output number `index` is a grown value (GrownValues.h), whose memory a run hands over.
  bool isOutputGrown(size_t index) const;
  /// True when outputs() may change with a run.
  bool dependsOnData() const;
  /// The memory of a run.
  const MemoryEstimate &memory() const;
  /// Dtypes and shapes of the inputs as a number, which a profile has too.
  uint64_t shapesHash() const;
  /// What lies where in the arena; empty unless BindOptions::keepPlan was set.
  llvm::ArrayRef<PlannedMemory> plan() const;
  /// Bytes that it holds: commands, operands of kernels, prepared kernels, and its arena once a run made one.
  uint64_t heldBytes() const;
  /// Whether a run may refuse the data of its inputs, which shapes cannot tell.
  bool checksData() const;
  /// Kernel launches, library calls and copies of one run.
  uint64_t launches() const;
  /// Whether a run has parallel steps and goes to the worker thread; otherwise it stays on the calling one.
  bool needsWorker() const;
  /// The program that it binds.
  const Program &program() const;
  /// How many values, constants among them, lie in a packing of the library.
  unsigned packedValues() const;
  /// Implementations of the calls of table kernels, in step order.
  std::vector<std::string> implementations() const;
  /// Words for those calls, with the reasons: "conv2d: own:winograd, 2 threads, by the rule".
  std::vector<std::string> kernelChoices() const;
  /// Calls of table kernels in one run, by what computes them: a library, or loops of our own.
  struct TableCalls {
    unsigned library = 0, loops = 0;
  };
  /// Counts those calls.
  TableCalls tableCalls() const;
  /// Scalars that a run wants.
  unsigned numScalars() const;

  /// For the executor.
  Commands &data() { return *impl; }
  /// For accounts.
  const Commands &data() const { return *impl; }

private:
  std::unique_ptr<Commands> impl;
};
/// Shared by the caches that keep a binding and the run that uses it.
using BoundRef = std::shared_ptr<Bound>;

} // namespace tess::runtime
