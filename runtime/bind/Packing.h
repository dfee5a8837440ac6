//===- Packing.h - values that stay in a library's layout -------*- C++ -*-===//
//
// A chain of library calls hands values on as the library wants them (blocks of
// channels), so that no call reorders what the next one reorders back. Shapes
// and machine decide, so this is known at bind, not in the executable.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/bind/StoragePlan.h"
#include "runtime/device/KernelTable.h"

namespace tess::runtime {

/// Whether a kernel goes over [axis 0, channels, all others] and repeats an operand's element for each channel.
inline bool goesByChannel(const Step &step) { return llvm::is_contained(step.innerClasses, InnerClass::Repeated); }

/// The packing of each value. `kernels`: by step, as prepared for row-major operands (null for steps that are no
/// library calls). A value is packed when all steps that write or read it want the same packing; elementwise kernels
/// over one piece of memory take any, those with repeated operands any that orders channels. Only
/// constants have a packing with a size of its own.
std::vector<Packing> planPackings(const Executable &exe, llvm::ArrayRef<TensorMeta> metas,
                                  llvm::ArrayRef<Layout> layouts, llvm::ArrayRef<Place> places,
                                  llvm::ArrayRef<PreparedRef> kernels);

} // namespace tess::runtime
