//===- KernelCache.h - images by what they compute --------------*- C++ -*-===//
//
// Identical kernels compile once: a byte-bounded memory of images, and the disk
// cache (ObjectCache) behind it. Misses of one program compile in parallel.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/lowering/KernelSpec.h"
#include "runtime/schema/Image.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace tess::compiler {

struct KernelCacheStats {
  uint64_t compiled = 0, fromMemory = 0, fromDisk = 0;
};

/// Images of `units` for `target` ("host", "x86-64-v3", ...), in their order; what is compiled now is verified first if
/// `verify` is set. Thread-safe.
llvm::Expected<std::vector<runtime::Image>> imagesFor(llvm::ArrayRef<KernelUnit> units, llvm::StringRef target,
                                                      bool verify);
KernelCacheStats kernelCacheStats();

} // namespace tess::compiler
