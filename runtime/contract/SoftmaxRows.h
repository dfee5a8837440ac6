//===- SoftmaxRows.h - exponentials of rows of scores -----------*- C++ -*-===//
//
// Softmax over blocks of keys, with the largest score so far and the sum of
// exponentials below it: M. Milakov, N. Gimelshein: Online normalizer calculation
// for softmax, arXiv:1805.02867. Sums of a row go by kLanes lanes, which are added
// in pairs; vectors of both lengths compute the same lanes.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>

namespace tess::runtime::contract {

/// A row's largest score so far, and the sum of exponentials of scores less it.
template <typename Sum> struct RowState {
  Sum top, total;
};

/// Loops over rows of scores, of vectors as long as the processor has or as the floor of the build has. Rows are
/// aligned to kLanes elements and hold a whole number of vectors, of which elements from `count` on may be anything.
template <typename Sum> struct SoftmaxRows {
  /// The loops of processors with vectors of 64 bytes, where `isWide`, or of all.
  static const SoftmaxRows &of(bool isWide);

  /// Replaces `count` scores by exp(score - top), and those up to a whole vector by zeros. Gives the factor of what was
  /// summed before.
  Sum (*add)(Sum *scores, int64_t count, RowState<Sum> &state);
  /// Replaces scores by exp(score - logsumexp).
  void (*weigh)(Sum *scores, int64_t count, Sum logsumexp);
  /// Replaces gradients of weights by those of scores: weight * (gradient - delta), up to a whole vector.
  void (*slope)(Sum *gradients, const Sum *weights, int64_t count, Sum delta);
  /// Multiplies `count` elements by a factor, up to a whole vector.
  void (*scale)(Sum *row, int64_t count, Sum factor);
};

/// The logarithm of a sum of exponentials, and the score that they are relative to; -infinity of no keys.
double logSumExp(double top, double total);

} // namespace tess::runtime::contract
