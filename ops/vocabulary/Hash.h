//===- Hash.h - the one mixer of hashes in memory ---------------*- C++ -*-===//
//
// For keys of this process only. What is kept in files is hashed by the xxHash
// library, whose XXH3 uses vectors: LLVM's copy, a scalar one, would take longer
// over large sections than the disk. ops, which links neither, takes LLVM's for
// texts in memory.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>

namespace tess {

/// `h` with `v`: most of a step of splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
/// OOPSLA 2014). No two short sequences of small numbers meet, of whatever lengths: keys rely on it.
constexpr uint64_t mixHash(uint64_t h, uint64_t v) {
  h = ((h ^ v) + 0x9E3779B97F4A7C15ull) * 0xBF58476D1CE4E5B9ull;
  return h ^ h >> 27;
}

} // namespace tess
