#include "ops/vocabulary/Quantization.h"
#include "ops/vocabulary/SizeExpr.h"
#include "runtime/schema/ExecutableCodec.h"
#include "runtime/schema/Features.h"
#include "runtime/schema/FlatExecutable.h"
#include "tests/runtime/Stderr.h"
#include "tests/runtime/TestProgram.h"

#include "llvm/ADT/StringExtras.h"

#include <unistd.h>

using namespace tess;
using namespace tess::runtime;
using namespace tess::test;

namespace {

/// A program with every kind of field in use.
Executable example() {
  TestProgram p;
  float one = 1;
  p.symbol("batch", 1, 64);
  int x = p.input("x", DType::Float32, {"batch", 8}), w = p.input("w", DType::Float32, {8, 4});
  int c = p.constant(TensorMeta(DType::Float32, {}), &one);
  p.exe.constants.push_back({TensorMeta(DType::Float32, {2, 2}), "", "fc.weight"});
  int product = p.node(OpDef::get("matmul"), {x, w});
  Step &library = p.library();
  library.implementation = "brg:avx2";
  OpDef reshape = OpDef::get("reshape");
  reshape.set("shape", IntList{-1});
  int view = p.node(reshape, {product}, ValueKind::View);
  int out = p.node(OpDef::get("add"), {view, c});
  Step &step = p.kernel(addKernel, 1);
  step.scalars = {{ScalarSource::Immediate, 42, 0}, {ScalarSource::Parameter, 0, 1}};
  step.innerClasses = {InnerClass::Contiguous, InnerClass::Broadcast, InnerClass::Contiguous};
  step.inplace = {{0, 0}};
  step.location = "model.py:3";
  p.exe.numScalars = 2;
  p.exe.target = "cpu:x86-64-v3";
  p.exe.numThreads = 2;
  p.exe.images[0].features = "+avx2";
  p.exe.images[0].abi = 7;
  p.exe.images[0].hash = "00";
  p.exe.values[size_t(out)].name = "y";
  p.output("y", out, -1);
  const float start[4] = {1, 2, 3, 4};
  int state = p.input("state", DType::Float32, {2, 2});
  p.exe.inputs.back().initial = int32_t(p.exe.constants.size());
  p.exe.constants.push_back(
      {TensorMeta(DType::Float32, {2, 2}), std::string(reinterpret_cast<const char *>(start), sizeof start), ""});
  int next = p.node(OpDef::get("neg"), {state});
  p.kernel(negKernel, 2).image = 0;
  p.exe.images.pop_back();
  p.output("next", next, 2);
  return p.exe;
}

/// Every way in which one edit makes the example wrong, and what the message says.
/// Makes a step one of windows, whose operator reads one operand.
void makeWindow(Step &step) {
  step.kind = StepKind::Window;
  step.op = OpDef::get("max_pool2d").set("kernel_size", IntList{2, 2});
  step.segments.clear();
}

struct Damage {
  const char *says;
  void (*edit)(Executable &);
};
const Damage damages[] = {
    {"operand of node 0 must name one of", [](Executable &e) { e.nodes[0].operands[0] = 1000; }},
    {"operand of node 0 must be defined before", [](Executable &e) { e.nodes[0].operands[0] = e.nodes[2].results[0]; }},
    {"a value must be defined once", [](Executable &e) { e.nodes[2].results[0] = e.nodes[0].results[0]; }},
    {"node 0 (matmul): ", [](Executable &e) { e.nodes[0].operands.push_back(0); }},
    {"must have 2 operand groups, got 1", [](Executable &e) { e.nodes[0].segments = {2}; }},
    {"must have one operand", [](Executable &e) { e.nodes[0].segments = {2, 0}; }},
    {"node 1 must view its operand 0", [](Executable &e) { e.values[e.nodes[1].results[0]].base = 0; }},
    {"must be the result of a node that views another",
     [](Executable &e) {
       e.values.push_back(e.values[0]);
       e.values.back().kind = ValueKind::View;
       e.values.back().base = ValueId(e.values.size() - 1);
     }},
    {"operand of step 0 must be computed before", [](Executable &e) { std::swap(e.steps[0], e.steps[1]); }},
    {"result of step 1 must be a temporary computed once",
     [](Executable &e) { e.steps[1].results = e.steps[0].results; }},
    {"step 1 must name one of 1 images, got 7", [](Executable &e) { e.steps[1].image = 7; }},
    {"step 1 must name one of 1 entries, got -1", [](Executable &e) { e.steps[1].entry = -1; }},
    {"must start inside its image", [](Executable &e) { e.images[0].entries[0].offset = 1 << 20; }},
    {"must use one of 2 scalars, got 9", [](Executable &e) { e.steps[1].scalars[1].parameter = 9; }},
    {"step 1 must use a size that a node has as an attribute, got number 0 of node 1",
     [](Executable &e) { e.steps[1].scalars[0] = {ScalarSource::Size, 1, 0}; }},
    {"step 1 must use a size that a node has as an attribute, got number 0 of node 99",
     [](Executable &e) { e.steps[1].scalars[0] = {ScalarSource::Size, 99, 0}; }},
    {"sizes of node 1 must use symbols of inputs and of earlier values, got 5",
     [](Executable &e) { e.nodes[1].op.set("shape", IntList{sizes::symbol(5)}); }},
    {"sizes of node 1 must use symbols of inputs and of earlier values, got 2147483648",
     [](Executable &e) { e.nodes[1].op.set("shape", IntList{sizes::symbol(sizes::kDataSymbols)}); }},
    {"sizes of node 1 must use symbols of inputs and of earlier values, got 2147483648",
     [](Executable &e) {
       e.nodes[1].op.set("shape", IntList{sizes::symbol(sizes::kDataSymbols)});
       e.dataSizes = {{e.nodes[1].results[0], 0}}; // of the node itself
     }},
    {"must have an inner class per operand", [](Executable &e) { e.steps[1].innerClasses.pop_back(); }},
    {"step 0 must be the operator that gives its results their shapes, got matmul",
     [](Executable &e) { e.steps[0].operands.push_back(0); }},
    {"must have inner classes below 4", [](Executable &e) { e.steps[1].innerClasses[0] = InnerClass(4); }},
    {"must have in-place pairs of its own operands", [](Executable &e) { e.steps[1].inplace[0].first = 9; }},
    {"must have ordered axis groups", [](Executable &e) { e.steps[1].parallel[0] = {3, 1}; }},
    {"must use each axis once", [](Executable &e) { e.steps[1].reduced = {{0, 1}}; }},
    {"must have a parallel axis group", [](Executable &e) { e.steps[1].parallel.clear(); }},
    {"must have a domain and results", [](Executable &e) { e.steps[1].domain.clear(); }},
    {"constant 0 of f32[] must have 4 bytes, got 3", [](Executable &e) { e.constants[0].bytes.pop_back(); }},
    {"must have a shape that fits memory", [](Executable &e) { e.constants[1].meta.shape = {1ll << 40, 1ll << 40}; }},
    {"must have a shape that fits memory", [](Executable &e) { e.constants[1].meta.shape = {-4}; }},
    {"must name one of 3 constants, got 5", [](Executable &e) { e.values[2].constant = 5; }},
    {"input x must use one of 1 symbols, got 3", [](Executable &e) { e.inputs[0].dims[0].symbol = 3; }},
    {"input w must be a value of its own", [](Executable &e) { e.inputs[1].value = 0; }},
    {"bounds of symbol batch must be ordered", [](Executable &e) { e.symbols[0].min = 65; }},
    {"output y must name one of", [](Executable &e) { e.outputs[0].value = -3; }},
    {"output y must take over an input of its own", [](Executable &e) { e.outputs[0].donates = 3; }},
    {"output next must be computed", [](Executable &e) { e.steps.pop_back(); }},
    {"state state must start with one of 3 constants, got 9", [](Executable &e) { e.inputs[2].initial = 9; }},
    {"state state must start with one of 3 constants, got -2", [](Executable &e) { e.inputs[2].initial = -2; }},
    {"state state must have the dtype and shape of its initial value f32[2, 2], got f32[2, 3]",
     [](Executable &e) { e.inputs[2].dims[1].size = 3; }},
    {"state state must have the dtype and shape of its initial value f32[2, 2], got i32[2, 2]",
     [](Executable &e) { e.inputs[2].dtype = DType::Int32; }},
    {"state state must have the dtype and shape of its initial value",
     [](Executable &e) { e.inputs[2].dims[0].symbol = 0; }},
    {"input w must come before all state, got state state", [](Executable &e) { std::swap(e.inputs[1], e.inputs[2]); }},
    {"state state must be updated by one output, got none", [](Executable &e) { e.outputs[1].donates = -1; }},
    {"output next must take over an input of its own", [](Executable &e) { e.outputs[0].donates = 2; }},
    {"updates of state must come after all other outputs, got output next of 2 at 0",
     [](Executable &e) { std::swap(e.outputs[0], e.outputs[1]); }},
    {"dtype of a value must be below 27", [](Executable &e) { e.values[0].dtype = DType(77); }},
    {"kind of a step must be below 5", [](Executable &e) { e.steps[0].kind = StepKind(9); }},
    {"step 0 must be an operator of windows, got matmul", [](Executable &e) { e.steps[0].kind = StepKind::Window; }},
    {"step 0 must have an operand and a result, got 2 and 1", [](Executable &e) { makeWindow(e.steps[0]); }},
    {"step 0 must have groups for 2 windows, got 0 and 0",
     [](Executable &e) {
       makeWindow(e.steps[0]);
       e.steps[0].operands.pop_back();
     }},
    {"step 0 must be an operator that copies regions, got matmul",
     [](Executable &e) { e.steps[0].kind = StepKind::Movement; }},
};

/// Reads `bytes` with each of its bits flipped.
void flipBits(std::string bytes,
              llvm::function_ref<llvm::Expected<Executable>(llvm::StringRef, llvm::StringRef)> read) {
  for (size_t i = 0; i < bytes.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      bytes[i] ^= char(1 << bit);
      auto parsed = read(bytes, "flipped"); // what is read is safe to bind
      if (parsed) {
        ProgramOptions options;
        options.kernel = [](unsigned, unsigned) -> KernelFn { return addKernel; };
        options.tensor = [](llvm::StringRef) -> llvm::Expected<llvm::StringRef> {
          return invalidArgument("no tensors");
        };
        llvm::consumeError(Program::create(std::move(*parsed), options).takeError());
      } else {
        llvm::consumeError(parsed.takeError());
      }
      bytes[i] ^= char(1 << bit);
    }
}

} // namespace

