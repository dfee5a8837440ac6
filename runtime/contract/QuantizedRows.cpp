//===- QuantizedRows.cpp - rows by quantized weights ----------------------===//
#include "runtime/contract/QuantizedRows.h"

#include "runtime/contract/ShareParts.h"
#include "runtime/contract/TileCall.h"
#include "runtime/device/Elements.h"

namespace tess::runtime::contract {

namespace {

/// Bytes of weights that a part takes 10 us for, and parts for each thread where there are more, so that one which
/// comes late leaves some to others.
constexpr int64_t kPartBytes = 256 << 10;
constexpr unsigned kPartsPerThread = 8;
/// Rows of a part at least, where threads share rows because there are fewer blocks.
constexpr int64_t kPartRows = 16;
/// Elements of rows that a thread copies at least.
constexpr int64_t kCopiedElements = 32 << 10;

/// Rows [begin, end) as float32, with zeros behind them up to `widened`.
template <typename T>
void widenRows(const void *from, int64_t begin, int64_t end, int64_t depth, int64_t widened, float *to) {
  for (int64_t r = begin; r < end; ++r) {
    const T *row = static_cast<const T *>(from) + r * depth;
    std::transform(row, row + depth, to + r * widened, [](T x) { return widen(x); });
    std::fill(to + r * widened + depth, to + (r + 1) * widened, 0.0f);
  }
}

/// Adds a bias to the sums of a row, and rounds them.
template <typename T> void finishRow(float *sums, const void *bias, int64_t begin, int64_t end, void *out) {
  const auto *added = static_cast<const T *>(bias);
  for (int64_t c = begin; added && c < end; ++c)
    sums[c] += widen(added[c]);
  if constexpr (!std::is_same_v<T, float>)
    std::transform(sums + begin, sums + end, static_cast<T *>(out) + begin, [](float x) { return narrow<T>(x); });
}

/// `call` with an element of the dtype.
template <typename Fn> void withElement(DType dtype, Fn call) {
  if (dtype == DType::BFloat16)
    return call(BF16());
  if (dtype == DType::Float16)
    return call(F16());
  call(float());
}

} // namespace

QuantizedRows::QuantizedRows(const QuantizedProduct &of, unsigned threads, const Kernels *ofTest)
    : product(of), form(product.weights),
      kernels(ofTest ? *ofTest : Kernels::of(DType::Float32, product.weights.numbers)), numThreads(threads) {
  const int64_t blocks = form.numBlocks(), most = std::min<int64_t>(blocks, int64_t(threads) * kPartsPerThread);
  const int64_t least = std::min<int64_t>(blocks, threads), forAll = llvm::divideCeil(int64_t(threads), blocks);
  blockParts = threads == 1 ? 1 : std::clamp<int64_t>(int64_t(form.bytes()) / kPartBytes, least, most);
  rowParts = std::clamp<int64_t>(product.rows / kPartRows, 1, forAll);
}

void QuantizedRows::run(const QuantizedOperands &operands, void *out, void *workspace) const {
  char *memory = static_cast<char *>(workspace);
  auto *rows = reinterpret_cast<float *>(memory);
  auto *sums = reinterpret_cast<float *>(memory += rowBytes());
  auto *scales = reinterpret_cast<float *>(memory += sumBytes());
  memory += scaleBytes();
  if (copiesRows())
    copyRows(operands.rows, rows);
  const auto *given = static_cast<const float *>(operands.scales);
  if (!product.hasScalePanels)
    packScales(product.weights, given, scales);
  const Places places{copiesRows() ? rows : static_cast<const float *>(operands.rows),
                      product.hasScalePanels ? given : scales,
                      static_cast<const char *>(operands.numbers),
                      operands.bias,
                      out,
                      isWidened() ? sums : static_cast<float *>(out),
                      memory};
  shareParts(numThreads, numParts(), [&](unsigned part, unsigned thread) {
    const int64_t blocks = form.numBlocks(), ofBlocks = part / rowParts, ofRows = part % rowParts;
    const Rows range{product.rows * ofRows / rowParts, product.rows * (ofRows + 1) / rowParts};
    for (int64_t block = blocks * ofBlocks / blockParts; block < blocks * (ofBlocks + 1) / blockParts; ++block)
      runBlock(block, range, thread, places);
  });
}

void QuantizedRows::copyRows(const void *rows, float *to) const {
  const int64_t depth = product.weights.depth, widened = widenedDepth();
  parallelFor(numThreads, product.rows, std::max<int64_t>(1, kCopiedElements / widened),
              [&](int64_t begin, int64_t end, unsigned) {
                withElement(product.dtype,
                            [&](auto element) { widenRows<decltype(element)>(rows, begin, end, depth, widened, to); });
              });
}

/// Chunk after chunk, whose numbers stay in the caches for all rows.
void QuantizedRows::runBlock(int64_t block, Rows range, unsigned thread, const Places &places) const {
  char *packed = places.chunks + thread * chunkBytes();
  for (int64_t line = 0; line < form.numLines; line += kContractLines) {
    Chunk chunk{block, line, std::min(kContractLines, form.numLines - line), packed};
    if (product.hasPanels)
      chunk.numbers = places.numbers + form.lineAt(block, line);
    else
      packNumbers(product.weights, places.numbers, block, line, line + chunk.lines, packed);
    for (int64_t row = range.begin; row < range.end; row += kernels.rows())
      runTile(chunk, row, unsigned(std::min<int64_t>(kernels.rows(), range.end - row)), places);
  }
  if (places.bias || isWidened())
    finishBlock(block, range, places);
}

void QuantizedRows::runTile(const Chunk &chunk, int64_t row, unsigned rows, const Places &places) const {
  const int64_t panels = form.panelsOf(chunk.block), depth = widenedDepth(), columns = product.weights.columns;
  const int64_t lines = std::min(form.groupLines, chunk.lines);
  const float *scales = places.scales + form.scalesAt(chunk.block, form.scaleLineOf(chunk.line));
  GroupsCall call;
  call.setStride(GroupsCall::Lhs, GroupsCall::Rows, depth);
  call.setStride(GroupsCall::Lhs, GroupsCall::Groups, lines * form.perColumn());
  call.setStride(GroupsCall::Lhs, GroupsCall::Lines, form.perColumn());
  call.setStride(GroupsCall::Rhs, GroupsCall::Columns, kLanes);
  call.setStride(GroupsCall::Rhs, GroupsCall::Groups, lines * panels * kLanes);
  call.setStride(GroupsCall::Rhs, GroupsCall::Lines, panels * kLanes);
  call.setStride(GroupsCall::Scales, GroupsCall::Columns, kLanes);
  call.setStride(GroupsCall::Scales, GroupsCall::Groups, panels * kLanes);
  call.setStride(GroupsCall::Out, GroupsCall::Rows, columns);
  call.setStride(GroupsCall::Out, GroupsCall::Columns, kLanes);
  call.setSize(GroupsCall::Groups, chunk.lines / lines);
  call.setSize(GroupsCall::Lines, lines);
  call.setData(GroupsCall::Lhs, places.rows + row * depth + chunk.line * form.perColumn());
  for (int64_t panel = 0; panel < panels;) {
    const unsigned together = kernels.panelsFor(rows, panels - panel);
    const int64_t column = (chunk.block * QuantizedForm::kBlockPanels + panel) * kLanes;
    call.setSize(GroupsCall::Columns, std::min<int64_t>(together * int64_t(kLanes), columns - column));
    call.setData(GroupsCall::Rhs, chunk.numbers + panel * form.lineBytes(1));
    call.setData(GroupsCall::Scales, scales + panel * kLanes);
    call.setData(GroupsCall::Out, places.sums + row * columns + column);
    call.run(kernels.at(rows, together), chunk.line / kContractLines);
    panel += together;
  }
}

void QuantizedRows::finishBlock(int64_t block, Rows range, const Places &places) const {
  const int64_t columns = product.weights.columns, begin = block * QuantizedForm::kBlockPanels * kLanes;
  const int64_t end = std::min(begin + QuantizedForm::kBlockPanels * int64_t(kLanes), columns);
  withElement(product.dtype, [&](auto element) {
    using T = decltype(element);
    for (int64_t row = range.begin; row < range.end; ++row)
      finishRow<T>(places.sums + row * columns, places.bias, begin, end, static_cast<T *>(places.out) + row * columns);
  });
}

} // namespace tess::runtime::contract
