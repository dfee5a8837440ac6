//===- Roots.h - the values that own memory ---------------------*- C++ -*-===//
#pragma once

#include "runtime/schema/Executable.h"

namespace tess::runtime {

/// The value that a view looks at, through any number of views.
ValueId rootOf(const Executable &exe, ValueId value);

} // namespace tess::runtime
