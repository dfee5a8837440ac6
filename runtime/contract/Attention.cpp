//===- Attention.cpp - attention without its matrix -----------------------===//
#include "runtime/contract/Attention.h"

#include "runtime/contract/AttentionOperands.h"
#include "runtime/contract/ShareParts.h"
#include "runtime/contract/SoftmaxRows.h"
#include "runtime/contract/TileProduct.h"

namespace tess::runtime::contract {

namespace {

constexpr int64_t kWidth = kLanes;
/// Most queries of a block: a few tiles.
constexpr int64_t kQueryBlock = 28;
/// Parts for each thread, and multiplications below which a second thread costs more than it brings.
constexpr int64_t kPartsPerThread = 3, kPartProducts = 2 << 20;
/// Elements from row to row of scores, so many that rows share no set of a cache.
constexpr int64_t kScoreStride = kContractLines + kWidth;

/// Where parts of a thread's memory lie, in elements of sums: scaled queries, scores and results of a block.
struct BlockMemory {
  explicit BlockMemory(const AttentionShape &shape)
      : queryStride(paddedTo(shape.depth, kWidth) + kWidth), width(paddedTo(shape.width, kWidth)),
        scoresAt(kQueryBlock * queryStride), sumsAt(scoresAt + kQueryBlock * kScoreStride),
        end(sumsAt + kQueryBlock * width) {}

