// Sweeps over the sizes at which the runtime changes its way, one JSON object: for each threshold its value and rows
// [size, ns of the way below it, ns of the way above it]; for a cost of the estimates its value and what is measured,
// in ps. tests/benchmarks/thresholds.py runs it.
#include "runtime/cpu/DnnlCalls.h"
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/MatmulShape.h"
#include "runtime/cpu/OwnPool.h"
#include "runtime/threads/ParallelFor.h"
#include "runtime/threads/Worker.h"
#include "llvm/Support/Alignment.h"

#include <chrono>
#include <cstdio>

using namespace tess;
using namespace tess::runtime;

namespace {

using Call = llvm::function_ref<void()>;

double nanosecondsOf(Call call) {
  constexpr int kCalls = 20;
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kCalls; ++i)
    call();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / kCalls;
}

struct Times {
  double below = 1e18, above = 1e18;
};

/// The least of many rounds in turns: what else runs on the machine only ever adds.
Times leastTimes(Call below, Call above) {
  Times times;
  for (int round = 0; round < 300; ++round) {
    times.below = std::min(times.below, nanosecondsOf(below));
    times.above = std::min(times.above, nanosecondsOf(above));
  }
  return times;
}

void printRow(double size, Times times, bool isLast) {
  std::printf("[%.0f, %.1f, %.1f]%s", size, times.below, times.above, isLast ? "" : ", ");
}

/// What calls of kernels have besides operands; the memory is as large as any kernel wanted so far.
class Caller {
public:
  void run(const PreparedKernel &kernel, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) {
    constexpr size_t kAlignment = 64; // RunContext's
    if (memory.size() < kernel.workspaceBytes() + kAlignment)
      memory.resize(kernel.workspaceBytes() + kAlignment);
    RunContext context;
    context.workspace = reinterpret_cast<void *>(llvm::alignAddr(memory.data(), llvm::Align(kAlignment)));
    llvm::cantFail(kernel.run(context, inputs, outputs));
  }

private:
  std::vector<char> memory;
};

/// A product of float32 matrices, and the kernels that may compute it.
class Product {
public:
  Product(int64_t m, int64_t k, int64_t n)
      : products(m * k * n), a(m * k, 1), b(k * n, 1), c(m * n),
        metas{{DType::Float32, {m, k}}, {DType::Float32, {k, n}}, {DType::Float32, {m, n}}} {}

  PreparedRef prepare(unsigned threads) const {
    PrepareRequest request{op, llvm::ArrayRef(metas).take_front(2), llvm::ArrayRef(metas).take_back(1)};
    request.threads = threads;
    return llvm::cantFail(cpu::prepareMatmul(request));
  }

  void run(const PreparedKernel &kernel) {
    void *inputs[] = {a.data(), b.data()}, *output = c.data();
    caller.run(kernel, inputs, output);
  }

  const int64_t products;

private:
  OpDef op = OpDef::get("matmul");
  Caller caller;
  std::vector<float> a, b, c;
  std::vector<TensorMeta> metas;
};

/// A product on one thread or on two.
void sweepSerialProducts() {
  std::printf("\"kSerialProducts\": {\"value\": %lld, \"rows\": [", static_cast<long long>(cpu::kSerialProducts));
  for (int64_t n : {32, 48, 64, 80, 96, 128, 160, 256}) {
    Product product(n, n, n);
    PreparedRef one = product.prepare(1), two = product.prepare(2);
    printRow(double(product.products), leastTimes([&] { product.run(*one); }, [&] { product.run(*two); }), n == 256);
  }
  std::printf("]},\n");
}

using Prepare = llvm::Expected<PreparedRef>(const PrepareRequest &);

/// What a pooling takes for an element of a window, in ps, on one thread.
void measurePool(const char *name, int64_t value, const char *opName, Prepare prepare, int64_t rows = 3) {
  OpDef op = OpDef::get(opName);
  op.set("kernel_size", IntList{rows, 3}).set("strides", IntList{2, 2}).set("padding", IntList{rows / 2, 1});
  TensorMeta x{DType::Float32, {1, 64, 28, 28}}, y{DType::Float32, {1, 64, 14, 14}};
  PreparedRef kernel = llvm::cantFail(prepare({op, x, y}));
  std::vector<float> from(x.numElements(), 1), to(y.numElements());
  void *input = from.data(), *output = to.data();
  Caller caller;
  auto call = [&] { caller.run(*kernel, input, output); };
  double nanoseconds = leastTimes(call, [] {}).below;
  std::printf("\"%s\": {\"value\": %lld, \"measured\": %.0f},\n", name, static_cast<long long>(value),
              nanoseconds * 1000 / double(y.numElements() * rows * 3));
}

/// Work of any length on data that no other thread has.
void work(int64_t begin, int64_t end) {
  alignas(128) volatile float values[32] = {};
  for (int64_t i = begin; i < end; ++i)
    for (volatile float &value : values)
      value = value + 1;
}

/// Work on this thread, or by two threads, with the way to the worker unless this is its thread.
void sweepThreads(const char *name, int64_t value) {
  std::printf("\"%s\": {\"value\": %lld, \"rows\": [", name, static_cast<long long>(value));
  for (int64_t count : {80, 160, 320, 640, 1280, 2560, 5120}) {
    auto above = [&] {
      llvm::cantFail(Worker::global().call([&] {
        parallelFor(2, count, 1, [](int64_t begin, int64_t end, unsigned) { work(begin, end); });
        return llvm::Error::success();
      }));
    };
    Times times = leastTimes([&] { work(0, count); }, above);
    printRow(times.below * 1000, times, count == 5120);
  }
  std::printf("]}");
}

llvm::Error sweepOnWorker() {
  sweepSerialProducts();
  measurePool("kOwnPoolPicoseconds", cpu::kOwnPoolPicoseconds, "max_pool2d", cpu::prepareMaxPool2d);
  measurePool("kPoolPicoseconds", cpu::kPoolPicoseconds, "avg_pool2d", cpu::prepareAvgPool2d);
  measurePool("kRowPoolPicoseconds", cpu::kRowPoolPicoseconds, "avg_pool2d", cpu::prepareRowAverage, /*rows=*/1);
  sweepThreads("kSplitPicoseconds", kSplitPicoseconds);
  return llvm::Error::success();
}

} // namespace

int main() {
  std::printf("{");
  llvm::cantFail(Worker::global().call(sweepOnWorker));
  std::printf(",\n");
  sweepThreads("kWorkerPicoseconds", kWorkerPicoseconds);
  std::printf("}\n");
}
