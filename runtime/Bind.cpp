//===- Bind.cpp - a program bound to shapes -------------------------------===//
#include "ops/Error.h"
#include "ops/RegionRules.h"
#include "runtime/Allocator.h"
#include "runtime/Batches.h"
#include "runtime/Binder.h"
#include "runtime/ExecutorCounters.h"
#include "runtime/KernelGeometry.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

namespace tess::runtime {

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

llvm::Error Binder::inferShapes(llvm::ArrayRef<TensorMeta> inputs, llvm::ArrayRef<Layout> inputLayouts) {
  metas.resize(exe.values.size());
  layouts.resize(exe.values.size());
  unknownAxes.resize(exe.values.size());
  for (auto [index, input] : llvm::enumerate(exe.inputs)) {
    metas[input.value] = inputs[index];
    layouts[input.value] = inputLayouts.empty() ? Layout::contiguous(inputs[index].shape) : inputLayouts[index];
    layouts[input.value].offset = 0;
  }
  for (auto [index, value] : llvm::enumerate(exe.values))
    if (value.kind == ValueKind::Constant) {
      metas[index] = exe.constants[value.constant].meta;
      layouts[index] = Layout::contiguous(metas[index].shape);
    }
  for (const ProgramNode &node : exe.nodes)
    if (llvm::Error error = inferNode(node)) {
      return at(std::move(error), node.results.empty() ? "" : exe.values[node.results[0]].location);
    }
  return llvm::Error::success();
}

llvm::Error Binder::setResult(const ProgramNode &node, ValueId value, TensorMeta meta) {
  const ValueDecl &decl = exe.values[value];
  if (meta.dtype != decl.dtype)
    return makeError(ErrorCode::Internal, node.op.name() + ": result must be " + shortName(decl.dtype) +
                                              " as the program says, got " + toString(meta));
  layouts[value] = Layout::contiguous(meta.shape);
  if (decl.kind == ValueKind::View) {
    llvm::Expected<Layout> layout = node.op.info().viewRule(node.op, layouts[decl.base], meta.shape);
    if (!layout)
      return layout.takeError();
    layouts[value] = std::move(*layout);
  }
  metas[value] = std::move(meta);
  return llvm::Error::success();
}

llvm::Expected<Metas> Binder::inferOperator(const OpDef &op, llvm::ArrayRef<TensorMeta> operands,
                                            llvm::ArrayRef<unsigned> segments,
                                            llvm::function_ref<void(unsigned, unsigned)> unknown) const {
  llvm::Expected<Metas> results = op.infer(operands, segments);
  if (!results || llvm::all_of(*results, [](const TensorMeta &meta) { return meta.isStatic(); }))
    return results;
  if (!op.info().boundRule)
    return makeError(ErrorCode::Unimplemented,
                     op.name() + ": shape must be known when inputs are bound, got " + toString((*results)[0]));
  llvm::Expected<Metas> most = op.info().boundRule(op, operands, segments);
  if (!most)
    return most;
  for (auto [index, result] : llvm::enumerate(*results))
    for (unsigned axis = 0; axis < result.rank(); ++axis)
      if (result.shape[axis] == kUnknown)
        unknown(unsigned(index), axis);
  return most;
}

llvm::Error Binder::inferNode(const ProgramNode &node) {
  Metas operands;
  for (ValueId operand : node.operands) {
    if (!unknownAxes[operand].empty())
      return makeError(ErrorCode::Unimplemented,
                       node.op.name() + ": operand must have a shape that is known when inputs are bound, got " +
                           toString(metas[operand]) + " at most, from the data");
    operands.push_back(metas[operand]);
  }
  llvm::SmallVector<std::pair<unsigned, unsigned>, 2> unknown; // result, axis
  llvm::Expected<Metas> results = inferOperator(
      node.op, operands, node.segments, [&](unsigned result, unsigned axis) { unknown.push_back({result, axis}); });
  if (!results)
    return results.takeError();
  if (results->size() != node.results.size())
    return makeError(ErrorCode::Internal, node.op.name() + ": must have " + llvm::Twine(results->size()) +
                                              " results in the program, got " + llvm::Twine(node.results.size()));
  for (auto [result, axis] : unknown)
    unknownAxes[node.results[result]].push_back(axis);
  bound->dependsOnData |= !unknown.empty();
  for (auto [value, meta] : llvm::zip(node.results, *results))
    if (llvm::Error error = setResult(node, value, std::move(meta)))
      return error;
  return llvm::Error::success();
}

/// A step that carries an operator writes what the operator says, whatever the nodes make of its results: kernels and
/// copies trust it. Operands of an epilogue come after those of the operator.
llvm::Error Binder::checkOperator(const Step &step) const {
  if (program.options.isValidated) // from a cache of this build
    return llvm::Error::success();
  size_t count = step.operands.size();
  if (!step.epilogue.empty())
    count = step.segments.empty() ? step.op.info().operands.size()
                                  : std::accumulate(step.segments.begin(), step.segments.end(), size_t(0));
  if (count > step.operands.size())
    return makeError(ErrorCode::DataLoss, step.op.name() + ": step must have the operator's " + llvm::Twine(count) +
                                              " operands, got " + llvm::Twine(step.operands.size()));
  Metas operands;
  for (ValueId value : llvm::ArrayRef(step.operands).take_front(count))
    operands.push_back(metas[value]);
  llvm::Expected<Metas> results = inferOperator(step.op, operands, step.segments, [](unsigned, unsigned) {});
  if (!results)
    return results.takeError();
  bool fits = results->size() == step.results.size();
  for (auto [meta, value] : llvm::zip(*results, step.results))
    fits &= meta == metas[value];
  if (fits)
    return llvm::Error::success();
  return makeError(ErrorCode::DataLoss, step.op.name() + ": step must write what its operator computes, got " +
                                            toString(metas[step.results[0]]));
}

void Binder::addPlacePointer(Place place, int64_t bytes) {
  uint32_t slot = uint32_t(bound->pointers.size());
  bound->pointers.push_back(nullptr);
  switch (place.kind) {
  case Place::Input:
    bound->inputPatches.push_back({slot, place.index, bytes});
    break;
  case Place::Output:
    bound->outputPatches.push_back({slot, place.index, bytes});
    break;
  case Place::Arena:
    arenaUses.push_back({slot, place.index, bytes});
    break;
  case Place::Constant:
    bound->pointers[slot] = static_cast<char *>(program.constants[place.index]) + bytes;
    break;
  case Place::None:
    break; // a value of no step: nothing reads it
  }
}

/// `offset`: in elements, of what the command walks within the value's storage.
void Binder::addPointer(ValueId value, int64_t offset) {
  addPlacePointer(storage.places[value], offset * byteWidth(metas[value].dtype));
}

Command &Binder::newCommand(Command::Kind kind, const Step *step) {
  Command &command = bound->commands.emplace_back();
  command.kind = kind;
  command.step = step;
  command.firstPointer = uint32_t(bound->pointers.size());
  command.firstDim = uint32_t(bound->dims.size());
  scratchOf.push_back(-1);
  return command;
}

void Binder::splitDomain(KernelLaunch &launch, const KernelGeometry &geometry) const {
  launch.outer = geometry.outer;
  launch.inner = geometry.inner;
  launch.parts = 1;
  launch.splitInner = false;
  if (threads > 1 && launch.picoseconds >= kSplitPicoseconds)
    launch.split(threads);
}

void Binder::setLaunch(Command &command, const Step &step, int32_t entry, const KernelGeometry &geometry) {
  command.launch.fn = program.kernels[step.image][entry];
  const KernelEntry &code = exe.images[step.image].entries[entry];
  command.label = code.name.c_str();
  int64_t elements = geometry.parallel * std::max<int64_t>(geometry.reduced, 1);
  command.launch.picoseconds =
      std::min<uint64_t>(llvm::SaturatingMultiply<uint64_t>(elements, code.picosecondsPerElement), kWorkerPicoseconds);
  splitDomain(command.launch, geometry);
  size_t perElement = code.scratchBytesPerElement;
  if (perElement) {
    command.launch.scratchStride = scratchBytes(perElement, uint64_t(geometry.reduced));
    scratchOf.back() = int32_t(storage.allocations.size());
    int32_t index = int32_t(&step - exe.steps.data());
    storage.allocations.push_back({int64_t(command.launch.scratchStride * command.launch.parts), index, index});
  }
  if (command.launch.parts > 1)
    splitPicoseconds += command.launch.picoseconds;
  bound->dims.insert(bound->dims.end(), geometry.dims.begin(), geometry.dims.end());
}

void Binder::setScalars(const Command &command, const Step &step, KernelDims places) {
  for (auto [slot, scalar] : llvm::enumerate(step.scalars)) {
    uint32_t dim = command.firstDim + places.attribute(unsigned(slot));
    if (scalar.kind == ScalarSource::Parameter)
      bound->scalarPatches.push_back({dim, scalar.parameter});
    bound->dims[dim] = int64_t(scalar.bits);
  }
}

llvm::Error Binder::addKernel(const Step &step) {
  llvm::SmallVector<llvm::ArrayRef<int64_t>, 4> shapes;
  for (ValueId value : step.domain)
    shapes.push_back(metas[value].shape);
  llvm::SmallVector<Layout, 8> operands;
  for (const ValueIds *list : {&step.operands, &step.results})
    for (ValueId value : *list)
      operands.push_back(layouts[value]);
  llvm::Expected<KernelGeometry> geometry = kernelGeometry(step, shapes, operands, step.operands.size());
  if (!geometry)
    return geometry.takeError();
  if (geometry->parallel == 0)
    return llvm::Error::success();
  Command &command = newCommand(Command::Launch, &step);
  command.numInputs = uint16_t(step.operands.size());
  command.numOutputs = uint16_t(step.results.size());
  setLaunch(command, step, step.entry, *geometry);
  setScalars(command, step, geometry->places);
  for (const ValueIds *list : {&step.operands, &step.results})
    for (ValueId value : *list)
      addPointer(value, layouts[value].offset);
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Movements and copies
//===----------------------------------------------------------------------===//

/// The step's kernel walks the last axis with stride 1 at the source, and at the destination unless that is strided.
bool Binder::copiesByKernel(const Step &step, const Layout &source, const Layout &destination) const {
  if (source.shape.empty() || source.shape.back() <= 1)
    return true;
  return source.strides.back() == 1 && (regions::writesStrided(step.op) || destination.strides.back() == 1);
}

void Binder::addCopy(const Layout &from, const Layout &to, int64_t width, const char *label) {
  Command &command = bound->commands.back();
  command.copy = uint32_t(bound->copies.size());
  bound->copies.push_back({from, to, width});
  command.label = label;
  command.numInputs = command.numOutputs = 1;
}

llvm::Error Binder::addRegion(const Step &step, unsigned operand, const Layout &source, const Layout &destination) {
  ValueId from = step.operands[operand], to = step.results[0];
  for (int64_t size : source.shape)
    if (size == 0)
      return llvm::Error::success();
  if (copiesByKernel(step, source, destination)) {
    llvm::Expected<KernelGeometry> geometry = kernelGeometry(step, {source.shape}, {source, destination}, 1);
    if (!geometry)
      return geometry.takeError();
    Command &command = newCommand(Command::Launch, &step);
    command.numInputs = command.numOutputs = 1;
    setLaunch(command, step, step.entry, *geometry);
    command.label = step.op.info().name;
  } else {
    newCommand(Command::Copy, &step);
    addCopy(source, destination, byteWidth(metas[to].dtype), step.op.info().name);
  }
  addPointer(from, source.offset);
  addPointer(to, destination.offset);
  return llvm::Error::success();
}

llvm::Error Binder::addFill(const Step &step, ValueId result) {
  llvm::Expected<KernelGeometry> geometry = kernelGeometry(step, {metas[result].shape}, {layouts[result]}, 0);
  if (!geometry)
    return geometry.takeError();
  if (geometry->parallel == 0)
    return llvm::Error::success();
  Command &command = newCommand(Command::Launch, &step);
  command.numOutputs = 1;
  setLaunch(command, step, step.fillEntry, *geometry);
  setScalars(command, step, geometry->places);
  addPointer(result, layouts[result].offset);
  return llvm::Error::success();
}

llvm::Error Binder::addMovement(const Step &step) {
  if (llvm::Error error = checkOperator(step))
    return error;
  llvm::SmallVector<Layout, 4> operands;
  for (ValueId value : step.operands)
    operands.push_back(layouts[value]);
  ValueId result = step.results[0];
  llvm::Expected<regions::Regions> copies = step.op.info().regionRule(step.op, operands, layouts[result]);
  if (!copies)
    return copies.takeError();
  if (regions::fillOf(step.op.info())) {
    if (step.fillEntry < 0)
      return makeError(ErrorCode::Internal, step.op.name() + ": step must have a kernel that fills, got none");
    if (llvm::Error error = addFill(step, result))
      return error;
  }
  for (const CopyRegion &region : *copies) {
    Place from = storage.places[step.operands[region.operand]], to = storage.places[result];
    bool inPlace = from.kind == to.kind && from.index == to.index; // planned by an in-place pair: already there
    if (!inPlace)
      if (llvm::Error error = addRegion(step, region.operand, region.source, region.destination))
        return error;
  }
  return llvm::Error::success();
}

void Binder::addOutputCopies() {
  auto copy = [&](const OutputCopy &output, Place from, int64_t offset, const Layout &source, Place to) {
    const TensorMeta &meta = metas[output.value];
    if (meta.numElements() == 0)
      return;
    newCommand(Command::Copy, nullptr);
    addCopy(source, Layout::contiguous(meta.shape), byteWidth(meta.dtype), exe.outputs[output.output].name.c_str());
    addPlacePointer(from, offset * byteWidth(meta.dtype));
    addPlacePointer(to, 0);
  };
  for (const OutputCopy &output : storage.copies) {
    const Layout &layout = layouts[output.value];
    Place target = output.stage < 0 ? Place{Place::Output, output.output} : Place{Place::Arena, uint32_t(output.stage)};
    copy(output, storage.places[output.value], layout.offset, layout, target);
  }
  for (const OutputCopy &output : storage.copies)
    if (output.stage >= 0)
      copy(output, {Place::Arena, uint32_t(output.stage)}, 0, Layout::contiguous(metas[output.value].shape),
           {Place::Output, output.output});
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

llvm::Error Binder::addStep(const Step &step) {
  switch (step.kind) {
  case StepKind::Kernel:
    return addKernel(step);
  case StepKind::Library:
    return addLibrary(step);
  case StepKind::Movement:
    return addMovement(step);
  }
  llvm_unreachable("step kind out of range");
}

/// By how much the allocator's block is larger.
static uint64_t roundingOf(uint64_t bytes) { return bytes ? Allocator::roundUp(bytes) - bytes : 0; }

void Binder::placeArena() {
  MemoryPlan plan = planMemory(storage.allocations);
  bound->memory.arena = uint64_t(plan.bytes);
  bound->memory.rounding = roundingOf(bound->memory.arena);
  if (keepPlan)
    bound->plan = describePlan(exe, storage, plan, scratchOf);
  for (const PointerPatch &use : arenaUses)
    bound->arenaPatches.push_back({use.slot, 0, plan.offsets[use.index] + use.bytes});
  for (auto [command, allocation] : llvm::zip(bound->commands, scratchOf)) {
    if (allocation < 0)
      continue;
    (command.kind == Command::Library ? command.workspaceOffset : command.scratchOffset) = plan.offsets[allocation];
  }
  for (auto [offset, allocation] : llvm::zip(plan.offsets, storage.allocations))
    arenaExtents.push_back({offset, offset + allocation.bytes});
}

void Binder::finish() {
  placeArena();
  for (Command &command : bound->commands) {
    command.launch.pointers = bound->pointers.data() + command.firstPointer;
    command.launch.dims = bound->dims.data() + command.firstDim;
  }
  if (batches)
    splitPicoseconds += batchLaunches(*bound, exe, storage.places, arenaExtents, threads);
  bound->outputs.reserve(exe.outputs.size());
  for (const OutputDecl &output : exe.outputs) {
    bound->outputs.push_back(metas[output.value]);
    bound->donates.push_back(output.donates);
    bound->unknownAxes.push_back(unknownAxes[output.value]);
    if (output.donates >= 0)
      continue;
    uint64_t bytes = uint64_t(metas[output.value].numElements()) * byteWidth(metas[output.value].dtype);
    bound->memory.outputs += bytes;
    bound->memory.rounding += roundingOf(bytes);
  }
  if (bound->dependsOnData)
    bound->mostOutputs = bound->outputs;
  bound->memory.constants = program.constantBytes();
  bound->numInputs = exe.inputs.size();
  bound->needsWorker |= splitPicoseconds >= kWorkerPicoseconds;
  bound->program = program.shared_from_this();
}

/// Code for a free size takes any but 1 beside a size that is not 1: an axis that repeats is another kernel. `error`,
/// or the name of the dimension that is the cause.
llvm::Error Binder::nameRepeated(llvm::Error error) const {
  auto [code, message] = takeError(std::move(error));
  if (code == ErrorCode::Internal)
    for (const InputDecl &input : exe.inputs)
      for (auto [axis, dim] : llvm::enumerate(input.dims))
        if (dim.symbol >= 0 && metas[input.value].shape[axis] == 1)
          return invalidArgument(program.name() + ": " + exe.symbols[dim.symbol].name +
                                 " must not be 1 where its axis would repeat, got 1 in " + input.name);
  return makeError(code, message);
}

llvm::Expected<std::shared_ptr<Bound>> Binder::run(llvm::ArrayRef<TensorMeta> inputs,
                                                   llvm::ArrayRef<Layout> inputLayouts) {
  if (llvm::Error error = inferShapes(inputs, inputLayouts))
    return std::move(error);
  llvm::Expected<StoragePlan> plan = planStorage(exe, metas, layouts);
  if (!plan)
    return plan.takeError();
  storage = std::move(*plan);
  if (llvm::Error error = prepareLibrary())
    return std::move(error);
  bound->commands.reserve(exe.steps.size());
  for (const Step &step : exe.steps)
    if (llvm::Error error = addStep(step))
      return at(nameRepeated(std::move(error)), step.location);
  addOutputCopies();
  finish();
  bump(executorCounters.binds);
  return std::make_shared<Bound>(std::move(bound));
}

llvm::Expected<std::shared_ptr<Bound>> Program::bind(llvm::ArrayRef<TensorMeta> inputs, llvm::ArrayRef<Layout> layouts,
                                                     const BindOptions &bindOptions) {
  if (options.check)
    if (llvm::Error error = options.check())
      return std::move(error);
  if (llvm::Error error = checkInputs(inputs))
    return std::move(error);
  if (!layouts.empty() && layouts.size() != inputs.size())
    return invalidArgument(options.name + ": must have a layout for each input, got " + llvm::Twine(layouts.size()));
  for (auto [meta, layout] : llvm::zip(inputs, layouts))
    if (meta.shape != layout.shape || layout.strides.size() != layout.shape.size())
      return invalidArgument(options.name + ": layout of an input must have its shape, got " + toString(layout.shape) +
                             " for " + toString(meta));
  return Binder(*this, bindOptions).run(inputs, layouts);
}

} // namespace tess::runtime
