//===- Reservation.h - memory that a compilation finds ----------*- C++ -*-===//
#pragma once

#include "llvm/Support/Error.h"

#include <cstddef>

namespace tess::compiler {

/// ResourceExhausted unless the process may take the memory of a compilation of so many operators. LLVM, which has no
/// exceptions, ends the process where it finds none.
llvm::Error reserveForCompilation(size_t operators);

} // namespace tess::compiler