TEST_CASE("an executable survives its encoding") {
  std::string bytes = serializeExecutable(example());
  Executable read = get(parseExecutable(bytes, "a.tess: executable host"));
  CHECK(serializeExecutable(read) == bytes);
  CHECK(read.nodes[0].op.isSame(OpDef::get("matmul")));
  CHECK(read.steps[1].scalars[0].bits == 42);
  CHECK(read.steps[1].location == "model.py:3");
  CHECK(read.steps[0].implementation == "brg:avx2");
  CHECK(read.symbols[0].max == 64);
  CHECK(read.constants[1].tensor == "fc.weight");
  CHECK(read.values[read.outputs[0].value].name == "y");
  CHECK(read.outputs[0].donates == -1);
  CHECK(read.inputs[1].initial == -1);
  CHECK(read.inputs[2].initial == 2);
  CHECK(read.numArguments() == 2);
  CHECK(read.numResults() == 1);
}

TEST_CASE("a damaged executable is told by the error alone") {
  std::string bytes = serializeExecutable(example());
  bytes[bytes.find("batch")] = '\xff'; // a symbol's name, which is not UTF-8 any more
  std::string message;
  CHECK(stderrOf([&] { message = messageOf(parseExecutable(bytes, "a.tess: executable host")); }) == "");
  CHECK(message == "a.tess: executable host: must be a Protobuf message, got " + std::to_string(bytes.size()) +
                       " bytes that are not one");
}

