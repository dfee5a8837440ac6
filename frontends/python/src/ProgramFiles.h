//===- ProgramFiles.h - programs in files, for Python -----------*- C++ -*-===//
#pragma once

#include "compiler/ProgramFile.h"
#include "ir/GraphNames.h"

#include <nanobind/nanobind.h>

namespace tess::python {

/// The names of a dict of bools: outputs, values, operators, constants.
ir::KeptNames keptNames(nanobind::dict names);
/// What was written, as a dict.
nanobind::dict describe(const compiler::WrittenProgram &written);

} // namespace tess::python
