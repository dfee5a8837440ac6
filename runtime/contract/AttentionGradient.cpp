//===- AttentionGradient.cpp - gradients without the matrix ---------------===//
#include "runtime/contract/AttentionGradient.h"

#include "runtime/contract/AttentionOperands.h"
#include "runtime/contract/ShareParts.h"
#include "runtime/contract/SoftmaxRows.h"
#include "runtime/contract/TileProduct.h"

namespace tess::runtime::contract {

namespace {

constexpr int64_t kWidth = kLanes;
/// Most queries, or keys, of a block: two squares of them take half of a core's second-level cache at most.
constexpr int64_t kBlock = 128;
constexpr int64_t kScoreStride = kBlock + kWidth;
/// Matrices for each thread from which threads take whole ones, and multiplications below which a second thread costs
/// more than it brings.
constexpr int64_t kMatricesPerThread = 2, kPartProducts = 1 << 20;

/// Blocks along an axis.
struct Blocks {
  int64_t size;

  int64_t count() const { return int64_t(llvm::divideCeil(size, kBlock)); }
  static int64_t begin(int64_t number) { return number * kBlock; }
  int64_t rows(int64_t number) const { return std::min(kBlock, size - begin(number)); }
};

/// Where the copies of a matrix lie, in elements of sums: rows are `depth` or `width` apart.
struct PackedMatrix {
  explicit PackedMatrix(const AttentionShape &shape)
      : depth(paddedTo(shape.depth, kWidth) + kWidth), width(paddedTo(shape.width, kWidth) + kWidth),
        doutAt(shape.queries * depth), keyRowsAt(doutAt + shape.queries * width),
        keysAt(keyRowsAt + shape.keys * depth), valuesAt(keysAt + paddedTo(shape.keys, kWidth) * shape.depth),
        end(valuesAt + paddedTo(shape.keys, kWidth) * shape.width) {}

  int64_t depth, width, doutAt, keyRowsAt, keysAt, valuesAt, end;
};

/// Where a thread's own memory lies: weights and gradients of scores of a block, sums of a block of keys, and those of
/// `queries` queries.
struct BlockMemory {
  BlockMemory(const PackedMatrix &packed, int64_t queries)
      : slopesAt(kBlock * kScoreStride), dkeyAt(2 * slopesAt), dvalueAt(dkeyAt + kBlock * packed.depth),
        dqueryAt(dvalueAt + kBlock * packed.width), end(dqueryAt + queries * packed.depth) {}

