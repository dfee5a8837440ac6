//===- MovementCommands.cpp - movements, and outputs that are copies ------===//
#include "ops/Error.h"
#include "ops/RegionRules.h"
#include "runtime/bind/Binder.h"
#include "runtime/bind/KernelGeometry.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::runtime {

/// Whether the step's kernel copies the region: it walks the last axis of both sides as its code does, and does not
/// write one piece element by element.
static bool copiesByKernel(const Step &step, const Layout &source, const Layout &destination) {
  InnerClass from = InnerClass::Contiguous;
  InnerClass to = regions::writesStrided(step.op) ? InnerClass::Strided : InnerClass::Contiguous;
  if (!step.innerClasses.empty()) // earlier builds have written none
    from = step.innerClasses[0], to = step.innerClasses[1];
  if (to == InnerClass::Strided && source.isContiguous() && destination.isContiguous())
    return false;
  if (source.shape.empty() || source.shape.back() <= 1)
    return true;
  return fitsInner(from, source.strides.back()) && fitsInner(to, destination.strides.back());
}

/// A copy by the device where both sides are in one piece, over threads where it is long; else by the host.
void Binder::addCopy(const Step *step, const Layout &from, const Layout &to, int64_t width, const char *label) {
  constexpr int64_t kPicosecondsPerByte = 16; // as of a kernel that copies
  Command &command = newCommand(Command::Copy, step);
  command.copy = uint32_t(bound->copies.size());
  command.label = label;
  command.numInputs = command.numOutputs = 1;
  int64_t bytes = width;
  for (int64_t size : to.shape)
    bytes *= size;
  CopyLayouts copy{from, to, width, from.isContiguous() && to.isContiguous() ? bytes : -1};
  int64_t picoseconds = std::min(bytes, kWorkerPicoseconds) * kPicosecondsPerByte;
  if (copy.bytes >= 0 && threads > 1 && picoseconds >= kSplitPicoseconds) {
    command.parts = threads;
    splitPicoseconds += picoseconds;
  }
  bound->copies.push_back(std::move(copy));
}

bool Binder::sharesMemory(const Step &step, unsigned operand) const {
  Place from = storage.places[step.operands[operand]], to = storage.places[step.results[0]];
  return from.kind == to.kind && from.index == to.index;
}

/// Copies an operand to the step's result, of the same shape, unless they share their memory.
void Binder::addWholeCopy(const Step &step, unsigned operand) {
  ValueId from = step.operands[operand], to = step.results[0];
  if (sharesMemory(step, operand) || metas[from].numElements() == 0)
    return;
  addCopy(&step, layouts[from], layouts[to], byteWidth(metas[to].dtype), step.op.info().name);
  addPointer(from, layouts[from].offset);
  addPointer(to, layouts[to].offset);
}

llvm::Error Binder::addRegion(const Step &step, unsigned operand, const Layout &source, const Layout &destination) {
  ValueId from = step.operands[operand], to = step.results[0];
  if (llvm::is_contained(source.shape, 0))
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
    addCopy(&step, source, destination, byteWidth(metas[to].dtype), step.op.info().name);
  }
  addPointer(from, source.offset);
  addPointer(to, destination.offset);
  return llvm::Error::success();
}

llvm::Error Binder::addMovement(const Step &step) {
  if (llvm::Error error = checkOperator(step))
    return error;
  llvm::SmallVector<Layout, 4> operands;
  for (ValueId value : step.operands)
    operands.push_back(layouts[value]);
  ValueId result = step.results[0];
  const OpDef &op = operatorOf(step.op);
  llvm::Expected<regions::Regions> copies = op.info().regionRule(op, operands, layouts[result]);
  if (!copies)
    return copies.takeError();
  if (regions::fillOf(step.op.info())) {
    if (step.fillEntry < 0)
      return makeError(ErrorCode::Internal, step.op.name() + ": step must have a kernel that fills, got none");
    if (llvm::Error error = addLaunch(step, step.fillEntry, {metas[result].shape}, {}, {result}))
      return error;
  }
  for (const CopyRegion &region : *copies)
    if (!sharesMemory(step, region.operand)) // by an in-place pair: nothing to copy
      if (llvm::Error error = addRegion(step, region.operand, region.source, region.destination))
        return error;
  return llvm::Error::success();
}

void Binder::addOutputCopies() {
  auto copy = [&](const OutputCopy &output, Place from, int64_t offset, const Layout &source, Place to) {
    const TensorMeta &meta = metas[output.value];
    if (meta.numElements() == 0)
      return;
    addCopy(nullptr, source, Layout::contiguous(meta.shape), byteWidth(meta.dtype),
            exe.outputs[output.output].name.c_str());
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

} // namespace tess::runtime
