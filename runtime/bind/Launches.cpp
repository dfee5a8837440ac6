//===- Launches.cpp - kernels of steps, with sizes and addresses ----------===//
#include "ops/Error.h"
#include "runtime/bind/Binder.h"
#include "runtime/bind/KernelGeometry.h"
#include "runtime/bind/Packing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace tess::runtime {

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
    break; // no step makes the value, so nothing reads it
  }
}

/// `offset`: of the first element that the command walks, in elements from the start of the value's storage.
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

void Binder::splitDomain(KernelLaunch &launch, const KernelGeometry &geometry, bool byChunks) const {
  launch.outer = geometry.outer;
  launch.inner = byChunks ? reductionChunks(geometry.reduced) : geometry.inner;
  launch.parts = 1;
  launch.tiled = geometry.isTiled;
  if (threads > 1 && launch.picoseconds >= kSplitPicoseconds)
    byChunks ? launch.splitChunks(threads) : launch.split(threads);
}

void Binder::setLaunch(Command &command, const Step &step, int32_t entry, const KernelGeometry &geometry) {
  KernelLaunch &launch = command.launch;
  launch.fn = program.kernels[step.image][entry];
  const KernelEntry &code = exe.images[step.image].entries[entry];
  command.label = code.name.c_str();
  int64_t elements = geometry.parallel * std::max<int64_t>(geometry.reduced, 1);
  launch.picoseconds =
      std::min<uint64_t>(llvm::SaturatingMultiply<uint64_t>(elements, code.picosecondsPerElement), kWorkerPicoseconds);
  splitDomain(launch, geometry, code.scratchBytesPerChunk != 0);
  if (code.scratchBytesPerElement)
    launch.scratchStride = scratchBytes(code.scratchBytesPerElement, uint64_t(geometry.reduced));
  uint64_t bytes = launch.scratchStride * launch.parts;
  if (launch.parts > 1 && launch.by == KernelLaunch::Split::Chunks)
    bytes = uint64_t(code.scratchBytesPerChunk) * uint64_t(launch.inner);
  if (bytes) {
    scratchOf.back() = int32_t(storage.allocations.size());
    int32_t index = int32_t(&step - exe.steps.data());
    storage.allocations.push_back({int64_t(bytes), index, index});
  }
  if (launch.parts > 1)
    splitPicoseconds += launch.picoseconds;
  bound->dims.insert(bound->dims.end(), geometry.dims.begin(), geometry.dims.end());
}

llvm::Error Binder::addLaunch(const Step &step, int32_t entry, llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes,
                              const ValueIds &inputs, const ValueIds &outputs) {
  llvm::SmallVector<Layout, 8> operands;
  for (const ValueIds *list : {&inputs, &outputs})
    for (ValueId value : *list)
      operands.push_back(layouts[value]);
  llvm::ArrayRef<int64_t> domain;
  if (const std::optional<ChannelOrder> &order = packings[outputs[0]].order; order && goesByChannel(step)) {
    domain = order->shape;
    shapes = domain;
    for (auto [layout, inner] : llvm::zip(operands, step.innerClasses))
      layout = order->layoutOf(layout, inner);
  }
  llvm::Expected<KernelGeometry> geometry = kernelGeometry(step, shapes, operands, inputs.size());
  if (!geometry)
    return geometry.takeError();
  if (geometry->parallel == 0)
    return llvm::Error::success();
  Command &command = newCommand(Command::Launch, &step);
  command.numInputs = uint16_t(inputs.size());
  command.numOutputs = uint16_t(outputs.size());
  setLaunch(command, step, entry, *geometry);
  for (auto [slot, scalar] : llvm::enumerate(step.scalars)) {
    uint32_t dim = command.firstDim + geometry->places.attribute(unsigned(slot));
    if (scalar.kind == ScalarSource::Parameter)
      bound->scalarPatches.push_back({dim, scalar.parameter});
    bound->dims[dim] = int64_t(scalar.bits);
  }
  for (const ValueIds *list : {&inputs, &outputs})
    for (ValueId value : *list)
      addPointer(value, layouts[value].offset);
  return llvm::Error::success();
}

llvm::Error Binder::addKernel(const Step &step) {
  llvm::SmallVector<llvm::ArrayRef<int64_t>, 4> shapes;
  for (ValueId value : step.domain)
    shapes.push_back(metas[value].shape);
  return addLaunch(step, step.entry, shapes, step.operands, step.results);
}

} // namespace tess::runtime
