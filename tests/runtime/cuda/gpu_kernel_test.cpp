// Generated kernels on a GPU have the bits that the CPU's kernels have.
#include "compiler/target/PtxGenerator.h"
#include "runtime/cuda/CudaModule.h"
#include "tests/runtime/cuda/Gpu.h"
#include "tests/runtime/cuda/PtxSpecs.h"

#include <cmath>

using namespace tess;
using namespace tess::test;
using namespace tess::compiler;
using namespace tess::runtime;
using namespace tess::runtime::cuda;
using Catch::Contains;

namespace {

std::unique_ptr<CudaModule> load(CudaDevice &gpu, llvm::ArrayRef<PtxGenerator::NamedKernel> kernels) {
  std::string text = get(get(PtxGenerator::create(gpu.architecture()))->compile(kernels));
  return get(CudaModule::load(gpu, text));
}

/// Runs over the whole domain; operands as for Kernel::run, in the GPU's memory.
void run(CudaDevice &gpu, KernelFn kernel, const std::vector<int64_t> &sizes, const std::vector<Bound> &operands,
         const std::vector<uint64_t> &attrs = {}) {
  auto [pointers, dims] = callArguments(sizes, operands, attrs);
  int64_t outer = 1;
  for (size_t group = 0; group + 1 < sizes.size(); ++group)
    outer *= sizes[group];
  KernelLaunch launch{};
  launch.fn = kernel;
  launch.pointers = pointers.data();
  launch.dims = dims.data();
  launch.outer = outer;
  launch.inner = sizes.back();
  ok(gpu.defaultStream().launch(launch));
  ok(gpu.defaultStream().synchronize());
}

/// The number of the first element whose bits differ, NaN being equal to NaN; the size when there is none.
template <typename T> size_t firstDifference(const std::vector<T> &a, const std::vector<T> &b) {
  size_t i = 0;
  while (i < a.size() && (!std::memcmp(&a[i], &b[i], sizeof(T)) || (std::isnan(a[i]) && std::isnan(b[i]))))
    ++i;
  return i;
}

/// Edge cases and random numbers of every magnitude.
template <typename T> std::vector<T> samples(size_t count, uint64_t seed) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> result = {T(0),
                           T(-0.0),
                           T(1),
                           T(-1),
                           T(0.5),
                           T(-2.5),
                           Limits::infinity(),
                           -Limits::infinity(),
                           Limits::quiet_NaN(),
                           Limits::max(),
                           Limits::min(),
                           Limits::denorm_min()};
  Random random(seed);
  while (result.size() < count) {
    T value;
    uint64_t bits = random.bits();
    std::memcpy(&value, &bits, sizeof(T));
    result.push_back(random.below(2) ? value : T(random.uniform(-20, 20)));
  }
  for (size_t i = result.size(); i-- > 1;)
    std::swap(result[i], result[random.below(int64_t(i + 1))]);
  return result;
}

template <typename T> void checkFunctions(CudaDevice &gpu, DType dtype) {
  auto kernels = floatFunctions(dtype);
  std::unique_ptr<CudaModule> module = load(gpu, kernels);
  size_t count = 10007;
  std::vector<T> x = samples<T>(count, 1), y = samples<T>(count, 2), expected(count);
  OnGpu<T> gpuX(gpu, x), gpuY(gpu, y), gpuOut(gpu, expected);
  for (const auto &[name, spec] : kernels) {
    std::vector<Bound> host = {{x.data(), {1}}}, device = {{gpuX.data(), {1}}};
    if (spec.operands.size() == 3) {
      host.push_back({y.data(), {1}});
      device.push_back({gpuY.data(), {1}});
    }
    host.push_back({expected.data(), {1}});
    device.push_back({gpuOut.data(), {1}});
    Kernel(spec).run({int64_t(count)}, host);
    run(gpu, get(module->kernel(name)), {int64_t(count)}, device);
    std::vector<T> got = gpuOut.values();
    size_t at = firstDifference(got, expected);
    CAPTURE(name, at);
    if (at != count) {
      CAPTURE(x[at], y[at], got[at], expected[at]);
      CHECK(at == count);
    }
  }
}

} // namespace

TEST_CASE("every float32 function has the CPU's bits") {
  TESS_GPU(gpu);
  checkFunctions<float>(gpu, DType::Float32);
}

