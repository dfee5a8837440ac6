//===- HostOptions.h - the compiler's questions, answered -------*- C++ -*-===//
//
// The compiler links no library and runs no code. What it wants to know of both
// comes from the runtime of this process: for eager, frontends and tools alike,
// so that all of them make the same choices.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/CompileOptions.h"
#include "runtime/device/Device.h"

namespace tess::eager {

/// Options for programs that run on `device`: its target, `kernels` answered from its table for the present settings
/// of the process, `evaluate` run by the executor on the host, and times for the profile that is taken.
compiler::CompileOptions optionsFor(runtime::Device &device);
/// Adds a part of a compilation, which ends now, to the profile that is taken, if one is.
void recordPart(const std::string &name, double seconds);
/// Those for the host.
compiler::CompileOptions hostOptions();

} // namespace tess::eager
