//===- LookupLaunch.cpp - kernels that look elements up -------------------===//
#include "runtime/run/LookupLaunch.h"
#include "runtime/device/IndexError.h"

namespace tess::runtime {

static llvm::Expected<LookupReport> reportOf(const KernelLaunch &launch, void *place, Stream &stream) {
  LookupReport report;
  if (llvm::Error error = stream.copyIn(place, &report.lookup, sizeof report.lookup))
    return error;
  if (llvm::Error error = stream.launch(launch))
    return error;
  if (llvm::Error error = stream.copyOut(&report, place, sizeof report))
    return error;
  if (llvm::Error error = stream.synchronize())
    return error;
  return report;
}

/// The error about the first lane whose index is wrong.
static llvm::Error errorOf(const Commands &bound, const Command &command, const LookupReport &report) {
  const Executable &exe = bound.program->executable();
  const Step &step = *command.step;
  size_t number = size_t(report.lookup) - 1, lane = 0;
  while (lane + 1 < kLanes && !report.isWrong[lane])
    ++lane;
  KernelDims places(unsigned(step.parallel.size() + step.reduced.size()),
                    unsigned(step.operands.size() + step.results.size()), unsigned(step.lookups.size()));
  int64_t size = command.launch.dims[places.bound(unsigned(number), BoundNumber::Extent)];
  return indexError(exe.nodes[step.lookups[number].node].op.str("caller"), report.indices[lane], size);
}

llvm::Error launchLookup(const Commands &bound, const Command &command, void *place, Stream &stream) {
  llvm::Expected<LookupReport> report = reportOf(command.launch, place, stream);
  if (!report)
    return report.takeError();
  if (report->lookup && command.launch.parts > 1) { // of several threads, any may have been the first
    KernelLaunch alone = command.launch;
    alone.parts = 1;
    report = reportOf(alone, place, stream);
    if (!report)
      return report.takeError();
  }
  return report->lookup ? errorOf(bound, command, *report) : llvm::Error::success();
}

} // namespace tess::runtime
