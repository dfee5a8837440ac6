//===- Products.h - products of matrices ------------------------*- C++ -*-===//
#pragma once

#include "runtime/contract/ProductPlan.h"

#include <string>

namespace tess::runtime::contract {

/// The products of a shape. Immutable.
class Products {
public:
  /// Plans a shape without empty axes. `kernels`: those of another level, for tests; null: of this machine's.
  Products(ProductShape shape, unsigned threads, const Kernels *kernels = nullptr);

  /// Threads that it uses, and bytes that run() needs for itself.
  unsigned threads() const { return plan.numParts > 1 ? numThreads : 1; }
  size_t workspaceBytes() const {
    return plan.leftBytes + plan.slotBytes * plan.panelSlots + plan.partBytes * plan.numParts;
  }
  /// `workspace`: of workspaceBytes(), aligned to 64.
  void run(const void *lhs, const void *rhs, void *out, void *workspace) const;

  /// Whether the right operand may be read in place.
  bool mayReadInPlace() const { return plan.mayReadInPlace; }
  /// Whether a right operand that does not change is better packed before, which takes `bytes`.
  bool wantsPanels() const { return plan.needsPanels && !shape.hasPanels; }
  size_t bytesOfPanels() const { return bytesOfMatrix() * shape.rhsAt.size(); }
  /// Tells packed operands apart: equal texts are of equal panels from equal operands.
  std::string panelsText() const;
  /// Whether that is such a text.
  static bool isPanels(llvm::StringRef text) { return text.starts_with("panels"); }
  /// Packs a right operand for products of this shape that have panels.
  void pack(const void *rhs, void *to) const;

private:
  size_t bytesOfMatrix() const { return size_t(plan.numPanels) * plan.panelBytes; }

  struct Operands {
    const void *lhs, *rhs;
    void *out;
    char *workspace;
  };

  Matrix lhsOf(const Operands &operands, int64_t matrix) const;
  RightMatrix rhsOf(const Operands &operands, int64_t matrix) const;
  char *outOf(const Operands &operands, int64_t matrix) const;
  const char *panelsOf(const Operands &operands, int64_t matrix, const char *own) const;
  char *memoryOf(const Operands &operands, unsigned part) const;
  void packPanels(const RightMatrix &rhs, int64_t begin, int64_t end, char *to) const;
  void copyLeft(const void *from, char *to) const;
  void runOne(int64_t matrix, const Operands &operands) const;
  void runMatrices(const Operands &operands) const;

  const ProductShape shape;
  const Kernels &kernels;
  const unsigned numThreads;
  const ProductPlan plan;
};

} // namespace tess::runtime::contract
