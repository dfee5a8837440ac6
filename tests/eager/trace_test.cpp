// Recordings: what they hold, what their programs read and write.
#include "eager/gradients/Tape.h"
#include "eager/stack/Apply.h"
#include "eager/stack/Call.h"
#include "eager/tracing/GradientRecording.h"
#include "eager/tracing/Recorder.h"
#include "eager/tracing/RecordingText.h"
#include "eager/tracing/Segment.h"
#include "eager/tracing/TracedProgram.h"
#include "runtime/device/Allocator.h"
#include "tests/eager/Helpers.h"

using namespace tess;
using namespace tess::eager;
using namespace tess::eager::testing;

static std::shared_ptr<TracedProgram> compiled(const RecordingRef &recording, const GraphOptions &options = {}) {
  return get(TracedProgram::compile(recording, options, true));
}

TEST_CASE("a program does what was recorded") {
  TensorRef x = make<float>({1, 2}), w = make<float>({10, 20});
  auto recorder = get(Recorder::begin({x}));
  TensorRef y = run("add", {run("mul", {x, w}), Operand(Number::floating(1))});
  RecordingRef recording = recorder->end({y});
  CHECK(recording->ops().size() == 2);
  CHECK(recording->captured().size() == 1);
  auto program = compiled(recording);
  TensorRef other = make<float>({3, 4});
  CHECK(values<float>(*get(program->run({other}))[0]) == std::vector<float>{31, 81});
  SECTION("captured variables are read as they are then") {
    assign(*w, *make<float>({1, 1}));
    CHECK(values<float>(*get(program->run({other}))[0]) == std::vector<float>{4, 5});
  }
  SECTION("unless they are constants") {
    GraphOptions options;
    options.captureAsConstants = true;
    auto fixed = compiled(recording, options);
    assign(*w, *make<float>({1, 1}));
    CHECK(values<float>(*get(fixed->run({other}))[0]) == std::vector<float>{31, 81});
  }
}

TEST_CASE("constants have the values of the recorded call") {
  TensorRef x = make<float>({1, 2}), w = make<float>({10, 20});
  auto recorder = get(Recorder::begin({x}));
  RecordingRef recording = recorder->end({run("mul", {x, w})});
  assign(*w, *make<float>({0, 0}));
  GraphOptions options;
  options.captureAsConstants = true;
  CHECK(values<float>(*get(compiled(recording, options)->run({x}))[0]) == std::vector<float>{10, 40});
}

TEST_CASE("without the tracing layer nothing is recorded") {
  TensorRef x = make<float>({1});
  auto recorder = get(Recorder::begin({x}));
  disableLayer(Layer::Tracing, true);
  TensorRef y = run("mul", {x, x});
  disableLayer(Layer::Tracing, false);
  CHECK(recorder->end({y})->ops().empty());
}

TEST_CASE("updates go back into the variable, in its own buffer when nobody else looks") {
  TensorRef x = make<float>({1, 2}), state = make<float>({0, 0});
  auto recorder = get(Recorder::begin({x}));
  assign(*state, *run("add", {state, x}));
  RecordingRef recording = recorder->end({state});
  REQUIRE(recording->updates().size() == 1);
  auto program = compiled(recording);
  Tensors first = get(program->run({x}));
  CHECK(values<float>(*state) == std::vector<float>{2, 4});
  CHECK(values<float>(*first[0]) == std::vector<float>{2, 4});
  char *buffer = state->data();
  get(program->run({x}));
  CHECK(state->data() == buffer);
  SECTION("a second look at the value keeps it") {
    TensorRef look = state->dup();
    get(program->run({x}));
    CHECK(values<float>(*look) == std::vector<float>{3, 6});
    CHECK(values<float>(*state) == std::vector<float>{4, 8});
  }
}

TEST_CASE("an argument that is updated is the caller's") {
  TensorRef x = make<float>({1});
  auto recorder = get(Recorder::begin({x}));
  assign(*x, *run("add", {x, x}));
  auto program = compiled(recorder->end({}));
  TensorRef other = make<float>({5});
  get(program->run({other}));
  CHECK(values<float>(*other) == std::vector<float>{10});
  CHECK(values<float>(*x) == std::vector<float>{2});
}

TEST_CASE("gradients are recorded") {
  TensorRef x = make<float>({1, 2}), w = make<float>({3, 4});
  auto recorder = get(Recorder::begin({x}));
  TapeRef tape = Tape::create();
  tape->watch(*w);
  tape->start();
  TensorRef y = run("mul", {run("mul", {w, w}), x});
  TensorRef grad = get(tape->backward({y}, {}))[0];
  RecordingRef recording = recorder->end({grad});
  CHECK(values<float>(*grad) == std::vector<float>{6, 16});
  CHECK(values<float>(*get(compiled(recording)->run({make<float>({10, 10})}))[0]) == std::vector<float>{60, 80});
}

