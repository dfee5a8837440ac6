// Which kernel computes a call: rules, times, limits; the table of times.
#include "runtime/tuning/Measure.h"
#include "runtime/tuning/Pick.h"
#include "runtime/tuning/TimingTable.h"
#include "tests/runtime/ConvCases.h"

#include <thread>

using namespace tess;
using namespace tess::runtime;
using namespace tess::runtime::tuning;
using namespace tess::test;

namespace {

KernelSettings with(uint8_t strategy, uint64_t limit = KernelSettings::kNoLimit) {
  KernelSettings settings;
  settings.strategy = strategy;
  settings.workspaceLimit = limit;
  return settings;
}

/// A call of an operator on float32 operands.
struct Call {
  Call(OpDef given, Metas operands)
      : op(std::move(given)), inputs(std::move(operands)), results(get(op.infer(inputs))) {}

  Pick pick(const KernelSettings &settings, unsigned threads = 1, bool mayMoveBits = false,
            llvm::ArrayRef<std::string> packings = {}) const {
    PrepareRequest request{op, inputs, results, threads, packings};
    request.settings = settings;
    request.mayMoveBits = mayMoveBits;
    return get(pickKernel(hostDevice(), request));
  }

  OpDef op;
  Metas inputs, results;
};

Call product(int64_t rows, int64_t depth, int64_t columns) {
  return {OpDef::get("matmul"),
          {TensorMeta(DType::Float32, {rows, depth}), TensorMeta(DType::Float32, {depth, columns})}};
}

Call conv() {
  const ConvCase c{{1, 32, 16, 16}, {32, 32, 3, 3}, {1, 1}, {1, 1}};
  return {makeConv("conv2d", c), {TensorMeta(DType::Float32, c.x), TensorMeta(DType::Float32, c.weight)}};
}

/// Empties the table of the process, before and behind a test.
struct FreshTable {
  FreshTable() { TimingTable::global().clear(); }
  ~FreshTable() { TimingTable::global().clear(); }
};

HostTensor runOf(const PreparedKernel &kernel, HostTensor x, HostTensor y, const TensorMeta &meta) {
  HostTensor out(meta.dtype, meta.shape);
  RunContext context;
  CHECK(runPrepared(kernel, context, {x.data(), y.data()}, {out.data()}) == "");
  return out;
}

bool equalBits(HostTensor a, HostTensor b) {
  return !std::memcmp(a.data(), b.data(), size_t(a.meta.numElements()) * byteWidth(a.meta.dtype));
}

} // namespace

TEST_CASE("all forms of a product have one result") {
  const DType dtype = GENERATE(DType::Float32, DType::Float64, DType::BFloat16, DType::Float16);
  const KernelDef *def = findKernel(hostDevice().kernels(), "matmul");
  for (auto [rows, depth, columns] : {std::tuple{20, 33, 40}, {3, 700, 50}, {300, 64, 1024}, {1, 40, 64}, {64, 40, 1}})
    for (bool transposesRight : {false, true}) {
      Call call = product(rows, depth, columns);
      if (transposesRight) {
        call.op.set("transpose_y", true);
        call.inputs[1].shape = {columns, depth};
      }
      for (TensorMeta *meta : {&call.inputs[0], &call.inputs[1], &call.results[0]})
        meta->dtype = dtype;
      HostTensor x = convertedTo(randomF32(call.inputs[0].shape, 1), dtype),
                 y = convertedTo(randomF32(call.inputs[1].shape, 2), dtype);
      for (unsigned threads : {1u, 3u}) {
        PrepareRequest request{call.op, call.inputs, call.results, threads};
        HostTensor expected = runOf(*get(prepareKernel(hostDevice().kernels(), request)), x, y, call.results[0]);
        std::vector<KernelVariant> variants = def->variants(request);
        CHECK(variants.size() >= 2);
        for (const KernelVariant &variant : variants) {
          request.form = variant.form;
          PreparedRef kernel = get(prepareKernel(hostDevice().kernels(), request));
          CHECK(kernel->form() == variant.form);
          CHECK(kernel->implementation() == "own:contract");
          CHECK(equalBits(runOf(*kernel, x, y, call.results[0]), expected));
        }
      }
    }
}

TEST_CASE("a heuristic takes the first kernel, and nothing is measured") {
  FreshTable fresh;
  const uint64_t before = TimingTable::global().stats().measured;
  for (uint8_t strategy : {int(Heuristic), Heuristic | Profile, Heuristic | Optimized, Heuristic | Reproducible}) {
    Pick pick = product(64, 64, 64).pick(with(strategy));
    CHECK(pick.reason == Reason::Rule);
    CHECK(describe(pick) == "own:contract (in place), 1 thread, by the rule");
  }
  CHECK(TimingTable::global().stats().measured == before);
}

TEST_CASE("the fastest kernel is measured once and remembered") {
  FreshTable fresh;
  Call call = product(64, 96, 80);
  Pick first = call.pick(with(Profile));
  CHECK(first.reason == Reason::Measured);
  CHECK(first.candidates == 3); // in place, packed, transposed
  CHECK(first.microseconds > 0);
  const uint64_t measured = TimingTable::global().stats().measured;
  for (uint8_t strategy : {int(Profile), Heuristic | Profile, Heuristic | Optimized}) {
    Pick again = call.pick(with(strategy));
    CHECK(again.reason == Reason::Remembered);
    CHECK(again.kernel == first.kernel);
    CHECK(llvm::StringRef(describe(again)).ends_with(" us, remembered"));
  }
  CHECK(TimingTable::global().stats().measured == measured);
  CHECK(product(64, 96, 81).pick(with(Heuristic | Profile)).reason == Reason::Rule); // other sizes
  CHECK(call.pick(with(Heuristic | Profile), 2).reason != Reason::Measured);         // other threads
  Call wide = product(512, 256, 512);
  Pick parallel = wide.pick(with(Profile), 2);
  CHECK(parallel.candidates == 6); // each on one thread, too
}

