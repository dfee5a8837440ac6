//===- StepText.h - a step in words -----------------------------*- C++ -*-===//
#pragma once

#include "runtime/schema/Executable.h"

#include <string>

namespace tess::runtime {

/// The operators that one kernel computes, in order, as in "mul add relu"; empty where the program does not say.
std::string fusedOperators(const Executable &executable, const Step &step);

} // namespace tess::runtime
