// Products of quantized numbers, one JSON list of rows: name, threads, microseconds, and those of what bounds it in the
// same rounds. A row of float32 by weights from memory stands beside plain reading of the same bytes; a product of
// bytes beside that of float32. tests/benchmarks/quantized.py runs it.
#include "runtime/contract/Products.h"
#include "runtime/contract/QuantizedRows.h"
#include "runtime/contract/ShareParts.h"
#include "runtime/threads/Worker.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

using namespace tess;
using namespace tess::runtime;
using namespace tess::runtime::contract;

namespace {

constexpr int kRounds = 15;
constexpr size_t kMemoryBytes = size_t(160) << 20; // of weights together: five third-level caches

/// Bytes that are aligned to 64, and of which four are a float of usual size.
class Memory {
public:
  explicit Memory(size_t size) : size(size), bytes(size + 64, 0x3e) {}
  char *get() { return reinterpret_cast<char *>(llvm::alignTo(reinterpret_cast<uintptr_t>(bytes.data()), 64)); }

  const size_t size;

private:
  std::vector<char> bytes;
};

double microsecondsOf(llvm::function_ref<void()> call) {
  auto start = std::chrono::steady_clock::now();
  llvm::cantFail(Worker::global().call([&] { return call(), llvm::Error::success(); }));
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

/// Least times of both, in turns.
void printRow(const char *name, unsigned threads, llvm::function_ref<void()> call, llvm::function_ref<void()> bound) {
  double least = 1e18, leastOfBound = 1e18;
  for (int round = 0; round < kRounds; ++round) {
    least = std::min(least, microsecondsOf(call));
    leastOfBound = std::min(leastOfBound, microsecondsOf(bound));
  }
  static bool isFirst = true;
  std::printf("%s[\"%s\", %u, %.1f, %.1f]", isFirst ? "" : ",\n", name, threads, least, leastOfBound);
  isFirst = false;
}

/// Sixteen words, read as kernels do.
using Words = uint32_t __attribute__((vector_size(64), aligned(4)));

/// Reads all bytes by as many parts as threads can share, as fast as was found: fetched ahead.
void readAll(const char *from, size_t bytes, unsigned threads) {
  constexpr unsigned kParts = 64, kAhead = 8192 / sizeof(Words);
  shareParts(threads, kParts, [&](unsigned part) {
    const auto *words = reinterpret_cast<const Words *>(from);
    const size_t count = bytes / sizeof(Words);
    Words sums[4] = {};
    for (size_t i = count * part / kParts, last = count * (part + 1) / kParts; i + 4 <= last; i += 4)
      for (size_t k = 0; k < 4; ++k) {
        __builtin_prefetch(words + i + k + kAhead);
        sums[k] ^= words[i + k];
      }
    asm volatile("" : : "m"(sums));
  });
}

/// Some rows by matrices of the shape, one after the other.
void measureRows(const char *name, QuantizedShape shape, unsigned threads, int64_t rows = 1) {
  const QuantizedRows products({DType::Float32, rows, shape, true, true}, threads);
  const QuantizedForm form(shape);
  const size_t numbers = form.bytes(), each = numbers + form.numScales() * sizeof(float),
               matrices = kMemoryBytes / each;
  Memory weights(each * matrices), workspace(products.workspaceBytes());
  std::vector<float> lhs(size_t(rows * shape.depth), 0.5f), out(size_t(rows * shape.columns));
  auto run = [&] {
    for (size_t i = 0; i < matrices; ++i)
      products.run({lhs.data(), weights.get() + i * each, weights.get() + i * each + numbers, nullptr}, out.data(),
                   workspace.get());
  };
  printRow(name, threads, run, [&] { readAll(weights.get(), weights.size, threads); });
}

ProductShape square(DType dtype, int64_t size) {
  ProductShape shape{dtype, size, size, size, size, 1, size, 1};
  shape.hasPanels = true;
  return shape;
}

/// A product with panels that were packed before.
class Square {
public:
  Square(DType dtype, int64_t size, unsigned threads)
      : products(square(dtype, size), threads), lhs(size_t(size * size * byteWidth(dtype))),
        panels(products.bytesOfPanels()), out(size_t(size * size * 4)), workspace(products.workspaceBytes()) {}
  void run() { products.run(lhs.get(), panels.get(), out.get(), workspace.get()); }

private:
  Products products;
  Memory lhs, panels, out, workspace;
};

void measureSquare(const char *name, DType dtype, unsigned threads) {
  constexpr int64_t kSize = 1024;
  Square bytes(dtype, kSize, threads), floats(DType::Float32, kSize, threads);
  printRow(name, threads, [&] { bytes.run(); }, [&] { floats.run(); });
}

} // namespace

int main() {
  constexpr int64_t kSize = 4096;
  std::printf("[");
  for (unsigned threads : {1u, 2u}) {
    measureRows("row by 8-bit weights", {TileLines::Bytes, kSize, kSize}, threads);
    measureRows("row by 8-bit weights, groups of 128", {TileLines::Bytes, kSize, kSize, 128}, threads);
    measureRows("row by 4-bit weights, groups of 128", {TileLines::Nibbles, kSize, kSize, 128}, threads);
    measureRows("row by 4-bit weights, groups of 32", {TileLines::Nibbles, kSize, kSize, 32}, threads);
    measureRows("four rows by 8-bit weights", {TileLines::Bytes, kSize, kSize}, threads, 4);
    measureRows("four rows by 4-bit weights, groups of 128", {TileLines::Nibbles, kSize, kSize, 128}, threads, 4);
    measureRows("two rows by 8-bit weights", {TileLines::Bytes, kSize, kSize}, threads, 2);
    measureRows("two rows by 4-bit weights, groups of 128", {TileLines::Nibbles, kSize, kSize, 128}, threads, 2);
    measureSquare("uint8 by int8, 1024", DType::UInt8, threads);
    measureSquare("int8 by int8, 1024", DType::Int8, threads);
  }
  std::printf("]\n");
}
