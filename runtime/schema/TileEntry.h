//===- TileEntry.h - a tile of products in a table --------------*- C++ -*-===//
#pragma once

#include "ops/vocabulary/DType.h"
#include "runtime/schema/KernelAbi.h"

namespace tess::runtime {

/// The lines of a tile's right operand: numbers as the left one's (int8 beside uint8), or quantized weights whose
/// groups of lines have scales beside float32: a number of 8 bits for each column, or a word of eight of 4 bits.
enum class TileLines : uint8_t { Numbers, Bytes, Nibbles };

/// A kernel that contracts, in the tables that the compiler writes when the library is built
/// (compiler/target/WriteContractions.cpp) and the runtime reads (runtime/contract/Kernels.h): in memory as here.
struct TileEntry {
  KernelFn run;
  DType dtype; // of the left operand
  uint8_t rows, panels;
  TileLines lines = TileLines::Numbers;
  uint8_t unused = 0;
};
static_assert(sizeof(TileEntry) == 16 && sizeof(DType) == 4);

} // namespace tess::runtime
