//===- TileEntry.h - a tile of products in a table --------------*- C++ -*-===//
#pragma once

#include "ops/vocabulary/DType.h"
#include "runtime/schema/KernelAbi.h"

namespace tess::runtime {

/// A kernel that contracts, in the tables that the compiler writes when the library is built
/// (compiler/target/WriteContractions.cpp) and the runtime reads (runtime/contract/Kernels.h): in memory as here.
struct TileEntry {
  KernelFn run;
  DType dtype; // of the operands
  uint8_t rows, panels;
  uint8_t unused[2] = {};
};
static_assert(sizeof(TileEntry) == 16 && sizeof(DType) == 4);

} // namespace tess::runtime