TEST_CASE("an executable from when calls had an epilogue is refused") {
  std::string step = "\x7a\x04relu", bytes = serializeExecutable(example()) + "\x3a\x06" + step;
  CHECK(messageOf(parseExecutable(bytes, "a.tess: executable host")) ==
        "a.tess: executable host: a call must have no epilogue, got relu, written by an older Tessera: compile the "
        "file's "
        "graph again");
}

TEST_CASE("an executable says for which settings its kernels were chosen") {
  for (bool withoutWinograd : {false, true}) {
    Executable exe = example();
    exe.withoutWinograd = withoutWinograd;
    exe.isFast = !withoutWinograd;
    for (const Executable &read :
         {get(parseExecutable(serializeExecutable(exe), "whole")), get(readFlat(writeFlat(exe), "flat"))}) {
      CHECK(read.withoutWinograd == withoutWinograd);
      CHECK(read.isFast == !withoutWinograd);
    }
  }
}

TEST_CASE("an executable survives its flat form") {
  Executable exe = example();
  exe.nodes[0].op = exe.steps[0].op = OpDef::get("matmul").set("transpose_y", true);
  exe.inputs[1].dims = {{4, -1}, {8, -1}};
  Executable read = get(readFlat(writeFlat(exe), "flat"));
  CHECK(serializeExecutable(read) == serializeExecutable(exe));
  CHECK(read.nodes[0].op.boolean("transpose_y"));
}

