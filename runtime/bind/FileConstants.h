//===- FileConstants.h - programs whose constants are in a file -*- C++ -*-===//
#pragma once

#include "runtime/bind/Bind.h"
#include "runtime/schema/Container.h"

namespace tess::runtime {

/// Options of a program that reads its constants where `file` is mapped. Each bind checks the file; pages of constants
/// that were packed go back to the system.
ProgramOptions optionsFor(std::shared_ptr<Container> file);

} // namespace tess::runtime
