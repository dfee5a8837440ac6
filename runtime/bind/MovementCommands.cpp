//===- MovementCommands.cpp - movements, and outputs that are copies ------===//
#include "ops/inference/RegionRules.h"
#include "ops/vocabulary/Error.h"
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

/// A copy by the device where both sides are in one piece, over threads where it is long; else by the host. Elements
/// have `width` bytes. Nothing where there are none.
void Binder::addCopy(const Step *step, const char *label, int64_t width, const PlacedLayout &from,
                     const PlacedLayout &to) {
  constexpr int64_t kPicosecondsPerByte = 16; // as of a kernel that copies
  int64_t bytes = llvm::product_of(to.layout.shape, width);
  if (!bytes)
    return;
  Command &command = newCommand(Command::Copy, step, label);
  command.copy = uint32_t(bound->copies.size());
  bool isWhole = from.layout.isContiguous() && to.layout.isContiguous();
  int64_t picoseconds = std::min(bytes, kWorkerPicoseconds) * kPicosecondsPerByte;
  if (isWhole && parts > 1 && picoseconds >= kSplitPicoseconds) {
    command.parts = parts;
    splitPicoseconds += picoseconds;
  }
  bound->copies.push_back({from.layout, to.layout, width, isWhole ? bytes : -1});
  addPointer(from.place, from.layout.offset * width);
  addMoves(from.value);
  addPointer(to.place, to.layout.offset * width);
  addMoves(to.value);
}

bool Binder::sharesMemory(const Step &step, unsigned operand) const {
  Place from = storage.places[step.operands[operand]], to = storage.places[step.results[0]];
  return from.kind == to.kind && from.index == to.index;
}

llvm::Error Binder::addRegion(const Step &step, const CopyRegion &region) {
  ValueId from = step.operands[region.operand], to = step.results[0];
  if (sharesMemory(step, region.operand)) // by an in-place pair
    return llvm::Error::success();
  if (copiesByKernel(step, region.source, region.destination))
    return addLaunch(step, step.entry, {from, to}, {{region.source.shape}, {region.source, region.destination}, 1});
  addCopy(&step, step.op.info().name, byteWidth(metas[to].dtype), placed(from, region.source),
          placed(to, region.destination));
  return llvm::Error::success();
}

llvm::Error Binder::addMovement(const Step &step) {
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
    if (llvm::Error error = addLaunch(step, step.fillEntry, {result}, {{metas[result].shape}, {layouts[result]}, 0}))
      return error;
  }
  for (const CopyRegion &region : *copies)
    if (llvm::Error error = addRegion(step, region))
      return error;
  return llvm::Error::success();
}

void Binder::addOutputCopies() {
  for (const auto &[value, output, from, to] : storage.copies) {
    const TensorMeta &meta = metas[value];
    PlacedLayout own{storage.places[value], layouts[value]}, whole{to, Layout::contiguous(meta.shape)};
    if (from.kind != Place::None)
      own = {from, whole.layout};
    addCopy(nullptr, exe.outputs[output].name.c_str(), byteWidth(meta.dtype), own, whole);
  }
}

} // namespace tess::runtime
