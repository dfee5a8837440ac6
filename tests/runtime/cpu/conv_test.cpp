#include "tests/runtime/ConvCases.h"

using namespace tess;
using namespace tess::runtime;
using namespace tess::test;

namespace {

const std::vector<ConvCase> cases = {
    {{2, 3, 5, 6}, {4, 3, 3, 3}},
    {{1, 1, 1, 1}, {1, 1, 1, 1}},
    {{2, 3, 5, 6}, {4, 3, 3, 2}, {1, 1}, {1, 1}},
    {{1, 4, 7, 7}, {6, 2, 3, 3}, {2, 1}, {1, 0}, {1, 1}, 2},
    {{1, 2, 9, 9}, {2, 1, 3, 3}, {1, 1}, {0, 0}, {2, 3}, 2},
    {{2, 16, 8, 8}, {16, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 16},
    {{1, 17, 10, 11}, {19, 17, 3, 3}, {2, 2}, {1, 1}},
    {{1, 3, 20, 20}, {8, 3, 7, 7}, {2, 2}, {3, 3}},
    {{4, 8, 6, 6}, {8, 8, 1, 1}, {2, 2}}, // the last row and column belong to no window
    {{2, 3, 9}, {4, 3, 3}, {1}, {0}, {1}},
    {{1, 4, 11}, {6, 2, 3}, {2}, {1}, {2}, 2},
    {{2, 2, 3, 4, 5}, {3, 2, 2, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}},
    {{1, 16, 4, 5, 6}, {16, 8, 3, 1, 2}, {2, 1, 3}, {1, 0, 1}, {1, 3, 2}, 2},
    // as products at points
    {{2, 32, 15, 18}, {48, 32, 3, 3}, {1, 1}, {1, 1}},
    {{1, 288, 17, 14}, {32, 288, 3, 3}, {1, 1}, {0, 3}},
    {{5, 1, 28, 28}, {10, 1, 5, 5}},
    {{2, 3, 31, 30}, {24, 3, 7, 7}, {2, 2}, {3, 3}},
    {{3, 34, 5, 6}, {20, 17, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 2},
    {{2, 32, 12, 15}, {3, 32, 3, 3}, {3, 2}, {1, 1}},
    {{1, 17, 970}, {3, 17, 965}, {1}, {0}, {1}},                      // more than 64 chunks
    {{1, 3, 4, 4}, {5, 3, 3, 3}, {1, 1}, {2000, 2000}, {2000, 2000}}, // places far beyond the edges
    // oneDNN 2.6.3 has kernels in bfloat16 that are wrong at these: on AMX, and the last two on all of AVX-512
    {{2, 66, 7, 7}, {88, 66, 3, 3}, {1, 1}, {0, 0}, {2, 1}},
    {{1, 66, 37, 5}, {96, 66, 5, 1}, {3, 3}, {1, 0}},
    {{8, 192, 2}, {12, 48, 5}, {3}, {2}, {1}, 4},
    {{8, 96, 10, 2, 18}, {3, 96, 5, 1, 2}, {2, 1, 1}, {0, 0, 0}, {1, 3, 1}},
    {{2, 66, 23, 1}, {8, 66, 3, 3}, {1, 3}, {0, 2}, {3, 1}},
    {{8, 66, 34, 1}, {8, 66, 2, 2}, {2, 2}, {0, 1}},
};

} // namespace

static double tolerances(DType dtype) {
  return dtype == DType::BFloat16 ? 2e-2 : dtype == DType::Float16 ? 4e-3 : 1e-5;
}

TEST_CASE("convolutions and their gradients against double, in every dtype") {
  auto dtype = GENERATE(DType::Float32, DType::Float64, DType::Float16, DType::BFloat16);
  for (const ConvCase &c : cases) {
    HostTensor x = convertedTo(randomF32(c.x, 1), dtype), weight = convertedTo(randomF32(c.weight, 2), dtype);
    CallResult forward = callKernel(makeConv(namedConv(c, "conv"), c), {x, weight});
    REQUIRE(forward.error == "");
    // Products at points are off by 1e-5 of results of unit variance at most, whatever an element is; terms have a
    // variance of a ninth.
    const double terms = double(countOf(c.weight)) / double(c.weight[0]);
    const bool isAtPoints = forward.implementation == "own:winograd";
    const double tolerance = tolerances(dtype) * (isAtPoints ? std::max(1.0, std::sqrt(terms) / 3) : 1);
    const Shape &shape = forward.outputs[0].meta.shape;
    HostTensor dout = convertedTo(randomF32(shape, 3), dtype);
    auto xs = asDouble(x), ws = asDouble(weight), ds = asDouble(dout);
    std::vector<double> y(ds.size()), dx(xs.size()), dw(ws.size());
    products(c, shape, [&](int64_t a, int64_t b, int64_t o) {
      y[size_t(o)] += xs[size_t(a)] * ws[size_t(b)];
      dx[size_t(a)] += ds[size_t(o)] * ws[size_t(b)];
      dw[size_t(b)] += ds[size_t(o)] * xs[size_t(a)];
    });
    checkClose(asDouble(forward.outputs[0]), y, tolerance);
    CallResult data = callKernel(makeConv(namedConv(c, "conv", "_backward_data"), c), {weight, dout, x});
    CallResult weights = callKernel(makeConv(namedConv(c, "conv", "_backward_weight"), c), {x, dout, weight});
    REQUIRE(data.error == "");
    REQUIRE(weights.error == "");
    checkClose(asDouble(data.outputs[0]), dx, tolerance);
    CallResult again = callKernel(transposedConv(c, shape), {dout, weight});
    REQUIRE(again.error == "");
    CHECK(again.outputs[0].storage == data.outputs[0].storage);
    checkClose(asDouble(weights.outputs[0]), dw, tolerance * 2);
  }
}

TEST_CASE("conv2d: nothing in, nothing out; nothing to sum is zero") {
  ConvCase c = {{0, 3, 5, 5}, {4, 3, 1, 1}};
  CHECK(callKernel(makeConv("conv2d", c), {randomF32(c.x, 1), randomF32(c.weight, 2)}).error == "");
  HostTensor dout = randomF32({0, 4, 5, 5}, 3);
  HostTensor gradient =
      callKernel(makeConv("conv2d_backward_weight", c), {randomF32(c.x, 1), dout, randomF32(c.weight, 2)}).outputs[0];
  CHECK(gradient.values<float>() == std::vector<float>(12, 0));
}

TEST_CASE("conv2d: results and gradients have the same bits for 1 and 2 threads") {
  const ConvCase c = GENERATE(ConvCase{{4, 32, 28, 28}, {48, 32, 3, 3}, {1, 1}, {1, 1}},
                              ConvCase{{1, 3, 97, 101}, {40, 3, 7, 7}, {2, 2}, {3, 3}}, // threads share one image
                              ConvCase{{40, 6, 14, 14}, {16, 6, 5, 5}},
                              ConvCase{{40, 20, 7, 7}, {24, 10, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 2});
  auto dtype = GENERATE(DType::Float32, DType::Float16, DType::BFloat16);
  HostTensor x = convertedTo(randomF32(c.x, 1), dtype), weight = convertedTo(randomF32(c.weight, 2), dtype);
  CallOptions two;
  two.threads = 2;
  CallResult one = callKernel(makeConv("conv2d", c), {x, weight}),
             both = callKernel(makeConv("conv2d", c), {x, weight}, two);
  CHECK(one.implementation == both.implementation);
  CHECK(one.outputs[0].storage == both.outputs[0].storage);
  HostTensor dout = one.outputs[0];
  CHECK(callKernel(makeConv("conv2d_backward_data", c), {weight, dout, x}).outputs[0].storage ==
        callKernel(makeConv("conv2d_backward_data", c), {weight, dout, x}, two).outputs[0].storage);
  CHECK(callKernel(makeConv("conv2d_backward_weight", c), {x, dout, weight}).outputs[0].storage ==
        callKernel(makeConv("conv2d_backward_weight", c), {x, dout, weight}, two).outputs[0].storage);
}

TEST_CASE("conv2d: the bits of an image do not depend on its batch") {
  const ConvCase c = GENERATE(ConvCase{{4, 32, 14, 14}, {32, 32, 3, 3}, {1, 1}, {1, 1}},
                              ConvCase{{4, 9, 14, 14}, {32, 9, 3, 3}, {1, 1}, {1, 1}},
                              ConvCase{{4, 5, 7, 7}, {8, 5, 3, 3}, {1, 1}, {1, 1}});
  HostTensor x = randomF32(c.x, 1), weight = randomF32(c.weight, 2);
  HostTensor first(DType::Float32, {1, c.x[1], c.x[2], c.x[3]});
  std::memcpy(first.data(), x.data(), size_t(first.meta.numElements()) * sizeof(float));
  HostTensor all = callKernel(makeConv("conv2d", c), {x, weight}).outputs[0];
  HostTensor alone = callKernel(makeConv("conv2d", c), {first, weight}).outputs[0];
  CHECK(std::memcmp(all.data(), alone.data(), size_t(alone.meta.numElements()) * sizeof(float)) == 0);
}

TEST_CASE("conv2d: windows of one element with many results stay row-major") {
  for (auto [side, packing] : {std::pair(45, "channels16"), std::pair(46, "")}) { // 2025 and 2116 results
    const ConvCase c = {{1, 16, side, side}, {32, 16, 1, 1}};
    OpDef op = makeConv("conv2d", c);
    Metas inputs = {TensorMeta(DType::Float32, c.x), TensorMeta(DType::Float32, c.weight)};
    Metas results = get(op.infer(inputs));
    PreparedRef kernel = get(prepareKernel(hostDevice().kernels(), PrepareRequest{op, inputs, results}));
    CHECK(kernel->implementation() == "own:window");
    CHECK(kernel->inputPacking(0).text == packing);
    CHECK(kernel->outputPacking().text == packing);
  }
}
