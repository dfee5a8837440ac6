//===- TargetSpec.h - the machine that code is made for ---------*- C++ -*-===//
//
// A level and the CPU features it brings. Code generation goes by features, never
// by CPU name: in virtual machines the name can be wrong.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace tess::compiler {

/// A set of CPU features that code is compiled for.
enum class TargetLevel : uint8_t {
  Host,        // the highest of the next two that this machine has, or what TESS_LEVEL says
  X86_64V3,    // AVX2, FMA, F16C, BMI: the floor
  X86_64V4,    // and AVX-512 F, BW, CD, DQ, VL
  HostChecked, // as Host, for this process only: a sanitizer sees every access (AccessChecks.h)
  Sim,         // the emulated accelerator: code of Host, for a grid
  Ptx,         // a GPU of NVIDIA's, for a grid
};

/// A level, with its features by name.
struct TargetSpec {
  TargetLevel level = TargetLevel::X86_64V3;
  /// "+avx,+avx2,...", sorted; every one must be there when the code runs.
  std::string features;
  /// Of a GPU: "sm_90".
  std::string architecture;

  /// "host", "x86-64-v3", "x86-64-v4", "host-checked", "sim" or "sm_<number>". Fails on other names, and on a host
  /// below the floor.
  static llvm::Expected<TargetSpec> parse(llvm::StringRef name);
  /// Lets "host" stand for a lower level than the machine's; "": the machine's. InvalidArgument for another name, and a
  /// level that the machine lacks.
  static llvm::Error setHost(llvm::StringRef level);
  /// The level of such a name; none of others.
  static std::optional<TargetLevel> levelOf(llvm::StringRef name);
  /// Whether code for this target may use `feature` ("avx512bw").
  bool has(llvm::StringRef feature) const;
  /// The name that parse() takes.
  llvm::StringRef levelName() const;
  /// The kind of device and the name, for people: "cpu:host".
  std::string describe() const;
  /// Whether kernels have the form of a grid.
  bool isGrid() const { return level == TargetLevel::Sim || level == TargetLevel::Ptx; }
  /// Whether code may outlive the process.
  bool isPortable() const { return level != TargetLevel::HostChecked; }
  /// Tells apart code of equal features; empty for the CPU's.
  std::string keyPrefix() const;
};

} // namespace tess::compiler
