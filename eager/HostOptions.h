//===- HostOptions.h - the compiler's questions, answered -------*- C++ -*-===//
//
// The compiler links no library and runs no code. What it wants to know of both
// comes from the runtime of this process: for eager, frontends and tools alike,
// so that all of them make the same choices.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/Compile.h"

namespace tess::eager {

/// Library kernels as the processor's table picks them with the present number of threads; constants computed by the
/// executor.
compiler::CompileOptions hostOptions();

} // namespace tess::eager