TEST_CASE("a kernel with other bits is a candidate where bits may move, and reproducible ones are not asked for") {
  FreshTable fresh;
  Call call = conv();
  CHECK(call.pick(with(Heuristic)).kernel->implementation() == "own:winograd");
  Pick strict = call.pick(with(Profile));
  CHECK(strict.reason == Reason::Alone);
  CHECK(describe(strict) == "own:winograd, 1 thread, nothing else to choose from");
  Pick fast = call.pick(with(Profile), 1, true);
  CHECK(fast.reason == Reason::Measured);
  CHECK(fast.candidates == 2);
  CHECK(call.pick(with(Profile | Reproducible), 1, true).reason == Reason::Alone);
  KernelSettings direct = with(Profile);
  direct.winograd = false;
  CHECK(describe(call.pick(direct, 1, true)) == "own:window, 1 thread, nothing else to choose from");
}

TEST_CASE("what needs more workspace than is allowed gives way to what has its bits") {
  FreshTable fresh;
  Call call = product(300, 64, 8192); // rows a page apart: packed by the rule
  Pick rule = call.pick(with(Heuristic));
  CHECK(rule.kernel->form() == "packed");
  Pick limited = call.pick(with(Heuristic, 1 << 20));
  CHECK(limited.reason == Reason::Limit);
  CHECK(limited.kernel->form() == "in place");
  CHECK(limited.kernel->workspaceBytes() <= 1 << 20);
  CHECK(llvm::StringRef(describe(limited)).ends_with(", by the limit of workspace"));
  Pick strict = conv().pick(with(Heuristic, 0)), fast = conv().pick(with(Heuristic, 0), 1, true);
  CHECK(strict.kernel->implementation() == "own:winograd"); // nothing else has its bits
  CHECK(fast.kernel->implementation() == "own:window");     // which needs least
}

TEST_CASE("operators without a choice say so") {
  Call call{OpDef::get("matinv"), {TensorMeta(DType::Float64, {4, 4})}};
  Pick pick = call.pick(with(Profile));
  CHECK(pick.reason == Reason::Alone);
  CHECK(call.pick(with(Heuristic)).reason == Reason::Rule);
}

TEST_CASE("kernels are measured with packed constants and on several threads") {
  FreshTable fresh;
  Call call = product(40, 300, 64);
  call.op.set("transpose_y", true);
  call.inputs[1].shape = {64, 300};
  const std::string panels = call.pick(with(Heuristic)).kernel->inputPacking(1).text;
  REQUIRE(!panels.empty());
  const std::string packings[] = {"", panels};
  CHECK(call.pick(with(Profile), 1, false, packings).reason == Reason::Alone);
  Pick pick = product(512, 512, 512).pick(with(Profile), 3);
  CHECK(pick.reason == Reason::Measured);
}

TEST_CASE("timings go to bytes and back") {
  TimingTable table, other;
  table.insert("a", {"own:contract (packed)", 2.5});
  table.insert(llvm::StringRef("b\0c", 3), {"own:window", 1e6});
  table.insert("a", {"own:contract", 3.5});
  other.insert("a", {"newer", 1});
  const std::string bytes = table.store();
  CHECK(get(other.load(bytes)) == 2);
  CHECK(other.find("a")->kernel == "newer");
  CHECK(other.find(llvm::StringRef("b\0c", 3))->microseconds == 1e6);
  CHECK(!other.find("b"));
  CHECK(other.stats().measured == 1);
  CHECK(get(TimingTable().load(TimingTable().store())) == 0);
}

TEST_CASE("bytes that are not whole are refused") {
  TimingTable table;
  table.insert("a", {"own:contract", 2.5});
  const std::string bytes = table.store();
  for (size_t size = 0; size < bytes.size(); ++size)
    CHECK(messageOf(TimingTable().load(llvm::StringRef(bytes).take_front(size)).takeError()) ==
          "load_timings: bytes must be whole, got " + std::to_string(size) + " that nothing stored");
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] ^= 1;
    CHECK(messageOf(TimingTable().load(damaged).takeError()) != "");
  }
}

TEST_CASE("the table keeps to its limit, and drops what was used longest ago") {
  TimingTable table(4096);
  for (int i = 0; i < 100; ++i) {
    table.insert("call " + std::to_string(i), {"own:contract", double(i)});
    (void)table.find("call 0");
  }
  TimingStats stats = table.stats();
  CHECK((stats.bytes <= 4096 && stats.entries > 4 && stats.evictions == 100 - stats.entries));
  CHECK(table.find("call 0"));
  CHECK(table.find("call 99"));
  CHECK(!table.find("call 1"));
  TimingTable small(1024);
  CHECK(get(small.load(table.store())) == stats.entries);
  CHECK(small.find("call 0")); // stored as the latest used but one
  CHECK(small.stats().bytes <= 1024);
  table.setLimit(0);
  CHECK(table.stats().entries == 0);
}

TEST_CASE("threads may measure and load at once") {
  FreshTable fresh;
  const std::string bytes = TimingTable::global().store();
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 4; ++i) {
        (void)product(16 + i, 16, 16 + t).pick(with(Profile));
        llvm::cantFail(TimingTable::global().load(bytes));
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(TimingTable::global().stats().entries == 12);
}
