//===- Lanes.h - vectors of sums --------------------------------*- C++ -*-===//
#pragma once

#include "runtime/device/Elements.h"

#include <cstring>

namespace tess::runtime::contract {

/// A vector of float or double, of 32 bytes.
template <typename Sum> using Lanes = Sum __attribute__((ext_vector_type(32 / sizeof(Sum))));
/// Numbers in it.
template <typename Sum> constexpr int64_t kLanesOf = 32 / sizeof(Sum);

template <typename Sum> Lanes<Sum> loadLanes(const Sum *from) {
  Lanes<Sum> lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

/// Writes them side by side, rounded to T.
template <typename T, typename Sum> void storeLanes(Lanes<Sum> lanes, T *to) {
  if constexpr (std::is_same_v<T, BF16>) {
    using Bits = uint32_t __attribute__((ext_vector_type(8)));
    using Halves = uint16_t __attribute__((ext_vector_type(8)));
    const Bits bits = std::bit_cast<Bits>(lanes), even = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    const Halves halves = __builtin_convertvector(lanes == lanes ? even : bits >> 16 | 0x40, Halves);
    std::memcpy(to, &halves, sizeof halves);
  } else {
    const auto rounded = __builtin_convertvector(lanes, T __attribute__((ext_vector_type(32 / sizeof(Sum)))));
    std::memcpy(to, &rounded, sizeof rounded);
  }
}

} // namespace tess::runtime::contract
