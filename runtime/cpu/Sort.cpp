//===- Sort.cpp - elements in order along the last axis -------------------===//
//
// Equal elements keep their order and NaN is the largest. The order is thus
// total, and topk is a prefix of argsort, bit for bit.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/Odometer.h"
#include "runtime/device/Elements.h"
#include "runtime/threads/ParallelFor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <type_traits>

namespace tess::runtime::cpu {

namespace {

template <typename A> bool less(A a, A b) { return a < b || (a == a && b != b); }

/// A number in the order of the elements, equal for equal ones: -0 and 0, and all NaN, which are the largest.
template <typename A> auto orderedKey(A x) {
  using Key = std::conditional_t<sizeof(A) <= 4, uint32_t, uint64_t>;
  constexpr Key kSign = Key(1) << (8 * sizeof(Key) - 1);
  if constexpr (std::is_floating_point_v<A>) {
    Key bits = std::bit_cast<Key>(x == 0 ? A(0) : x);
    return x != x ? ~Key(0) : bits & kSign ? ~bits : bits | kSign;
  } else {
    return Key(std::is_signed_v<A> ? Key(x) ^ kSign : Key(x));
  }
}

/// An element of 32 bits or fewer in a line: its key, then its place, so that entries are ordered as elements are.
struct NarrowEntry {
  uint64_t bits;
  NarrowEntry() = default;
  NarrowEntry(uint32_t key, int32_t place) : bits(uint64_t(key) << 32 | uint32_t(place)) {}
  int32_t place() const { return int32_t(bits); }
  bool operator<(const NarrowEntry &other) const { return bits < other.bits; }
};
/// One of 64 bits.
struct WideEntry {
  uint64_t key;
  int32_t at;
  WideEntry() = default;
  WideEntry(uint64_t key, int32_t place) : key(key), at(place) {}
  int32_t place() const { return at; }
  bool operator<(const WideEntry &other) const { return key != other.key ? key < other.key : at < other.at; }
};

/// Entries that lie in the order of their places, in the order of their keys: byte by byte, the lowest one first. They
/// are in the returned one of the two lists.
NarrowEntry *sortByBytes(NarrowEntry *entries, NarrowEntry *other, int64_t size) {
  constexpr unsigned kBytes = 4, kFirstBit = 32, kValues = 256;
  std::array<std::array<uint32_t, kValues>, kBytes> counts = {};
  for (int64_t i = 0; i < size; ++i)
    for (unsigned byte = 0; byte < kBytes; ++byte)
      ++counts[byte][entries[i].bits >> (kFirstBit + 8 * byte) & 0xFF];
  for (unsigned byte = 0; byte < kBytes; ++byte) {
    const unsigned shift = kFirstBit + 8 * byte;
    auto &ends = counts[byte];
    if (ends[entries[0].bits >> shift & 0xFF] == size)
      continue; // all have the same
    std::exclusive_scan(ends.begin(), ends.end(), ends.begin(), 0u);
    for (int64_t i = 0; i < size; ++i)
      other[ends[entries[i].bits >> shift & 0xFF]++] = entries[i];
    std::swap(entries, other);
  }
  return entries;
}

class Sort : public PreparedKernel {
public:
  Sort(const PrepareRequest &request, const char *name)
      : dtype(request.inputs[0].dtype), descending(request.op.boolean("descending")) {
    implementationName = name;
    const Shape &shape = request.inputs[0].shape;
    rows = countOf(llvm::ArrayRef(shape).drop_back());
    size = shape.back();
    taken = request.outputs[0].shape.back();
    const int64_t element = isFew() ? 2'000 : 6'000; // ps
    threadCount = threadsFor(rows * size * element, request.threads);
    lineBytes = llvm::alignTo(2 * size_t(size) * sizeof(WideEntry) + 1, 64);
    workspace = lineBytes * threadCount;
  }

