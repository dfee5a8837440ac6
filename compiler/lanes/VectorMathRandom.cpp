//===- VectorMathRandom.cpp - counter-based random numbers ---------------===//
//
// Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as
// easy as 1, 2, 3", 2011): every element has its own counter, so its number
// depends only on seed and index.
//
//===----------------------------------------------------------------------===//
#include "compiler/lanes/VectorMath.h"

namespace tess::compiler::vmath {

namespace {

struct Words {
  V w[4]; // 32 bits each, in i64 because products need 64
};

V low32(V x) { return x & x.ci(0xffffffff); }

/// The numbers for the counter (counter, 0) and the key `seed`.
Words philox(V seed, V counter) {
  LaneBuilder &b = seed.b();
  if (seed.isVector())
    counter = b.splat(counter);
  V zero = counter.ci(0);
  LaneBuilder::Values c =
      b.forLoop(b.index(0), b.index(10), b.index(1), {counter, lshr(counter, 32), zero, zero, seed, lshr(seed, 32)},
                [&](V, llvm::ArrayRef<V> w) {
                  V p0 = low32(w[0]) * zero.ci(0xD2511F53), p1 = low32(w[2]) * zero.ci(0xCD9E8D57);
                  return LaneBuilder::Values{lshr(p1, 32) ^ w[1] ^ w[4], p1,
                                             lshr(p0, 32) ^ w[3] ^ w[5], p0,
                                             w[4] + w[4].ci(0x9E3779B9), w[5] + w[5].ci(0xBB67AE85)};
                });
  return {{low32(c[0]), low32(c[1]), low32(c[2]), low32(c[3])}};
}

/// A number in [0, 1) with 24 or 53 random bits.
V uniform(V word, V next, Elem elem) {
  LaneBuilder &b = word.b();
  if (elem == Elem::F32)
    return b.convert(b.convert(lshr(word, 8), Elem::I32), Elem::F32) * 0x1p-24;
  V bits = shl(word, 21) | lshr(next, 11);
  return b.convert(bits, Elem::F64) * 0x1p-53;
}

} // namespace

V philoxUniform(V seed, V counter, Elem elem) {
  Words c = philox(seed, counter);
  return uniform(c.w[0], c.w[1], elem);
}

// After Box and Muller: sqrt(-2 log u) cos(2 pi v), u in (0, 1].
V philoxNormal(V seed, V counter, Elem elem) {
  Words c = philox(seed, counter);
  V u = 1.0 - uniform(c.w[0], c.w[1], elem);
  V v = elem == Elem::F32 ? uniform(c.w[1], c.w[1], elem) : uniform(c.w[2], c.w[3], elem);
  return sqrt(logNormal(u) * -2.0) * cosTurn(v);
}

} // namespace tess::compiler::vmath
