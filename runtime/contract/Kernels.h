//===- Kernels.h - tiles of products, compiled with the library -*- C++ -*-===//
//
// Kernels that contract (KernelFn in runtime/schema/KernelAbi.h), written by the
// compiler when the library was built, for each level of processors. All give the
// same bits.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/schema/TileEntry.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace tess::runtime::contract {

/// The tiles of one dtype on this machine.
class Kernels {
public:
  static constexpr unsigned kMostRows = 14, kMostPanels = 8;

  /// Kernels of float32, float64, bfloat16, int8 or uint8, or of float32 beside quantized weights, of the highest level
  /// that this machine has and limitLevel() allows.
  static const Kernels &of(DType dtype, TileLines lines = TileLines::Numbers);
  /// Kernels of a level by name, "x86-64-v3", "x86-64-v4", "x86-64-v4+avx512vnni" or "x86-64-v4+avx512bf16"; null where
  /// this machine has no such level, or the level no such kernels.
  static const Kernels *of(DType dtype, llvm::StringRef level, TileLines lines = TileLines::Numbers);

  /// Most rows of a tile, and the panels of one with so many rows.
  unsigned rows() const { return mostRows; }
  unsigned panels() const { return mostPanels; }
  /// The panels of a tile of `rows` that computes the next ones of `left`.
  unsigned panelsFor(unsigned rows, int64_t left) const;
  /// Whether they are of a level with vectors of 512 bits.
  bool isWide() const { return hasWideLevel; }
  /// The kernel of such a tile.
  KernelFn at(unsigned rows, unsigned panels) const { return table[rows][panels]; }

private:
  Kernels() = default;
  Kernels(DType dtype, TileLines lines, const TileEntry *entries, bool isWide);

  bool hasWideLevel = false;
  unsigned mostRows = 0, mostPanels = 0;
  KernelFn table[kMostRows + 1][kMostPanels + 1] = {};
};

/// Has products that are planned from now on use no higher level than this one, a name of Kernels::of(): tests compare
/// levels by it. InvalidArgument for other names.
llvm::Error limitLevel(llvm::StringRef level);
/// The highest level that is allowed.
llvm::StringRef highestLevel();
/// Whether this machine has vectors of 512 bits, and the highest level allows them.
bool hasWideVectors();

} // namespace tess::runtime::contract
