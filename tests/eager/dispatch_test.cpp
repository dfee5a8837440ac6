// The cache: classes instead of shapes, views without kernels, programs with bindings, threads.
#include "compiler/Compile.h"
#include "eager/classes/OpCache.h"
#include "eager/dispatch/InPlace.h"
#include "eager/stack/Apply.h"
#include "eager/tensor/Queue.h"
#include "runtime/device/Profiler.h"
#include "runtime/run/Executor.h"
#include "runtime/threads/ParallelFor.h"
#include "tests/eager/Helpers.h"

#include "llvm/Support/JSON.h"

#include <barrier>
#include <random>
#include <thread>

using namespace tess;
using namespace tess::eager;
using namespace tess::eager::testing;

static uint64_t programs() { return compiler::compileStats().programs; }

TEST_CASE("ten shapes of one class compile once") {
  clearOpCache();
  uint64_t before = programs();
  for (int64_t n = 1; n <= 10; ++n) {
    std::vector<float> a(n * 3, 1), b(n * 3, 2);
    TensorRef sum = run("sub", {make(a, {n, 3}), make(b, {n, 3})});
    CHECK(values<float>(*sum) == std::vector<float>(n * 3, -1));
  }
  CHECK(programs() - before == 1);
  SECTION("another class is another program") {
    TensorRef sum = run("sub", {make<float>({1, 2, 3, 4}, {2, 2}), make<float>({1, 2})});
    CHECK(values<float>(*sum) == std::vector<float>{0, 0, 2, 2});
    CHECK(programs() - before == 2);
  }
  SECTION("ranks that merge to the same class are not") {
    run("sub", {make(std::vector<float>(24, 1), {2, 3, 4}), make(std::vector<float>(24, 1), {2, 3, 4})});
    CHECK(programs() - before == 1);
  }
  SECTION("numbers are operands, not keys") {
    for (double value : {0.5, 1.5, 2.5}) {
      TensorRef got = run("sub", {make<float>({1, 2}), Operand(Number::floating(value))});
      CHECK(values<float>(*got) == std::vector<float>{float(1 - value), float(2 - value)});
    }
    CHECK(programs() - before == 2); // tensor with tensor, tensor with one element
  }
}

TEST_CASE("runtime attributes are operands of one kernel") {
  clearOpCache();
  uint64_t before = programs();
  for (double slope : {0.1, 0.25, 0.5}) {
    OpDef op = OpDef::get("leaky_relu").set("negative_slope", slope);
    TensorRef got = run(op, {make<float>({-4, 4})});
    CHECK(values<float>(*got) == std::vector<float>{float(-4) * float(slope), 4});
  }
  CHECK(programs() - before == 1);
}

TEST_CASE("a tensor without axes is one element") {
  for (const char *op : {"ones_like", "zeros_like", "neg", "copy"}) {
    TensorRef got = run(op, {make<float>({-3}, {})});
    CHECK(got->rank() == 0);
    CHECK(std::abs(values<float>(*got)[0]) == (op == std::string("ones_like")    ? 1
                                               : op == std::string("zeros_like") ? 0
                                                                                 : 3));
  }
}

TEST_CASE("shapes of created tensors are not keys") {
  clearOpCache();
  uint64_t before = programs();
  for (int64_t n : {1, 2, 5}) {
    OpDef op = OpDef::get("full").set("shape", IntList{n, 2}).set("value", double(n));
    CHECK(values<float>(*run(op, {})) == std::vector<float>(n * 2, float(n)));
  }
  CHECK(programs() - before == 1);
  TensorRef eye = run(OpDef::get("eye").set("n", int64_t(2)).set("m", int64_t(3)), {});
  CHECK(values<float>(*eye) == std::vector<float>{1, 0, 0, 0, 1, 0});
  TensorRef range = run(OpDef::get("arange").set("num", int64_t(4)).set("start", 1.0).set("step", 0.5), {});
  CHECK(values<float>(*range) == std::vector<float>{1, 1.5, 2, 2.5});
}