  int64_t slopesAt, dkeyAt, dvalueAt, dqueryAt, end;
};

int64_t queriesAtOnce(const AttentionShape &shape, bool takesMatrices) {
  return takesMatrices ? shape.queries : std::min(kBlock, shape.queries);
}

/// Gradients of one matrix at a time, on one thread.
template <typename T> class Gradients {
public:
  using Sum = Accumulator<T>;

  Gradients(const AttentionShape &shape, const GradientPlaces &places, const Kernels &kernels,
            const AttentionGradient::Operands &operands, bool takesMatrices, Sum *memory)
      : shape(shape), places(places), kernels(kernels), loops(SoftmaxRows<Sum>::of(kernels.isWide())),
        operands(operands), packedAt(shape), at(packedAt, queriesAtOnce(shape, takesMatrices)), memory(memory),
        queries{shape.queries}, keys{shape.keys} {}

  /// Copies the operands of a matrix, widened and as kernels read them.
  void pack(int64_t number, Sum *to) const {
    const T *key = operand(operands.key, shape.keyAt, number), *value = operand(operands.value, shape.valueAt, number);
    copyScaled(operand(operands.query, shape.queryAt, number), shape.queries, shape.depth, Sum(shape.scale), to,
               packedAt.depth);
    copyScaled(operand(operands.dout, places.doutAt, number), shape.queries, shape.width, Sum(1), to + packedAt.doutAt,
               packedAt.width);
    copyScaled(key, shape.keys, shape.depth, Sum(1), to + packedAt.keyRowsAt, packedAt.depth);
    packColumns(key, shape.keys, shape.depth, to + packedAt.keysAt);
    packColumns(value, shape.keys, shape.width, to + packedAt.valuesAt);
  }

  /// Makes a matrix, whose copies these are, the one of the functions below.
  void enter(int64_t number, const Sum *copies) {
    matrix = number;
    packed = copies;
  }

  /// All gradients of the matrix.
  void computeAll() {
    clear(at.dqueryAt, shape.queries * packedAt.depth);
    for (int64_t block = 0; block < keys.count(); ++block)
      computeKeys(block, true);
    writeQueries(0, shape.queries);
  }

  /// Gradients of a block of queries.
  void computeQueries(int64_t number) {
    const int64_t first = Blocks::begin(number);
    clear(at.dqueryAt, kBlock * packedAt.depth);
    for (int64_t block = 0; block < keys.count(); ++block)
      if (findSlopes(number, block))
        addQueries(number, block, first);
    writeQueries(first, queries.rows(number));
  }

  /// Gradients of a block of keys and values, and what it adds to those of all queries where these are wanted.
  void computeKeys(int64_t number, bool addsToQueries) {
    clear(at.dkeyAt, kBlock * (packedAt.depth + packedAt.width));
    for (int64_t block = 0; block < queries.count(); ++block) {
      if (!findSlopes(block, number))
        continue;
      addKeys(block, number);
      if (addsToQueries)
        addQueries(block, number, 0);
    }
    const int64_t from = matrix * shape.keys + Blocks::begin(number);
    write(at.dkeyAt, packedAt.depth, keys.rows(number), shape.depth, Sum(1), operands.dkey, from);
    write(at.dvalueAt, packedAt.width, keys.rows(number), shape.width, Sum(1), operands.dvalue, from);
  }

private:
  const T *operand(const void *data, llvm::ArrayRef<int64_t> matrices, int64_t number) const {
    return static_cast<const T *>(data) + matrices[size_t(number)];
  }

  void clear(int64_t from, int64_t count) { std::fill_n(memory + from, count, Sum(0)); }

  /// Finds weights and the gradients of scores for a block of queries by one of keys; whether a query sees one of
  /// these.
  bool findSlopes(int64_t block, int64_t ofKeys) {
    const int64_t first = Blocks::begin(block), rows = queries.rows(block), key = Blocks::begin(ofKeys);
    const int64_t count = shape.seenBy(first + rows - 1, key + keys.rows(ofKeys)) - key;
    if (count <= 0)
      return false;
    scoreByPanels(packed + first * packedAt.depth, packedAt.depth, rows, ofKeys, shape.depth, packedAt.keysAt, 0);
    scoreByPanels(packed + packedAt.doutAt + first * packedAt.width, packedAt.width, rows, ofKeys, shape.width,
                  packedAt.valuesAt, at.slopesAt);
    for (int64_t row = 0; row < rows; ++row)
      findRow(first + row, key, keys.rows(ofKeys), memory + row * kScoreStride);
    return true;
  }

  /// Multiplies rows by the columns of a block of keys, from panels of `lines` lines.
  void scoreByPanels(const Sum *lhs, int64_t stride, int64_t rows, int64_t ofKeys, int64_t lines, int64_t panelsAt,
                     int64_t to) {
    TileProduct<Sum>(kernels, {rows, paddedTo(keys.rows(ofKeys), kWidth), lines},
                     {stride, 1, kWidth * lines, kWidth, kScoreStride})
        .run(lhs, packed + panelsAt + Blocks::begin(ofKeys) * lines, memory + to, false);
  }

  /// Turns the scores of a query by `count` keys to weights, and the gradients of these to those of scores.
  void findRow(int64_t query, int64_t key, int64_t count, Sum *weights) {
    const int64_t seen = std::max<int64_t>(shape.seenBy(query, key + count) - key, 0);
    if (shape.mask)
      maskScores(*shape.mask, operands.mask, matrix, query, key, seen, weights);
    loops.weigh(weights, seen, Sum(widen(operand(operands.logsumexp, places.logsumexpAt, matrix)[query])));
    for (int64_t i = paddedTo(seen, kWidth); i < count; ++i)
      weights[i] = 0;
    loops.slope(weights + at.slopesAt, weights, count,
                Sum(widen(operand(operands.delta, places.deltaAt, matrix)[query])));
  }

  /// Adds the products of a block's gradients of scores by keys to gradients of queries, of which `base` is the first.
  void addQueries(int64_t block, int64_t ofKeys, int64_t base) {
    const int64_t depth = packedAt.depth;
    TileProduct<Sum>(kernels, {queries.rows(block), shape.depth, keys.rows(ofKeys)},
                     {kScoreStride, 1, kWidth, depth, depth})
        .run(memory + at.slopesAt, packed + packedAt.keyRowsAt + Blocks::begin(ofKeys) * depth,
             memory + at.dqueryAt + (Blocks::begin(block) - base) * depth, true);
  }

  /// Adds those by queries, and of weights by gradients of results, to the sums of a block of keys.
  void addKeys(int64_t block, int64_t ofKeys) {
    const int64_t first = Blocks::begin(block), rows = queries.rows(block);
    const int64_t depth = packedAt.depth, width = packedAt.width;
    TileProduct<Sum>(kernels, {keys.rows(ofKeys), shape.depth, rows}, {1, kScoreStride, kWidth, depth, depth})
        .run(memory + at.slopesAt, packed + first * depth, memory + at.dkeyAt, true);
    TileProduct<Sum>(kernels, {keys.rows(ofKeys), shape.width, rows}, {1, kScoreStride, kWidth, width, width})
        .run(memory, packed + packedAt.doutAt + first * width, memory + at.dvalueAt, true);
  }

  void writeQueries(int64_t first, int64_t rows) {
    write(at.dqueryAt, packedAt.depth, rows, shape.depth, Sum(shape.scale), operands.dquery,
          matrix * shape.queries + first);
  }

  /// Writes sums as rows of a result, from row `first` on.
  void write(int64_t from, int64_t stride, int64_t rows, int64_t columns, Sum factor, void *result, int64_t first) {
    for (int64_t row = 0; row < rows; ++row)
      writeScaled(memory + from + row * stride, columns, factor, static_cast<T *>(result) + (first + row) * columns);
  }

  const AttentionShape &shape;
  const GradientPlaces &places;
  const Kernels &kernels;
  const SoftmaxRows<Sum> &loops;
  const AttentionGradient::Operands &operands;
  const PackedMatrix packedAt;
  const BlockMemory at;
  Sum *const memory;
  const Blocks queries, keys;
  int64_t matrix = 0;
  const Sum *packed = nullptr;
};

} // namespace

AttentionGradient::AttentionGradient(const AttentionShape &given, GradientPlaces placesGiven, unsigned threads,
                                     const Kernels *ofTest)
    : shape(given), places(std::move(placesGiven)), kernels(ofTest ? *ofTest : Kernels::of(sumOf(given.dtype))) {
  numThreads = shape.products() < double(kPartProducts) ? 1 : threads;
  takesMatrices = numThreads == 1 || shape.numMatrices() >= kMatricesPerThread * int64_t(numThreads);
  const size_t width = byteWidth(sumOf(shape.dtype));
  const PackedMatrix packed(shape);
  packedBytes = llvm::alignTo(size_t(packed.end) * width, 64);
  blockBytes = llvm::alignTo(size_t(BlockMemory(packed, queriesAtOnce(shape, takesMatrices)).end) * width, 64);
}

size_t AttentionGradient::workspaceBytes() const {
  return packedBytes * (takesMatrices ? numThreads : size_t(shape.numMatrices())) + blockBytes * numThreads;
}

template <typename T> void AttentionGradient::runAs(const Operands &operands) const {
  using Sum = Accumulator<T>;
  char *memory = static_cast<char *>(operands.workspace), *copies = memory + numThreads * blockBytes;
  const auto matrices = unsigned(shape.numMatrices());
  auto copiesAt = [&](unsigned slot) { return reinterpret_cast<Sum *>(copies + slot * packedBytes); };
  auto gradientsOf = [&](unsigned thread) {
    return Gradients<T>(shape, places, kernels, operands, takesMatrices,
                        reinterpret_cast<Sum *>(memory + thread * blockBytes));
  };
  if (takesMatrices)
    return shareParts(numThreads, matrices, [&](unsigned matrix, unsigned thread) {
      Gradients<T> gradients = gradientsOf(thread);
      gradients.pack(matrix, copiesAt(thread));
      gradients.enter(matrix, copiesAt(thread));
      gradients.computeAll();
    });
  shareParts(numThreads, matrices, [&](unsigned matrix) { gradientsOf(0).pack(matrix, copiesAt(matrix)); });
  const auto ofQueries = unsigned(Blocks{shape.queries}.count()), ofKeys = unsigned(Blocks{shape.keys}.count());
  shareParts(numThreads, matrices * (ofQueries + ofKeys), [&](unsigned part, unsigned thread) {
    const unsigned matrix = part / (ofQueries + ofKeys), block = part % (ofQueries + ofKeys);
    Gradients<T> gradients = gradientsOf(thread);
    gradients.enter(matrix, copiesAt(matrix));
    if (block < ofQueries)
      gradients.computeQueries(block);
    else
      gradients.computeKeys(block - ofQueries, false);
  });
}

void AttentionGradient::run(const Operands &operands) const {
  withFloatType(shape.dtype, [&](auto tag) { runAs<decltype(tag)>(operands); });
}

} // namespace tess::runtime::contract
