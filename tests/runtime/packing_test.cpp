//===- packing_test.cpp - values in a library's layout --------------------===//
#include "runtime/device/Allocator.h"
#include "runtime/run/Executor.h"
#include "tests/runtime/ConvCases.h"
#include "tests/runtime/TestProgram.h"

#include <cmath>

using namespace tess;
using namespace tess::runtime;
using namespace tess::test;

namespace {

TensorMeta f32(llvm::ArrayRef<int64_t> shape) { return TensorMeta(DType::Float32, shape); }

constexpr int64_t kBatch = 2, kSize = 9;
OpDef conv() { return OpDef::get("conv2d").set("padding", IntList{1, 1}); }

/// x -> conv -> neg -> conv -> out over `channels`, weights constant; `middle` may add to the program between.
struct Chain {
  TestProgram program;
  int x, first, negated;
  HostTensor weight;

  explicit Chain(int64_t channels) : weight(randomF32({channels, channels, 3, 3}, 7)) {
    x = program.input("x", DType::Float32, {kBatch, channels, kSize, kSize});
    int w = program.constant(weight.meta, weight.data());
    first = program.node(conv(), {x, w});
    program.library();
    negated = program.node(OpDef::get("neg"), {first});
    program.kernel(negKernel, 4);
    int last = program.node(conv(), {negated, w});
    program.library();
    program.output("out", last);
  }
};

struct ChainResult {
  std::vector<std::vector<float>> outputs;
  unsigned packed;
};

ChainResult runChain(Chain &chain, bool packing, unsigned threads = 1) {
  BindOptions options;
  options.threads = threads;
  options.packing = packing;
  int64_t channels = chain.weight.meta.shape[0];
  HostTensor x = randomF32({kBatch, channels, kSize, kSize}, 1);
  x.as<float>()[3] = NAN;
  x.as<float>()[90] = -0.0f;
  BoundRef bound = get(chain.program.create()->bind({x.meta}, options));
  ChainResult result;
  std::vector<void *> outputs;
  for (const TensorMeta &meta : bound->outputs())
    result.outputs.emplace_back(size_t(meta.numElements()));
  for (auto &output : result.outputs)
    outputs.push_back(output.data());
  ok(run(*bound, {x.data()}, outputs));
  uint64_t before = hostDevice().allocator().stats().allocations;
  ok(run(*bound, {x.data()}, outputs));
  CHECK(hostDevice().allocator().stats().allocations == before);
  result.packed = bound->packedValues();
  return result;
}

void checkSame(const ChainResult &a, const ChainResult &b) {
  REQUIRE(a.outputs.size() == b.outputs.size());
  size_t different = 0;
  for (size_t k = 0; k < a.outputs.size(); ++k)
    for (size_t i = 0; i < a.outputs[k].size(); ++i) {
      float x = a.outputs[k][i], y = b.outputs[k][i];
      different += std::memcmp(&x, &y, sizeof(x)) != 0 && !(std::isnan(x) && std::isnan(y));
    }
  CHECK(different == 0);
}

} // namespace

TEST_CASE("a chain of convolutions stays in the library's layout, with the bits of row-major values") {
  unsigned threads = GENERATE(1u, 2u);
  Chain chain(32);
  ChainResult plain = runChain(chain, false, threads), packed = runChain(chain, true, threads);
  CHECK(plain.packed == 0);
  CHECK(packed.packed == 4); // what the first convolution makes, its negation, the weight of each call
  checkSame(plain, packed);
}

/// Bits of the one output of `program`, whose inputs are random; `packed`: its packed values.
static std::vector<float> runOnce(TestProgram &program, llvm::ArrayRef<TensorMeta> inputs, bool packing,
                                  unsigned &packed) {
  BindOptions options;
  options.packing = packing;
  BoundRef bound = get(program.create()->bind(inputs, options));
  packed = bound->packedValues();
  std::vector<HostTensor> tensors;
  std::vector<void *> pointers;
  for (const TensorMeta &meta : inputs)
    tensors.push_back(randomF32(meta.shape, unsigned(tensors.size()) + 1));
  for (HostTensor &tensor : tensors)
    pointers.push_back(tensor.data());
  std::vector<float> output(size_t(bound->outputs()[0].numElements()));
  ok(run(*bound, pointers, {output.data()}));
  return output;
}