TEST_CASE("every float64 function has the CPU's bits") {
  TESS_GPU(gpu);
  checkFunctions<double>(gpu, DType::Float64);
}

TEST_CASE("arithmetic has the bits of plain C++") {
  TESS_GPU(gpu);
  auto module = load(gpu, {{"f", scaledRelu(DType::Float32)}});
  int64_t rows = 301, columns = 1003;
  Random random(3);
  std::vector<float> x(rows * columns), scale(columns), expected(rows * columns);
  for (float &v : x)
    v = float(random.uniform(-3, 3));
  for (float &v : scale)
    v = float(random.uniform(-3, 3));
  double bias = 0.1;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      float product = x[i * columns + j] * scale[j]; // -ffp-contract=off: two roundings
      float sum = product + float(bias);
      expected[i * columns + j] = 0 > sum ? 0 : sum;
    }
  OnGpu<float> gpuX(gpu, x), gpuScale(gpu, scale), gpuOut(gpu, std::vector<float>(x.size()));
  run(gpu, get(module->kernel("f")), {rows, columns},
      {{gpuX.data(), {columns, 1}}, {gpuScale.data(), {0, 1}}, {gpuOut.data(), {columns, 1}}},
      {llvm::bit_cast<uint64_t>(bias)});
  CHECK(firstDifference(gpuOut.values(), expected) == expected.size());
}

TEST_CASE("narrow floats round where the CPU rounds") {
  TESS_GPU(gpu);
  for (DType dtype : {DType::Float16, DType::BFloat16}) {
    KernelSpec spec = scaledRelu(dtype);
    auto module = load(gpu, {{"f", spec}});
    int64_t rows = 5, columns = 1 << 14;
    std::vector<uint16_t> x(rows * columns), scale(columns), expected(x.size());
    Random random(4);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = uint16_t(random.bits()) & 0xbfff; // no infinity or NaN
    for (size_t i = 0; i < scale.size(); ++i)
      scale[i] = uint16_t(random.bits()) & 0xbfff;
    uint64_t bias = llvm::bit_cast<uint64_t>(0.1);
    OnGpu<uint16_t> gpuX(gpu, x), gpuScale(gpu, scale), gpuOut(gpu, expected);
    Kernel(spec).run({rows, columns},
                     {{x.data(), {columns, 1}}, {scale.data(), {0, 1}}, {expected.data(), {columns, 1}}}, {bias});
    run(gpu, get(module->kernel("f")), {rows, columns},
        {{gpuX.data(), {columns, 1}}, {gpuScale.data(), {0, 1}}, {gpuOut.data(), {columns, 1}}}, {bias});
    CAPTURE(shortName(dtype).str());
    CHECK(gpuOut.values() == expected);
  }
}

TEST_CASE("indices count the domain, strides place its elements") {
  TESS_GPU(gpu);
  auto module = load(gpu, {{"f", indices()}});
  KernelFn kernel = get(module->kernel("f"));
  int64_t rows = 70, columns = 90;
  OnGpu<int64_t> out(gpu, std::vector<int64_t>(rows * columns, -1));
  run(gpu, kernel, {rows, columns}, {{out.data(), {1, rows}}}); // transposed
  std::vector<int64_t> got = out.values(), expected(rows * columns);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      expected[j * rows + i] = i * columns + j + 1000 * j;
  CHECK(got == expected);
  run(gpu, kernel, {0, columns}, {{out.data(), {1, rows}}}); // an empty domain writes nothing
  CHECK(out.values() == expected);
}

TEST_CASE("only a loaded kernel is launched") {
  TESS_GPU(gpu);
  auto module = load(gpu, {{"f", indices()}});
  CHECK_THAT(messageOf(module->kernel("g")), Contains("a kernel must be in its module, got g"));
  KernelFn kernel = get(module->kernel("f"));
  module.reset();
  KernelLaunch launch{};
  launch.fn = kernel;
  CHECK(messageOf(gpu.defaultStream().launch(launch)) ==
        "cuda: a launched kernel must be one of a module loaded on gpu0, got another function");
  CHECK_THAT(messageOf(CudaModule::load(gpu, "no PTX at all")),
             Contains("cuda: cuModuleLoadDataEx must succeed, got "));
}
