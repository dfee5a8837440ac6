//===- Builtin.h - a class for each operator ---------------------*- C++ -*-===//
//
// Generated: typed constructors with the defaults of the records, accessors.
// `builtin::Softmax(-1)` is an OpDef and has no state beyond it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/operator/OpDef.h"

#include <cmath>

namespace tess::builtin {
#include "ops/table/Builtin.inc"
} // namespace tess::builtin
