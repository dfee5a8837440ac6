//===- StepText.h - a step in words -----------------------------*- C++ -*-===//
#pragma once

#include "runtime/schema/Executable.h"

#include <string>
#include <vector>

namespace tess::runtime {

/// The kind of a step in a word.
llvm::StringRef nameOf(StepKind kind);
/// Bytes from an entry to the next one, or to the end of the image with its constants.
size_t codeBytes(const Image &image, const KernelEntry &entry);
/// The operators that one kernel computes, in order, as in "mul add relu"; empty where the program does not say.
std::string fusedOperators(const Executable &executable, const Step &step);
/// The names of these nodes.
std::string operatorNames(const Executable &executable, llvm::ArrayRef<uint32_t> nodes);
/// The nodes that each step computes, in their order; a loop computes none itself.
std::vector<std::vector<uint32_t>> nodesBySteps(const Executable &executable);

} // namespace tess::runtime