/// out = (a + b) * c, where c has an element for each channel; groups [batch, channels, rows].
static void scaleChannels(void *const *p, const int64_t *d, void *, int64_t outerLo, int64_t outerHi, int64_t lo,
                          int64_t hi) {
  auto *a = static_cast<const float *>(p[0]), *b = static_cast<const float *>(p[1]),
       *c = static_cast<const float *>(p[2]);
  auto *out = static_cast<float *>(p[3]);
  for (int64_t outer = outerLo; outer < outerHi; ++outer)
    for (int64_t i = lo; i < hi; ++i) {
      auto at = [&](int operand, int64_t inner) {
        const int64_t *strides = d + (operand + 1) * 3;
        return outer / d[1] * strides[0] + outer % d[1] * strides[1] + inner;
      };
      out[at(3, i * d[14])] = (a[at(0, i * d[5])] + b[at(1, i * d[8])]) * c[at(2, i % kLanes & d[11])];
    }
}

/// Adds a step of scaleChannels over `a`, `b` and `scale`; the value that it makes.
static int addScaled(TestProgram &p, int a, int b, int scale) {
  p.exe.values.push_back({ValueKind::Fused, DType::Float32, -1, -1, "", ""});
  ValueId sum = ValueId(p.exe.values.size() - 1);
  p.exe.nodes.push_back({OpDef::get("add"), {a, b}, {}, {sum}});
  int scaled = p.node(OpDef::get("mul"), {sum, scale});
  Step &step = p.kernel(scaleChannels, 4);
  step.operands = {a, b, scale};
  step.parallel = {{0, 1}, {1, 2}, {2, 4}};
  step.innerClasses = {InnerClass::Contiguous, InnerClass::Contiguous, InnerClass::Repeated, InnerClass::Contiguous};
  return scaled;
}

TEST_CASE("a kernel with an operand for each channel stays in the library's layout, too") {
  unsigned threads = GENERATE(1u, 2u);
  Chain chain(32);
  TestProgram p;
  HostTensor scale = randomF32({1, 32, 1, 1}, 3);
  int w = p.constant(chain.weight.meta, chain.weight.data()), factors = p.constant(scale.meta, scale.data());
  int x = p.input("x", DType::Float32, {kBatch, 32, kSize, kSize});
  auto call = [&](int image) {
    int made = p.node(conv(), {image, w});
    p.library();
    return made;
  };
  int first = call(x), second = call(addScaled(p, first, first, factors));
  int residual = addScaled(p, second, first, factors); // makes all images between the calls one packing
  p.output("out", call(residual));
  chain.program = p;
  ChainResult plain = runChain(chain, false, threads), packed = runChain(chain, true, threads);
  CHECK(plain.packed == 0);
  CHECK(packed.packed == 7); // four images, the weight of each call
  checkSame(plain, packed);
}

TEST_CASE("a kernel with an operand for each channel gets a weight row-major: its packing is no order of channels") {
  TestProgram p;
  HostTensor scale = randomF32({1, 32, 1, 1}, 3);
  int x = p.input("x", DType::Float32, {kBatch, 32, kSize, kSize});
  int w = p.input("w", DType::Float32, {32, 32, 3, 3}), factors = p.constant(scale.meta, scale.data());
  p.output("out", p.node(conv(), {x, addScaled(p, w, w, factors)}));
  p.library();
  TensorMeta metas[] = {f32({kBatch, 32, kSize, kSize}), f32({32, 32, 3, 3})};
  unsigned plain = 0, packed = 0;
  CHECK(runOnce(p, metas, false, plain) == runOnce(p, metas, true, packed));
  CHECK(packed == 0);
}

TEST_CASE("channels that a block does not hold stay row-major, since padding is memory that nobody planned") {
  Chain chain(20);
  ChainResult packed = runChain(chain, true);
  CHECK(packed.packed == 0); // weights of such channels are read in place
  checkSame(runChain(chain, false), packed);
}

TEST_CASE("a value that something else reads stays row-major") {
  Chain chain(32);
  bool asOutput = GENERATE(true, false);
  if (asOutput) {
    chain.program.output("middle", chain.negated);
  } else { // a view of it
    OpDef flat = OpDef::get("reshape").set("shape", IntList{kBatch, -1});
    chain.program.output("view", chain.program.node(flat, {chain.negated}, ValueKind::View));
  }
  ChainResult packed = runChain(chain, true);
  CHECK(packed.packed == 2); // the weight of each call only
  checkSame(runChain(chain, false), packed);
}