TEST_CASE("scalars first do not spoil the class of vectors") {
  clearOpCache();
  TensorRef scalar = make<float>({2}, {});
  CHECK(values<float>(*run("maximum", {scalar, scalar})) == std::vector<float>{2});
  TensorRef vector = make<float>({1, 3});
  run("maximum", {vector, vector});
  uint64_t binds = runtime::executorStats().binds;
  CHECK(values<float>(*run("maximum", {make<float>({1, 2, 3}), make<float>({3, 2, 1})})) ==
        std::vector<float>{3, 2, 3});
  CHECK(runtime::executorStats().binds == binds); // launched, not bound
}

TEST_CASE("operators whose signature asks for scalars") {
  OpDef op = OpDef::get("uniform").set("shape", IntList{3, 2});
  TensorRef seed = make<int64_t>({1}, {}), offset = make<int64_t>({0}, {});
  TensorRef first = run(op, {seed, offset});
  CHECK(shapeOf(*first) == std::vector<int64_t>{3, 2});
  CHECK(values<float>(*run(op, {seed, offset})) == values<float>(*first));
  CHECK(values<float>(*run(op, {seed, make<int64_t>({6}, {})})) != values<float>(*first));
}

TEST_CASE("a hit launches one kernel") {
  TensorRef x = make<float>({1, 2});
  run("mul", {x, x});
  uint64_t before = runtime::launchCount();
  run("mul", {x, x});
  CHECK(runtime::launchCount() - before == 1);
}

TEST_CASE("views share storage and launch nothing") {
  TensorRef x = make<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  uint64_t before = runtime::launchCount();
  TensorRef transposed = run(OpDef::get("transpose"), {x});
  TensorRef row = run(OpDef::get("slice").set("starts", IntList{1, 0}).set("stops", IntList{2, 3}), {x});
  CHECK(runtime::launchCount() == before);
  CHECK(&transposed->storage() == &x->storage());
  CHECK(values<float>(*row) == std::vector<float>{4, 5, 6});
  CHECK(values<float>(*transposed) == std::vector<float>{1, 4, 2, 5, 3, 6});
  SECTION("kernels read them") {
    TensorRef sum = run("add", {transposed, transposed});
    CHECK(values<float>(*sum) == std::vector<float>{2, 8, 4, 10, 6, 12});
    TensorRef mixed = run("add", {transposed, make<float>({10, 20})});
    CHECK(values<float>(*mixed) == std::vector<float>{11, 24, 12, 25, 13, 26});
  }
  SECTION("a view that strides do not allow looks at a copy") {
    TensorRef flat = run(OpDef::get("reshape").set("shape", IntList{6}), {transposed});
    CHECK(&flat->storage() != &x->storage());
    CHECK(values<float>(*flat) == std::vector<float>{1, 4, 2, 5, 3, 6});
  }
}

TEST_CASE("reductions and products go through programs, bound once for their shapes") {
  TensorRef x = make<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  CHECK(values<float>(*run(OpDef::get("sum").set("axes", IntList{1}), {x})) == std::vector<float>{6, 15});
  TensorRef product = run(OpDef::get("matmul").set("transpose_y", true), {x, x});
  CHECK(values<float>(*product) == std::vector<float>{14, 32, 32, 77});
  uint64_t binds = runtime::executorStats().binds;
  run(OpDef::get("sum").set("axes", IntList{1}), {x});
  CHECK(runtime::executorStats().binds == binds);
}

