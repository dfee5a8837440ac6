//===- ContainerFormat.h - sizes that reader and writer share ---*- C++ -*-===//
#pragma once

#include <cstdint>

namespace tess::runtime::container {

constexpr char kMagic[8] = {'\x89', 'T', 'E', 'S', 'S', 'E', 'R', 'A'};
constexpr uint64_t kHeaderBytes = 64;
constexpr uint64_t kHashedHeaderBytes = 56;
constexpr uint64_t kEntryBytes = 32;
constexpr uint64_t kAlignment = 64;
constexpr uint32_t kMaxName = 4096;

/// The first multiple of `alignment` from `value` on.
constexpr uint64_t alignTo(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

} // namespace tess::runtime::container
