//===- Launches.cpp - kernels of steps, with sizes and addresses ----------===//
#include "ops/Error.h"
#include "runtime/bind/Binder.h"
#include "runtime/bind/KernelGeometry.h"
#include "runtime/bind/Packing.h"
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

llvm::Error Binder::addLaunch(const Step &step, int32_t entry, llvm::ArrayRef<ValueId> values,
                              KernelOperands operands) {
  SpreadInputs spread;
  llvm::Expected<KernelGeometry> geometry = fittingGeometry(step, values, operands, spread);
  if (!geometry)
    return geometry.takeError();
  if (geometry->parallel == 0)
    return llvm::Error::success();
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
    own == spread.end() ? addPointer(value, operands.layouts[index]) : addPointer(own->place, 0);
  }
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
  return addLaunch(step, step.entry, values, std::move(operands));
}

} // namespace tess::runtime
