#include "runtime/device/Allocator.h"
#include "runtime/device/Buffer.h"
#include "runtime/device/Profiler.h"
#include "runtime/threads/Cgroup.h"
#include "tests/runtime/Expect.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

using namespace tess;
using namespace tess::runtime;
using namespace tess::test;

namespace {

struct CountingSource : Allocator::Source {
  void *obtain(size_t bytes) override {
    ++obtained;
    return bytes > most ? nullptr : std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  }
  void giveBack(void *data, size_t) override {
    ++given;
    std::free(data);
  }
  size_t most = SIZE_MAX;
  int obtained = 0, given = 0;
};

/// Memory that nobody may touch.
struct PretendedSource : Allocator::Source {
  void *obtain(size_t bytes) override { return reinterpret_cast<void *>(next += (bytes + 63) / 64 * 64); }
  void giveBack(void *, size_t) override { ++given; }
  uintptr_t next = 64;
  int given = 0;
};

} // namespace

TEST_CASE("size classes are powers of two to 1 MiB, pages above") {
  CHECK(Allocator::roundUp(0) == 64);
  CHECK(Allocator::roundUp(64) == 64);
  CHECK(Allocator::roundUp(65) == 128);
  CHECK(Allocator::roundUp(4097) == 8192);
  CHECK(Allocator::roundUp(1 << 20) == 1 << 20);
  CHECK(Allocator::roundUp((1 << 20) + 1) == (1 << 20) + 4096);
}

TEST_CASE("a large block that is kept takes the place of free ones, those that served longest ago first") {
  PretendedSource source;
  Allocator allocator("test", source, Allocator::Lists::Shared);
  constexpr size_t kMiB = size_t(1) << 20;
  std::vector<Block> blocks;
  for (size_t i = 0; i < 20; ++i)
    blocks.push_back(get(allocator.allocate((i < 10 ? 8 : 9) * kMiB)));
  for (Block block : blocks)
    allocator.free(block);
  CHECK(allocator.stats().cached == 170 * kMiB);
  allocator.makeRoom(kMiB); // too little
  CHECK(source.given == 0);
  allocator.makeRoom(64 * kMiB);
  CHECK(source.given == 8);
  Block large = get(allocator.allocate(64 * kMiB));
  CHECK(allocator.stats().peakReserved == 170 * kMiB);
  allocator.free(large);
  allocator.makeRoom(64 * kMiB); // a list serves it
  CHECK(source.given == 8);
  allocator.makeRoom(size_t(1) << 40);
  CHECK(allocator.stats().cached == 0);
}

TEST_CASE("blocks are aligned and reused") {
  CountingSource source;
  Allocator allocator("test", source, Allocator::Lists::Shared);
  for (size_t bytes : {1, 100, 5000, 3 << 20}) {
    Block block = get(allocator.allocate(bytes));
    CHECK(reinterpret_cast<uintptr_t>(block.data) % 64 == 0);
    CHECK(block.size >= bytes);
    void *data = block.data;
    allocator.free(block);
    Block again = get(allocator.allocate(bytes));
    CHECK(again.data == data);
    allocator.free(again);
  }
  CHECK(allocator.stats().systemAllocations == 4);
  CHECK(allocator.stats().allocations == 8);
}

TEST_CASE("without lists a block is as large as was asked, and goes back at once") {
  CountingSource source;
  Allocator allocator("test", source, Allocator::Lists::None);
  for (size_t bytes : {1, 100, 5000, 3 << 20}) {
    Block block = get(allocator.allocate(bytes));
    CHECK(block.size == bytes);
    CHECK(allocator.stats().inUse == bytes);
    allocator.free(block);
    CHECK(source.given == source.obtained);
    CHECK(allocator.stats().cached == 0);
  }
  allocator.setLimit(100);
  CHECK(messageOf(allocator.allocate(101)).find("must stay within 100 bytes") != std::string::npos);
}

TEST_CASE("a lower limit takes back what is only kept") {
  CountingSource source;
  Allocator allocator("test", source, Allocator::Lists::Shared);
  Block held = get(allocator.allocate(4096)), kept = get(allocator.allocate(1 << 16));
  allocator.free(kept);
  allocator.setLimit(1 << 20);
  CHECK(allocator.stats().cached == 1 << 16);
  allocator.setLimit(8192);
  CHECK(allocator.stats().cached == 0);
  CHECK(source.given == 1);
  CHECK(messageOf(allocator.allocate(1 << 16)).find("must stay within 8192 bytes") != std::string::npos);
  allocator.free(held);
}