TEST_CASE("a view that a convolution reads is row-major: nobody lays it out anew") {
  bool isInput = GENERATE(true, false); // of an input, of what a kernel made
  TestProgram program;
  int x = program.input("x", DType::Float32, {kBatch, 32, kSize, kSize});
  int rows = program.input("w", DType::Float32, {32, 32 * 9});
  if (!isInput) {
    rows = program.node(OpDef::get("neg"), {rows});
    program.kernel(negKernel, 2);
  }
  OpDef shape = OpDef::get("reshape").set("shape", IntList{32, 32, 3, 3});
  int weight = program.node(shape, {rows}, ValueKind::View);
  program.output("out", program.node(conv(), {x, weight}));
  program.library();
  TensorMeta metas[] = {f32({kBatch, 32, kSize, kSize}), f32({32, 32 * 9})};
  unsigned plain = 0, packed = 0;
  CHECK(runOnce(program, metas, false, plain) == runOnce(program, metas, true, packed));
  CHECK(packed == 0);
}

TEST_CASE("a constant image is packed as a constant weight is") {
  TestProgram program;
  HostTensor image = randomF32({kBatch, 32, kSize, kSize}, 5);
  int x = program.constant(image.meta, image.data());
  int weight = program.input("w", DType::Float32, {32, 32, 3, 3});
  program.output("out", program.node(conv(), {x, weight}));
  program.library();
  TensorMeta metas[] = {f32({32, 32, 3, 3})};
  unsigned plain = 0, packed = 0;
  CHECK(runOnce(program, metas, false, plain) == runOnce(program, metas, true, packed));
  CHECK(packed == 1);
}

/// out = 0.5
static void fillKernel(void *const *p, const int64_t *d, void *, int64_t, int64_t, int64_t lo, int64_t hi) {
  for (int64_t i = lo; i < hi; ++i)
    static_cast<float *>(p[0])[i * d[1]] = 0.5f;
}

TEST_CASE("a weight that a kernel fills stays row-major: only constants have memory for forms of other sizes") {
  const bool isProduct = GENERATE(true, false);
  const int64_t size = GENERATE(9, 16); // direct windows, Winograd's
  TestProgram p;
  int x = p.input("x", DType::Float32, {kBatch, 32, size, size}), w = p.input("w", DType::Float32, {32, 32, 3, 3});
  int image = p.node(conv(), {x, w});
  p.library();
  const IntList shape = isProduct ? IntList{size, size} : IntList{32, 32, 3, 3};
  int filled = p.node(OpDef::get("full").set("shape", shape).set("value", 0.5), {});
  p.kernel(fillKernel, unsigned(shape.size()));
  p.output("out", p.node(isProduct ? OpDef::get("matmul").set("transpose_y", true) : conv(), {image, filled}));
  p.library();
  TensorMeta metas[] = {f32({kBatch, 32, size, size}), f32({32, 32, 3, 3})};
  unsigned plain = 0, packed = 0;
  CHECK(runOnce(p, metas, false, plain) == runOnce(p, metas, true, packed));
  CHECK(packed == unsigned(!isProduct)); // the image between two convolutions
}

TEST_CASE("a kernel that asks for the index of an element gets row-major values") {
  TestProgram p;
  HostTensor weight = randomF32({32, 32, 3, 3}, 7);
  int64_t seedValue = 1;
  int x = p.input("x", DType::Float32, {kBatch, 32, kSize, kSize});
  int w = p.constant(weight.meta, weight.data());
  int seed = p.constant(TensorMeta(DType::Int64, {}), &seedValue);
  int first = p.node(conv(), {x, w});
  p.library();
  int dropped = p.node(OpDef::get("dropout"), {first, seed, seed});
  p.exe.values.push_back({ValueKind::Fused, DType::Bool, -1, -1, "", ""}); // the mask
  p.exe.nodes.back().results.push_back(ValueId(p.exe.values.size() - 1));
  Step &step = p.kernel(negKernel, 4);
  step.operands = {first};
  step.results = {dropped};
  p.output("out", p.node(conv(), {dropped, w}));
  p.library();
  BoundRef bound = get(p.create()->bind({f32({kBatch, 32, kSize, kSize})}));
  CHECK(bound->packedValues() == 2);
}

