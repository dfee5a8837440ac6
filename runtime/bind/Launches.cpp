//===- Launches.cpp - kernels of steps, with sizes and addresses ----------===//
#include "ops/vocabulary/Error.h"
#include "runtime/bind/Binder.h"
#include "runtime/bind/KernelGeometry.h"
#include "runtime/bind/Packing.h"
#include "runtime/device/IndexCheck.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace tess::runtime {

void Binder::addPointer(Place place, int64_t bytes) {
  PointerPatch patch{uint32_t(bound->pointers.size()), place.index, bytes};
  bound->pointers.push_back(nullptr);
  switch (place.kind) {
  case Place::Input:
    return bound->inputPatches.push_back(patch);
  case Place::Output:
    return bound->outputPatches.push_back(patch);
  case Place::Arena:
    return bound->arenaPatches.push_back(patch);
  case Place::Grown:
    bound->pointers.back() = reinterpret_cast<void *>(uintptr_t(bytes)); // from where the run puts it
    return bound->grownPatches.push_back(patch);
  case Place::Constant:
    bound->pointers.back() = static_cast<char *>(program.constants[place.index]) + bytes;
    return;
  case Place::None:
    return; // no step makes the value, so nothing reads it
  }
}

/// The pointer of a value that the command walks by `layout`.
void Binder::addPointer(ValueId value, const Layout &layout) {
  addPointer(storage.places[value], layout.offset * byteWidth(metas[value].dtype));
  addMoves(value);
}

Command &Binder::newCommand(Command::Kind kind, const Step *step, const char *label) {
  Command &command = bound->commands.emplace_back();
  command.kind = kind;
  command.step = step;
  command.label = label;
  command.firstPointer = uint32_t(bound->pointers.size());
  command.firstDim = uint32_t(bound->dims.size());
  return command;
}

void Binder::addScratch(uint64_t bytes) {
  if (!bytes)
    return;
  scratch.push_back({bound->commands.size() - 1, storage.allocations.size()});
  int32_t index = int32_t(bound->commands.back().step - exe.steps.data());
  storage.allocations.push_back({int64_t(bytes), index, index});
}

void Binder::setLaunch(KernelLaunch &launch, const KernelEntry &code, const KernelGeometry &geometry) {
  const bool byChunks = code.scratchBytesPerChunk != 0;
  int64_t elements = geometry.parallel * std::max<int64_t>(geometry.reduced, 1);
  launch.picoseconds =
      std::min<uint64_t>(llvm::SaturatingMultiply<uint64_t>(elements, code.picosecondsPerElement), kWorkerPicoseconds);
  launch.outer = geometry.outer;
  launch.inner = byChunks ? reductionChunks(geometry.reduced) : geometry.inner;
  launch.parts = 1;
  launch.tiled = geometry.isTiled;
  if (parts > 1 && launch.picoseconds >= kSplitPicoseconds)
    byChunks ? launch.splitChunks(parts) : launch.split(parts);
  if (launch.parts > 1)
    splitPicoseconds += launch.picoseconds;
  if (code.scratchBytesPerElement)
    launch.scratchStride = scratchBytes(code.scratchBytesPerElement, uint64_t(geometry.reduced));
  if (launch.parts > 1 && byChunks)
    addScratch(uint64_t(code.scratchBytesPerChunk) * uint64_t(launch.inner));
  else
    addScratch(launch.scratchStride * launch.parts);
}

int64_t Binder::numberOf(const ScalarSource &scalar) const {
  if (scalar.kind != ScalarSource::Size)
    return int64_t(scalar.bits);
  return operatorOf(exe.nodes[scalar.bits].op).attr(scalar.parameter).i64();
}

/// Copies an input over the whole domain, for a kernel that does not repeat it. The memory is the step's own.
Binder::SpreadInput Binder::spreadInput(const Step &step, const RepeatedInputError &repeated, ValueId value,
                                        const Layout &layout) {
  const Place own{Place::Arena, uint32_t(storage.allocations.size())};
  const int64_t width = byteWidth(metas[value].dtype);
  addCopy(&step, "repeat", width, placed(value, layout.broadcastTo(repeated.domain)),
          {own, Layout::contiguous(repeated.domain)});
  addScratch(uint64_t(llvm::product_of(repeated.domain, width)));
  return {repeated.input, own};
}