TEST_CASE("a thread remembers bindings by operator, attributes, shapes, dtypes and threads") {
  clearOpCache();
  auto sum = [](int64_t axis, int64_t rows, double number) {
    OpDef op = OpDef::get("sum").set("axes", IntList{axis});
    std::vector<float> data(rows * 4, float(number));
    return values<float>(*run(op, {make(data, {rows, 4})}));
  };
  auto hits = [] { return opCacheStats().hits; };
  for (unsigned round = 0; round < 3; ++round) {
    uint64_t before = hits();
    CHECK(sum(0, 3, 2) == std::vector<float>(4, 6));
    CHECK(sum(1, 3, 2) == std::vector<float>(3, 8));
    CHECK(sum(0, 5, 2) == std::vector<float>(4, 10));
    CHECK(values<int32_t>(*run(OpDef::get("sum").set("axes", IntList{0}), {make<int32_t>({1, 2, 3, 4}, {2, 2})})) ==
          std::vector<int32_t>{4, 6});
    unsigned threads = runtime::numThreads();
    check(runtime::setNumThreads(threads + 1));
    CHECK(sum(0, 3, 3) == std::vector<float>(4, 9));
    check(runtime::setNumThreads(threads));
    CHECK(hits() - before == (round ? 5 : 2)); // the other shape and the other number of threads are of one class
  }
  uint64_t before = programs();
  clearOpCache();
  CHECK(sum(0, 3, 2) == std::vector<float>(4, 6));
  CHECK(programs() > before); // the thread kept nothing alive
}

TEST_CASE("the cache keeps its limit") {
  OpCacheStats before = opCacheStats();
  setOpCacheLimit(64 << 10);
  for (const char *op : {"add", "sub", "mul", "maximum", "minimum", "exp", "sin", "cos", "tanh", "sigmoid", "erf"})
    for (DType dtype : {DType::Float32, DType::Float64}) {
      TensorRef x = run(OpDef::get("cast").set("dtype", dtype), {make<float>({1, 2})});
      std::vector<Operand> operands(OpDef::get(op).info().operands.size(), Operand(x));
      run(op, operands);
    }
  OpCacheStats after = opCacheStats();
  CHECK(after.evictions > before.evictions);
  CHECK(after.bytes <= after.limit);
  setOpCacheLimit(before.limit);
}