TEST_CASE("quantized dtypes of an executable go by their texts") {
  Executable exe = example();
  DType dtype = *parseDType("quint8@0<0.5:1|0.25:2>"), other = *parseDType("qint8<0.5>");
  exe.constants[1].meta.dtype = dtype;
  exe.constants[1].tensor = "quantized";
  exe.inputs[1].dtype = exe.values[exe.inputs[1].value].dtype = other;
  for (const Executable &read :
       {get(parseExecutable(serializeExecutable(exe), "whole")), get(readFlat(writeFlat(exe), "flat"))}) {
    CHECK(read.constants[1].meta.dtype == dtype);
    CHECK(read.inputs[1].dtype == other);
    CHECK(read.values[read.inputs[1].value].dtype == other);
  }
  std::string bytes = serializeExecutable(exe);
  bytes[bytes.find("qint8<0.5>") + 6] = 'x';
  CHECK(messageOf(parseExecutable(bytes, "whole")) ==
        "whole: a quantized dtype must have a kind and a scale, got 'qint8<x.5>'");
  exe.values[exe.inputs[1].value].dtype = DType::QInt8;
  CHECK(get(parseExecutable(serializeExecutable(exe), "kind")).values[exe.inputs[1].value].dtype == DType::QInt8);
}

TEST_CASE("a step of a flat executable that is another operator than its node is refused") {
  void (*edits[])(Executable &) = {
      [](Executable &e) { e.steps[0].op.set("transpose_x", true); },
      [](Executable &e) { e.steps[0].op = OpDef::get("conv2d"); },
      [](Executable &e) { std::swap(e.steps[0].operands[0], e.steps[0].operands[1]); },
      [](Executable &e) { e.steps[0].segments = {1, 1}; },
  };
  Executable exe = example();
  get(readFlat(writeFlat(exe), "flat"));
  for (auto edit : edits) {
    Executable other = exe;
    edit(other);
    std::string says = messageOf(readFlat(writeFlat(other), "flat"));
    CHECK(says == "flat: step 0 must be the operator that gives its results their shapes, got " +
                      other.steps[0].op.name().str());
  }
}

TEST_CASE("an image of a flat executable may lie elsewhere") {
  Executable exe = example();
  std::string code = std::exchange(exe.images[0].bytes, "");
  std::string bytes = writeFlat(exe);
  Executable read = get(readFlat(bytes, "flat", [&](Image &image) {
    CHECK(image.features == "+avx2");
    CHECK(image.abi == 7);
    image.bytes = code;
    return llvm::Error::success();
  }));
  CHECK(read.images[0].bytes == code);
  auto nowhere = [](Image &) { return makeError(ErrorCode::DataLoss, "flat: code must be there, got none"); };
  CHECK(messageOf(readFlat(bytes, "flat", nowhere)) == "flat: code must be there, got none");
}

TEST_CASE("every damage is an error that names it") {
  for (const Damage &damage : damages) {
    Executable exe = example();
    damage.edit(exe);
    std::string message = messageOf(parseExecutable(serializeExecutable(exe), "a.tess"));
    INFO(damage.says);
    CHECK(message.find("a.tess: ") == 0);
    CHECK(message.find(damage.says) != std::string::npos);
    CHECK_THAT(messageOf(readFlat(writeFlat(exe), "a.tess")), Catch::Matchers::StartsWith("a.tess: "));
  }
}

TEST_CASE("a newer executable is refused by name") {
  const std::string bytes = serializeExecutable(example());
  REQUIRE(llvm::StringRef(bytes).starts_with("\x08\x01")); // field 1, the version: older readers take it
  auto refusal = [&](const std::string &more) {
    auto parsed = parseExecutable(bytes + more, "new.tess");
    auto [code, message] = takeError(parsed.takeError());
    CHECK(code == ErrorCode::Unimplemented);
    return message;
  };
  CHECK(refusal("\x08\x03") ==
        "new.tess: version of the executable must be at most 2, got 3, written by a newer Tessera");
  CHECK(refusal("\x08\x02\x82\x01\x06ragged") ==
        "new.tess: the file needs ragged, which this version of Tessera does not know, got features [ragged]");
  CHECK(refusal("\x32\x0a\x0a\x08relu@7{}") ==
        "new.tess: relu: version must be in [1, 1], got 7, written by a newer Tessera");
}