TEST_CASE("a traced function must not look at values") {
  TensorRef x = make<float>({1});
  auto recorder = get(Recorder::begin({x}));
  TensorRef y = run("add", {x, x});
  float value;
  auto [code, message] = takeError(readValue(*y, &value));
  CHECK(message == "trace: a traced function must not look at the value of a tensor (its later runs would not), "
                   "got a read of f32[1]");
  recorder->abandon();
  check(readValue(*y, &value));
  CHECK(value == 2);
}

TEST_CASE("one recording at a time") {
  auto recorder = get(Recorder::begin({}));
  CHECK(errorOf(Recorder::begin({})).first == ErrorCode::InvalidArgument);
  recorder->abandon();
}

TEST_CASE("later runs take no new memory from the system") {
  TensorRef x = make(std::vector<float>(4096, 1)), state = make(std::vector<float>(4096, 0));
  auto recorder = get(Recorder::begin({x}));
  assign(*state, *run("tanh", {run("add", {state, x})}));
  auto program = compiled(recorder->end({}));
  get(program->run({x}));
  get(program->run({x}));
  runtime::AllocatorStats before = runtime::hostDevice().allocator().stats();
  for (int i = 0; i < 10; ++i)
    get(program->run({x}));
  CHECK(runtime::hostDevice().allocator().stats().allocations == before.allocations);
}

TEST_CASE("free dimensions") {
  TensorRef x = make<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  auto recorder = get(Recorder::begin({x}));
  TensorRef y = run(OpDef::get("sum").set("axes", IntList{1}), {run("mul", {x, x})});
  RecordingRef recording = recorder->end({y});
  GraphOptions options;
  options.dims = {{"batch", 1, 8}};
  options.argumentDims = {{0, -1}};
  auto program = compiled(recording, options);
  CHECK(values<float>(*get(program->run({make<float>({1, 2, 3}, {1, 3})}))[0]) == std::vector<float>{14});
  CHECK(values<float>(*get(program->run({x}))[0]) == std::vector<float>{14, 77});
  CHECK(errorOf(program->run({make(std::vector<float>(27, 1), {9, 3})})).first == ErrorCode::InvalidArgument);
}

static std::vector<std::string> lines(RecordingWriter &writer, const RecordingRef &recording) {
  std::vector<std::string> texts;
  for (const RecordingLine &line : get(writer.write(*recording)))
    texts.push_back(line.text);
  return texts;
}

TEST_CASE("a recording in words") {
  TensorRef x = make<float>({1, 2}), w = make<float>({10, 20}), other = make<float>({10, 20});
  w->setName("weight");
  auto record = [&](const TensorRef &factor, double number, Recorder::Mode mode = Recorder::Mode::Run) {
    auto recorder = get(Recorder::begin({x}, mode));
    TensorRef y = run("add", {run("mul", {x, factor}), Operand(Number::floating(number))});
    assign(*factor, *y);
    return recorder->end({y});
  };
  RecordingWriter writer;
  auto first = lines(writer, record(w, 0.1));
  CHECK(first == std::vector<std::string>{"%0 = mul(arg0, weight#0) -> f32[2]", "%1 = add(%0, 0.1 f32[]) -> f32[2]",
                                          "results: %1", "weight#0 becomes %1"});
  SECTION("is the same when nothing ran") { CHECK(lines(writer, record(w, 0.1, Recorder::Mode::InferOnly)) == first); }
  SECTION("tells numbers apart") { CHECK(lines(writer, record(w, 0.2)) != first); }
  SECTION("tells variables apart") {
    CHECK(lines(writer, record(other, 0.1))[0] == "%0 = mul(arg0, outside#1) -> f32[2]");
  }
}

TEST_CASE("a recording serves no call that has a captured variable among its arguments") {
  TensorRef x = make<float>({1}), w = make<float>({2});
  auto recorder = get(Recorder::begin({x}));
  RecordingRef recording = recorder->end({run("mul", {x, w})});
  for (size_t others : {0, 100}) {
    std::vector<TensorRef> arguments;
    for (size_t i = 0; i < others; ++i)
      arguments.push_back(make<float>({1}));
    CHECK(recording->holds(arguments));
    arguments.push_back(w);
    CHECK(!recording->holds(arguments));
  }
}

TEST_CASE("a recording holds while what it captured keeps shape and dtype") {
  TensorRef x = make<float>({1, 2}), w = make<float>({10, 20});
  auto recorder = get(Recorder::begin({x}));
  RecordingRef recording = recorder->end({run("mul", {x, w})});
  CHECK(recording->holds({}));
  assign(*w, *make<float>({1, 1}));
  CHECK(recording->holds({}));
  assign(*w, *make<float>({1}));
  CHECK(!recording->holds({}));
  assign(*w, *make<int32_t>({1, 1}));
  CHECK(!recording->holds({}));
}

