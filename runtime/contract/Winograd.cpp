//===- Winograd.cpp - windows of 3 x 3 by fewer multiplications -----------===//
#include "runtime/contract/Winograd.h"

#include "runtime/contract/TileProduct.h"
#include "runtime/contract/WinogradImages.h"
#include "runtime/contract/WinogradMath.h"
#include "runtime/threads/ParallelFor.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace tess::runtime::contract {

using namespace winograd;

namespace {

constexpr int64_t kWidth = kLanes;
/// Bytes of a block's elements at the points: most of half a core's second-level cache.
constexpr int64_t kPointBytes = 384 << 10;
/// Squares for each thread below which threads share channels: a weight at the points is read once then, not once for
/// each thread.
constexpr int64_t kFewSquares = 28;
/// Multiplications below which a second thread costs more than it brings.
constexpr int64_t kPartProducts = 1 << 20;

/// Floats from square to square: no multiple of what shares sets of a cache.
int64_t strideOf(int64_t channels) { return channels + kWidth; }

} // namespace

/// Operands of a run, and its memory.
struct Winograd::Call {
  const void *image;
  const float *weight; // transformed
  void *out;
  char *memory;
};

/// Squares [first, first + count) at the points: in rows of strideOf(), points behind each other.
struct Winograd::Block {
  int64_t first, count;
  float *points;
};

Winograd::Winograd(const WinogradShape &given, unsigned threads, const Kernels *ofTest)
    : shape(given), kernels(ofTest ? *ofTest : Kernels::of(DType::Float32)), isWide(hasWideVectors()),
      perRow(llvm::divideCeil(given.results[1], kResults)),
      perImage(perRow * int64_t(llvm::divideCeil(given.results[0], kResults))), numSquares(perImage * given.batch),
      numThreads(numSquares * kSquare * given.in * given.out < kPartProducts ? 1 : threads) {
  isStaged = numThreads > 1 && numSquares < kFewSquares * numThreads &&
             shape.out / kWidth >= int64_t(numThreads) * kernels.panels();
  const int64_t most = std::max(kPointBytes / (kSquare * strideOf(shape.in) * 4), 2 * int64_t(kernels.rows()));
  const int64_t rounds = llvm::divideCeil(numSquares, numThreads * most);
  blockSquares = isStaged ? numSquares : int64_t(llvm::divideCeil(numSquares, numThreads * rounds));
}

size_t Winograd::weightBytes() const { return size_t(kSquare * pointStride() * (shape.out / kWidth)) * sizeof(float); }

std::string Winograd::weightText() const {
  std::string text = "winograd";
  for (int64_t number : {shape.in, shape.out, shape.weightIn, shape.weightOut, int64_t(shape.flipsPlaces)})
    text.append(reinterpret_cast<const char *>(&number), sizeof number);
  return text;
}

void Winograd::transform(const void *weight, void *to) const {
  transformPanels(weight, 0, shape.out / kWidth, static_cast<float *>(to));
}

/// Bytes of a block at the points, and of the products of the panels of one tile.
size_t Winograd::blockBytes() const {
  return llvm::alignTo(size_t(kSquare * blockSquares * strideOf(shape.in)) * sizeof(float), 64);
}

size_t Winograd::productBytes() const {
  const int64_t columns = kernels.panels() * kWidth;
  return llvm::alignTo(size_t(kSquare * blockSquares * columns) * sizeof(float) + bandBytes(perRow), 64);
}

size_t Winograd::workspaceBytes() const {
  const size_t blocks = isStaged ? 1 : numThreads;
  return (shape.isTransformed ? 0 : weightBytes()) + blocks * blockBytes() + numThreads * productBytes();
}

void Winograd::run(const void *image, const void *weight, void *out, void *workspace) const {
  Call call{image, static_cast<const float *>(weight), out, static_cast<char *>(workspace)};
  if (!shape.isTransformed) {
    auto *transformed = reinterpret_cast<float *>(call.memory);
    parallelFor(numThreads, shape.out / kWidth, 1,
                [&](int64_t begin, int64_t end, unsigned) { transformPanels(weight, begin, end, transformed); });
    call.weight = transformed;
    call.memory += weightBytes();
  }
  isStaged ? runStages(call) : runBlocks(call);
}

