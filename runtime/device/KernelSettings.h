//===- KernelSettings.h - settings that decide a kernel ---------*- C++ -*-===//
//
// A call's kernel depends on its operator, dtypes and sizes, and on these
// settings of the process, which therefore are part of each key of a binding.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <limits>

namespace tess::runtime {

/// Bits of an execution strategy (tuning/README.md), with MegEngine's values.
enum Strategy : uint8_t { Heuristic = 1, Profile = 2, Reproducible = 4, Optimized = 8 };

/// The name of the kernels that `winograd` allows.
constexpr const char *kWinograd = "own:winograd";

/// Settings that kernels are chosen by.
struct KernelSettings {
  static constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();

  /// Whether convolutions of 3 x 3 may go by Winograd's products; else they are direct sums, whose error is smaller.
  bool winograd = true;
  /// Bits of Strategy.
  uint8_t strategy = Heuristic;
  /// Bytes that a kernel may need beside its operands, where another kernel with its bits needs no more.
  uint64_t workspaceLimit = kNoLimit;

  bool operator==(const KernelSettings &) const = default;
  /// Whether the kernel of this name may compute a call.
  bool allows(llvm::StringRef implementation) const { return winograd || implementation != kWinograd; }
  /// Whether remembered times of kernels count, and whether missing ones are measured.
  bool asksTimes() const { return strategy & (Profile | Optimized); }
  bool measures() const { return (strategy & (Profile | Heuristic)) == Profile; }
  /// Whether rules alone decide.
  bool areRules() const { return !asksTimes() && workspaceLimit == kNoLimit; }
};

/// Settings of this process, at first those of the environment: TESS_WINOGRAD=0 says false.
KernelSettings kernelSettings();
/// Replaces them for programs that are bound from now on; traced functions and eager operators follow at the next call.
void setKernelSettings(const KernelSettings &settings);

} // namespace tess::runtime
