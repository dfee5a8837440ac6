//===- Copies.cpp - movements, and copies that are outputs ----------------===//
#include "ops/Error.h"
#include "ops/RegionRules.h"
#include "runtime/bind/Binder.h"
#include "runtime/bind/KernelGeometry.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::runtime {

/// Whether the step's kernel can copy: it walks the last axis with stride 1 at the source, and at the destination
/// unless that is strided.
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
    newCommand(Command::Copy, &step);
    addCopy(source, destination, byteWidth(metas[to].dtype), step.op.info().name);
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
  for (const CopyRegion &region : *copies) {
    Place from = storage.places[step.operands[region.operand]], to = storage.places[result];
    bool inPlace = from.kind == to.kind && from.index == to.index; // by an in-place pair: nothing to copy
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

} // namespace tess::runtime