/// Calls fn for the runs of squares [first, first + count).
template <typename Fn> static void visitRuns(int64_t perRow, int64_t perImage, int64_t first, int64_t count, Fn &&fn) {
  for (int64_t place = 0; place < count;) {
    const int64_t square = first + place, inImage = square % perImage;
    SquareRun run{square / perImage, inImage / perRow, inImage % perRow, 0, place};
    run.count = std::min(perRow - run.column, count - place);
    fn(run);
    place += run.count;
  }
}

/// Transforms channels [firstChannel, lastChannel) of a block.
void Winograd::transformBlock(const Call &call, const Block &block, int64_t firstChannel, int64_t lastChannel,
                              float *band) const {
  const int64_t stride = strideOf(shape.in);
  visitRuns(perRow, perImage, block.first, block.count, [&](const SquareRun &run) {
    for (int64_t channel = firstChannel; channel < lastChannel; channel += kWidth)
      squaresToPoints(shape, isWide, call.image, run, channel, block.points + run.place * stride + channel, stride,
                      block.count * stride, band);
  });
}

/// The memory for images behind that for products.
float *Winograd::bandBehind(float *products) const {
  return products + kSquare * blockSquares * kernels.panels() * kWidth;
}

/// Each thread takes blocks of squares.
void Winograd::runBlocks(const Call &call) const {
  const int64_t blocks = llvm::divideCeil(numSquares, blockSquares);
  parallelFor(numThreads, blocks, 1, [&](int64_t begin, int64_t end, unsigned part) {
    char *memory = call.memory + part * (blockBytes() + productBytes());
    auto *products = reinterpret_cast<float *>(memory + blockBytes());
    for (int64_t number = begin; number < end; ++number) {
      const int64_t first = number * blockSquares, count = std::min(blockSquares, numSquares - first);
      const Block block{first, count, reinterpret_cast<float *>(memory)};
      transformBlock(call, block, 0, shape.in, bandBehind(products));
      multiply(call, block, 0, shape.out / kWidth, products);
    }
  });
}

/// Threads share the channels of the images, then those of the results; all squares are one block.
void Winograd::runStages(const Call &call) const {
  const Block block{0, numSquares, reinterpret_cast<float *>(call.memory)};
  auto productsOf = [&](unsigned part) {
    return reinterpret_cast<float *>(call.memory + blockBytes() + part * productBytes());
  };
  parallelFor(numThreads, shape.in / kWidth, 1, [&](int64_t begin, int64_t end, unsigned part) {
    transformBlock(call, block, begin * kWidth, end * kWidth, bandBehind(productsOf(part)));
  });
  parallelFor(numThreads, shape.out / kWidth, kernels.panels(),
              [&](int64_t begin, int64_t end, unsigned part) { multiply(call, block, begin, end, productsOf(part)); });
}

/// The results of panels [firstPanel, lastPanel) of a block: all points of the panels of a tile, then these back.
void Winograd::multiply(const Call &call, const Block &block, int64_t firstPanel, int64_t lastPanel,
                        float *products) const {
  const int64_t stride = strideOf(shape.in), panelStride = kSquare * pointStride();
  for (int64_t panel = firstPanel, panels = 0; panel < lastPanel; panel += panels) {
    panels = std::min<int64_t>(lastPanel - panel, kernels.panels());
    const int64_t columns = panels * kWidth, apart = block.count * columns;
    TileProduct<float> product(kernels, {block.count, columns, shape.in}, {stride, 1, panelStride, kWidth, columns});
    for (int64_t point = 0; point < kSquare; ++point)
      product.run(block.points + point * block.count * stride,
                  call.weight + panel * panelStride + point * pointStride(), products + point * apart, false);
    visitRuns(perRow, perImage, block.first, block.count, [&](const SquareRun &run) {
      for (int64_t each = 0; each < panels; ++each)
        pointsToResults(shape, isWide, products + run.place * columns + each * kWidth, columns, apart, run,
                        (panel + each) * kWidth, call.out, bandBehind(products));
    });
  }
}

} // namespace tess::runtime::contract