TEST_CASE("eight threads share one cache") {
  clearOpCache();
  uint64_t before = programs();
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&wrong, t] {
      for (int i = 1; i < 50; ++i) {
        std::vector<float> data(i, float(t));
        TensorRef x = cantFail(createTensor(TensorMeta(DType::Float32, {i}), data.data()));
        TensorRef sum = cantFail(applyOne(OpDef::get("maximum"), {Operand(x), Operand(x)}));
        std::vector<float> got(i);
        cantFail(readValue(*sum, got.data()));
        wrong += got != data;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(wrong == 0);
  CHECK(programs() - before == 1);
}

TEST_CASE("large tensors are computed by all threads, with the same bits") {
  unsigned threads = runtime::numThreads();
  std::vector<float> data(100000);
  for (unsigned i = 0; i < data.size(); ++i)
    data[i] = float(i) * 0.001f;
  TensorRef x = make(data);
  std::vector<float> parallel = values<float>(*run("exp", {x}));
  check(runtime::setNumThreads(1));
  CHECK(values<float>(*run("exp", {x})) == parallel);
  check(runtime::setNumThreads(threads));
}

TEST_CASE("kernels walk strides of any size, with the bits of row-major operands") {
  unsigned threads = runtime::numThreads();
  for (int64_t rows : {1, 3, 17, 130})
    for (int64_t columns : {1, 2, 16, 33, 700}) {
      std::vector<float> data(rows * columns), turned;
      for (unsigned i = 0; i < data.size(); ++i)
        data[i] = float(i);
      for (int64_t column = 0; column < columns; ++column)
        for (int64_t row = 0; row < rows; ++row)
          turned.push_back(data[row * columns + column]);
      TensorRef view = run(OpDef::get("transpose"), {make(data, {rows, columns})});
      TensorRef copy = make(turned, {columns, rows});
      for (unsigned parts : {1, 2, 3}) {
        check(runtime::setNumThreads(parts));
        INFO(rows << " x " << columns << " turned, " << parts << " threads");
        CHECK(values<float>(*view) == turned);
        CHECK(values<float>(*run("exp", {view})) == values<float>(*run("exp", {copy})));
        CHECK(values<float>(*run("add", {view, copy})) == values<float>(*run("add", {copy, copy})));
      }
    }
  check(runtime::setNumThreads(threads));
}

TEST_CASE("one class for all ways in which axes lie apart") {
  TensorRef x = make<float>(std::vector<float>(24, 1), {4, 6}), y = make<float>(std::vector<float>(12, 1), {4, 3});
  TensorRef cut = run(OpDef::get("slice").set("starts", IntList{0, 0}).set("stops", IntList{4, 3}), {x});
  run("atan2", {cut, y});
  uint64_t before = programs();
  run("atan2", {y, cut});
  run("atan2", {cut, cut});
  CHECK(programs() == before);
}

TEST_CASE("a write of no element takes over no failure") {
  TensorRef x = make<float>({1, 2});
  TensorRef bad = run(OpDef::get("index_get").set("axes", IntList{0}), {x, make<int32_t>({9})});
  auto empty = [](TensorRef whole) {
    return run(OpDef::get("slice").set("starts", IntList{0}).set("stops", IntList{0}), {whole});
  };
  check(applyInPlace(OpDef::get("add"), {Operand(empty(x)), Operand(empty(bad))}));
  CHECK(values<float>(*x) == std::vector<float>{1, 2});
  llvm::consumeError(eager::sync());
}

TEST_CASE("a movement along no axis is a program without one") {
  OpDef pad = OpDef::get("pad").set("low", IntList{}).set("high", IntList{});
  CHECK(values<float>(*run(pad, {make<float>({3}, {})})) == std::vector<float>{3});
  CHECK(llvm::is_contained(cachedClasses(), "pad{low=[], high=[], value=0.0} (f32[])"));
}

TEST_CASE("a copy for a layout is in the profile, by the operator that wants it") {
  TensorRef x = make<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  TensorRef transposed = run(OpDef::get("transpose"), {x});
  check(runtime::profiler::start());
  run("matmul", {transposed, x});
  run("add", {x, x});
  runtime::profiler::stop();
  llvm::json::Value profile = get(llvm::json::parse(runtime::profiler::json()));
  std::vector<std::string> copies;
  for (const llvm::json::Value &event : *profile.getAsObject()->getArray("traceEvents"))
    if (event.getAsObject()->getString("cat") == "copy")
      copies.push_back(event.getAsObject()->getString("name")->str() + " " +
                       event.getAsObject()->getObject("args")->getString("value")->str());
  CHECK(copies == std::vector<std::string>{"matmul f32[3, 2]"});
}

/// Operators without code that tell how many of them there are.
struct CountedOps {
  /// `op` as entry `number`; made when it is not there.
  CompiledOpRef lookUp(uint64_t number, const OpDef &op = OpDef::get("add")) {
    OpKey key{number * 0x9E3779B97F4A7C15ull, number, 0};
    return llvm::cantFail(findOrBuild(key, op, [&]() -> BuiltOp {
      auto made = std::make_unique<CompiledOp>(key, op);
      made->bytes = 1024;
      made->text = std::to_string(number);
      made->program = runtime::ProgramRef(token, nullptr);
      return made;
    }));
  }
  /// Of those that were made by this and not freed.
  long live() const { return token.use_count() - 1; }

  std::shared_ptr<int> token = std::make_shared<int>();
};

TEST_CASE("an evicted operator lives while it is used, and until its thread looks up again") {
  clearOpCache();
  CountedOps ops;
  CompiledOpRef used = ops.lookUp(1);
  ops.lookUp(2);
  std::barrier sync(2);
  std::string seen;
  std::thread reader([&] {
    CompiledOpRef other = ops.lookUp(3);
    sync.arrive_and_wait();
    sync.arrive_and_wait(); // evicted
    seen = other->text;
    other = CompiledOpRef();
    ops.lookUp(4);
    sync.arrive_and_wait();
    sync.arrive_and_wait(); // the thread goes on
  });
  sync.arrive_and_wait();
  clearOpCache();
  CHECK(opCacheStats().entries == 0);
  CHECK(ops.lookUp(3)->text == "3"); // another one
  CHECK(used->text == "1");
  CHECK(ops.live() == 4);
  used = CompiledOpRef();
  CHECK(ops.live() == 2);
  sync.arrive_and_wait();
  sync.arrive_and_wait();
  CHECK(seen == "3");
  CHECK(ops.live() == 2); // 3 of this thread and 4
  clearOpCache();
  CHECK(ops.live() == 1);
  sync.arrive_and_wait();
  reader.join();
  CHECK(ops.live() == 0);
}

TEST_CASE("look-ups nest: a build may look up, and evict what is in use") {
  clearOpCache();
  CountedOps ops;
  uint64_t limit = opCacheStats().limit;
  setOpCacheLimit(16 * 1024); // an entry for each shard
  OpKey key{1, 2, 3};
  OpDef op = OpDef::get("sub");
  std::vector<CompiledOpRef> used;
  CompiledOpRef outer = llvm::cantFail(findOrBuild(key, op, [&]() -> BuiltOp {
    for (uint64_t number = 0; number < 200; ++number)
      used.push_back(ops.lookUp(number));
    return std::make_unique<CompiledOp>(key, op);
  }));
  for (uint64_t number = 200; number < 400; ++number)
    ops.lookUp(number);
  CHECK(outer->op.isSame(op));
  for (uint64_t number = 0; number < 200; ++number)
    REQUIRE(used[number]->text == std::to_string(number));
  CHECK(ops.live() >= 200);
  used.clear();
  outer = CompiledOpRef();
  for (uint64_t number = 400; number < 500; ++number)
    ops.lookUp(number);
  CHECK(ops.live() <= 2 * 16);
  setOpCacheLimit(limit);
  clearOpCache();
  CHECK(ops.live() == 0);
}

TEST_CASE("equal keys do not make operators equal") {
  clearOpCache();
  CountedOps ops;
  OpDef rows = OpDef::get("sum").set("axes", IntList{0}), columns = OpDef::get("sum").set("axes", IntList{1});
  for (int round = 0; round < 2; ++round)
    for (const OpDef &op : {OpDef::get("add"), OpDef::get("sub"), rows, columns})
      CHECK(ops.lookUp(1, op)->op.isSame(op));
  CHECK(ops.live() == 4);
  clearOpCache();
}

TEST_CASE("threads look up, evict and clear at once") {
  clearOpCache();
  CountedOps ops;
  OpCacheStats before = opCacheStats();
  setOpCacheLimit(256 << 10);
  std::atomic<unsigned> wrong = 0;
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::mt19937_64 random(t);
      for (int i = 0; i < 20000; ++i) {
        uint64_t number = random() % 600;
        CompiledOpRef first = ops.lookUp(number), second = ops.lookUp(number / 2);
        if (i % 2000 == 1999)
          t ? setOpCacheLimit((128 + t * 64) << 10) : clearOpCache();
        wrong += first->text != std::to_string(number) || second->text != std::to_string(number / 2);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(wrong == 0);
  OpCacheStats after = opCacheStats();
  CHECK(after.evictions > before.evictions);
  CHECK(after.hits - before.hits + after.misses - before.misses == 4 * 20000 * 2);
  CHECK(after.bytes == after.entries * 1024);
  CHECK(after.bytes <= after.limit);
  setOpCacheLimit(before.limit);
  clearOpCache();
  CHECK(ops.live() == 0);
}

#if !TESS_SANITIZE_THREAD // a fork of many threads is not followed by ThreadSanitizer
TEST_CASE("a child that is forked while threads look up can do so") {
  clearOpCache();
  CountedOps ops;
  uint64_t limit = opCacheStats().limit;
  setOpCacheLimit(1 << 20); // so that they also evict
  auto busy = [&](uint64_t thread, uint64_t turn) { ops.lookUp(turn % 4096 + thread); };
  CHECK(hungChildren(busy, 60, [&] {
          for (uint64_t number = 0; number < 256; ++number)
            ops.lookUp(number);
          clearOpCache(); // what other threads were using is of no use here
          ops.lookUp(0);
          clearOpCache();
        }) == 0);
  setOpCacheLimit(limit);
  clearOpCache();
}
#endif
