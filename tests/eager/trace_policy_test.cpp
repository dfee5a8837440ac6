// What traces of every frontend decide alike: how much they keep, which tensors a recording serves, and gradients.
#include "eager/gradients/Tape.h"
#include "eager/stack/Apply.h"
#include "eager/tracing/ArgumentIdentity.h"
#include "eager/tracing/GradEffects.h"
#include "eager/tracing/KeptCalls.h"
#include "eager/tracing/Recorder.h"
#include "tests/eager/Helpers.h"

using namespace tess;
using namespace tess::eager;
using namespace tess::eager::testing;

/// Notes the names of calls in the order in which they go.
struct Gone {
  std::string names;
  KeptCall::Forget noting(char name) {
    return [this, name](KeptCall::Cause cause) {
      names += cause == KeptCall::Cause::Bytes ? std::string(1, char(std::toupper(name))) : std::string(1, name);
    };
  }
};

/// The limit of the process, as it was, when the test ends.
struct KeptLimit {
  uint64_t before = traceLimit();
  ~KeptLimit() { setTraceLimit(before); }
};

TEST_CASE("a signature keeps the four calls used last, and others do not count") {
  Gone gone;
  KeptCall a(nullptr, gone.noting('a')), b(&a, gone.noting('b')), c(&b, gone.noting('c')), d(&a, gone.noting('d')),
      e(&d, gone.noting('e')), f(&a, gone.noting('f')), other(nullptr, gone.noting('o'));
  for (KeptCall *call : {&a, &b, &c, &d, &other})
    call->keep(1);
  CHECK(gone.names.empty());
  a.use();
  e.keep(1);
  CHECK(gone.names == "b");
  c.recount(2);
  f.keep(1);
  CHECK(gone.names == "bd");
}

TEST_CASE("all calls together keep at most the limit in bytes, the least recently used go") {
  KeptLimit restored;
  uint64_t before = traceBytes();
  Gone gone;
  KeptCall a(nullptr, gone.noting('a')), b(nullptr, gone.noting('b')), c(nullptr, gone.noting('c'));
  setTraceLimit(before + 100);
  a.keep(40);
  b.keep(40);
  a.use();
  c.keep(30);
  CHECK(gone.names == "B");
  CHECK(traceBytes() == before + 70);
  SECTION("a call that grew makes others go, and stays itself") {
    c.recount(1000);
    CHECK(gone.names == "BA");
    CHECK(traceBytes() == before + 1000);
  }
  SECTION("a lower limit holds at once") {
    setTraceLimit(before + 60);
    CHECK(gone.names == "BA");
    setTraceLimit(before);
    CHECK(gone.names == "BAC");
  }
  SECTION("a call that has gone is not counted until it is kept again") {
    b.recount(10);
    b.use();
    CHECK(traceBytes() == before + 70);
    b.keep(10);
    CHECK(traceBytes() == before + 80);
  }
}

TEST_CASE("a call that dies gives its bytes back, also when it dies of being forgotten") {
  KeptLimit restored;
  uint64_t before = traceBytes();
  std::unique_ptr<KeptCall> call;
  call = std::make_unique<KeptCall>(nullptr, [&](KeptCall::Cause) { call.reset(); });
  call->keep(10);
  {
    KeptCall other(nullptr, [](KeptCall::Cause) {});
    other.keep(5);
    CHECK(traceBytes() == before + 15);
  }
  CHECK(traceBytes() == before + 10);
  setTraceLimit(before);
  CHECK(!call);
  CHECK(traceBytes() == before);
}

TEST_CASE("when one call's trace fails, the next one kept makes the others go") {
  KeptLimit restored;
  uint64_t before = traceBytes();
  Gone gone;
  KeptCall a(nullptr, [](KeptCall::Cause) { throw std::runtime_error("a warning that is an error"); }),
      b(nullptr, gone.noting('b')), c(nullptr, gone.noting('c'));
  a.keep(10);
  b.keep(10);
  setTraceLimit(before + 20);
  CHECK_THROWS(c.keep(15));
  CHECK(gone.names.empty());
  c.recount(15);
  CHECK(gone.names == "B");
}

#if !TESS_SANITIZE_THREAD // a fork of many threads is not followed by ThreadSanitizer
/// Takes each mutex that recording on other threads takes for a moment.
static void takeMutexes() {
  pushScope("forked");
  popScope();
  (void)Tape::create();
  (void)backwardPlanStats();
  KeptCall(nullptr, [](KeptCall::Cause) {}).keep(1);
}

TEST_CASE("a child that is forked while threads record can do so") {
  CHECK(hungChildren([](uint64_t, uint64_t) { takeMutexes(); }, 20, takeMutexes) == 0);
}
#endif

static RecordingRef recorded(llvm::ArrayRef<TensorRef> arguments, llvm::ArrayRef<TensorRef> operands) {
  auto recorder = get(Recorder::begin(arguments));
  return recorder->end({run("mul", {operands[0], operands[1]})});
}

TEST_CASE("a variable's first position tells which arguments are one") {
  TensorRef x = make<float>({1}), y = make<float>({2});
  CHECK(llvm::equal(aliasesOf({x, y, x, y, y}), std::vector<unsigned>{0, 1, 0, 1, 1}));
  CHECK(llvm::equal(ArgumentIdentity({y, y}).aliases(), std::vector<unsigned>{0, 0}));
}