TEST_CASE("a constant that is multiplied by is packed into panels") {
  for (int64_t columns : {48, 50}) {
    TestProgram program;
    int x = program.input("x", DType::Float32, {20, 70});
    HostTensor weight = randomF32({columns, 70}, 3), a = randomF32({20, 70}, 1);
    int w = program.constant(weight.meta, weight.data());
    int y = program.node(OpDef::get("matmul").set("transpose_y", true), {x, w});
    program.library();
    program.output("y", y);
    std::vector<std::vector<float>> results;
    for (bool packing : {false, true}) {
      BindOptions options;
      options.packing = packing;
      BoundRef bound = get(program.create()->bind({a.meta}, options));
      CHECK(bound->packedValues() == unsigned(packing));
      std::vector<float> &out = results.emplace_back(size_t(20 * columns));
      ok(run(*bound, {a.data()}, {out.data()}));
    }
    CHECK(results[0] == results[1]);
  }
}

TEST_CASE("a constant by which two products multiply differently has panels for each") {
  TestProgram program;
  HostTensor a = convertedTo(randomF32({20, 32}, 1), DType::BFloat16);
  HostTensor weight = convertedTo(randomF32({32, 32}, 3), DType::BFloat16);
  int x = program.input("x", DType::BFloat16, {20, 32}), w = program.constant(weight.meta, weight.data());
  auto product = [&](int lhs, bool transposes) {
    return program.node(OpDef::get("matmul").set("transpose_y", transposes), {lhs, w}, ValueKind::Temp,
                        DType::BFloat16);
  };
  int y = product(x, true);
  program.library();
  program.output("z", product(y, false));
  program.library();
  std::vector<std::vector<uint16_t>> results;
  for (bool packing : {false, true}) {
    BindOptions options;
    options.packing = packing;
    BoundRef bound = get(program.create()->bind({a.meta}, options));
    CHECK(bound->packedValues() == (packing ? 2 : 0));
    std::vector<uint16_t> &out = results.emplace_back(size_t(20 * 32));
    ok(run(*bound, {a.data()}, {out.data()}));
  }
  CHECK(results[0] == results[1]);
}

TEST_CASE("a packed constant is made once for all bindings and counted in the plan") {
  Chain chain(32);
  ProgramRef program = chain.program.create();
  uint64_t own = uint64_t(chain.weight.meta.numElements()) * 4;
  CHECK(program->constantBytes() == own);
  BoundRef one = get(program->bind({f32({kBatch, 32, kSize, kSize})}));
  CHECK(one->memory().constants == 2 * own);
  BoundRef two = get(program->bind({f32({kBatch, 32, kSize, kSize})}));
  CHECK(two->memory().constants == 2 * own);
}

TEST_CASE("a held constant is read where it is, and given back once it is packed") {
  HostTensor weight = randomF32({32, 32, 3, 3}, 7);
  const size_t size = size_t(weight.meta.numElements()) * sizeof(float);
  auto held = holdCopy({static_cast<const char *>(weight.data()), size});
  for (bool isAligned : {true, false}) {
    Chain chain(32);
    ConstantDecl &decl = chain.program.exe.constants[0];
    const std::string shifted = std::string(1, ' ') + std::string(*held);
    decl.bytes.clear();
    decl.held = isAligned ? held : hold(llvm::StringRef(shifted).drop_front(), nullptr);
    const ChainResult plain = runChain(chain, false);
    checkSame(plain, runChain(chain, true));
    std::vector<llvm::StringRef> givenBack;
    ProgramOptions options = chain.program.options();
    options.giveBack = [&](llvm::StringRef bytes) { givenBack.push_back(bytes); };
    ProgramRef program = get(Program::create(chain.program.exe, std::move(options)));
    CHECK(givenBack.size() == (isAligned ? 0 : 1)); // copied, so not read again
    for (int i = 0; i < 2; ++i)
      get(program->bind({f32({kBatch, 32, kSize, kSize})}));
    CHECK(givenBack.size() == (isAligned ? 1 : 2)); // packed for both bindings
    CHECK((givenBack.front().data() == decl.held->data() && givenBack.front().size() == size));
  }
}

TEST_CASE("a library step reads row-major operands only") {
  TestProgram p;
  int x = p.input("x", DType::Float32, {2, 3}), y = p.input("y", DType::Float32, {2, 3});
  OpDef transpose = OpDef::get("transpose");
  transpose.set("pattern", IntList{1, 0});
  p.output("out", p.node(OpDef::get("matmul"), {x, p.node(transpose, {y}, ValueKind::View)}));
  p.library().location = "model.py:3";
  CHECK(messageOf(p.create()->bind({f32({2, 3}), f32({2, 3})})) ==
        "matmul: operand 1 of a step must be row-major, got f32[3, 2] with strides [1, 3] at model.py:3");
}
