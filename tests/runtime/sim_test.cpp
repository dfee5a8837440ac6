// The emulated accelerator: memory that the host cannot address, work that is done later, kernels of a grid.

#include "runtime/cpu/HostKernels.h"
#include "runtime/device/Allocator.h"
#include "runtime/device/Buffer.h"
#include "runtime/sim/SimDevice.h"
#include "tests/compiler/kernel/KernelSupport.h"
#include "tests/runtime/Expect.h"

#include <csignal>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

using namespace tess;
using namespace tess::runtime;
using namespace tess::test;

namespace {

/// out = a + b over one group.
Image addImage() {
  SpecBuilder s;
  int a = s.input(DType::Float32), b = s.input(DType::Float32);
  s.output(s.apply(ScalarFn::Add, DType::Float32, {a, b}), DType::Float32);
  return get(generatorFor("sim").compile({{"add", s.spec}}));
}

/// A device with a loaded addition.
struct Adder {
  SimDevice device;
  LoadedCodeRef code = get(device.load(addImage()));

  BufferRef buffer(const std::vector<float> &values) {
    BufferRef made = get(Buffer::allocate(device, values.size() * 4));
    ok(device.defaultStream().copyIn(made->data(), values.data(), made->bytes()));
    ok(device.defaultStream().synchronize());
    return made;
  }
  std::vector<float> read(const BufferRef &buffer) {
    std::vector<float> values(buffer->bytes() / 4);
    ok(device.defaultStream().copyOut(values.data(), buffer->data(), buffer->bytes()));
    ok(device.defaultStream().synchronize());
    return values;
  }
  llvm::Error add(Stream &stream, void *a, void *b, void *out, int64_t count) {
    void *pointers[] = {a, b, out};
    int64_t dims[] = {count, 1, 1, 1}; // the stream keeps copies of both
    KernelLaunch launch{};
    launch.fn = code->entry(0);
    launch.pointers = pointers;
    launch.dims = dims;
    launch.outer = 1;
    launch.inner = count;
    return stream.launch(launch);
  }
};

/// The signal that ends a child which does that; 0: none.
int signalOf(llvm::function_ref<void()> body) {
  pid_t child = fork();
  if (child == 0) {
    std::signal(SIGSEGV, SIG_DFL);
    std::signal(SIGBUS, SIG_DFL);
    body();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

} // namespace

TEST_CASE("the host cannot touch the device's memory") {
  Adder adder;
  BufferRef x = adder.buffer({1, 2, 3});
  CHECK(signalOf([&] { *static_cast<volatile float *>(x->data()); }) == SIGSEGV);
  CHECK(signalOf([&] { *static_cast<volatile float *>(x->data()) = 1; }) == SIGSEGV);
  CHECK(adder.read(x) == std::vector<float>{1, 2, 3});
}

TEST_CASE("a kernel that leaves its allocation is a fault") {
  Adder adder;
  std::vector<float> values(1000, 2);
  BufferRef x = adder.buffer(values), out = adder.buffer(values);
  auto runs = [&](int64_t count) {
    return signalOf([&] {
      llvm::consumeError(adder.add(adder.device.defaultStream(), x->data(), x->data(), out->data(), count));
      llvm::consumeError(adder.device.defaultStream().synchronize());
    });
  };
  CHECK(runs(1000) == 0);
  CHECK(runs(1017) == SIGSEGV); // beyond the 64 bytes to which blocks are rounded
}

TEST_CASE("pointers of a launch are checked by name") {
  Adder adder;
  BufferRef x = adder.buffer({1, 2}), gone = adder.buffer({3, 4});
  void *released = gone->data();
  gone = nullptr;
  std::vector<float> host(2);
  Stream &stream = adder.device.defaultStream();
  CHECK(messageOf(adder.add(stream, x->data(), host.data(), x->data(), 2)) ==
        "sim0: pointer 1 of add must lie in an allocation of the device, got another address");
  CHECK(messageOf(adder.add(stream, x->data(), x->data(), released, 2)) ==
        "sim0: pointer 2 of add must lie in an allocation of the device, got another address");
  CHECK(messageOf(stream.copy(x->data(), host.data(), 8, 1)) ==
        "sim0: the source of a copy must lie in an allocation of the device, got 8 bytes elsewhere");
  CHECK(messageOf(stream.copyIn(x->data(), host.data(), 12)) ==
        "sim0: the destination of a copy must lie in an allocation of the device, got 12 bytes elsewhere");
  KernelLaunch foreign{};
  CHECK(messageOf(stream.launch(foreign)) ==
        "sim0: a launched kernel must be of code that the device has loaded, got another function");
  CHECK(adder.read(x) == std::vector<float>{1, 2});
}

TEST_CASE("work is done when somebody waits") {
  Adder adder;
  BufferRef x = adder.buffer({1, 2, 3}), out = adder.buffer({0, 0, 0});
  Stream &stream = adder.device.defaultStream();
  std::vector<float> before(3, -1), after(3, -1);
  ok(stream.copyOut(before.data(), out->data(), 12));
  ok(adder.add(stream, x->data(), x->data(), out->data(), 3));
  std::unique_ptr<Event> event = get(adder.device.createEvent());
  CHECK(event->done()); // nothing was recorded
  ok(stream.record(*event));
  ok(stream.copyOut(after.data(), out->data(), 12));
  CHECK(adder.device.pending() == 4);
  CHECK(before[0] == -1);
  CHECK(!event->done()); // asking does a piece of work: the first copy
  CHECK(before[0] == 0);
  while (!event->done())
    ;
  CHECK(after[0] == -1);
  ok(stream.synchronize());
  CHECK(after == std::vector<float>{2, 4, 6});
}

TEST_CASE("streams keep the order that events give them, and no other") {
  std::set<std::vector<float>> seen;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Adder adder;
    BufferRef x = adder.buffer({1, 1}), y = adder.buffer({0, 0}), z = adder.buffer({0, 0});
    std::unique_ptr<Stream> first = get(adder.device.createStream()), second = get(adder.device.createStream());
    std::unique_ptr<Event> event = get(adder.device.createEvent());
    adder.device.setSeed(seed);
    ok(adder.add(*second, z->data(), y->data(), z->data(), 2)); // sees y before or after the doubling
    ok(adder.add(*first, x->data(), x->data(), y->data(), 2));
    ok(adder.add(*first, y->data(), y->data(), y->data(), 2));
    ok(first->record(*event));
    ok(second->wait(*event));
    ok(adder.add(*second, y->data(), x->data(), x->data(), 2)); // after both
    ok(second->synchronize());
    CHECK(adder.read(x) == std::vector<float>{5, 5});
    seen.insert(adder.read(z));
  }
  CHECK(seen.size() > 1);
}

TEST_CASE("memory that queued work uses is released after it") {
  Adder adder;
  BufferRef x = adder.buffer({1, 2}), out = adder.buffer({0, 0});
  Stream &stream = adder.device.defaultStream();
  ok(adder.add(stream, x->data(), x->data(), out->data(), 2));
  void *released = x->data();
  x = nullptr;
  CHECK(messageOf(adder.add(stream, released, released, out->data(), 2)) != ""); // no new work may name it
  CHECK(adder.read(out) == std::vector<float>{2, 4});
  CHECK(adder.device.pending() == 0);
  CHECK(adder.device.allocator().stats().inUse == out->capacity());
}

TEST_CASE("a device that is lost says so and comes back") {
  Adder adder;
  BufferRef x = adder.buffer({1, 2});
  adder.device.lose("a test");
  std::string lost = "sim0: device must be there, got one that is lost (a test)";
  CHECK(messageOf(adder.add(adder.device.defaultStream(), x->data(), x->data(), x->data(), 2)) == lost);
  CHECK(messageOf(Buffer::allocate(adder.device, 8).takeError()) == lost);
  CHECK(messageOf(adder.device.defaultStream().synchronize()) == lost);
  adder.device.restore();
  CHECK(adder.read(x) == std::vector<float>{1, 2});
}

TEST_CASE("a device that dies of a launch says so when somebody waits") {
  Adder adder;
  BufferRef x = adder.buffer({1, 2}), y = adder.buffer({0, 0}), z = adder.buffer({0, 0});
  Stream &stream = adder.device.defaultStream();
  std::unique_ptr<Stream> other = get(adder.device.createStream());
  std::unique_ptr<Event> event = get(adder.device.createEvent());
  std::vector<float> host{-1, -1};
  adder.device.failLaunch(1, "a test");
  ok(adder.add(stream, x->data(), x->data(), y->data(), 2));
  ok(adder.add(stream, y->data(), y->data(), z->data(), 2)); // it dies of this one
  ok(stream.record(*event));
  ok(other->wait(*event));
  ok(stream.copyOut(host.data(), z->data(), 8));
  std::string lost = "sim0: device must be there, got one that is lost (a test, in add)";
  CHECK(messageOf(stream.synchronize()) == lost);
  CHECK(messageOf(other->synchronize()) == lost); // and does not wait for ever
  CHECK(event->done());
  CHECK(host == std::vector<float>{-1, -1});
  CHECK(messageOf(adder.add(stream, x->data(), x->data(), y->data(), 2)) == lost);
  z = nullptr;
  CHECK(adder.device.pending() == 0);
  adder.device.restore();
  CHECK(adder.read(y) == std::vector<float>{2, 4});
}

TEST_CASE("code of another kind is refused") {
  SimDevice device;
  SpecBuilder s;
  s.output(s.input(DType::Float32), DType::Float32);
  Image loops = get(generatorFor("host").compile({{"copy", s.spec}}));
  CHECK(messageOf(device.load(loops).takeError()) ==
        "code image: kernels must be a grid of the host on this device, got loops of the host");
  CHECK(messageOf(hostDevice().load(addImage()).takeError()) ==
        "code image: kernels must be loops of the host on this device, got a grid of the host");
}

TEST_CASE("blocks come and go") {
  SimDevice device;
  Random random(7);
  std::vector<Block> held;
  for (int i = 0; i < 2000; ++i) {
    if (held.size() < 40 && random.below(3)) {
      held.push_back(get(device.allocate(size_t(random.below(20000)))));
      CHECK(uintptr_t(held.back().data) % 64 == 0);
    } else if (!held.empty()) {
      std::swap(held[size_t(random.below(int64_t(held.size())))], held.back());
      device.release(held.back());
      held.pop_back();
    }
  }
  std::sort(held.begin(), held.end(), [](Block a, Block b) { return a.data < b.data; });
  for (size_t i = 1; i < held.size(); ++i)
    CHECK(static_cast<char *>(held[i - 1].data) + held[i - 1].size <= held[i].data);
  for (Block block : held)
    device.release(block);
  CHECK(device.allocator().stats().inUse == 0);
}

TEST_CASE("more live blocks than a process has mappings") {
  Adder sim;
  std::vector<Block> held;
  for (int i = 0; i < 70000; ++i)
    held.push_back(get(sim.device.allocate(4)));
  float three = 3;
  std::vector<void *> some = {held[0].data, held[40000].data, held.back().data};
  for (void *block : {some[0], some[1]})
    ok(sim.device.defaultStream().copyIn(block, &three, 4));
  ok(sim.add(sim.device.defaultStream(), some[0], some[1], some[2], 1));
  ok(sim.device.defaultStream().copyOut(&three, some[2], 4));
  ok(sim.device.defaultStream().synchronize());
  CHECK(three == 6);
  Random random(3);
  for (int64_t wanted : {30000, 12000, 32000, 14000, 32000, 15000, 32000}) { // the gaps are as many
    while (int64_t(held.size()) > wanted) {
      std::swap(held[size_t(random.below(int64_t(held.size())))], held.back());
      sim.device.release(held.back());
      held.pop_back();
    }
    while (int64_t(held.size()) < wanted)
      held.push_back(get(sim.device.allocate(size_t(random.below(9000)))));
  }
  for (Block block : held)
    sim.device.release(block);
  CHECK(sim.device.allocator().stats().inUse == 0);
}

TEST_CASE("the host's kernels serve a device that has none, between copies") {
  Adder adder;
  BufferRef x = adder.buffer({1, 2, 3}), values = adder.buffer({10, 20}), out = adder.buffer({1, 2, 3});
  std::vector<int64_t> positions = {2, 0};
  BufferRef index = get(Buffer::allocate(adder.device, 16));
  Stream &stream = adder.device.defaultStream();
  ok(stream.copyIn(index->data(), positions.data(), 16));
  OpDef op = OpDef::get("index_add").set("axes", IntList{0});
  Metas inputs = {{DType::Float32, {3}}, {DType::Float32, {2}}, {DType::Int64, {2}}}, outputs = {{DType::Float32, {3}}};
  PreparedRef kernel = get(prepareKernel(hostKernels(), {op, inputs, outputs}));
  CHECK(kernel->updatesOutput()); // so that the output's elements go to the host too
  RunContext context;
  context.stream = &stream;
  void *operands[] = {x->data(), values->data(), index->data()}, *results[] = {out->data()};
  ok(kernel->run(context, operands, results));
  CHECK(adder.read(out) == std::vector<float>{21, 2, 13});
  positions[0] = 3;
  ok(stream.copyIn(index->data(), positions.data(), 16));
  CHECK_THAT(messageOf(kernel->run(context, operands, results)), Catch::Contains("got 3"));
}
