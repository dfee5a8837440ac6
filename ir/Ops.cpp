//===- Ops.cpp - a part of the records' operators -------------------------===//
//
// The build compiles this file once for each part, whose name it defines, so
// that no translation unit is long.
//
//===----------------------------------------------------------------------===//
#include "ir/Ops.h"

using namespace mlir;

#include "ir/Ops.cpp.inc"
