//===- FitMemory.cpp - a program within a limit ---------------------------===//
//
// Cheap values are computed again already (Rematerialise.cpp). Where a program
// must take less, whole kernels and calls run again, by a schedule.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/MemorySchedule.h"
#include "compiler/transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tess::compiler {
#define GEN_PASS_DEF_FITMEMORYPASS
#include "compiler/transforms/Passes.h.inc"

namespace {

struct FitMemory : impl::FitMemoryPassBase<FitMemory> {
  using FitMemoryPassBase::FitMemoryPassBase;
  void runOnOperation() override { MemorySchedule(getOperation().getBody().front()).fit(limit); }
};

} // namespace
} // namespace tess::compiler
