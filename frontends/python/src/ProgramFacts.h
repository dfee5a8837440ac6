//===- ProgramFacts.h - programs in numbers, for Python ---------*- C++ -*-===//
#pragma once

#include "eager/tracing/TracedProgram.h"

#include <nanobind/nanobind.h>

namespace tess::python {

namespace nb = nanobind;

/// Bytes of a run by what they are.
nb::dict memoryOf(eager::TracedProgram &program);
/// The account (TracedProgram::account) as JSON.
std::string accountOf(eager::TracedProgram &program, bool withBoundaries);
/// The outcome of a limit of memory; None where there is no limit.
nb::object fittedOf(const eager::TracedProgram &program);

} // namespace tess::python
