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

/// A row as float32, with zeros behind it up to `widened`.
template <typename T> void widenRow(const T *row, int64_t depth, int64_t widened, float *to) {
  std::transform(row, row + depth, to, [](T x) { return widen(x); });
  std::fill(to + depth, to + widened, 0.0f);
}

/// Multiplies the sums of a row by its scale, unless there is none, adds a bias, and rounds them.
template <typename T>
void finishRow(float *sums, const float *scale, const void *bias, int64_t begin, int64_t end, void *out) {
  const auto *added = static_cast<const T *>(bias);
  for (int64_t c = begin; scale && c < end; ++c)
    sums[c] *= *scale;
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
      kernels(ofTest ? *ofTest : Kernels::of(product.weights.rows, product.weights.numbers)), numThreads(threads) {
  const int64_t blocks = form.numBlocks(), most = std::min<int64_t>(blocks, int64_t(threads) * kPartsPerThread);
  const int64_t least = std::min<int64_t>(blocks, threads), forAll = llvm::divideCeil(int64_t(threads), blocks);
  blockParts = threads == 1 ? 1 : std::clamp<int64_t>(int64_t(form.bytes()) / kPartBytes, least, most);
  rowParts = std::clamp<int64_t>(product.rows / kPartRows, 1, forAll);
}

void QuantizedRows::run(const QuantizedOperands &operands, void *out, void *workspace) const {
  char *memory = static_cast<char *>(workspace);
  char *rows = memory;
  auto *rowScales = reinterpret_cast<float *>(memory += rowBytes());
  auto *sums = reinterpret_cast<float *>(memory += rowScaleBytes());
  auto *scales = reinterpret_cast<float *>(memory += sumBytes());
  memory += scaleBytes();
  if (copiesRows())
    copyRows(operands.rows, rows, rowScales);
  const auto *given = static_cast<const float *>(operands.scales);
  if (!product.hasScalePanels)
    packScales(product.weights, given, scales);
  const Places places{copiesRows() ? rows : static_cast<const char *>(operands.rows),
                      form.byBytes ? rowScales : nullptr,
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

void QuantizedRows::copyRows(const void *rows, char *to, float *scales) const {
  const int64_t depth = product.weights.depth, widened = widenedDepth();
  withElement(product.dtype, [&](auto element) {
    using T = decltype(element);
    const T *from = static_cast<const T *>(rows);
    parallelFor(numThreads, product.rows, std::max<int64_t>(1, kCopiedElements / widened),
                [&](int64_t begin, int64_t end, unsigned) {
                  for (int64_t r = begin; r < end; ++r)
                    if (form.byBytes)
                      scales[r] = byteRows.writeRow(from + r * depth, depth, to + r * rowStride());
                    else
                      widenRow(from + r * depth, depth, widened, reinterpret_cast<float *>(to + r * rowStride()));
                });
  });
}

/// Chunk after chunk, whose numbers stay in the caches for all rows.
void QuantizedRows::runBlock(int64_t block, Rows range, unsigned thread, const Places &places) const {
  char *packed = places.chunks + thread * chunkBytes();
  for (int64_t line = 0; line < form.numLines; line += form.chunkLines) {
    Chunk chunk{block, line, std::min(form.chunkLines, form.numLines - line), packed};
    if (product.hasPanels)
      chunk.numbers = places.numbers + form.lineAt(block, line);
    else
      packNumbers(product.weights, places.numbers, block, line, line + chunk.lines, packed);
    for (int64_t row = range.begin; row < range.end; row += kernels.rows())
      runTile(chunk, row, unsigned(std::min<int64_t>(kernels.rows(), range.end - row)), places);
  }
  if (places.bias || places.rowScales || isWidened())
    finishBlock(block, range, places);
}

void QuantizedRows::runTile(const Chunk &chunk, int64_t row, unsigned rows, const Places &places) const {
  const int64_t panels = form.panelsOf(chunk.block), columns = product.weights.columns;
  const int64_t lines = std::min(form.groupLines, chunk.lines);
  const int64_t rowWidth = form.byBytes ? 1 : int64_t(sizeof(float));               // bytes of an element
  const int64_t panelWidth = form.isNibbles ? kLanes : kLanes * form.columnBytes(); // elements of a panel's line
  const float *scales = places.scales + form.scalesAt(chunk.block, form.scaleLineOf(chunk.line));
  GroupsCall call;
  call.setStride(GroupsCall::Lhs, GroupsCall::Rows, rowStride() / rowWidth);
  call.setStride(GroupsCall::Lhs, GroupsCall::Groups, bytesBefore(lines) / rowWidth);
  call.setStride(GroupsCall::Lhs, GroupsCall::Lines, form.perColumn());
  call.setStride(GroupsCall::Rhs, GroupsCall::Columns, panelWidth);
  call.setStride(GroupsCall::Rhs, GroupsCall::Groups, lines * panels * panelWidth);
  call.setStride(GroupsCall::Rhs, GroupsCall::Lines, panels * panelWidth);
  call.setStride(GroupsCall::Scales, GroupsCall::Columns, kLanes);
  call.setStride(GroupsCall::Scales, GroupsCall::Groups, panels * kLanes);
  call.setStride(GroupsCall::Out, GroupsCall::Rows, columns);
  call.setStride(GroupsCall::Out, GroupsCall::Columns, kLanes);
  call.setSize(GroupsCall::Groups, chunk.lines / lines);
  call.setSize(GroupsCall::Lines, lines);
  call.setData(GroupsCall::Lhs, places.rows + row * rowStride() + bytesBefore(chunk.line));
  for (int64_t panel = 0; panel < panels;) {
    const unsigned together = kernels.panelsFor(rows, panels - panel);
    const int64_t column = (chunk.block * form.blockPanels() + panel) * kLanes;
    call.setSize(GroupsCall::Columns, std::min<int64_t>(together * int64_t(kLanes), columns - column));
    call.setData(GroupsCall::Rhs, chunk.numbers + panel * form.lineBytes(1));
    call.setData(GroupsCall::Scales, scales + panel * kLanes);
    call.setData(GroupsCall::Out, places.sums + row * columns + column);
    call.run(kernels.at(rows, together), chunk.line / form.chunkLines);
    panel += together;
  }
}

void QuantizedRows::finishBlock(int64_t block, Rows range, const Places &places) const {
  const int64_t columns = product.weights.columns, begin = block * form.blockPanels() * kLanes;
  const int64_t end = std::min(begin + form.blockPanels() * int64_t(kLanes), columns);
  withElement(product.dtype, [&](auto element) {
    using T = decltype(element);
    for (int64_t row = range.begin; row < range.end; ++row)
      finishRow<T>(places.sums + row * columns, places.rowScales ? places.rowScales + row : nullptr, places.bias, begin,
                   end, static_cast<T *>(places.out) + row * columns);
  });
}

} // namespace tess::runtime::contract
