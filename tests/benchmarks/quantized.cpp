// Products of quantized numbers, one JSON list of rows: name, threads, microseconds, and those of what bounds it in the
// same rounds. A row of float32 by weights from memory, by runtime/contract or as an operator, stands beside plain
// reading of the same bytes; a product or a convolution of bytes beside that of float32. tests/benchmarks/quantized.py
// runs it.
#include "runtime/contract/Products.h"
#include "runtime/contract/QuantizedRows.h"
#include "runtime/contract/ShareParts.h"
#include "runtime/device/Device.h"
#include "runtime/device/KernelTable.h"
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

/// The operator weight_only_linear for one row of float32.
class Layer {
public:
  Layer(int64_t depth, int64_t columns, int64_t bits, int64_t group, unsigned threads, bool isConstant)
      : op(OpDef::get("weight_only_linear").set("bits", bits).set("group", group)),
        inputs{{DType::Float32, {1, depth}},
               {DType::Int8, {columns, depth * bits / 8}},
               {DType::Float32, group ? Shape{columns, depth / group} : Shape{columns}}},
        outputs{{DType::Float32, {1, columns}}}, threads(threads) {
    kernel = prepare({});
    std::vector<std::string> packings(inputs.size());
    for (unsigned i = 0; i < inputs.size(); ++i) {
      packings[i] = isConstant ? kernel->inputPacking(i).text : "";
      const size_t packed = isConstant ? kernel->inputPacking(i).constantBytes : 0;
      bytes.push_back(packed ? packed : size_t(inputs[i].numElements() * byteWidth(inputs[i].dtype)));
    }
    kernel = prepare(packings);
  }

  /// Bytes of weight and scales, and of its own memory.
  size_t weightBytes() const { return llvm::alignTo(bytes[1], 64) + llvm::alignTo(bytes[2], 64); }
  size_t workspaceBytes() const { return kernel->workspaceBytes(); }

  void run(float *row, char *weight, float *out, void *workspace) const {
    RunContext context;
    context.threads = threads;
    context.workspace = workspace;
    void *in[] = {row, weight, weight + llvm::alignTo(bytes[1], 64)}, *to[] = {out};
    llvm::cantFail(kernel->run(context, in, to));
  }

private:
  PreparedRef prepare(llvm::ArrayRef<std::string> packings) const {
    PrepareRequest request{op, inputs, outputs, threads};
    request.inputPackings = packings;
    return llvm::cantFail(prepareKernel(cpuKernels(), request));
  }

  const OpDef op;
  const std::vector<TensorMeta> inputs, outputs;
  const unsigned threads;
  PreparedRef kernel;
  std::vector<size_t> bytes;
};

