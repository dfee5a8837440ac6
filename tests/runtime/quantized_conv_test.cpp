// Quantized convolutions against the sums of integer_conv2d and plain steps: shapes with and without tiles, and chains
// whose images have their channels side by side.
#include "runtime/run/Executor.h"
#include "tests/runtime/ConvCases.h"
#include "tests/runtime/TestProgram.h"

#include <cmath>

using namespace tess;
using namespace tess::runtime;
using namespace tess::test;

namespace {

HostTensor randomBytes(DType dtype, llvm::ArrayRef<int64_t> shape, unsigned seed) {
  HostTensor out(dtype, shape);
  std::mt19937 random(seed);
  for (int64_t i = 0, n = out.meta.numElements(); i < n; ++i)
    out.as<uint8_t>()[i] = uint8_t(random());
  return out;
}

HostTensor number(float value) { return {DType::Float32, {}, std::vector<float>{value}}; }
HostTensor integer(int32_t value) { return {DType::Int32, {}, std::vector<int32_t>{value}}; }

float rounded(float x) { return std::trunc(x + std::copysign(0x1.fffffep-2f, x)); }

OpDef quantized(const ConvCase &c) { return makeConv("quantized_conv2d", c).set("activation", std::string("relu")); }

/// x, weight and the parameters of a case whose results are int8.
std::vector<HostTensor> operandsOf(const ConvCase &c, DType dtype) {
  HostTensor scales = randomF32({c.weight[0]}, 3), bias = randomF32({c.weight[0]}, 4);
  for (int64_t i = 0; i < c.weight[0]; ++i)
    scales.as<float>()[i] = 1e-3f * (1.5f + scales.as<float>()[i]);
  return {randomBytes(dtype, c.x, 1),
          randomBytes(DType::Int8, c.weight, 2),
          number(0.02f),
          integer(7),
          scales,
          number(0.3f),
          integer(-5),
          bias};
}

/// Steps 2 to 6 on the sums of the integers.
std::vector<int8_t> expectedOf(const ConvCase &c, std::vector<HostTensor> &operands, HostTensor &residual,
                               int64_t channels) {
  CallResult sums = callKernel(makeConv("integer_conv2d", c), {operands[0], operands[1], operands[3]});
  REQUIRE(sums.error == "");
  const std::vector<int32_t> exact = sums.outputs[0].values<int32_t>();
  const int64_t plane = int64_t(exact.size()) / (c.x[0] * channels);
  std::vector<int8_t> out;
  for (size_t i = 0; i < exact.size(); ++i) {
    const int64_t channel = int64_t(i) / plane % channels;
    const float scale = 0.02f * operands[4].as<float>()[channel];
    const int32_t sum = exact[i] + int32_t(rounded(operands[7].as<float>()[channel] / scale));
    float y = float(sum) * scale;
    y = y + (float(residual.as<uint8_t>()[i]) - 100.0f) * 0.05f;
    out.push_back(int8_t(std::clamp(rounded(std::max(y, 0.0f) / 0.3f) - 5.0f, -128.0f, 127.0f)));
  }
  return out;
}

} // namespace

