//===- KernelCache.h - images by what they compute --------------*- C++ -*-===//
//
// Identical kernels compile once: a byte-bounded memory of images, and the disk
// cache (ObjectCache) behind it. Misses of one program compile in parallel.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/kernel/KernelSpec.h"
#include "runtime/schema/Image.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace tess::compiler {

/// Images delivered since the process began, by the place that they came from.
struct KernelCacheStats {
  uint64_t compiled = 0, fromMemory = 0, fromDisk = 0;
};

/// Images of `units` for `target` ("host", "x86-64-v3", ...), in their order. `verify`: MLIR's verifier runs on the
/// units that are compiled now. Thread-safe.
llvm::Expected<std::vector<runtime::Image>> imagesFor(llvm::ArrayRef<KernelUnit> units, llvm::StringRef target,
                                                      bool verify);
/// The counters of this process.
KernelCacheStats kernelCacheStats();

} // namespace tess::compiler
