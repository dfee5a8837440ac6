//===- ProductBlock.h - a part of one matrix --------------------*- C++ -*-===//
#pragma once

#include "runtime/contract/ProductPlan.h"

namespace tess::runtime::contract {

/// Tiles of rows by panels of one product.
struct ProductBlock {
  Matrix lhs;         // without strides where windows are its rows or columns
  RightMatrix rhs;    // without strides where windows are panels
  char *out;          // of the whole matrix
  const char *panels; // the packed ones, of the whole matrix; padded images where windows are panels
  int64_t firstTile, lastTile, firstPanel, lastPanel;
  char *memory; // ProductPlan::partBytes
};

/// Computes them.
void computeBlock(const ProductShape &shape, const ProductPlan &plan, const Kernels &kernels,
                  const ProductBlock &block);

} // namespace tess::runtime::contract
