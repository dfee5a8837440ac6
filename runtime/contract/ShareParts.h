//===- ShareParts.h - parts that threads take one by one --------*- C++ -*-===//
#pragma once

#include "runtime/threads/ParallelFor.h"

#include <algorithm>
#include <atomic>

namespace tess::runtime::contract {

/// Calls body(0) .. body(parts - 1) on at most `threads` threads, of which each takes the next part when it is free. A
/// region has a thread for each of its own parts, and more threads than cores would delay all regions to come.
inline void shareParts(unsigned threads, unsigned parts, llvm::function_ref<void(unsigned part)> body) {
  std::atomic<unsigned> next{0};
  parallelRun(std::min(threads, parts), [&](unsigned) {
    for (unsigned part = next++; part < parts; part = next++)
      body(part);
  });
}

/// Calls body(part, thread) in this way: `thread` is below `threads`, and one at a time has each.
inline void shareParts(unsigned threads, unsigned parts,
                       llvm::function_ref<void(unsigned part, unsigned thread)> body) {
  std::atomic<unsigned> next{0};
  parallelRun(std::min(threads, parts), [&](unsigned thread) {
    for (unsigned part = next++; part < parts; part = next++)
      body(part, thread);
  });
}

} // namespace tess::runtime::contract
