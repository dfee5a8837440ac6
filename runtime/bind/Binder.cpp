//===- Binder.cpp - a program bound to shapes, step by step ---------------===//
#include "runtime/bind/Binder.h"
#include "ops/vocabulary/Error.h"
#include "runtime/bind/Batches.h"
#include "runtime/bind/ExecutorCounters.h"
#include "runtime/device/Allocator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"

namespace tess::runtime {

llvm::Error Binder::addStep(const Step &step) {
  switch (step.kind) {
  case StepKind::Kernel:
    return addKernel(step);
  case StepKind::Library:
    return addLibrary(step);
  case StepKind::Movement:
    return addMovement(step);
  case StepKind::Window:
    return addWindow(step);
  case StepKind::Loop:
    return addLoop(step);
  }
  llvm_unreachable("step kind out of range");
}

llvm::Error Binder::addSteps(size_t first, size_t end) {
  for (size_t index = first; index < end; ++index) {
    const Step &step = exe.steps[index];
    if (llvm::Error error = addStep(step))
      return at(std::move(error), step.location);
    index += step.loop < 0 ? 0 : exe.loops[step.loop].numSteps;
  }
  return llvm::Error::success();
}

/// Bytes that the allocator adds to a block of `bytes`.
static uint64_t roundingOf(uint64_t bytes) { return bytes ? Allocator::roundUp(bytes) - bytes : 0; }

MemoryPlan Binder::placeArena() {
  MemoryPlan plan = planMemory(storage.allocations);
  bound->memory.arena = uint64_t(plan.bytes);
  bound->memory.rounding = roundingOf(bound->memory.arena);
  if (options.keepPlan)
    bound->plan = describePlan(exe, storage, plan, scratch);
  for (PointerPatch &patch : bound->arenaPatches)
    patch.bytes += plan.offsets[patch.index];
  for (auto [command, allocation] : scratch)
    bound->commands[command].scratchOffset = plan.offsets[allocation];
  return plan;
}

void Binder::addOutput(const OutputDecl &output) {
  const TensorMeta &meta = bound->outputs.emplace_back(metas[output.value]);
  bound->unknownAxes.push_back(unknownAxes[output.value]);
  if (output.donates >= 0 || storage.places[output.value].kind == Place::Grown)
    return;
  uint64_t bytes = uint64_t(meta.numElements()) * byteWidth(meta.dtype);
  bound->memory.outputs += bytes;
  bound->memory.rounding += roundingOf(bytes);
}

void Binder::finish() {
  MemoryPlan plan = placeArena();
  for (Command &command : bound->commands) {
    command.launch.pointers = bound->pointers.data() + command.firstPointer;
    command.launch.dims = bound->dims.data() + command.firstDim;
  }
  if (options.batches)
    splitPicoseconds += batchLaunches(*bound, exe, storage, plan, parts);
  bound->outputs.reserve(exe.outputs.size());
  for (const OutputDecl &output : exe.outputs)
    addOutput(output);
  if (bound->dependsOnData)
    bound->mostOutputs = bound->outputs;
  bound->memory.constants = program.constantBytes();
  bound->needsWorker |= splitPicoseconds >= kWorkerPicoseconds;
  bound->program = program.shared_from_this();
}

/// Keeps what accounts tell of values.
void Binder::keepValues() {
  bound->values = std::move(metas);
  for (const Packing &packing : packings)
    bound->packings.push_back(packing.text);
}

/// A hash of dtypes and shapes that is the same in every process.
static uint64_t hashOf(llvm::ArrayRef<TensorMeta> metas) {
  llvm::SmallVector<int64_t, 64> numbers;
  for (const TensorMeta &meta : metas) {
    numbers.append({int64_t(meta.dtype), int64_t(meta.shape.size())});
    numbers.append(meta.shape.begin(), meta.shape.end());
  }
  return llvm::xxh3_64bits({reinterpret_cast<const uint8_t *>(numbers.data()), numbers.size_in_bytes()});
}

llvm::Expected<std::shared_ptr<Bound>> Binder::run(llvm::ArrayRef<TensorMeta> inputs) {
  if (llvm::Error error = inferShapes(inputs))
    return std::move(error);
  if (llvm::Error error = planStorage(exe, metas, layouts).moveInto(storage))
    return std::move(error);
  if (llvm::Error error = prepareLibrary())
    return std::move(error);
  listGrown();
  bound->commands.reserve(exe.steps.size());
  if (llvm::Error error = addSteps(0, exe.steps.size()))
    return std::move(error);
  addOutputCopies();
  bound->shapesHash = hashOf(inputs);
  finish();
  if (options.keepPlan)
    keepValues();
  bump(&ExecutorCounters::binds);
  return std::make_shared<Bound>(std::move(bound));
}

llvm::Expected<std::shared_ptr<Bound>> Program::bind(llvm::ArrayRef<TensorMeta> inputs,
                                                     const BindOptions &bindOptions) {
  if (llvm::Error error = check())
    return std::move(error);
  if (llvm::Error error = checkInputs(inputs))
    return std::move(error);
  return stages ? bindStages(inputs, bindOptions) : Binder(*this, bindOptions).run(inputs);
}

} // namespace tess::runtime
