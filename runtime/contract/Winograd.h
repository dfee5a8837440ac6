//===- Winograd.h - windows of 3 x 3 by fewer multiplications ---*- C++ -*-===//
//
// F(4 x 4, 3 x 3) of A. Lavin, S. Gray: Fast Algorithms for Convolutional Neural
// Networks, arXiv:1509.09308, with the points 0, +-3/4, +-3/2 and infinity, whose
// error is a third of that of 0, +-1, +-2: squares of 4 x 4 results take 36
// products over channels instead of 144. Squares, blocks of them and threads
// decide no bit.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/contract/Kernels.h"
#include "runtime/contract/WinogradShape.h"

#include <string>

namespace tess::runtime::contract {

/// The convolutions of a shape. Immutable.
class Winograd {
public:
  Winograd(const WinogradShape &shape, unsigned threads, const Kernels *kernels = nullptr);

  /// Threads that it uses, and bytes that run() needs for itself.
  unsigned threads() const { return numThreads; }
  size_t workspaceBytes() const;
  /// `workspace`: of workspaceBytes(), aligned to 64.
  void run(const void *image, const void *weight, void *out, void *workspace) const;

  /// Bytes of a transformed weight, and a text that tells it from other layouts of the weight.
  size_t weightBytes() const;
  std::string weightText() const;
  /// Whether that is such a text.
  static bool isWeight(llvm::StringRef text) { return text.starts_with("winograd"); }
  /// Transforms a weight on the calling thread, for convolutions to which it comes transformed.
  void transform(const void *weight, void *to) const;

private:
  struct Call;
  struct Block;

  void transformPanels(const void *weight, int64_t first, int64_t last, float *to) const;
  void transformBlock(const Call &call, const Block &block, int64_t firstChannel, int64_t lastChannel,
                      float *band) const;
  float *bandBehind(float *products) const;
  void runBlocks(const Call &call) const;
  void runStages(const Call &call) const;
  void multiply(const Call &call, const Block &block, int64_t firstPanel, int64_t lastPanel, float *products) const;
  /// Floats from point to point of a panel of the weight: one line more than there are, so that lines of all points
  /// share no set of a cache.
  int64_t pointStride() const { return (shape.in + 1) * int64_t(kLanes); }
  size_t blockBytes() const;
  size_t productBytes() const;

  const WinogradShape shape;
  const Kernels &kernels;
  const bool isWide;                          // transforms are by vectors of 512 bits
  const int64_t perRow, perImage, numSquares; // squares of a row, of an image, of all
  const unsigned numThreads;
  int64_t blockSquares; // of a block, at most
  bool isStaged;        // threads share the channels of one block, instead of blocks
};

} // namespace tess::runtime::contract