  llvm::Error run(RunContext &context, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    withType(dtype, [&](auto tag) {
      using T = decltype(tag);
      parallelFor(threadCount, rows, 1, [&](int64_t begin, int64_t end, unsigned part) {
        void *memory = static_cast<char *>(context.workspace) + part * lineBytes;
        for (int64_t row = begin; row < end; ++row)
          sortLine(static_cast<const T *>(inputs[0]) + row * size, memory, static_cast<T *>(outputs[0]) + row * taken,
                   static_cast<int32_t *>(outputs[1]) + row * taken);
      });
    });
    return llvm::Error::success();
  }

private:
  template <typename T> void sortLine(const T *line, void *memory, T *values, int32_t *places) const {
    using Key = decltype(orderedKey(widen(T())));
    using Entry = std::conditional_t<sizeof(Key) == 4, NarrowEntry, WideEntry>;
    auto *entries = static_cast<Entry *>(memory);
    for (int64_t i = 0; i < size; ++i) {
      Key key = orderedKey(widen(line[i]));
      entries[i] = Entry(descending ? Key(~key) : key, int32_t(i));
    }
    entries = order(entries);
    for (int64_t i = 0; i < taken; ++i) {
      places[i] = entries[i].place();
      values[i] = line[places[i]];
    }
  }

  /// Whether few elements are taken, which a heap finds.
  bool isFew() const { return taken <= size / 4; }

  /// The first `taken` entries in order, in the list or in the memory behind it.
  template <typename Entry> Entry *order(Entry *entries) const {
    constexpr int64_t kShort = 128; // below, comparisons are faster
    if (isFew()) {
      std::partial_sort(entries, entries + taken, entries + size);
      return entries;
    }
    if constexpr (std::is_same_v<Entry, NarrowEntry>)
      if (size >= kShort)
        return sortByBytes(entries, entries + size, size);
    std::sort(entries, entries + size);
    return entries;
  }

  DType dtype;
  bool descending;
  int64_t rows, size, taken;
  size_t lineBytes; // of a thread
};

/// How many elements of a sorted line come before each value; inputs are the lines and the values.
class SearchSorted : public PreparedKernel {
public:
  explicit SearchSorted(const PrepareRequest &request)
      : dtype(request.inputs[0].dtype), countsEqual(request.op.str("side") == "right") {
    implementationName = "own:searchsorted";
    const Shape &lines = request.inputs[0].shape, &values = request.inputs[1].shape;
    batch.assign(request.outputs[0].shape.begin(), request.outputs[0].shape.end() - 1);
    size = lines.back();
    count = values.back();
    for (auto [strides, shape] : llvm::zip(batchStrides, llvm::ArrayRef({&lines, &values})))
      strides = Layout::contiguous(llvm::ArrayRef(*shape).drop_back()).broadcastTo(batch).strides;
    constexpr int64_t kStep = 4000; // picoseconds of a step that halves a line
    int64_t steps = llvm::Log2_64(uint64_t(size) + 1) + 1;
    threadCount = threadsFor(countOf(batch) * count * steps * kStep, request.threads);
  }

  llvm::Error run(RunContext &, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    withType(dtype, [&](auto tag) {
      using T = decltype(tag);
      parallelFor(threadCount, countOf(batch) * count, 1, [&](int64_t begin, int64_t end, unsigned) {
        find<T>(inputs, static_cast<int32_t *>(outputs[0]), begin, end);
      });
    });
    return llvm::Error::success();
  }

private:
  /// The values number [begin, end), row after row.
  template <typename T> void find(llvm::ArrayRef<void *> inputs, int32_t *to, int64_t begin, int64_t end) const {
    Odometer<2> walk(batch, batchStrides);
    for (int64_t first = 0; first < end; first += count, walk.next()) {
      const T *line = static_cast<const T *>(inputs[0]) + walk.offset(0) * size;
      const T *values = static_cast<const T *>(inputs[1]) + walk.offset(1) * count;
      for (int64_t i = std::max(begin - first, int64_t(0)), last = std::min(end - first, count); i < last; ++i)
        to[first + i] = place(line, values[i]);
    }
  }

  template <typename T> int32_t place(const T *line, T value) const {
    const T *found = std::partition_point(line, line + size, [&](T element) {
      auto x = widen(element), y = widen(value);
      return countsEqual ? !less(y, x) : less(x, y);
    });
    return int32_t(found - line);
  }

  DType dtype;
  bool countsEqual;
  Shape batch;
  std::array<Shape, 2> batchStrides;
  int64_t size, count;
};

} // namespace

llvm::Expected<PreparedRef> prepareArgsort(const PrepareRequest &request) {
  return std::make_shared<Sort>(request, "own:argsort");
}

llvm::Expected<PreparedRef> prepareTopk(const PrepareRequest &request) {
  return std::make_shared<Sort>(request, "own:topk");
}

llvm::Expected<PreparedRef> prepareSearchSorted(const PrepareRequest &request) {
  return std::make_shared<SearchSorted>(request);
}

} // namespace tess::runtime::cpu