TEST_CASE("ever other sizes are kept up to some times what was in use lately") {
  PretendedSource source;
  Allocator allocator("test", source, Allocator::Lists::Shared);
  constexpr size_t kMiB = size_t(1) << 20;
  auto use = [&](size_t first, size_t count) {
    for (size_t i = 0; i < count; ++i)
      allocator.free(get(allocator.allocate((first + i) * kMiB)));
  };
  // A large program once: 2 GiB.
  use(2048, 1);
  CHECK(allocator.stats().cached == 2048 * kMiB);
  // Then small ones, of other sizes each time.
  for (int round = 0; round < 100; ++round) {
    use(1, 3);
    use(10, 12);
    std::vector<Block> blocks;
    for (size_t i = 0; i < 8; ++i)
      blocks.push_back(get(allocator.allocate((2 + i) * kMiB + size_t(round) * 4096)));
    for (Block block : blocks)
      allocator.free(block);
  }
  CHECK(allocator.stats().cached <= 256 * kMiB + 2 * 60 * kMiB);
  CHECK(allocator.stats().inUse == 0);
}

TEST_CASE("sizes that repeat stay, however many") {
  PretendedSource source;
  Allocator allocator("test", source, Allocator::Lists::Shared);
  for (int round = 0; round < 1000; ++round)
    for (size_t mib : {8, 16, 32, 64, 128, 256})
      allocator.free(get(allocator.allocate(mib << 20)));
  CHECK(source.given == 0);
  CHECK(allocator.stats().systemAllocations == 6);
}

TEST_CASE("a profile has the memory in use over time") {
  CountingSource source;
  Allocator allocator("test", source, Allocator::Lists::Shared);
  Block before = get(allocator.allocate(4096));
  ok(profiler::start());
  allocator.free(get(allocator.allocate(100)));
  allocator.free(before);
  profiler::stop();
  allocator.free(get(allocator.allocate(100)));
  std::string json = profiler::json();
  size_t at = 0;
  for (const char *bytes : {"4224", "4096", "0"}) {
    std::string point =
        std::string("{\"args\":{\"bytes\":") + bytes + "},\"cat\":\"memory\",\"name\":\"memory of test\",\"ph\":\"C\"";
    at = json.find(point, at);
    INFO(json << " must have " << point);
    REQUIRE(at != std::string::npos);
  }
  CHECK(json.find("memory of test", at + 60) == std::string::npos);
}

TEST_CASE("the limit is an error with a breakdown, and what is kept is given back first") {
  CountingSource source;
  Allocator allocator("test", source, Allocator::Lists::Shared);
  allocator.setLimit(1 << 20);
  Block half = get(allocator.allocate(512 << 10));
  allocator.free(half); // kept: 512 KiB
  Block all = get(allocator.allocate(1 << 20));
  CHECK(source.given == 1);
  std::string message = messageOf(allocator.allocate(100));
  CHECK(message.find("test: memory must stay within 1048576 bytes, got a request of 100 bytes (block of 128) with "
                     "1048576 in use (0 in blocks of at most 4096, 1 x 1048576), 0 cached, peak 1048576") == 0);
  allocator.free(all);
  allocator.free(get(allocator.allocate(100)));
}

TEST_CASE("one request fails where a test asks for it") {
  CountingSource source;
  Allocator allocator("test", source, Allocator::Lists::Shared);
  allocator.failRequest(1);
  allocator.free(get(allocator.allocate(100)));
  CHECK(codeOf(allocator.allocate(100)) == ErrorCode::ResourceExhausted);
  allocator.free(get(allocator.allocate(100)));
  allocator.failRequest(0);
  allocator.failRequest(std::nullopt);
  allocator.free(get(allocator.allocate(100)));
}

TEST_CASE("a system without memory is ResourceExhausted") {
  CountingSource source;
  source.most = 4096;
  Allocator allocator("test", source, Allocator::Lists::Shared);
  CHECK(codeOf(allocator.allocate(1 << 30)) == ErrorCode::ResourceExhausted);
  CHECK(codeOf(allocator.allocate(SIZE_MAX - 5)) == ErrorCode::ResourceExhausted);
  allocator.free(get(allocator.allocate(4096)));
}

