//===- Ops.h - classes of the records' operators ---------------*- C++ -*-===//
//
// The header is sixty thousand lines and takes seconds: all other code uses
// operators by name, through OpBridge.h.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/Dialect.h"
#include "ir/OpBridge.h"

#include "mlir/IR/Builders.h"

#define GET_OP_CLASSES
#include "ir/Ops.h.inc"
