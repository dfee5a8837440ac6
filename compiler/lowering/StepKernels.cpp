//===- StepKernels.cpp - the kernels of a program's steps -----------------===//
#include "compiler/lowering/StepKernels.h"
#include "ir/OpBridge.h"
#include "ir/Types.h"
#include "ops/inference/RegionRules.h"
#include "ops/inference/WindowRules.h"

using namespace mlir;

namespace tess::compiler {

StepKernels::StepKernels(func::FuncOp func) : known(func) { addBlock(func.getBody().front()); }

const StepKernel *StepKernels::find(Operation *op) const {
  auto found = kernels.find(op);
  return found == kernels.end() ? nullptr : &found->second;
}

void StepKernels::addBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    known.add(&op);
    addOp(&op);
  }
}

/// Whether the only result is an operand.
static bool givesOperand(const ScalarProgram &program) {
  return program.results.size() == 1 && program.nodes[program.results.front()].fn == ScalarFn::Operand;
}

bool isCopy(Operation *op) {
  const OpInfo *info = ir::infoOf(op);
  return info && info->lowering == Lowering::Elementwise && givesOperand(*info->scalar) &&
         !isa<ir::FusionOp>(op->getParentOp());
}

void StepKernels::addOp(Operation *op) {
  if (auto scan = dyn_cast<ir::ScanOp>(op))
    return addBlock(scan.getBody().front());
  if (auto fusion = dyn_cast<ir::FusionOp>(op))
    return addFusion(fusion);
  if (isCopy(op))
    return addCopy(op);
  const OpInfo *info = ir::infoOf(op);
  if (info && info->lowering == Lowering::Movement)
    addMovement(op);
  if (info && info->lowering == Lowering::Window)
    addWindow(op);
}

void StepKernels::add(Operation *op, KernelUnit unit, KernelLaunch launch) {
  std::string text;
  for (const KernelSpec &spec : unit)
    text += spec.toText();
  auto [found, isNew] = numberOf.try_emplace(text, unsigned(all.size()));
  if (isNew)
    all.push_back(std::move(unit));
  kernels.try_emplace(op, StepKernel{found->second, std::move(launch)});
}

void StepKernels::addFusion(ir::FusionOp fusion) {
  if (hasOnlyShapeReaders(fusion))
    return;
  LoweredFusion lowered = lowerFusion(fusion, known);
  add(fusion, {std::move(lowered.spec)}, std::move(lowered.launch));
}

void StepKernels::addCopy(Operation *copy) {
  TensorMeta meta = ir::metaOf(copy->getResult(0).getType());
  InnerClass source = known.of(copy->getOperand(0)).innerUnit ? InnerClass::Contiguous : InnerClass::Strided;
  add(copy, {copySpec(meta.dtype, meta.rank(), source, InnerClass::Contiguous)}, {perAxis(meta.rank())});
}

void StepKernels::addMovement(Operation *movement) {
  OpDef op = ir::opDefOf(movement);
  TensorMeta meta = ir::metaOf(movement->getResult(0).getType());
  KernelLaunch launch = {perAxis(meta.rank())};
  InnerClass source = movedClass(movement, op.info());
  InnerClass destination = regions::writesStrided(op) ? InnerClass::Strided : InnerClass::Contiguous;
  KernelUnit unit = {copySpec(meta.dtype, meta.rank(), source, destination)};
  if (const AttrInfo *fill = regions::fillOf(op.info())) {
    unit.push_back(fillSpec(meta.dtype, meta.rank(), InnerClass::Contiguous));
    launch.scalars.push_back(scalarOf(movement, op, unsigned(fill - op.info().attrs.begin())));
  }
  add(movement, std::move(unit), std::move(launch));
}

void StepKernels::addWindow(Operation *window) {
  OpDef op = ir::opDefOf(window);
  TensorMeta meta = ir::metaOf(window->getResult(0).getType());
  unsigned rank = meta.rank(), numWindows = windows::of(op).size();
  KernelLaunch launch = {{{0, uint8_t(rank - numWindows)}}};
  for (unsigned axis = rank - numWindows; axis < rank; ++axis) {
    launch.parallel.push_back({uint8_t(axis), uint8_t(axis + 1)});
    launch.reduced.push_back({uint8_t(axis + numWindows), uint8_t(axis + numWindows + 1)});
  }
  add(window, {windowSpec(meta.dtype, op.info().reduceKind, numWindows)}, std::move(launch));
}

} // namespace tess::compiler