TEST_CASE("peak follows use and can start again") {
  CountingSource source;
  Allocator allocator("test", source, Allocator::Lists::Shared);
  Block a = get(allocator.allocate(1 << 20)), b = get(allocator.allocate(1 << 20));
  allocator.free(a);
  CHECK(allocator.stats().peak == 2u << 20);
  CHECK(allocator.stats().inUse == 1u << 20);
  CHECK(allocator.stats().cached == 1u << 20);
  allocator.resetPeak();
  CHECK(allocator.stats().peak == 1u << 20);
  CHECK(allocator.stats().peakReserved == 2u << 20); // the free block counts
  allocator.free(b);
  allocator.trim();
  CHECK(allocator.stats().peakReserved == 2u << 20);
  allocator.resetPeak();
  CHECK(allocator.stats().peakReserved == 0);
}

TEST_CASE("all memory goes back with the allocator") {
  CountingSource source;
  {
    Allocator allocator("test", source, Allocator::Lists::Shared);
    for (int i = 0; i < 50; ++i)
      allocator.free(get(allocator.allocate(size_t(1) << (i % 22))));
  }
  CHECK(source.obtained == source.given);
}

TEST_CASE("the processor's allocator serves many threads") {
  AllocatorStats before = hostDevice().allocator().stats();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      std::vector<BufferRef> held;
      for (int i = 0; i < 2000; ++i) {
        size_t bytes = size_t(1 + (i * 7 + t) % 6000);
        auto buffer = Buffer::allocate(hostDevice(), bytes);
        static_cast<char *>((*buffer)->data())[bytes - 1] = char(i);
        held.push_back(std::move(*buffer));
        if (held.size() > 20)
          held.erase(held.begin());
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(hostDevice().allocator().stats().inUse == before.inUse);
}

TEST_CASE("a buffer gives its memory back with the last reference") {
  uint64_t before = hostDevice().allocator().stats().inUse;
  BufferRef first = get(Buffer::allocate(hostDevice(), 1000));
  CHECK(first->capacity() >= 1000); // exactly 1000 under AddressSanitizer
  CHECK(hostDevice().allocator().stats().inUse == before + first->capacity());
  BufferRef second = first;
  first.reset();
  CHECK(second->bytes() == 1000);
  second.reset();
  CHECK(hostDevice().allocator().stats().inUse == before);
}

TEST_CASE("a wrapped buffer calls its owner's deleter once") {
  int deleted = 0;
  char data[16];
  {
    BufferRef buffer =
        Buffer::wrap(hostDevice(), data, sizeof data, &deleted, [](void *p) { ++*static_cast<int *>(p); });
    BufferRef other = buffer;
    CHECK(other->data() == data);
  }
  CHECK(deleted == 1);
}

TEST_CASE("memory is what the lowest of the control groups allows") {
  std::filesystem::path root = std::filesystem::path(std::getenv("TEST_TMPDIR")) / "cgroup";
  std::filesystem::create_directories(root / "outer/inner");
  auto write = [&](const char *file, const char *text) { std::ofstream(root / file) << text << "\n"; };
  CgroupFiles files{root, root / "groups"};
  uint64_t physical = availableMemory(files);
  CHECK(physical > 0);
  write("groups", "1:cpu:/elsewhere\n0::/outer/inner");
  write("outer/inner/memory.max", "max");
  CHECK(availableMemory(files) == physical);
  write("outer/memory.max", "4096000");
  CHECK(availableMemory(files) == 4096000);
  write("outer/inner/memory.max", "8192000");
  CHECK(availableMemory(files) == 4096000);
  std::filesystem::create_directories(root / "memory");
  write("memory/memory.limit_in_bytes", "123456");
  CHECK(availableMemory(files) == 123456);
}

TEST_CASE("the processor's allocator has a limit below what the process may have") {
  CHECK(hostDevice().allocator().stats().limit == availableMemory() / 8 * 7);
  CHECK(messageOf(hostDevice().allocator().allocate(availableMemory())).find("memory must stay within") !=
        std::string::npos);
}
