//===- KernelSizes.cpp - numbers that a kernel is called with -------------===//
#include "compiler/emit/KernelSizes.h"

namespace tess::compiler {

V KernelSizes::load(unsigned slot, Elem elem) {
  return scopes.at(0, [&] { return b.load(b.addressConst(dims, slot, Elem::I64), elem, false); });
}

V KernelSizes::number(unsigned slot) {
  V &memo = numbers[slot];
  if (!memo)
    memo = load(slot, Elem::I64);
  return memo;
}

V KernelSizes::reducedCount() {
  if (!count)
    count = scopes.at(0, [&] {
      V product = size(spec.numParallel);
      for (unsigned g = 1; g < spec.numReduced; ++g)
        product = product * size(spec.numParallel + g);
      return product;
    });
  return count;
}

V KernelSizes::attribute(unsigned slot, Elem elem) { return load(spec.dims().attribute(slot), elem); }

} // namespace tess::compiler