TEST_CASE("quantized_conv2d: the steps of the specification, with and without tiles") {
  const std::vector<ConvCase> cases = {
      {{2, 3, 5, 6}, {4, 3, 3, 3}},
      {{1, 4, 7, 7}, {6, 2, 3, 3}, {2, 1}, {1, 0}, {1, 1}, 2},
      {{2, 16, 8, 8}, {16, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 16}, // single channels
      {{1, 24, 30, 31}, {24, 1, 5, 5}, {2, 2}, {2, 2}, {1, 1}, 24},
      {{1, 5, 9, 9}, {10, 1, 3, 3}, {1, 1}, {2, 2}, {2, 2}, 5},
      {{1, 40, 9, 9}, {20, 2, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 20},
      {{1, 20, 9, 9}, {2, 20, 3, 3}, {1, 1}, {1, 1}}, // few results
      {{1, 17, 10, 11}, {19, 17, 3, 3}, {2, 2}, {1, 1}},
      {{2, 64, 14, 14}, {40, 64, 3, 3}, {1, 1}, {1, 1}},
      {{1, 16, 4, 4}, {5, 16, 3, 3}, {1, 1}, {20, 20}, {20, 20}}, // places far beyond the edges
  };
  for (DType dtype : {DType::Int8, DType::UInt8})
    for (const ConvCase &c : cases) {
      std::vector<HostTensor> operands = operandsOf(c, dtype);
      const Shape shape =
          get(makeConv("conv2d", c).infer({TensorMeta(DType::Float32, c.x), TensorMeta(DType::Float32, c.weight)}))[0]
              .shape;
      HostTensor residual = randomBytes(DType::UInt8, shape, 5);
      const std::vector<int8_t> expected = expectedOf(c, operands, residual, shape[1]);
      for (HostTensor each : {residual, number(0.05f), integer(100)})
        operands.push_back(each);
      for (unsigned threads : {1u, 3u}) {
        CallOptions options;
        options.threads = threads;
        CallResult result = callKernel(quantized(c), operands, options);
        REQUIRE(result.error == "");
        CAPTURE(dtype, threads, c.x, c.weight);
        CHECK(result.outputs[0].values<int8_t>() == expected);
      }
    }
}

namespace {

/// Three convolutions of 3 x 3, of which the last one adds what the first one gives.
struct Chain {
  TestProgram program;
  std::vector<HostTensor> operands;

  Chain(int64_t channels, int64_t groups)
      : operands(operandsOf({{2, channels, 9, 9}, {channels, channels / groups, 3, 3}}, DType::Int8)) {
    ConvCase c{{2, channels, 9, 9}, {channels, channels / groups, 3, 3}, {1, 1}, {1, 1}, {1, 1}, groups};
    int x = program.input("x", DType::Int8, {2, channels, 9, 9});
    ValueIds parameters;
    for (size_t i = 1; i < operands.size(); ++i)
      parameters.push_back(program.constant(operands[i].meta, operands[i].data()));
    auto add = [&](int image, int residual) {
      ValueIds values = {image};
      values.append(parameters.begin(), parameters.end());
      if (residual >= 0)
        values.append({residual, parameters[4], parameters[5]});
      int out = program.node(quantized(c), values, ValueKind::Temp, DType::Int8);
      program.library();
      return out;
    };
    int first = add(x, -1);
    program.output("out", add(add(first, -1), first));
  }

  std::vector<int8_t> run(bool packing, unsigned threads, unsigned &packed) {
    BindOptions options;
    options.threads = threads;
    options.packing = packing;
    BoundRef bound = get(program.create()->bind({operands[0].meta}, options));
    packed = bound->packedValues();
    std::vector<int8_t> out(size_t(operands[0].meta.numElements()));
    ok(tess::runtime::run(*bound, {operands[0].data()}, {out.data()}));
    return out;
  }
};

} // namespace

TEST_CASE("quantized convolutions hand on images with their channels side by side, with the bits of row-major ones") {
  auto [channels, groups] = GENERATE(std::pair(6, 1), std::pair(32, 1), std::pair(40, 40), std::pair(6, 3));
  const unsigned threads = GENERATE(1u, 2u);
  Chain chain(channels, groups);
  unsigned plain = 0, packed = 0;
  const std::vector<int8_t> expected = chain.run(false, threads, plain);
  CHECK(chain.run(true, threads, packed) == expected);
  CHECK(plain == 0);
  CHECK(packed == 5); // two images, and the weight of each call
}

TEST_CASE("transposed convolutions read images with their channels side by side, and a weight that is packed once") {
  const int64_t groups = GENERATE(1, 24), stride = GENERATE(1, 2);
  const unsigned threads = GENERATE(1u, 2u);
  const ConvCase c{{2, 24, 9, 9}, {24, 24, 1, 1}}, of{{2, 24, 9, 9}, {24, 24 / groups, 3, 3}, {stride, stride}, {1, 1}};
  std::vector<HostTensor> operands = operandsOf(c, DType::UInt8);
  HostTensor weight = randomBytes(DType::Int8, of.weight, 9);
  TestProgram program;
  ValueIds values = {program.input("x", DType::UInt8, {2, 24, 9, 9})};
  for (size_t i = 1; i < operands.size(); ++i)
    values.push_back(program.constant(operands[i].meta, operands[i].data()));
  const int images = program.node(quantized(c), values, ValueKind::Temp, DType::Int8);
  program.library();
  const OpDef op = makeConv("integer_conv_transpose2d", of).set("groups", groups).set("output_padding", IntList{0, 0});
  program.output("out", program.node(op, {images, program.constant(weight.meta, weight.data()), values[3]},
                                     ValueKind::Temp, DType::Int32));
  program.library();
  std::vector<std::vector<int32_t>> results;
  for (bool packing : {false, true}) {
    BindOptions options;
    options.threads = threads;
    options.packing = packing;
    BoundRef bound = get(program.create()->bind({operands[0].meta}, options));
    CHECK(bound->packedValues() == (packing ? 3 : 0)); // the images, and both weights
    const int64_t side = (9 - 1) * stride + 1;
    results.emplace_back(size_t(2 * 24 * side * side));
    ok(tess::runtime::run(*bound, {operands[0].data()}, {results.back().data()}));
  }
  CHECK(results[0] == results[1]);
}
