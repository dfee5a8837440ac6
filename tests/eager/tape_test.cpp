// Gradients: along a tape, of gradients, through functions of the user; what is saved and for how long.
#include "eager/dispatch/InPlace.h"
#include "eager/gradients/Recomputation.h"
#include "eager/gradients/Tape.h"
#include "eager/stack/Apply.h"
#include "eager/stack/Call.h"
#include "eager/tensor/Counters.h"
#include "tests/eager/Helpers.h"

using namespace tess;
using namespace tess::eager;
using namespace tess::eager::testing;

TEST_CASE("the gradient of x * y + x") {
  TensorRef x = make<float>({2, 3}), y = make<float>({4, 5});
  TapeRef tape = Tape::create();
  tape->watch(*x);
  tape->watch(*y);
  tape->start();
  TensorRef z = run("add", {run("mul", {x, y}), x});
  Tensors grads = get(tape->backward({z}, {}));
  CHECK(values<float>(*grads[0]) == std::vector<float>{5, 6});
  CHECK(values<float>(*grads[1]) == std::vector<float>{2, 3});
  CHECK_FALSE(tape->isRecording());
}

TEST_CASE("without the grad layer nothing is recorded") {
  TensorRef x = make<float>({2});
  TapeRef tape = Tape::create();
  tape->watch(*x);
  tape->start();
  disableLayer(Layer::Grad, true);
  TensorRef y = run("mul", {x, x});
  disableLayer(Layer::Grad, false);
  CHECK_FALSE(tape->tracks(*y));
  CHECK_FALSE(get(tape->backward({y}, {}))[0]);
}

TEST_CASE("a broadcast operand gets the sum") {
  TensorRef x = make<float>({1, 2, 3, 4}, {2, 2}), bias = make<float>({10, 20});
  TapeRef tape = Tape::create();
  tape->watch(*bias);
  tape->start();
  TensorRef y = run("add", {x, bias});
  Tensors grads = get(tape->backward({y}, {make<float>({1, 2, 3, 4}, {2, 2})}));
  CHECK(values<float>(*grads[0]) == std::vector<float>{4, 6});
}

TEST_CASE("second order: an outer tape records the backward of an inner one") {
  TensorRef x = make<float>({2, 3});
  TapeRef outer = Tape::create(), inner = Tape::create();
  outer->watch(*x);
  outer->start();
  inner->watch(*x);
  inner->start();
  TensorRef y = run("mul", {run("mul", {x, x}), x}); // x^3
  TensorRef first = get(inner->backward({y}, {}))[0];
  CHECK(values<float>(*first) == std::vector<float>{12, 27});
  CHECK(outer->tracks(*first));
  TensorRef second = get(outer->backward({first}, {}))[0];
  CHECK(values<float>(*second) == std::vector<float>{12, 18});
}

TEST_CASE("a tape sees the gradients of tapes that began after it, and of no others") {
  bool isBeside = GENERATE(false, true), isFirst = GENERATE(false, true);
  TensorRef x = make<float>({3});
  TapeRef a = Tape::create(), b = Tape::create();
  a->watch(*x);
  a->start();
  b->watch(*x);
  b->start(isBeside ? a.get() : nullptr);
  TensorRef y = run("exp", {run("mul", {x, x})});
  Tape &inner = isFirst ? *a : *b, &outer = isFirst ? *b : *a;
  TensorRef first = get(inner.backward({y}, {}))[0]; // 2x exp(x^2), with a result that was saved
  float e = std::exp(9.0f);
  CHECK(values<float>(*first)[0] == Approx(6 * e));
  bool sees = !isBeside && !isFirst;
  CHECK(outer.tracks(*first) == sees);
  TensorRef second = get(outer.backward({sees ? first : y}, {}))[0]; // y has a gradient in any case
  CHECK(values<float>(*second)[0] == Approx((sees ? 2 + 36 : 6) * e));
}

