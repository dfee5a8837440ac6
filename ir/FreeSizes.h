//===- FreeSizes.h - symbols for sizes of nodes -----------------*- C++ -*-===//
//
// Nodes of several graphs may meet in one, so a free size of theirs is a symbol
// (ops/vocabulary/SizeExpr.h) that means the same in all of them: a named dimension by its
// name and bounds, a size that data decides by the node that makes it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/GraphBuilder.h"

#include <memory>

namespace tess::ir {

class Node;

/// Symbols of nodes begin here, those of data behind sizes::kDataSymbols; recordings count theirs from 0.
constexpr uint32_t kNodeSymbols = uint32_t(1) << 30;

/// Whether `symbol` is one of nodes.
bool isNodeSymbol(uint32_t symbol);
/// Whether an expression among the sizes of `op` is one of nodes.
bool hasNodeSymbols(const OpDef &op);
/// The same of one size.
bool hasNodeSymbols(int64_t size);

/// The symbol of a named dimension; equal ones have the same.
uint32_t symbolOf(const NamedDim &dim);
/// The dimension behind symbolOf().
NamedDim dimOf(uint32_t symbol);
/// "batch" for a named dimension, "size of non_zero" for a size that data decides.
std::string nameOfSymbol(uint32_t symbol);
/// The text of a size by these names.
std::string sizeText(int64_t size);
/// A size that the symbol may have, for code that needs a number; that of another dimension is another one where its
/// bounds allow it.
int64_t exampleOf(uint32_t symbol);
/// `size` with an example in the place of each symbol; 1 where it is unknown.
int64_t exampleSize(int64_t size);

/// The size of one axis of one result of a node, which data decides. Its symbol is free again when this dies.
class DataSize {
public:
  /// `op`: the operator of `node`. `most`: an upper bound at the examples of the sizes that the node reads.
  DataSize(const std::shared_ptr<Node> &node, llvm::StringRef op, unsigned result, unsigned axis, int64_t most);
  ~DataSize();
  DataSize(const DataSize &) = delete;
  uint32_t symbol() const { return number; }

  const unsigned result, axis;

private:
  uint32_t number;
};
/// The node whose data decides the size; null where it is gone, or the symbol is a dimension.
std::shared_ptr<Node> nodeOfSymbol(uint32_t symbol);

} // namespace tess::ir