/// The geometry of a launch, once the inputs that the code does not repeat are spread.
llvm::Expected<KernelGeometry> Binder::fittingGeometry(const Step &step, llvm::ArrayRef<ValueId> values,
                                                       KernelOperands &operands, SpreadInputs &spread) {
  llvm::Expected<KernelGeometry> geometry = kernelGeometry(step, operands);
  if (geometry || !geometry.errorIsA<RepeatedInputError>())
    return geometry;
  llvm::handleAllErrors(geometry.takeError(), [&](const RepeatedInputError &repeated) {
    Layout &layout = operands.layouts[repeated.input];
    spread.push_back(spreadInput(step, repeated, values[repeated.input], layout));
    layout = Layout::contiguous(repeated.domain);
  });
  return fittingGeometry(step, values, operands, spread);
}

/// Hands the axes over to bounds: a kernel walks what is left of the operands. What it adds to is copied to the result,
/// unless it lies there, and not read.
llvm::Error Binder::measureLookups(const Step &step, KernelOperands &operands) {
  for (const LookupDecl &lookup : step.lookups) {
    const Layout &layout = operands.layouts[lookup.operand];
    if (lookup.axis >= layout.shape.size())
      return makeError(ErrorCode::Internal, "bind: kernel must look elements up along an axis of operand " +
                                                llvm::Twine(unsigned(lookup.operand)) + ", got " +
                                                llvm::Twine(unsigned(lookup.axis)));
    operands.bounds.push_back({layout.strides[lookup.axis], 0, 0, layout.shape[lookup.axis]});
  }
  for (const LookupDecl &lookup : step.lookups) {
    Layout &layout = operands.layouts[lookup.operand];
    layout.shape[lookup.axis] = 1;
    layout.strides[lookup.axis] = 0;
  }
  if (const LookupDecl *scatter = scatterOf(step))
    startFrom(step, exe.nodes[scatter->node], operands);
  return llvm::Error::success();
}

void Binder::startFrom(const Step &step, const ProgramNode &node, KernelOperands &operands) {
  ValueId x = node.operands[0], result = node.results[0];
  auto operand = llvm::find(llvm::reverse(step.operands), x); // the last ones are those that indices count in
  Layout &unread = operands.layouts[size_t(operand.base() - step.operands.begin()) - 1];
  unread = Layout::contiguous(Shape(unread.shape.size(), 1));
  llvm::fill(unread.strides, 0);
  const Place &from = storage.places[x], &to = storage.places[result];
  if (isInput(from, to))
    checkIndices(step, &node);
  else if (from.kind != to.kind || from.index != to.index)
    addCopy(&step, node.op.info().name, byteWidth(metas[result].dtype), placed(x, layouts[x]),
            placed(result, layouts[result]));
}

/// Whether a caller's memory is read at one place and written at the other.
bool Binder::isInput(const Place &from, const Place &to) const {
  return from.kind == Place::Input && to.kind == Place::Output && exe.outputs[to.index].donates == int32_t(from.index);
}

/// Whether an index broadcasts to no element, alone or beside the others of its operator. As in NumPy, one without axes
/// is looked at nevertheless.
bool Binder::isIndexOfNothing(const ProgramNode &node, ValueId index) const {
  auto isEmpty = [&](ValueId other) { return metas[other].numElements() == 0; };
  unsigned first = node.op.info().lowering == Lowering::Scatter ? 2 : 1;
  return !metas[index].shape.empty() && llvm::any_of(llvm::ArrayRef(node.operands).drop_front(first), isEmpty);
}

/// Looks at the indices of a kernel that has nothing to do, or those of one operator before it writes.
void Binder::checkIndices(const Step &step, const ProgramNode *of) {
  for (auto [number, lookup] : llvm::enumerate(step.lookups)) {
    const ProgramNode &node = exe.nodes[lookup.node];
    if (of && of != &node)
      continue;
    auto isOfNode = [&](const LookupDecl &other) { return other.node == lookup.node; };
    size_t before = size_t(llvm::count_if(llvm::ArrayRef(step.lookups).take_front(number), isOfNode));
    bool adds = node.op.info().lowering == Lowering::Scatter;
    ValueId index = node.operands[before + (adds ? 2 : 1)];
    if (!llvm::is_contained(step.operands, index) || isIndexOfNothing(node, index))
      continue; // computed for each element of the domain, or none of it is an index
    Command &command = newCommand(Command::Library, &step, node.op.info().name);
    command.numInputs = 1;
    command.kernel = indexCheck(node.op.str("caller"), metas[index].dtype, layouts[index],
                                metas[node.operands[0]].shape[lookup.axis]);
    bound->checksData = true;
    addPointer(index, layouts[index]);
  }
}

