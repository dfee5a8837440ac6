//===- KernelSizes.h - numbers that a kernel is called with -----*- C++ -*-===//
#pragma once

#include "compiler/emit/KernelScopes.h"
#include "compiler/kernel/KernelSpec.h"

namespace tess::compiler {

/// Arguments of the kernel function (KernelFn in runtime/schema/KernelAbi.h).
struct KernelArguments {
  mlir::Value ptrs, dims, scratch;
  V outerLo, outerHi, innerLo, innerHi;
};

/// Sizes, strides, bounds and attributes: each is loaded in the entry block, all but the attributes once.
class KernelSizes {
public:
  /// Reads the array `dims` (runtime::KernelDims).
  KernelSizes(const KernelSpec &spec, LaneBuilder &b, KernelScopes &scopes, mlir::Value dims)
      : spec(spec), b(b), scopes(scopes), dims(dims) {}

  V size(unsigned group) { return number(spec.dims().size(group)); }
  V stride(unsigned operand, unsigned group) { return number(spec.dims().stride(operand, group)); }
  /// Product of the sizes of the reduced groups.
  V reducedCount();
  /// A number of `spec.bounds[index]`.
  V bound(unsigned index, runtime::BoundNumber which) { return number(spec.dims().bound(index, which)); }
  /// A number of a lookup's axis.
  V lookup(unsigned index, runtime::BoundNumber which) { return bound(unsigned(spec.bounds.size()) + index, which); }
  /// The runtime attribute in `slot`, of 8 bytes.
  V attribute(unsigned slot, Elem elem);

private:
  V number(unsigned slot);
  V load(unsigned slot, Elem elem);

  const KernelSpec &spec;
  LaneBuilder &b;
  KernelScopes &scopes;
  const mlir::Value dims;
  llvm::DenseMap<unsigned, V> numbers; // by slot of `dims`
  V count;                             // of reducedCount(), once it is asked for
};

} // namespace tess::compiler
