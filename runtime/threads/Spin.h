//===- Spin.h - a short wait for another thread -----------------*- C++ -*-===//
#pragma once

#include <cstdint>
#include <immintrin.h>

namespace tess::runtime {

/// Cycles of the time-stamp counter, about 10 us, which is what a sleeping thread takes to wake.
constexpr uint64_t kSpinCycles = 30000;

/// Spins until `done` returns true or for so many cycles, and returns its last answer. A pause takes 10 to 140 cycles.
template <typename F> bool spinUntil(uint64_t cycles, F done) {
  for (uint64_t start = __rdtsc(); __rdtsc() - start < cycles; _mm_pause())
    if (done())
      return true;
  return done();
}

} // namespace tess::runtime
