//===- Image.h - a position-independent code image --------------*- C++ -*-===//
//
// Code and constants of one or more kernels: no outside symbols, PC-relative
// relocations already applied. What the JIT, the disk cache and `.tess` share.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/schema/HeldBytes.h"
#include "runtime/schema/KernelAbi.h"

#include <string>
#include <string_view>
#include <vector>

namespace tess::runtime {

/// The estimate of an addition of float32, which entries of older files without an estimate get.
constexpr uint32_t kDefaultPicoseconds = 110;

/// What the code of an image is, which says who can load it.
enum class ImageKind : uint8_t {
  Loops, // machine code of x86-64, kernels are called as KernelFn
  Grid,  // the same, kernels are called as GridKernelFn: the emulated accelerator's
  Ptx,   // text for a GPU of NVIDIA's, kernels take GpuParameter
};

/// What a launch over a grid must know of a kernel; zeros for kernels that walk ranges.
struct GridEntry {
  uint32_t numPointers = 0, numDims = 0; // of its two arrays
  /// Threads that compute an element of the parallel domain together: 1, or kLanes where they reduce a row.
  uint32_t team = 0;
};

/// One kernel of an image: its name, where its code begins, and what a caller must know of it.
struct KernelEntry {
  std::string name;
  uint64_t offset = 0;
  /// Bytes of scratch for an element of the reduced domain; see scratchBytes() in KernelAbi.h.
  uint32_t scratchBytesPerElement = 0;
  /// Estimated time of one thread for an element of the domain, in ps: decides who runs it, never what it computes.
  uint32_t picosecondsPerElement = kDefaultPicoseconds;
  /// Bytes that a chunk's results take where threads share a reduction (KernelFn in KernelAbi.h); 0: they cannot.
  uint32_t scratchBytesPerChunk = 0;
  GridEntry grid = {};
};

/// Code with its kernels and what it requires of a machine.
struct Image {
  std::string bytes;
  std::vector<KernelEntry> entries;
  /// CPU features the code needs, "+avx2,+fma,...": checked before it is mapped.
  std::string features;
  /// XXH3-128 of bytes, as hex; checked before it is mapped.
  std::string hash;
  /// The ABI of the kernels; an image of another than ours is refused when it is mapped.
  uint32_t abi = kKernelAbi;
  ImageKind kind = ImageKind::Loops;
  /// Instead of `bytes`: code in memory that is executable already, such as a mapped file, and lives as long as this.
  HeldBytes mapped = nullptr;

  /// The code, from `mapped` or `bytes`.
  std::string_view code() const { return mapped ? *mapped : std::string_view(bytes); }
};

} // namespace tess::runtime
