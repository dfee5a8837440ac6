//===- PrimitiveMemory.cpp - what primitives take -------------------------===//
#include "runtime/cpu/PrimitiveMemory.h"

#include <algorithm>
#include <cstdlib>
#include <sys/resource.h>
#include <unistd.h>

namespace tess::runtime {

/// Bytes that oneDNN reserves for the code of one kernel; the largest primitive measured has 44 KiB of code.
static constexpr size_t kMostCode = size_t(256) << 10;

/// Less than the size from which malloc maps memory of its own, and more than all objects of one kernel of ours.
static constexpr size_t kHeapRoom = size_t(96) << 10;

static size_t pageBytes() {
  static const size_t bytes = size_t(sysconf(_SC_PAGESIZE));
  return bytes;
}

static long faultsOfThread() {
  rusage usage;
  return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_minflt : 0;
}

/// Touches room in the heap, so that the objects of a primitive cause no page faults.
static void touchHeap() {
  auto *room = static_cast<volatile char *>(std::malloc(kHeapRoom));
  if (!room)
    return;
  for (size_t i = 0; i < kHeapRoom; i += pageBytes())
    room[i] = 0;
  std::free(const_cast<char *>(room));
}

GeneratedCode::GeneratedCode() {
  touchHeap();
  faultsBefore = faultsOfThread();
}

size_t GeneratedCode::bytes() const {
  size_t touched = size_t(faultsOfThread() - faultsBefore) * pageBytes();
  return std::clamp(touched, pageBytes(), kMostCode);
}

size_t heapBytes(dnnl::primitive::kind kind) {
  switch (kind) {
  case dnnl::primitive::kind::matmul:
    return size_t(48) << 10;
  case dnnl::primitive::kind::pooling_v2:
    return size_t(32) << 10;
  case dnnl::primitive::kind::reorder:
    return size_t(10) << 10;
  default: // convolutions
    return size_t(32) << 10;
  }
}

} // namespace tess::runtime