TEST_CASE("fields of the future are skipped") {
  const std::string bytes = serializeExecutable(example()), field = "\x98\x06\x01"; // number 99, a varint
  CHECK(serializeExecutable(get(parseExecutable(bytes + field, "new.tess"))) == bytes);
  CHECK(get(parseExecutable(bytes + "\x22\x03" + field, "new.tess")).symbols.size() == 2);
}

TEST_CASE("an executable names the features that it uses, and no others") {
  auto names = [](const Executable &executable) {
    std::string bytes = serializeExecutable(executable);
    CHECK(llvm::StringRef(bytes).starts_with(featuresOf(executable).names().empty() ? "\x08\x01" : "\x08\x02"));
    return llvm::join(featuresOf(executable).names(), " ");
  };
  Executable exe = example();
  CHECK(names(exe) == "");
  exe.values[0].dtype = DType::Complex128;
  CHECK(names(exe) == "complex");
  exe = example();
  exe.constants[0].meta.dtype = DType::Float8E5M2;
  exe.images[0].kind = ImageKind::Ptx;
  CHECK(names(exe) == "float8 ptx_images");
  exe.constants[0].meta.dtype = DType::IntB4;
  CHECK(names(exe) == "low_bit ptx_images");
  exe = example();
  exe.images[0].kind = ImageKind::Grid;
  exe.loops.emplace_back();
  exe.dataSizes.emplace_back();
  CHECK(names(exe) == "data_sizes grid_images loops");
  exe = example();
  exe.nodes[1].op.set("shape", IntList{sizes::multiply(sizes::symbol(0), 4)});
  CHECK(names(exe) == "size_expressions");
  CHECK(get(parseExecutable(serializeExecutable(exe), "sizes")).nodes[1].op.hasExpressions());
}

TEST_CASE("a list of features that no writer makes is refused") {
  Executable exe = example();
  const std::string plain = serializeExecutable(exe);
  exe.images[0].kind = ImageKind::Grid;
  const std::string grid = serializeExecutable(exe);
  auto refusal = [&](const std::string &bytes) { return messageOf(parseExecutable(bytes, "bad")); };
  get(parseExecutable(grid, "good"));
  CHECK(refusal(plain + "\x82\x01\x05loops") == "bad: a program of format 1 must name no features, got 1");
  CHECK(refusal(grid.substr(0, grid.size() - 14)) ==
        "bad: features must be those that the program uses, [grid_images], got []");
  CHECK(refusal(grid + "\x82\x01\x05loops") ==
        "bad: features must be those that the program uses, [grid_images], got [grid_images, loops]");
  CHECK(refusal(grid + "\x82\x01\x07"
                       "complex") == "bad: features must be named once and in order, got complex behind grid_images");
}

TEST_CASE("cut and flipped bytes never crash") {
  std::string bytes = serializeExecutable(example());
  unsigned errors = 0;
  for (size_t length = 0; length < bytes.size(); ++length)
    errors += !messageOf(parseExecutable(llvm::StringRef(bytes).take_front(length), "cut")).empty();
  CHECK(errors > bytes.size() * 9 / 10);
  flipBits(bytes, parseExecutable);
}

TEST_CASE("cut and flipped bytes of a flat executable never crash") {
  std::string bytes = writeFlat(example());
  for (size_t length = 0; length < bytes.size(); ++length)
    CHECK(messageOf(readFlat(llvm::StringRef(bytes).take_front(length), "cut")) ==
          "cut: must be an executable that this build wrote, got " + std::to_string(length) + " bytes that are none");
  CHECK_FALSE(messageOf(readFlat(bytes + '\0', "long")).empty());
  flipBits(bytes, [](llvm::StringRef flipped, llvm::StringRef what) { return readFlat(flipped, what); });
}

TEST_CASE("a chain of views is walked once, whoever asks for its end") {
  TestProgram p;
  OpDef reshape = OpDef::get("reshape").set("shape", IntList{4});
  int value = p.input("x", DType::Float32, {4});
  for (int i = 0; i < 50000; ++i)
    value = p.node(reshape, {value}, ValueKind::View);
  p.exe.outputs.assign(500000, {"y", value, -1});
  ::alarm(10); // some thousand times what it takes; walked for each output, half a minute
  ok(validate(p.exe, "long"));
  ::alarm(0);
}
