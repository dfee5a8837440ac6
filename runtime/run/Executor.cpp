//===- Executor.cpp - runs a bound program --------------------------------===//
#include "runtime/run/Executor.h"
#include "ops/vocabulary/Error.h"
#include "runtime/bind/Commands.h"
#include "runtime/bind/ExecutorCounters.h"
#include "runtime/bind/Stages.h"
#include "runtime/device/Allocator.h"
#include "runtime/device/Profiler.h"
#include "runtime/device/StridedCopy.h"
#include "runtime/run/GrownMemory.h"
#include "runtime/run/LookupLaunch.h"
#include "runtime/run/LoopGuard.h"
#include "runtime/run/StagedRun.h"
#include "runtime/threads/Worker.h"

namespace tess::runtime {

ExecutorStats executorStats() {
  ExecutorStats sum = {};
  for (const ExecutorCounters &c : executorCounters) {
    sum.binds += c.binds;
    sum.runs += c.runs;
    sum.launches += c.launches;
    sum.libraryCalls += c.libraryCalls;
    sum.copies += c.copies;
    sum.workerRuns += c.workerRuns;
  }
  return sum;
}

uint64_t launchCount() { return executorStats().steps(); }

namespace {

/// One run. It allocates nothing once the arena exists.
class Runner {
public:
  Runner(Commands &bound, Stream &stream, bool isCounted, llvm::function_ref<llvm::Error()> poll)
      : bound(bound), stream(stream), isCounted(isCounted), poll(poll) {}
  llvm::Error run();

private:
  llvm::Error runAll(llvm::MutableArrayRef<Command> commands);
  llvm::Error execute(Command &command);
  llvm::Error loop(Command &command);
  llvm::Error launch(Command &command);
  llvm::Error call(Command &command);
  llvm::Error copy(const Command &command);
  llvm::Error copyApart(const CopyLayouts &copy, void *const *pointers);
  std::string nameOf(const Command &command) const;
  llvm::Error profiled(Command &command);
  char *arena() const { return static_cast<char *>(bound.currentArena); }

