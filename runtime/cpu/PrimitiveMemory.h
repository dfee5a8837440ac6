//===- PrimitiveMemory.h - what primitives take -----------------*- C++ -*-===//
//
// oneDNN does not tell how much memory a primitive takes. Its code lies in
// pages that nobody has touched before, so the page faults of the thread that
// makes it count them. Its objects on the heap differ little within a kind.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <dnnl.hpp>

namespace tess::runtime {

/// Counts the code that oneDNN generates on this thread from now on.
class GeneratedCode {
public:
  GeneratedCode();
  /// Bytes of the pages that this thread has touched first. The first primitives of a process also touch pages of the
  /// library's own file, which count up to a limit.
  size_t bytes() const;

private:
  long faultsBefore;
};

/// The most bytes that a primitive of this kind holds on the heap, which are those of oneDNN's kernels for AVX-512;
/// tests/runtime/cpu/primitive_memory_test compares it with the growth of a process.
size_t heapBytes(dnnl::primitive::kind kind);

} // namespace tess::runtime
