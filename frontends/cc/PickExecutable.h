//===- PickExecutable.h - the code of a file that fits here -----*- C++ -*-===//
#pragma once

#include "runtime/schema/Container.h"
#include "runtime/schema/Executable.h"

namespace tessera::deploy {

struct PickedExecutable {
  std::string name; // of its section
  tess::runtime::Executable executable;
};

/// Of the executables that this processor can run, the one whose code needs most features; of equal ones the one
/// compiled for the present number of threads. Unimplemented with the line to type when there is none. `allowCode`:
/// false refuses all.
llvm::Expected<PickedExecutable> pickExecutable(const tess::runtime::Container &file, bool allowCode);

} // namespace tessera::deploy
