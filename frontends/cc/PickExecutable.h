//===- PickExecutable.h - the code of a file that fits here -----*- C++ -*-===//
#pragma once

#include "runtime/device/Device.h"
#include "runtime/schema/Container.h"
#include "runtime/schema/Executable.h"

namespace tessera::deploy {

/// An executable of a file.
struct PickedExecutable {
  std::string name; // of its section
  tess::runtime::Executable executable;
};

/// The executable to run on `device`: of those that it can run on this machine, the one whose code needs most features,
/// and of equal ones the one compiled for the present number of threads. What a newer version wrote is left out.
/// Unimplemented, with the command that makes one, when there is none. `allowCode`: false refuses every executable.
llvm::Expected<PickedExecutable> pickExecutable(const tess::runtime::Container &file,
                                                const tess::runtime::Device &device, bool allowCode);

} // namespace tessera::deploy
