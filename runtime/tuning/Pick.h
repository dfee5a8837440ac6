//===- Pick.h - which kernel computes a call --------------------*- C++ -*-===//
//
// The one answer for eager operators, traced functions and files: the table's
// rule (runtime/cpu), or what was measured, as the settings of the request say.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/device/Device.h"
#include "runtime/device/KernelTable.h"

namespace tess::runtime::tuning {

/// Why a kernel computes a call.
enum class Reason : uint8_t {
  Rule,       // it is the first of the table that takes the call
  Alone,      // and none but it may take its place
  Limit,      // it is the first that needs no more workspace than is allowed, or needs the least
  Remembered, // it was the fastest when it was measured, in this process or in another one
  Measured,   // it is the fastest
};

/// A kernel, why it is this one, and how many there were to choose from.
struct Pick {
  PreparedRef kernel;
  Reason reason = Reason::Rule;
  unsigned candidates = 1;
  double microseconds = 0; // of a measured kernel
};

/// The kernel for a request. Kernels that only their form or their threads tell apart give the same bits; others are
/// candidates where the request's bits may move and the strategy does not say Reproducible. Kernels are measured for
/// the host's contractions alone: libraries' move bits with their threads. Errors are those of prepareKernel().
llvm::Expected<Pick> pickKernel(Device &device, const PrepareRequest &request);

/// "own:contract (packed), fastest of 4: 12.3 us".
std::string describe(const Pick &pick);

} // namespace tess::runtime::tuning
