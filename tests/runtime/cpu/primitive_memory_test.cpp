#include "runtime/device/Code.h"
#include "tests/runtime/KernelHarness.h"

#include <fstream>
#include <malloc.h>

using namespace tess;
using namespace tess::runtime;
using namespace tess::test;

namespace {

constexpr uint64_t kLimit = uint64_t(6) << 20;

/// Bytes of the process that lie in no file.
int64_t heldByProcess() {
  malloc_trim(0);
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("RssAnon:", 0) == 0)
      return int64_t(std::stoll(line.substr(8))) << 10;
  FAIL("/proc/self/status must say RssAnon, got no such line");
  return 0;
}

using Call = std::pair<OpDef, std::vector<Shape>>;

/// The shapes of number n, which no other number has.
Call productCall(int64_t n) { return {OpDef::get("matmul"), {{n % 97 + 16, n + 16}, {n + 16, 33}}}; }

Call convCall(const char *name, std::vector<Shape> shapes) {
  OpDef op = OpDef::get(name);
  op.set("strides", IntList{1, 1}).set("padding", IntList{0, 0}).set("dilation", IntList{1, 1}).set("groups", 1);
  return {op, std::move(shapes)};
}
Call imageCall(int64_t n) { return convCall("conv2d", {{1, 16, 8, n + 8}, {32, 16, 3, 3}}); }
Call pointCall(int64_t n) { return convCall("conv2d", {{1, 24, 9, n + 8}, {33, 24, 1, 1}}); }
Call backwardDataCall(int64_t n) {
  return convCall("conv2d_backward_data", {{32, 16, 3, 3}, {1, 32, 6, n + 6}, {1, 16, 8, n + 8}});
}
Call backwardWeightCall(int64_t n) {
  return convCall("conv2d_backward_weight", {{1, 16, 8, n + 8}, {1, 32, 6, n + 6}, {32, 16, 3, 3}});
}

Call poolCall(const char *name, std::vector<Shape> shapes) {
  OpDef op = OpDef::get(name);
  op.set("kernel_size", IntList{2, 2}).set("strides", IntList{1, 1}).set("padding", IntList{0, 0});
  op.set("count_include_pad", true);
  return {op, std::move(shapes)};
}
Call averageCall(int64_t n) { return poolCall("avg_pool2d", {{1, 16, 8, n + 8}}); }
Call averageBackwardCall(int64_t n) { return poolCall("avg_pool2d_backward", {{1, 16, 7, n + 7}, {1, 16, 8, n + 8}}); }

/// Makes and runs the call in float32 or bfloat16; the implementation that computed it.
std::string run(const Call &call, DType dtype) {
  std::vector<HostTensor> inputs;
  for (const Shape &shape : call.second)
    inputs.emplace_back(dtype, shape);
  CallResult result = callKernel(call.first, std::move(inputs));
  REQUIRE(result.error.empty());
  return result.implementation;
}

struct LimitGuard {
  uint64_t before = preparedCacheStats().limit;
  ~LimitGuard() { setPreparedCacheLimit(before); }
};

} // namespace

TEST_CASE("a full cache of primitives holds what it counts") {
  auto [name, make] = GENERATE(table<const char *, Call (*)(int64_t)>({{"product", productCall},
                                                                       {"image", imageCall},
                                                                       {"point", pointCall},
                                                                       {"backward data", backwardDataCall},
                                                                       {"backward weight", backwardWeightCall},
                                                                       {"average", averageCall},
                                                                       {"average backward", averageBackwardCall}}));
  DType dtype = GENERATE(DType::Float32, DType::BFloat16);
  LimitGuard guard;
  setPreparedCacheLimit(kLimit);
  int64_t n = 0;
  if (run(make(n++), dtype).starts_with("own:"))
    return;     // no primitive, and thus nothing to hold
  while (n < 8) // the first ones also touch what the library needs once
    run(make(n++), dtype);
  setPreparedCacheLimit(0);
  setPreparedCacheLimit(kLimit);
  uint64_t evictions = preparedCacheStats().evictions;
  int64_t before = heldByProcess();
  while (preparedCacheStats().evictions == evictions)
    run(make(n++), dtype);
  CAPTURE(name, shortName(dtype).str(), preparedCacheStats().entries);
  int64_t counted = int64_t(preparedCacheStats().bytes), grown = heldByProcess() - before;
  CHECK(grown <= counted);
  if (hostHasFeature(dtype == DType::BFloat16 ? "avx512bf16" : "avx512bw")) // other kernels hold less
    CHECK(grown >= counted / 2);
  for (int64_t end = 3 * n; n < end; ++n)
    run(make(n), dtype);
  CHECK(heldByProcess() - before <= int64_t(kLimit + kLimit / 8)); // what is evicted leaves gaps in the heap
}