/// A row by layers of this kind, one after the other, whose weights are constants, or operands as they are in memory.
void measureLayer(const char *name, int64_t bits, int64_t group, unsigned threads, bool isConstant = true) {
  constexpr int64_t kDepth = 768, kColumns = 3072;
  const Layer layer(kDepth, kColumns, bits, group, threads, isConstant);
  const size_t layers = kMemoryBytes / layer.weightBytes();
  Memory weights(layer.weightBytes() * layers), workspace(layer.workspaceBytes());
  std::vector<float> row(kDepth, 0.5f), out(kColumns);
  auto run = [&] {
    for (size_t i = 0; i < layers; ++i)
      layer.run(row.data(), weights.get() + i * layer.weightBytes(), out.data(), workspace.get());
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

/// A call of a kernel on operands as it wants them.
class KernelCall {
public:
  /// `isInput`: the first operand is row-major.
  KernelCall(const OpDef &op, const Metas &operands, bool isInput, unsigned threads)
      : results(llvm::cantFail(op.infer(operands))) {
    PrepareRequest request{op, operands, results, threads};
    const PreparedRef plain = llvm::cantFail(prepareKernel(hostDevice().kernels(), request));
    std::vector<std::string> texts;
    for (unsigned i = 0; i < operands.size(); ++i) {
      const Packing packing = i == 0 && isInput ? Packing() : plain->inputPacking(i);
      texts.push_back(packing.text);
      memory.emplace_back(
          std::max(size_t(operands[i].numElements() * byteWidth(operands[i].dtype)), packing.constantBytes));
    }
    request.inputPackings = texts;
    request.outputPacking = plain->outputPacking().text;
    kernel = llvm::cantFail(prepareKernel(hostDevice().kernels(), request));
    memory.emplace_back(size_t(results[0].numElements() * byteWidth(results[0].dtype)));
    memory.emplace_back(kernel->workspaceBytes());
    for (Memory &each : memory)
      pointers.push_back(each.get());
    context.threads = kernel->threads();
    context.workspace = pointers.back();
  }

  void run() {
    const llvm::ArrayRef<void *> all = pointers;
    llvm::cantFail(kernel->run(context, all.drop_back(2), all.drop_back().take_back()));
  }

private:
  const Metas results;
  PreparedRef kernel;
  std::vector<Memory> memory;
  std::vector<void *> pointers;
  RunContext context;
};

struct ConvSizes {
  const char *name;
  int64_t in, out, size, kernel, stride;
};

/// A convolution of bytes with quantized results, beside that of float32.
void measureConv(const ConvSizes &c, DType dtype, unsigned threads) {
  const Shape x = {1, c.in, c.size, c.size}, weight = {c.out, c.in, c.kernel, c.kernel};
  auto convolve = [&](const char *name) {
    const IntList strides(2, c.stride), padding(2, c.kernel / 2);
    return OpDef::get(name).set("strides", strides).set("padding", padding);
  };
  auto numbers = [](const Shape &shape) { return TensorMeta(DType::Float32, shape); };
  const TensorMeta zero(DType::Int32, Shape()), scale = numbers({});
  const OpDef op = convolve("quantized_conv2d").set("activation", std::string("relu")).set("dtype", dtype);
  const Metas operands = {
      TensorMeta(dtype, x), TensorMeta(DType::Int8, weight), scale, zero, numbers({c.out}), scale, zero,
      numbers({c.out})};
  KernelCall bytes(op, operands, c.in == 3, threads);
  KernelCall floats(convolve("conv2d"), {numbers(x), numbers(weight)}, c.in == 3, threads);
  const std::string name = std::string(dtype == DType::Int8 ? "int8" : "uint8") + " convolution, " + c.name;
  printRow(name.c_str(), threads, [&] { bytes.run(); }, [&] { floats.run(); });
}

/// Convolutions of residual networks.
constexpr ConvSizes kConvs[] = {{"3 x 3, 64 of 56 x 56", 64, 64, 56, 3, 1},
                                {"3 x 3, 128 of 28 x 28", 128, 128, 28, 3, 1},
                                {"3 x 3, 256 of 14 x 14", 256, 256, 14, 3, 1},
                                {"3 x 3, 512 of 7 x 7", 512, 512, 7, 3, 1},
                                {"3 x 3, 64 to 128 of 56 x 56 by twos", 64, 128, 56, 3, 2},
                                {"1 x 1, 64 to 128 of 56 x 56 by twos", 64, 128, 56, 1, 2},
                                {"1 x 1, 64 to 256 of 56 x 56", 64, 256, 56, 1, 1},
                                {"1 x 1, 256 to 64 of 56 x 56", 256, 64, 56, 1, 1},
                                {"7 x 7, 3 to 64 of 224 x 224 by twos", 3, 64, 224, 7, 2}};

} // namespace

int main() {
  constexpr int64_t kSize = 4096;
  std::printf("[");
  for (unsigned threads : {1u, 2u}) {
    measureRows("row by 8-bit weights", {TileLines::Bytes, kSize, kSize}, threads);
    measureRows("row by 8-bit weights, groups of 128", {TileLines::Bytes, kSize, kSize, 128}, threads);
    measureRows("row by 4-bit weights, groups of 128", {TileLines::Nibbles, kSize, kSize, 128}, threads);
    measureRows("row by 4-bit weights, groups of 32", {TileLines::Nibbles, kSize, kSize, 32}, threads);
    const DType int8 = DType::Int8;
    measureRows("row as int8 by 8-bit weights", {TileLines::Bytes, kSize, kSize, 0, int8}, threads);
    measureRows("row as int8 by 8-bit weights, groups of 128", {TileLines::Bytes, kSize, kSize, 128, int8}, threads);
    measureRows("row as int8 by 4-bit weights, groups of 128", {TileLines::Nibbles, kSize, kSize, 128, int8}, threads);
    measureRows("row as int8 by 4-bit weights, groups of 32", {TileLines::Nibbles, kSize, kSize, 32, int8}, threads);
    measureRows("four rows as int8 by 4-bit weights, groups of 128", {TileLines::Nibbles, kSize, kSize, 128, int8},
                threads, 4);
    measureRows("four rows by 8-bit weights", {TileLines::Bytes, kSize, kSize}, threads, 4);
    measureRows("four rows by 4-bit weights, groups of 128", {TileLines::Nibbles, kSize, kSize, 128}, threads, 4);
    measureRows("two rows by 8-bit weights", {TileLines::Bytes, kSize, kSize}, threads, 2);
    measureRows("two rows by 4-bit weights, groups of 128", {TileLines::Nibbles, kSize, kSize, 128}, threads, 2);
    measureLayer("row by a layer of 768 x 3072, 8-bit weights", 8, 0, threads);
    measureLayer("row by a layer of 768 x 3072, 4-bit weights, groups of 32", 4, 32, threads);
    measureLayer("layer of 768 x 3072, 8-bit weights packed in each call", 8, 0, threads, false);
    measureLayer("layer of 768 x 3072, 4-bit weights packed in each call", 4, 32, threads, false);
    measureSquare("uint8 by int8, 1024", DType::UInt8, threads);
    measureSquare("int8 by int8, 1024", DType::Int8, threads);
    for (const ConvSizes &sizes : kConvs)
      for (DType dtype : {DType::Int8, DType::UInt8})
        measureConv(sizes, dtype, threads);
  }
  std::printf("]\n");
}