TEST_CASE("a tape that begins within a gradient records") {
  TensorRef x = make<float>({3});
  TapeRef tape = Tape::create();
  tape->watch(*x);
  tape->start();
  TensorRef y = get(apply(DupTensor(true), {Operand(x)}))[0];
  bool isTracked = false;
  recordCustomFunction({x}, {y}, [&](llvm::ArrayRef<TensorRef> grads) -> llvm::Expected<Tensors> {
    TapeRef within = Tape::create();
    within->watch(*grads[0]);
    within->start();
    isTracked = within->tracks(*run("mul", {grads[0], grads[0]}));
    within->stop();
    return Tensors{grads[0]};
  });
  CHECK(values<float>(*get(tape->backward({y}, {make<float>({2})}))[0]) == std::vector<float>{2});
  CHECK(isTracked);
}

TEST_CASE("a function of one's own that returns its input gets what arrived there, and gives the whole gradient") {
  TensorRef x = make<float>({3});
  TapeRef tape = Tape::create();
  tape->watch(*x);
  tape->start();
  unsigned hooks = 0;
  tape->addHook(*x, [&](TensorRef grad) -> llvm::Expected<TensorRef> { return ++hooks, grad; }, &hooks);
  TensorRef before = run("mul", {x, x}), y = get(apply(DupTensor(true), {Operand(x)}))[0];
  std::vector<float> arrived;
  recordCustomFunction({x}, {y, x}, [&](llvm::ArrayRef<TensorRef> grads) -> llvm::Expected<Tensors> {
    arrived = {values<float>(*grads[0])[0], values<float>(*grads[1])[0]};
    return Tensors{run("add", {grads[1], grads[0]})};
  });
  TensorRef sum = run("add", {run("add", {run("mul", {x, make<float>({5})}), y}), before});
  CHECK(values<float>(*get(tape->backward({sum}, {make<float>({1})}))[0]) == std::vector<float>{12});
  CHECK(arrived == std::vector<float>{1, 5});
  CHECK(hooks == 1);
}

TEST_CASE("nothing is recorded within NoGrad, or from detached values") {
  TensorRef x = make<float>({2});
  TapeRef tape = Tape::create();
  tape->watch(*x);
  tape->start();
  {
    NoGrad pause;
    CHECK_FALSE(tape->tracks(*run("mul", {x, x})));
  }
  TensorRef detached = get(apply(DupTensor(true), {Operand(x)}))[0];
  CHECK_FALSE(tape->tracks(*run("mul", {detached, detached})));
  CHECK(tape->tracks(*run("mul", {x, detached})));
  tape->stop();
}

TEST_CASE("only what the gradient reads is kept, and let go as the tape is walked") {
  TensorRef x = make<float>({2, 3}), y = make<float>({4, 5});
  TapeRef tape = Tape::create();
  tape->watch(*x);
  tape->start();
  TensorRef sum = run("add", {x, y});
  CHECK(y->storage().isUnique()); // the gradient of a sum reads neither
  TensorRef product = run("mul", {sum, y});
  CHECK_FALSE(y->storage().isUnique());
  CHECK(sum->storage().isUnique()); // y has no gradient, so sum is not read
  get(tape->backward({product}, {}));
  CHECK(y->storage().isUnique());
}

TEST_CASE("a saved value that was written in place is an error that names it") {
  TensorRef x = make<float>({2}), y = make<float>({4});
  TapeRef tape = Tape::create();
  tape->watch(*x);
  tape->start();
  TensorRef z = run("mul", {x, y});
  check(applyInPlace(OpDef::get("neg"), {Operand(y)}));
  auto [code, message] = errorOf(tape->backward({z}, {}));
  CHECK(message == "mul: operand y must be unchanged until the gradient is taken, got a write by neg");
}

