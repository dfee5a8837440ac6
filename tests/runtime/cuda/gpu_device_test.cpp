// Memory, copies, streams and events of a GPU.
#include "runtime/device/Buffer.h"
#include "tests/runtime/cuda/Gpu.h"

#include <numeric>

using namespace tess;
using namespace tess::test;
using namespace tess::runtime;
using Catch::Contains;

static std::vector<int32_t> numbers(size_t count) {
  std::vector<int32_t> result(count);
  std::iota(result.begin(), result.end(), 1);
  return result;
}

TEST_CASE("what goes to the GPU comes back") {
  TESS_GPU(gpu);
  for (size_t count : {size_t(1), size_t(1000), size_t(3) << 20}) {
    std::vector<int32_t> values = numbers(count);
    OnGpu<int32_t> first(gpu, values), second(gpu, std::vector<int32_t>(count));
    ok(gpu.defaultStream().copy(second.data(), first.data(), count * sizeof(int32_t), 1));
    CHECK(second.values() == values);
  }
  ok(gpu.defaultStream().copyIn(nullptr, nullptr, 0));
  ok(gpu.defaultStream().copyOut(nullptr, nullptr, 0));
  ok(gpu.defaultStream().copy(nullptr, nullptr, 0, 1));
}

TEST_CASE("a GPU says what it is") {
  TESS_GPU(gpu);
  CHECK(gpu.name() == "gpu0");
  CHECK(gpu.architecture().substr(0, 3) == "sm_");
  CHECK(gpu.multiprocessors() > 0);
  CHECK(!gpu.model().empty());
  CHECK(!gpu.hostAccessible());
}

TEST_CASE("memory is aligned, counted and kept for the next request") {
  TESS_GPU(gpu);
  uint64_t before = gpu.allocator().stats().inUse;
  Block block = get(gpu.allocate(100));
  CHECK(reinterpret_cast<uintptr_t>(block.data) % 64 == 0);
  CHECK(block.size >= 100);
  CHECK(gpu.allocator().stats().inUse == before + block.size);
  gpu.release(block);
  CHECK(gpu.allocator().stats().inUse == before);
  Block again = get(gpu.allocate(100));
  CHECK(again.data == block.data);
  gpu.release(again);
}

TEST_CASE("a request beyond the GPU's memory is an error, and the GPU works on") {
  TESS_GPU(gpu);
  auto huge = gpu.allocate(size_t(1) << 50);
  REQUIRE(!huge);
  auto [code, message] = takeError(huge.takeError());
  CHECK(code == ErrorCode::ResourceExhausted);
  CHECK_THAT(message, Catch::Matchers::StartsWith("gpu0: memory must stay within ") && Contains("1125899906842624"));
  std::vector<int32_t> values = numbers(10);
  CHECK(OnGpu<int32_t>(gpu, values).values() == values);
}

TEST_CASE("an event orders two streams") {
  TESS_GPU(gpu);
  std::unique_ptr<Stream> producer = get(gpu.createStream()), consumer = get(gpu.createStream());
  std::unique_ptr<Event> event = get(gpu.createEvent());
  size_t count = 1 << 20;
  std::vector<int32_t> values = numbers(count), result(count);
  OnGpu<int32_t> first(gpu, std::vector<int32_t>(count)), second(gpu, std::vector<int32_t>(count));
  for (int round = 0; round < 10; ++round) {
    llvm::for_each(values, [](int32_t &v) { ++v; });
    ok(producer->copyIn(first.data(), values.data(), count * 4));
    ok(producer->record(*event));
    ok(consumer->wait(*event));
    ok(consumer->copy(second.data(), first.data(), count * 4, 1));
    ok(consumer->copyOut(result.data(), second.data(), count * 4));
    ok(consumer->synchronize());
    CHECK(event->done());
    CHECK(result == values);
  }
}

TEST_CASE("a buffer gives the GPU's memory back") {
  TESS_GPU(gpu);
  uint64_t before = gpu.allocator().stats().inUse;
  {
    BufferRef buffer = get(Buffer::allocate(gpu, 1 << 16));
    CHECK(buffer->bytes() == 1 << 16);
    CHECK(gpu.allocator().stats().inUse > before);
  }
  CHECK(gpu.allocator().stats().inUse == before);
}

TEST_CASE("two devices on one GPU live side by side") {
  TESS_GPU(gpu);
  {
    std::unique_ptr<cuda::CudaDevice> other = get(cuda::CudaDevice::create(0));
    OnGpu<int32_t> here(*other, numbers(5));
    CHECK(here.values() == numbers(5));
  }
  CHECK(OnGpu<int32_t>(gpu, numbers(5)).values() == numbers(5));
}
