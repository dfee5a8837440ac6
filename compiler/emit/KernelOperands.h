//===- KernelOperands.h - reading and writing operands ----------*- C++ -*-===//
#pragma once

#include "compiler/emit/KernelIndices.h"
#include "compiler/emit/LaneAccess.h"

namespace tess::compiler {

/// Addresses of operands, in the scope that moves them last, and their elements where the scopes stand.
class KernelOperands {
public:
  KernelOperands(const KernelSpec &spec, LaneBuilder &b, const KernelArguments &args, KernelScopes &scopes,
                 KernelSizes &sizes, KernelIndices &indices, LaneAccess &access)
      : spec(spec), b(b), args(args), scopes(scopes), sizes(sizes), indices(indices), access(access), pointers(scopes) {
  }

  /// Depth of the innermost open scope that the operand's address depends on.
  unsigned accessDepth(unsigned operand) const;
  /// Address of the element where the scopes up to `depth` stand.
  mlir::Value pointer(unsigned operand, unsigned depth);
  /// Whether the vector axis is open and each lane has an element of its own.
  bool differsByLane(unsigned operand) const;
  /// Distance of neighbouring lanes of a strided operand; null for others, and where the vector axis is not open.
  V laneStride(unsigned operand);

  /// The element, or the lanes, where the scopes stand.
  ScopedValue load(unsigned operand);
  /// The element, or the lanes, from `address` on; built at the insertion point.
  V loadAt(unsigned operand, mlir::Value address);
  /// Writes a value of the operand's dtype where the scopes stand: lanes if it differs by lane.
  void store(unsigned operand, V value);

  // Tiles: 16 rows of runtime::kTileLanes.
  /// Puts 16 x 16 elements of `operand` into the tile, from the open lanes of a block on; along its rows they lie side
  /// by side in memory.
  void readTile(unsigned operand);
  /// Enters a row of the tile, counted from where an outer scope stands in its group; operands that have one are read
  /// there.
  void enterTileRow(unsigned group, V index);
  void leaveTiles() { tiles.clear(); }

private:
  bool moves(unsigned operand, const GroupIndex &group) const;
  V offsetAt(unsigned operand, unsigned depth);
  mlir::Value safePointer(unsigned operand, mlir::Value pointer);
  V loadFromTile(mlir::Value tile, DType dtype);

  const KernelSpec &spec;
  LaneBuilder &b;
  const KernelArguments &args;
  KernelScopes &scopes;
  KernelSizes &sizes;
  KernelIndices &indices;
  LaneAccess &access;
  ScopeMemo<unsigned, mlir::Value> pointers;   // by operand
  llvm::DenseMap<unsigned, mlir::Value> tiles; // by operand
  V tileRow;
};

} // namespace tess::compiler