TEST_CASE("the error of a saved value names the line that saved and the line that wrote it") {
  static int32_t line;
  setLocationHooks({[](void *&code, int32_t &position) {
                      code = &line;
                      position = line;
                    },
                    [](void *, int32_t position) { return "train.py:" + std::to_string(position); }, nullptr,
                    [](void *) {}});
  {
    TensorRef x = make<float>({2});
    TapeRef tape = Tape::create();
    tape->watch(*x);
    tape->start();
    line = 10;
    TensorRef y = run("exp", {x});
    line = 12;
    check(applyInPlace(OpDef::get("neg"), {Operand(y)}));
    line = 14;
    CHECK(errorOf(tape->backward({y}, {})).second ==
          "exp: result out must be unchanged until the gradient is taken (the call at train.py:10 saved it), got a "
          "write by neg at train.py:12");
  }
  setLocationHooks({});
}

TEST_CASE("a variable that is rebound does not disturb its old value") {
  TensorRef x = make<float>({2});
  TapeRef tape = Tape::create();
  tape->watch(*x);
  tape->start();
  TensorRef y = run("mul", {x, x});
  assign(*x, *make<float>({100}));
  CHECK(values<float>(*get(tape->backward({y}, {}))[0]) == std::vector<float>{4});
}

TEST_CASE("functions with a gradient of their own") {
  TensorRef x = make<float>({1, 2});
  TapeRef tape = Tape::create();
  tape->watch(*x);
  tape->start();
  TensorRef y = run("mul", {get(apply(DupTensor(true), {Operand(x)}))[0], Operand(Number::floating(2))});
  recordCustomFunction({x}, {y}, [](llvm::ArrayRef<TensorRef> dys) -> llvm::Expected<Tensors> {
    return apply(OpDef::get("mul"), {Operand(dys[0]), Operand(Number::floating(20))});
  });
  CHECK(values<float>(*get(tape->backward({y}, {}))[0]) == std::vector<float>{20, 20});
}

TEST_CASE("a seed of one element is taken for a result of rank 0") {
  TensorRef x = make<float>({2, 3});
  TapeRef tape = Tape::create();
  tape->watch(*x);
  tape->start();
  TensorRef y = run("sum", {x});
  CHECK(values<float>(*get(tape->backward({y}, {make<float>({5})}))[0]) == std::vector<float>{5, 5});
}

TEST_CASE("seeds must have the form of the results") {
  TensorRef x = make<float>({1, 2});
  TapeRef tape = Tape::create();
  tape->watch(*x);
  tape->start();
  TensorRef y = run("neg", {x});
  CHECK(errorOf(tape->backward({y}, {make<float>({1})})).second ==
        "backward: dy must have the shape and dtype of y, got y f32[2] and dy f32[1]");
}

TEST_CASE("an operator without a gradient stops a gradient that arrives with an error") {
  TensorRef x = make<float>({5, 7});
  TapeRef tape = Tape::create();
  tape->watch(*x);
  tape->start();
  TensorRef y = run("sgd_update", {x, x, x, make<float>({0.5f}, {})});
  auto [code, message] = errorOf(tape->backward({y}, {}));
  CHECK(code == ErrorCode::Unimplemented);
  CHECK(message == "sgd_update: an operator on the way to a gradient must have one, got none");
}

TEST_CASE("a watched value is known by the order of calls") {
  TensorRef x = make<float>({1}), y = make<float>({2});
  TapeRef tape = Tape::create();
  CHECK(tape->watch(*x) == 0);
  CHECK(tape->watch(*y) == 1);
  CHECK(tape->watch(*x) == 0);
}

namespace {
uint64_t inPlace() { return counts()[unsigned(Count::InPlace)]; }
} // namespace

TEST_CASE("contributions to a gradient are added up in the memory of the first") {
  TensorRef x = make<float>({1, 2}), a = make<float>({3, 4});
  TapeRef tape = Tape::create();
  tape->watch(*x);
  tape->start();
  TensorRef y = run("add", {run("add", {run("mul", {x, a}), run("mul", {x, a})}), run("mul", {x, a})});
  uint64_t before = inPlace();
  TensorRef grad = get(tape->backward({y}, {}))[0];
  CHECK(values<float>(*grad) == std::vector<float>{9, 12});
  CHECK(inPlace() - before == 2);
}

