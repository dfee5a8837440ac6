//===- Image.h - a position-independent code image --------------*- C++ -*-===//
//
// Code and constants of one or more kernels: no outside symbols, PC-relative
// relocations already applied. What the JIT, the disk cache and `.tess` share.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tess::runtime {

/// The one signature of generated kernels; see compiler/lowering/KernelSpec.h for the layout of `dims`.
using KernelFn = void (*)(void *const *ptrs, const int64_t *dims, void *scratch, int64_t outerLo, int64_t outerHi,
                          int64_t innerLo, int64_t innerHi);

/// Of an addition of float32: what files that do not say are taken to mean.
constexpr uint32_t kDefaultPicoseconds = 110;

struct KernelEntry {
  std::string name;
  uint64_t offset = 0;
  /// See KernelFn: bytes of scratch per element of the reduced domain.
  uint32_t scratchBytesPerElement = 0;
  /// Estimated time of one thread for an element of the domain, in ps: decides who runs it, never what it computes.
  uint32_t picosecondsPerElement = kDefaultPicoseconds;
};

struct Image {
  std::string bytes;
  std::vector<KernelEntry> entries;
  /// CPU features the code needs, "+avx2,+fma,...": checked before it is mapped.
  std::string features;
  /// XXH3-128 of bytes, as hex; checked before it is mapped.
  std::string hash;
  /// Instead of bytes: code in memory that is executable already, as a mapped file is, for as long as this holds it.
  std::shared_ptr<const std::string_view> mapped = nullptr;

  std::string_view code() const { return mapped ? *mapped : std::string_view(bytes); }
};

} // namespace tess::runtime