TEST_CASE("a recording serves its own tensors for certain, and others once they recorded the same") {
  using Match = ArgumentIdentity::Match;
  TensorRef x = make<float>({1}), y = make<float>({2}), z = make<float>({3});
  ArgumentIdentity identity({x, y});
  CHECK(identity.match({x, y}) == Match::Certain);
  CHECK(identity.match({x, z}) == Match::Open);
  CHECK(!identity.bindOutside({x, z}, *recorded({x, z}, {x, z})));
  identity.learn({x, z});
  CHECK(identity.match({x, z}) == Match::Certain);
  CHECK(identity.match({x, x}) == Match::Certain);
  CHECK(identity.match({z, y}) == Match::Open);
  SECTION("a tensor that is gone is no other's, whatever its address") {
    identity = ArgumentIdentity({make<float>({4})});
    CHECK(identity.match({make<float>({5})}) == Match::Open);
  }
}

TEST_CASE("an argument that is a variable from outside binds the recording to its tensor") {
  using Match = ArgumentIdentity::Match;
  TensorRef weight = make<float>({1}), x = make<float>({2}), y = make<float>({3}), z = make<float>({4});
  ArgumentIdentity identity({weight, x});
  RecordingRef again = recorded({y, z}, {y, weight}); // what was argument 0 is captured
  CHECK(identity.bindOutside({y, z}, *again));
  CHECK(identity.match({y, z}) == Match::None);
  CHECK(identity.match({weight, z}) == Match::Open);
  identity.learn({weight, z});
  CHECK(identity.match({weight, y}) == Match::Certain);
  SECTION("so does one that is at another position now") {
    ArgumentIdentity other({x, y});
    CHECK(other.bindOutside({z, x}, *recorded({z, x}, {z, z})));
    CHECK(other.match({z, x}) == Match::None);
  }
}

TEST_CASE("a weak reference tells one variable from all others, and keeps none alive") {
  TensorRef x = make<float>({1}), y = x->dup();
  WeakTensor weak(*x), none;
  CHECK((weak.is(*x) && !weak.is(*y) && !none.is(*x)));
  CHECK((weak.lock() == x && WeakTensor(*x).lock() == x && none.lock() == nullptr));
  CHECK(x->isUnique());
  x.reset();
  CHECK(weak.lock() == nullptr);
}

/// A call that was recorded without running it.
struct RecordedCall {
  RecordingRef recording;
  GradEffects grads;
  Tensors left;

  RecordedCall(llvm::ArrayRef<TensorRef> arguments, llvm::function_ref<void()> function) {
    auto recorder = get(Recorder::begin(arguments, Recorder::Mode::InferOnly));
    function();
    grads = GradEffects(*recorder, arguments, left);
    recording = recorder->end(left);
  }
};

static void setGrad(TensorImpl &variable, TensorRef grad) {
  noteGrad(variable);
  variable.setGrad(std::move(grad));
}

TEST_CASE("what a call does to gradients is its condition and its consequence") {
  TensorRef weight = make<float>({1}), x = make<float>({2}), old = make<float>({3}), new1 = make<float>({4});
  weight->setName("weight");
  setGrad(*weight, old);
  RecordedCall call({x}, [&] {
    setGrad(*weight, nullptr);
    setGrad(*x, run("mul", {x, x}));
  });
  CHECK((weight->grad() == old && !x->grad())); // as before: nothing ran
  CHECK(call.left.size() == 1);
  CHECK(call.grads.lines() ==
        std::vector<std::string>{"grad of weight becomes None", "grad of arg0 becomes gradient 0"});
  CHECK(call.grads.holds({x}));
  SECTION("it holds where there are gradients as there were") {
    CHECK(call.grads.holds({make<float>({9})}));
    x->setGrad(new1);
    CHECK(!call.grads.holds({x}));
    x->setGrad(nullptr);
    weight->setGrad(nullptr);
    CHECK(!call.grads.holds({x}));
  }
  SECTION("the program reads the gradient of the recorded call, which gets the present value") {
    weight->setGrad(new1);
    call.grads.prepare({x});
    CHECK(weight->grad() == old);
    CHECK(values<float>(*old) == std::vector<float>{4});
    assign(*old, *make<float>({7}));
    CHECK(values<float>(*new1) == std::vector<float>{4});
  }
  SECTION("after a run gradients are what the function left, for arguments of that call") {
    TensorRef other = make<float>({5});
    call.grads.apply({other}, {new1});
    CHECK((other->grad() == new1 && !x->grad() && !weight->grad()));
  }
  SECTION("variables from outside are not kept alive by it") {
    GradEffects grads = call.grads;
    call.recording.reset();
    weight.reset();
    CHECK(grads.holds({x}));
    grads.prepare({x});
    CHECK(grads.lines().front() == "grad of a tensor that is gone becomes None");
  }
}

TEST_CASE("a gradient that is updated stays, and without a recording nothing is noted") {
  TensorRef weight = make<float>({1}), grad = make<float>({2});
  setGrad(*weight, grad);
  RecordedCall call({}, [&] {
    noteGrad(*weight);
    assign(*grad, *run("mul", {grad, grad}));
  });
  CHECK(call.left.empty());
  CHECK(call.grads.lines() == std::vector<std::string>{"grad of outside stays"});
  call.grads.apply({}, {});
  CHECK(weight->grad() == grad);
  CHECK(RecordedCall({}, [] {}).grads.isEmpty());
}