/// Whether there is nothing to look up: what the kernel reads before its caller hears of a wrong index is memory of its
/// own.
bool Binder::isLookedUpEmpty(const Step &step, size_t operand) const {
  auto isOf = [&](const LookupDecl &lookup) { return lookup.operand == operand; };
  ValueId value =
      operand < step.operands.size() ? step.operands[operand] : step.results[operand - step.operands.size()];
  return llvm::any_of(step.lookups, isOf) && metas[value].numElements() == 0;
}

/// Memory for the last command alone, and a pointer to it.
void Binder::addOwnMemory(uint64_t bytes) {
  addPointer({Place::Arena, uint32_t(storage.allocations.size())}, 0);
  addScratch(bytes);
}

/// The report lies where Command::scratchOffset says, so it is the last that the command gets for itself.
void Binder::addReport() {
  addOwnMemory(sizeof(LookupReport));
  bound->commands.back().looksUp = true;
  bound->checksData = true;
}

llvm::Error Binder::addLaunch(const Step &step, int32_t entry, llvm::ArrayRef<ValueId> values,
                              KernelOperands operands) {
  SpreadInputs spread;
  llvm::Expected<KernelGeometry> geometry = fittingGeometry(step, values, operands, spread);
  if (!geometry)
    return geometry.takeError();
  bool isEmpty = geometry->parallel == 0 || (!step.lookups.empty() && !step.reduced.empty() && geometry->reduced == 0);
  if (isEmpty) {
    checkIndices(step);
    return llvm::Error::success();
  }
  const KernelEntry &code = exe.images[step.image].entries[entry];
  const char *label = step.op ? step.op.info().name : code.name.c_str();
  KernelLaunch &launch = newCommand(Command::Launch, &step, label).launch;
  launch.fn = program.kernels[step.image][entry];
  launch.what = step.op ? label : program.name().c_str(); // kernels of several operators have numbers for names
  launch.where = step.location.c_str();
  setLaunch(launch, code, *geometry);
  for (auto [slot, scalar] : llvm::enumerate(step.scalars)) {
    unsigned place = geometry->places.attribute(unsigned(slot));
    if (scalar.kind == ScalarSource::Parameter)
      bound->scalarPatches.push_back({uint32_t(bound->dims.size() + place), scalar.parameter});
    geometry->dims[place] = numberOf(scalar);
  }
  llvm::append_range(bound->dims, geometry->dims);
  for (auto [index, value] : llvm::enumerate(values)) {
    const auto *own = llvm::find_if(spread, [&](const SpreadInput &each) { return each.input == index; });
    if (own != spread.end())
      addPointer(own->place, 0);
    else if (isLookedUpEmpty(step, index))
      addOwnMemory(uint64_t(llvm::product_of(operands.layouts[index].shape, byteWidth(metas[value].dtype))));
    else
      addPointer(value, operands.layouts[index]);
  }
  if (!step.lookups.empty())
    addReport();
  return llvm::Error::success();
}

llvm::Error Binder::addKernel(const Step &step) {
  KernelOperands operands{{}, {}, step.operands.size()};
  ValueIds values = step.operands;
  values.append(step.results);
  for (ValueId value : values)
    operands.layouts.push_back(layouts[value]);
  if (const std::optional<ChannelOrder> &order = packings[step.results[0]].order; order && goesByChannel(step)) {
    operands.shapes = {order->shape};
    for (auto [layout, inner] : llvm::zip(operands.layouts, step.innerClasses))
      layout = order->layoutOf(layout, inner);
  } else {
    for (ValueId value : step.domain)
      operands.shapes.push_back(metas[value].shape);
  }
  if (llvm::Error error = measureLookups(step, operands))
    return error;
  return addLaunch(step, step.entry, values, std::move(operands));
}

} // namespace tess::runtime