  Commands &bound;
  Stream &stream;
  bool isCounted;
  llvm::function_ref<llvm::Error()> poll; // may be null
  bool profile = profiler::on();
};

} // namespace

llvm::Error Runner::launch(Command &command) {
  if (command.scratchOffset >= 0)
    command.launch.scratch = arena() + command.scratchOffset;
  if (isCounted)
    bump(&ExecutorCounters::launches);
  if (command.looksUp)
    return launchLookup(bound, command, arena() + command.scratchOffset, stream);
  return stream.launch(command.launch);
}

/// Writes the extent that the kernel found into the shape of each output of the program that is a result of the kernel.
static void setExtents(Commands &bound, const Command &command, int64_t extent) {
  const Executable &exe = bound.program->executable();
  for (auto [index, output] : llvm::enumerate(exe.outputs))
    if (llvm::is_contained(command.step->results, output.value))
      for (unsigned axis : bound.unknownAxes[index])
        bound.outputs[index].shape[axis] = extent;
}

llvm::Error Runner::call(Command &command) {
  RunContext context;
  context.threads = command.kernel->threads();
  context.what = command.label;
  if (command.step)
    context.where = command.step->location.c_str();
  if (command.scratchOffset >= 0)
    context.workspace = arena() + command.scratchOffset;
  llvm::ArrayRef<void *> pointers(bound.pointers.data() + command.firstPointer,
                                  size_t(command.numInputs) + command.numOutputs);
  bump(&ExecutorCounters::libraryCalls);
  llvm::Error error = stream.call(*command.kernel, context, pointers.take_front(command.numInputs),
                                  pointers.drop_front(command.numInputs));
  if (!error && bound.dependsOnData)
    setExtents(bound, command, context.unknownExtent);
  return error;
}

llvm::Error Runner::copy(const Command &command) {
  void *const *pointers = bound.pointers.data() + command.firstPointer;
  bump(&ExecutorCounters::copies);
  const CopyLayouts &layouts = bound.copies[command.copy];
  bool isCarried = command.step && command.step->kind == StepKind::Loop;
  if (isCarried && pointers[0] == pointers[1]) // into an output that takes over the input
    return llvm::Error::success();
  if (layouts.bytes >= 0)
    return stream.copy(pointers[1], pointers[0], size_t(layouts.bytes), command.parts);
  if (!bound.program->device().hostAccessible())
    return copyApart(layouts, pointers);
  copyStrided(pointers[1], layouts.to, pointers[0], layouts.from, layouts.width);
  return llvm::Error::success();
}

/// A strided copy that no kernel makes, on a device whose memory the host does not address: by way of the host.
llvm::Error Runner::copyApart(const CopyLayouts &copy, void *const *pointers) {
  auto [fromFirst, fromEnd] = reachOf(copy.from, copy.width);
  auto [toFirst, toEnd] = reachOf(copy.to, copy.width);
  std::vector<char> from(size_t(fromEnd - fromFirst)), to(size_t(toEnd - toFirst));
  char *target = static_cast<char *>(pointers[1]) + toFirst;
  if (llvm::Error error = stream.copyOut(from.data(), static_cast<char *>(pointers[0]) + fromFirst, from.size()))
    return error;
  if (llvm::Error error = stream.copyOut(to.data(), target, to.size()))
    return error;
  if (llvm::Error error = stream.synchronize())
    return error;
  copyStrided(to.data() - toFirst, copy.to, from.data() - fromFirst, copy.from, copy.width);
  if (llvm::Error error = stream.copyIn(target, to.data(), to.size()))
    return error;
  return stream.synchronize();
}

llvm::Error Runner::execute(Command &command) {
  switch (command.kind) {
  case Command::Launch:
    return launch(command);
  case Command::Library:
    return call(command);
  case Command::Copy:
    return copy(command);
  case Command::Batch:
    if (isCounted)
      bump(&ExecutorCounters::launches);
    return stream.launchAll(llvm::ArrayRef(bound.batched).slice(command.firstLaunch, command.numLaunches),
                            command.parts);
  case Command::Loop:
    return loop(command);
  }
  llvm_unreachable("command kind out of range");
}

/// Runs the commands of the trips. Pointers that move are where they were afterwards, also after an error.
llvm::Error Runner::loop(Command &command) {
  llvm::ArrayRef<PointerMove> moves = llvm::ArrayRef(bound.moves).slice(command.firstMove, command.numMoves);
  auto advance = [&](int64_t trips) {
    for (const PointerMove &move : moves)
      bound.pointers[move.slot] = static_cast<char *>(bound.pointers[move.slot]) + trips * move.bytes;
  };
  llvm::MutableArrayRef<Command> trip(&command + 1, command.numCommands);
  const void *place = command.guard == Guard::None ? nullptr : bound.pointers[command.firstPointer];
  LoopGuard guard(command.guard, command.reverse, place, stream, poll);
  llvm::Expected<int64_t> trips = guard.tripsOf(command.trips);
  if (!trips)
    return trips.takeError();
  const bool grows = command.numGrownResults + command.numGrownXs != 0;
  if (grows)
    if (llvm::Error error = beginGrown(bound, command, stream, *trips))
      return error;
  const int64_t step = command.reverse ? -1 : 1;
  int64_t at = command.reverse ? *trips - 1 : 0;
  advance(at);
  auto runTrips = [&]() -> llvm::Error {
    for (int64_t made = 0;; ++made, at += step, advance(step)) {
      llvm::Expected<bool> next = guard.goesOn(made, *trips);
      if (!next || !*next)
        return next.takeError();
      if (grows)
        if (llvm::Error error = growFor(bound, command, stream, at))
          return error;
      if (llvm::Error error = runAll(trip))
        return error;
    }
  };
  llvm::Error error = runTrips();
  advance(-at);
  return error;
}

/// The operators of a kernel, "2 x exp" of two at once; of other commands the operator or value.
std::string Runner::nameOf(const Command &command) const {
  llvm::StringRef name = command.label;
  if (command.step && command.step->kind == StepKind::Kernel)
    if (llvm::StringRef operators = bound.program->operatorsOf(*command.step); !operators.empty())
      name = operators;
  return command.kind == Command::Batch ? std::to_string(command.numLaunches) + " x " + name.str() : name.str();
}

llvm::Error Runner::profiled(Command &command) {
  static constexpr const char *categories[] = {"kernel", "library", "copy", "kernel", "loop"};
  profiler::Moment begin = profiler::now();
  llvm::Error error = execute(command);
  profiler::Details details;
  if (command.step) {
    const Executable &exe = bound.program->executable();
    details.location = command.step->location;
    details.step = command.step - exe.steps.data();
    if (!command.step->results.empty())
      details.value = exe.values[command.step->results[0]].name;
  }
  profiler::record(nameOf(command), categories[command.kind], begin, profiler::now(), details);
  return error;
}

static llvm::Error located(llvm::Error error, const Step *step) {
  return step ? at(std::move(error), step->location) : std::move(error);
}

/// A loop runs the commands of its trips itself.
llvm::Error Runner::runAll(llvm::MutableArrayRef<Command> commands) {
  for (Command *command = commands.begin(); command != commands.end(); command += 1 + command->numCommands)
    if (llvm::Error error = profile ? profiled(*command) : execute(*command))
      return located(std::move(error), command->step);
  return llvm::Error::success();
}

llvm::Error Runner::run() {
  bump(&ExecutorCounters::runs);
  profiler::Moment begin = profile ? profiler::now() : profiler::Moment();
  llvm::Error error = runAll(bound.commands);
  if (!bound.program->device().hostAccessible()) { // what is queued uses memory of the caller's, after an error too
    llvm::Error late = stream.synchronize();
    if (error)
      llvm::consumeError(std::move(late));
    else
      error = std::move(late);
  }
  if (error)
    return error;
  if (profile)
    profiler::record(bound.program->name(), "program", begin, profiler::now(), {.shapes = bound.shapesHash});
  return llvm::Error::success();
}

static llvm::Error setArena(Commands &bound, void *given) {
  if (!bound.memory.arena)
    return llvm::Error::success();
  if (!given && !bound.arena) {
    Device &device = bound.program->device();
    device.allocator().makeRoom(bound.memory.arena);
    llvm::Expected<BufferRef> buffer = Buffer::allocate(device, bound.memory.arena);
    if (!buffer)
      return buffer.takeError();
    bound.arena = std::move(*buffer);
  }
  void *base = given ? given : bound.arena->data();
  if (base == bound.currentArena)
    return llvm::Error::success();
  bound.currentArena = base;
  for (const PointerPatch &patch : bound.arenaPatches)
    bound.pointers[patch.slot] = static_cast<char *>(base) + patch.bytes;
  return llvm::Error::success();
}

static llvm::Error checkCounts(const Commands &bound, size_t inputs, size_t outputs, size_t scalars) {
  const Executable &exe = bound.program->executable();
  if (inputs == exe.inputs.size() && outputs == exe.outputs.size() && scalars == exe.numScalars)
    return llvm::Error::success();
  return invalidArgument(bound.program->name() + ": run must get " + llvm::Twine(exe.inputs.size()) + " inputs, " +
                         llvm::Twine(exe.outputs.size()) + " outputs, " + llvm::Twine(exe.numScalars) +
                         " scalars, got " + llvm::Twine(inputs) + ", " + llvm::Twine(outputs) + ", " +
                         llvm::Twine(scalars));
}

static void patch(Commands &bound, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs,
                  llvm::ArrayRef<uint64_t> scalars) {
  for (const PointerPatch &patch : bound.inputPatches)
    bound.pointers[patch.slot] = static_cast<char *>(inputs[patch.index]) + patch.bytes;
  for (const PointerPatch &patch : bound.outputPatches) {
    void *base = outputs[patch.index];
    if (int32_t donated = base ? -1 : bound.program->executable().outputs[patch.index].donates; donated >= 0)
      base = inputs[donated];
    bound.pointers[patch.slot] = static_cast<char *>(base) + patch.bytes;
  }
  for (const ScalarPatch &patch : bound.scalarPatches)
    bound.dims[patch.dim] = int64_t(scalars[patch.parameter]);
}

/// Runs the commands, whose pointers are set, on this thread or on the worker.
static llvm::Error runPatched(Commands &bound, const RunOptions &options) {
  Stream &stream = options.stream ? *options.stream : bound.program->device().defaultStream();
  if (!bound.needsWorker || Worker::onWorkerThread())
    return Runner(bound, stream, options.isCounted, options.poll).run();
  bump(&ExecutorCounters::workerRuns);
  return Worker::global().call([&] { return Runner(bound, stream, options.isCounted, nullptr).run(); });
}

llvm::Error run(Bound &handle, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs,
                llvm::ArrayRef<uint64_t> scalars, const RunOptions &options) {
  Commands &bound = handle.data();
  if (llvm::Error error = checkCounts(bound, inputs.size(), outputs.size(), scalars.size()))
    return error;
  if (bound.staged)
    return runStages(bound, inputs, outputs, scalars, options, run);
  if (llvm::Error error = setArena(bound, options.arena))
    return error;
  patch(bound, inputs, outputs, scalars);
  if (LLVM_LIKELY(bound.grown.empty()))
    return runPatched(bound, options);
  takeGrownInputs(bound, inputs, options);
  llvm::Error error = runPatched(bound, options);
  llvm::Error late = releaseGrown(bound, !error, options);
  return error ? llvm::joinErrors(std::move(error), std::move(late)) : std::move(late);
}

} // namespace tess::runtime