TEST_CASE("what only inference recorded has no value") {
  TensorRef x = make<float>({1, 2});
  auto recorder = get(Recorder::begin({x}, Recorder::Mode::InferOnly));
  TensorRef y = run("mul", {x, x});
  recorder->end({y});
  CHECK(isValueless(*y));
  CHECK(!isValueless(*x));
  float value[2];
  CHECK(takeError(readValue(*y, value)).second.find("value: a tensor must come from a call that ran") == 0);
}

TEST_CASE("a recording of a function and its gradient, cut in two") {
  TensorRef x = make<float>({1, 2}), w = make<float>({3, 4});
  auto recorder = get(Recorder::begin({x}, Recorder::Mode::InferOnly));
  TapeRef tape = Tape::create();
  tape->watch(*w);
  tape->start();
  TensorRef y = run("mul", {run("tanh", {run("mul", {w, x})}), w});
  Recorder::Boundary boundary = recorder->beginGradient({y});
  TensorRef dy = recorder->addArgument(*y);
  SECTION("the gradient must not update variables") {
    assign(*w, *dy);
    Recording whole = recorder->endWhole({y});
    CHECK(errorOf(splitRecording(std::move(whole), boundary, 1, 1)).second ==
          "trace: the gradient of a traced function must not update variables, got an update of f32[2]");
    return;
  }
  TensorRef grad = get(tape->backward({y}, {dy}))[0];
  GradientRecording halves = get(splitRecording(recorder->endWhole({y, grad}), boundary, 1, 1));
  CHECK(halves.forward->results().size() == 1);
  CHECK(halves.forward->arguments().size() == 1);
  CHECK(halves.backward->arguments().size() == halves.saved.size() + 1);
  Tensors forward = get(compiled(halves.forward)->run({x}));
  std::vector<TensorRef> inputs;
  for (const GradientRecording::Saved &saved : halves.saved)
    inputs.push_back(saved.kind == GradientRecording::Saved::Argument   ? x
                     : saved.kind == GradientRecording::Saved::Captured ? w
                                                                        : forward[saved.index]);
  inputs.push_back(make<float>({1, 10}));
  TapeRef eager = Tape::create();
  eager->watch(*w);
  eager->start();
  TensorRef expected = run("mul", {run("tanh", {run("mul", {w, x})}), w});
  CHECK(values<float>(*forward[0]) == values<float>(*expected));
  TensorRef expectedGrad = get(eager->backward({expected}, {inputs.back()}))[0];
  CHECK(values<float>(*get(compiled(halves.backward)->run(inputs))[0]) == values<float>(*expectedGrad));
}

TEST_CASE("a part of a function is recorded, and run later") {
  TensorRef w = make<float>({3, 4}), state = make<float>({1, 1});
  auto part = [&](const TensorRef &x) {
    auto recorder = get(Recorder::begin({}, Recorder::Mode::InferOnly));
    TensorRef unused = run("exp", {x}), y = run("mul", {x, w});
    unused.reset();
    assign(*state, *run("add", {state, y}));
    return std::make_pair(recorder->endSegment(), y);
  };
  auto [first, y] = part(make<float>({1, 2}));
  CHECK(isValueless(*y));
  CHECK(first.pending.size() == 2); // y and the state
  auto program = compiled(first.recording);
  check(first.run(*program));
  CHECK(values<float>(*y) == std::vector<float>{3, 8});
  CHECK(values<float>(*state) == std::vector<float>{4, 9});
  SECTION("an equal part has the same key and program") {
    auto [second, z] = part(make<float>({10, 10}));
    CHECK(get(second.key()) == get(first.key()));
    check(second.run(*program));
    CHECK(values<float>(*z) == std::vector<float>{30, 40});
    CHECK(values<float>(*state) == std::vector<float>{34, 49});
  }
  SECTION("other shapes have another key") { CHECK(get(part(make<float>({1})).first.key()) != get(first.key())); }
}

TEST_CASE("a result takes over the memory of a donated argument") {
  TensorRef x = make<float>({1, 2}), w = make<float>({10, 20});
  auto recorder = get(Recorder::begin({x, w}));
  RecordingRef recording = recorder->end({run("add", {run("mul", {x, x}), w})});
  GraphOptions options;
  options.donated = {0};
  auto program = compiled(recording, options);
  TensorRef given = make<float>({3, 4});
  char *memory = given->data();
  SECTION("that nobody else sees") {
    Tensors results = get(program->run({given, w}));
    CHECK(results[0]->data() == memory);
    CHECK(values<float>(*results[0]) == std::vector<float>{19, 36});
  }
  SECTION("not when somebody does") {
    TensorRef look = given->dup();
    CHECK(get(program->run({given, w}))[0]->data() != memory);
    CHECK(values<float>(*look) == std::vector<float>{3, 4});
  }
  SECTION("nor when it is given twice") {
    CHECK(values<float>(*get(program->run({given, given}))[0]) == std::vector<float>{12, 20});
    CHECK(values<float>(*given) == std::vector<float>{3, 4});
  }
  SECTION("what a program keeps is counted") { CHECK(program->heldBytes() > 0); }
}