TEST_CASE("a contribution that others look at is not added to") {
  TensorRef x = make<float>({1, 2}), dy = make<float>({3, 4});
  TapeRef tape = Tape::create();
  tape->watch(*x);
  tape->start();
  uint64_t before = inPlace();
  SECTION("the user's dy, which is a contribution itself") {
    CHECK(values<float>(*get(tape->backward({run("add", {x, x})}, {dy}))[0]) == std::vector<float>{6, 8});
    CHECK(inPlace() == before);
  }
  SECTION("what an outer tape saves") {
    TapeRef inner = Tape::create();
    TensorRef seed = make<float>({1, 1});
    tape->watch(*seed);
    inner->watch(*x);
    inner->start();
    TensorRef y = run("exp", {x}), z = run("add", {run("mul", {y, y}), y}); // y's gradient: dz y + dz y + dz
    TensorRef first = get(inner->backward({z}, {seed}))[0];
    TensorRef second = get(tape->backward({first}, {dy}))[1]; // linear in the seed
    for (int i : {0, 1}) {
      float e = std::exp(values<float>(*x)[i]), slope = 2 * e * e + e;
      CHECK(values<float>(*first)[i] == Approx(slope));
      CHECK(values<float>(*second)[i] == Approx(slope * values<float>(*dy)[i]));
    }
  }
  CHECK(values<float>(*dy) == std::vector<float>{3, 4});
}

TEST_CASE("a gradient is added to a variable where nobody else has its memory") {
  TensorRef total = make<float>({1, 2}), grad = make<float>({3, 4});
  const char *memory = total->data();
  check(accumulateGrad(*total, *grad));
  CHECK(total->data() == memory);
  TensorRef view = run(OpDef::get("reshape").set("shape", IntList{2, 1}), {total});
  check(accumulateGrad(*total, *grad));
  CHECK(values<float>(*total) == std::vector<float>{7, 10});
  CHECK(values<float>(*view) == std::vector<float>{4, 6});
}

TEST_CASE("a call that backward runs again") {
  TensorRef x = make<float>({2, 3}), w = make<float>({4, 5}), count = make<float>({1});
  TapeRef tape = Tape::create();
  tape->watch(*x);
  tape->watch(*w);
  tape->start();
  size_t tapes = numTapes();
  unsigned runs = 0;
  auto call = [&](TensorRef argument) {
    ++runs;
    assign(*count, *run("add", {count, count}));
    return run("mul", {run("mul", {argument, argument}), run("mul", {w, count})});
  };
  auto recomputed = std::make_shared<Recomputation>(llvm::ArrayRef<TensorRef>{x});
  CHECK(numTapes() == tapes);
  CHECK(isTracked(*x));
  CHECK_FALSE(tape->isRecording());
  TensorRef y = call(x);
  CHECK_FALSE(tape->tracks(*y));
  recomputed->end();
  CHECK(tape->isRecording());
  recomputed->record({y}, [&, recomputed]() -> llvm::Expected<Tensors> {
    Tensors given = get(recomputed->begin());
    TensorRef again = call(given[0]);
    recomputed->finish();
    return Tensors{again};
  });
  assign(*w, *make<float>({0, 0})); // the call reads what it read before
  Tensors grads = get(tape->backward({y}, {}));
  CHECK(values<float>(*grads[0]) == std::vector<float>{32, 60});
  CHECK(values<float>(*grads[1]) == std::vector<float>{8, 18});
  CHECK(values<float>(*count) == std::vector<float>{2});
  CHECK(values<float>(*w) == std::vector<float>{0, 0});
  CHECK(runs == 2);
}