  int64_t queryStride, width, scoresAt, sumsAt, end;
};

/// Whether values are read where they are: whole panels of sums, whose lines share no set of a cache.
bool readsValues(const AttentionShape &shape) {
  constexpr int64_t kMostColumns = 128;
  return shape.dtype == sumOf(shape.dtype) && shape.width % kWidth == 0 && shape.width <= kMostColumns;
}

/// Elements of the panels of keys of a matrix, and of its values where these are packed.
int64_t keyElements(const AttentionShape &shape) { return paddedTo(shape.keys, kWidth) * shape.depth; }
int64_t valueElements(const AttentionShape &shape) {
  return readsValues(shape) ? 0 : shape.keys * paddedTo(shape.width, kWidth);
}

/// Keys and values of a matrix as kernels read them.
template <typename Sum> struct PackedKeys {
  const Sum *keys, *values;
  int64_t valuePanel, valueLine;
};

/// Packs what is read as panels, and tells where all is.
template <typename T, typename Sum = Accumulator<T>>
PackedKeys<Sum> packedAt(const AttentionShape &shape, const T *value, const Sum *memory) {
  if constexpr (std::is_same_v<T, Sum>)
    if (readsValues(shape))
      return {memory, value, kWidth, shape.width};
  return {memory, memory + keyElements(shape), shape.keys * kWidth, kWidth};
}

/// A block of queries of one matrix, of which keys and values are packed.
template <typename T> class QueryBlock {
public:
  using Sum = Accumulator<T>;

  QueryBlock(const AttentionShape &shape, const Kernels &kernels, const Attention::Operands &operands, Sum *memory)
      : shape(shape), kernels(kernels), loops(SoftmaxRows<Sum>::of(kernels.isWide())), operands(operands), at(shape),
        queries(memory), scores(memory + at.scoresAt), sums(memory + at.sumsAt) {}

  void run(int64_t matrix, int64_t firstQuery, int64_t lastQuery, const PackedKeys<Sum> &packed) {
    first = firstQuery;
    rows = lastQuery - firstQuery;
    copyScaled(static_cast<const T *>(operands.query) + shape.queryAt[matrix] + first * shape.depth, rows, shape.depth,
               Sum(shape.scale), queries, at.queryStride);
    std::fill_n(states, rows, RowState<Sum>{-std::numeric_limits<Sum>::infinity(), 0});
    const int64_t seen = shape.seenBy(lastQuery - 1, shape.keys);
    for (int64_t key = 0; key < seen; key += kContractLines)
      addKeys(matrix, key, std::min(kContractLines, seen - key), packed);
    write(matrix);
  }

private:
  void addKeys(int64_t matrix, int64_t key, int64_t count, const PackedKeys<Sum> &packed) {
    TileProduct<Sum>(kernels, {rows, paddedTo(count, kWidth), shape.depth},
                     {at.queryStride, 1, kWidth * shape.depth, kWidth, kScoreStride})
        .run(queries, packed.keys + key * shape.depth, scores, false);
    for (int64_t row = 0; row < rows; ++row)
      addScores(matrix, row, key, count);
    TileProduct<Sum>(kernels, {rows, at.width, count}, {kScoreStride, 1, packed.valuePanel, packed.valueLine, at.width})
        .run(scores, packed.values + key * packed.valueLine, sums, key > 0);
  }

  /// Turns scores of a row to exponentials, and what the row has summed to their scale.
  void addScores(int64_t matrix, int64_t row, int64_t key, int64_t count) {
    Sum *ofRow = scores + row * kScoreStride;
    const int64_t seen = shape.seenBy(first + row, key + count) - key;
    if (shape.mask)
      maskScores(*shape.mask, operands.mask, matrix, first + row, key, seen, ofRow);
    std::fill(ofRow + std::max<int64_t>(seen, 0), ofRow + count, -std::numeric_limits<Sum>::infinity());
    const Sum factor = loops.add(ofRow, count, states[row]);
    if (key && factor != 1)
      loops.scale(sums + row * at.width, at.width, factor);
  }

  void write(int64_t matrix) {
    const int64_t from = matrix * shape.queries + first;
    T *out = static_cast<T *>(operands.out) + from * shape.width;
    for (int64_t row = 0; row < rows; ++row, out += shape.width) {
      const auto [top, total] = states[row];
      static_cast<Sum *>(operands.logsumexp)[from + row] = Sum(logSumExp(double(top), double(total)));
      if (total == 0)
        std::fill_n(out, shape.width, narrow<T>(Sum(0)));
      else
        writeScaled(sums + row * at.width, shape.width, 1 / total, out);
    }
  }

  const AttentionShape &shape;
  const Kernels &kernels;
  const SoftmaxRows<Sum> &loops;
  const Attention::Operands &operands;
  const BlockMemory at;
  Sum *queries, *scores, *sums;
  RowState<Sum> states[kQueryBlock];
  int64_t first = 0, rows = 0;
};

} // namespace

Attention::Attention(const AttentionShape &given, unsigned threads, const Kernels *ofTest)
    : shape(given), kernels(ofTest ? *ofTest : Kernels::of(sumOf(given.dtype))),
      numBlocks(int64_t(llvm::divideCeil(given.queries, kQueryBlock))) {
  const int64_t matrices = shape.numMatrices();
  numThreads = shape.products() < double(kPartProducts) ? 1 : threads;
  const int64_t wanted = numThreads == 1 ? 1 : kPartsPerThread * numThreads;
  const auto perMatrix = int64_t(llvm::divideCeil(wanted, std::max<int64_t>(matrices, 1)));
  blocksPerUnit = std::max<int64_t>(1, int64_t(llvm::divideCeil(numBlocks, std::max<int64_t>(perMatrix, 1))));
  unitsPerMatrix = int64_t(llvm::divideCeil(numBlocks, blocksPerUnit));
  const size_t width = byteWidth(sumOf(shape.dtype));
  panelBytes = llvm::alignTo(size_t(keyElements(shape) + valueElements(shape)) * width, 64);
  blockBytes = llvm::alignTo(size_t(BlockMemory(shape).end) * width, 64);
}

size_t Attention::workspaceBytes() const {
  return panelBytes * (unitsPerMatrix > 1 ? size_t(shape.numMatrices()) : numThreads) + blockBytes * numThreads;
}

template <typename T> void Attention::pack(int64_t matrix, const Operands &operands, void *to) const {
  auto *memory = static_cast<Accumulator<T> *>(to);
  packColumns(static_cast<const T *>(operands.key) + shape.keyAt[size_t(matrix)], shape.keys, shape.depth, memory);
  if (!readsValues(shape))
    packLines(static_cast<const T *>(operands.value) + shape.valueAt[size_t(matrix)], shape.keys, shape.width,
              memory + keyElements(shape));
}

template <typename T> void Attention::runAs(const Operands &operands) const {
  using Sum = Accumulator<T>;
  char *memory = static_cast<char *>(operands.workspace), *panels = memory + numThreads * blockBytes;
  const int64_t matrices = shape.numMatrices();
  if (unitsPerMatrix > 1)
    shareParts(numThreads, unsigned(matrices),
               [&](unsigned matrix) { pack<T>(matrix, operands, panels + matrix * panelBytes); });
  shareParts(numThreads, unsigned(matrices * unitsPerMatrix), [&](unsigned unit, unsigned thread) {
    const int64_t matrix = unit / unitsPerMatrix, first = unit % unitsPerMatrix * blocksPerUnit;
    char *ofUnit = panels + (unitsPerMatrix > 1 ? matrix : thread) * panelBytes;
    if (unitsPerMatrix == 1)
      pack<T>(matrix, operands, ofUnit);
    const T *value = static_cast<const T *>(operands.value) + shape.valueAt[size_t(matrix)];
    const PackedKeys<Sum> packed = packedAt<T>(shape, value, reinterpret_cast<const Sum *>(ofUnit));
    QueryBlock<T> block(shape, kernels, operands, reinterpret_cast<Sum *>(memory + thread * blockBytes));
    for (int64_t number = first; number < std::min(first + blocksPerUnit, numBlocks); ++number)
      block.run(matrix, shape.queries * number / numBlocks, shape.queries * (number + 1) / numBlocks, packed);
  });
}

void Attention::run(const Operands &operands) const {
  withFloatType(shape.dtype, [&](auto tag) { runAs<decltype(tag)>(operands); });
}

} // namespace tess::runtime::contract
