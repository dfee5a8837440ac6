//===- functional.h - every operator as a function --------------*- C++ -*-===//
//
// functional.inc is generated from the records of ops/records/*.td: operands, then
// attributes, in the order of the record, those with defaults last. Operators
// of several results return them in a vector. Ops.md documents each.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tessera/Apply.h"

#include <cmath>

namespace tessera::functional {

#include "tessera/functional.inc"

} // namespace tessera::functional
