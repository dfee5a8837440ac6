//===- TargetSpec.h - the machine that code is made for ---------*- C++ -*-===//
//
// A level and the CPU features it brings. Code generation goes by features, never
// by CPU name: in virtual machines the name can be wrong.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace tess::compiler {

/// A set of CPU features that code is compiled for.
enum class TargetLevel : uint8_t {
  Host,        // what this machine has, of the features we know
  X86_64V3,    // AVX2, FMA, F16C, BMI: the floor
  X86_64V4,    // and AVX-512 F, BW, CD, DQ, VL
  HostChecked, // as Host, for this process only: a sanitizer sees every access (AccessChecks.h)
};

/// A level, with its features by name.
struct TargetSpec {
  TargetLevel level = TargetLevel::X86_64V3;
  /// "+avx,+avx2,...", sorted; every one must be there when the code runs.
  std::string features;

  /// "host", "x86-64-v3", "x86-64-v4" or "host-checked". Fails on other names, and on a host below the floor.
  static llvm::Expected<TargetSpec> parse(llvm::StringRef name);
  /// Whether code for this target may use `feature` ("avx512bw").
  bool has(llvm::StringRef feature) const;
  /// The name that parse() takes.
  llvm::StringRef levelName() const;
};

} // namespace tess::compiler
