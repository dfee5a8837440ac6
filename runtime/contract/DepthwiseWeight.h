//===- DepthwiseWeight.h - gradients of weights of single channels --------===//
//
// The products of an image of one channel, at one place of its windows, and of the
// gradient of their results. The results of an image lie in pieces of at most
// kPieceVectors vectors of 8 numbers (4 of float64) along rows: a box of one
// image, or some whole images. A lane of the vectors is one chain of multiply-adds
// from zero over a piece: by images, columns of vectors, rows. At its end the
// lanes are added by halves; pieces are added in float64, by boxes and images.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/contract/PaddedBoxes.h"

namespace tess::runtime::contract {

/// Gradients of convolutions of groups of one channel to `results` channels, all row-major.
struct DepthwiseWeightShape {
  DType dtype;
  int64_t batch, groups, results;
  WindowAxes axes;
  ImageForm operand, result;
};

/// Immutable: any number of threads may run it.
class DepthwiseWeight {
public:
  static constexpr int64_t kPieceVectors = 256;

  explicit DepthwiseWeight(const DepthwiseWeightShape &shape);

  /// Bytes that each thread needs, aligned to 64.
  size_t workspaceBytes() const;
  /// Computes the gradients of groups [begin, end).
  void run(int64_t begin, int64_t end, const void *operand, const void *gradient, void *out, void *workspace) const;

private:
  /// Whether runWide() computes the gradient, by vectors of 512 bits.
  static bool takesWide(const DepthwiseWeightShape &shape);
  void runWide(int64_t begin, int64_t end, const void *operand, const void *gradient, void *out) const;

  const DepthwiseWeightShape shape;
  const bool isWide;
  const PaddedBoxes boxes, gradients; // of the operand, and of the gradient at the same windows
  std::vector<int64_t> placeAt;       // of the copies of boxes
  int64_t pieceImages;                // of a piece, where it has whole images
  std::vector<char> zeros;            // a row beyond the edges, for runWide()
};

} // namespace tess::runtime::contract
