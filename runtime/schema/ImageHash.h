//===- ImageHash.h - the checksum of a code image ---------------*- C++ -*-===//
#pragma once

#include <string>
#include <string_view>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tess::runtime {

/// XXH3-128 as 32 lower-case hex digits: what Image::hash holds.
inline std::string imageHash(std::string_view bytes) {
  XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (uint64_t word : {hash.high64, hash.low64})
    for (int shift = 60; shift >= 0; shift -= 4)
      text += digits[word >> shift & 15];
  return text;
}

} // namespace tess::runtime
