#include "runtime/device/Elements.h"
#include "tests/runtime/KernelHarness.h"

using namespace tess;
using namespace tess::runtime;
using namespace tess::test;

namespace {

struct Case {
  Shape x, weight;
  IntList strides = {1, 1}, padding = {0, 0}, dilation = {1, 1};
  int64_t groups = 1;
};

OpDef make(const std::string &name, const Case &c) {
  OpDef op = OpDef::get(name);
  op.set("strides", c.strides).set("padding", c.padding).set("dilation", c.dilation).set("groups", c.groups);
  return op;
}

HostTensor to(HostTensor from, DType dtype) {
  HostTensor out(dtype, from.meta.shape);
  auto values = from.values<float>();
  withType(dtype, [&](auto tag) {
    using T = decltype(tag);
    for (size_t i = 0; i < values.size(); ++i)
      out.as<T>()[i] = narrow<T>(values[i]);
  });
  return out;
}

/// Place `index` of a box, by axis.
Shape placeIn(llvm::ArrayRef<int64_t> box, int64_t index) {
  Shape place(box.size());
  for (size_t axis = box.size(); axis-- > 0; index /= box[axis])
    place[axis] = index % box[axis];
  return place;
}

int64_t countOf(llvm::ArrayRef<int64_t> box) {
  int64_t count = 1;
  for (int64_t size : box)
    count *= size;
  return count;
}

/// The element of an image plane that place `k` of window `at` covers; -1 for padding.
int64_t covered(const Case &c, llvm::ArrayRef<int64_t> plane, const Shape &at, const Shape &k) {
  int64_t element = 0;
  for (size_t axis = 0; axis < plane.size(); ++axis) {
    int64_t place = at[axis] * c.strides[axis] - c.padding[axis] + k[axis] * c.dilation[axis];
    if (place < 0 || place >= plane[axis])
      return -1;
    element = element * plane[axis] + place;
  }
  return element;
}

/// Calls fn(x offset, weight offset, out offset) for every product of a convolution.
template <typename Fn> void products(const Case &c, const Shape &out, Fn &&fn) {
  llvm::ArrayRef<int64_t> plane = llvm::ArrayRef(c.x).drop_front(2), window = llvm::ArrayRef(c.weight).drop_front(2),
                          results = llvm::ArrayRef(out).drop_front(2);
  int64_t inPerGroup = c.x[1] / c.groups, outPerGroup = out[1] / c.groups;
  for (int64_t n = 0; n < out[0]; ++n)
    for (int64_t o = 0; o < out[1]; ++o)
      for (int64_t at = 0; at < countOf(results); ++at)
        for (int64_t i = 0; i < inPerGroup; ++i)
          for (int64_t k = 0; k < countOf(window); ++k) {
            int64_t element = covered(c, plane, placeIn(results, at), placeIn(window, k));
            if (element < 0)
              continue;
            int64_t channel = o / outPerGroup * inPerGroup + i;
            fn((n * c.x[1] + channel) * countOf(plane) + element, (o * inPerGroup + i) * countOf(window) + k,
               (n * out[1] + o) * countOf(results) + at);
          }
}

const std::vector<Case> cases = {
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
    // oneDNN 2.6.3 has kernels in bfloat16 that are wrong at these: on AMX, and the last two on all of AVX-512
    {{2, 66, 7, 7}, {88, 66, 3, 3}, {1, 1}, {0, 0}, {2, 1}},
    {{1, 66, 37, 5}, {96, 66, 5, 1}, {3, 3}, {1, 0}},
    {{8, 192, 2}, {12, 48, 5}, {3}, {2}, {1}, 4},
    {{8, 96, 10, 2, 18}, {3, 96, 5, 1, 2}, {2, 1, 1}, {0, 0, 0}, {1, 3, 1}},
    {{2, 66, 23, 1}, {8, 66, 3, 3}, {1, 3}, {0, 2}, {3, 1}},
    {{8, 66, 34, 1}, {8, 66, 2, 2}, {2, 2}, {0, 1}},
};

/// "conv2d" and the like, for as many axes as the case has.
std::string named(const Case &c, const std::string &prefix, const std::string &suffix = "") {
  return prefix + std::to_string(c.x.size() - 2) + "d" + suffix;
}

/// The transposed convolution that undoes the case's shapes.
OpDef transposed(const Case &c, const Shape &out) {
  IntList outside;
  for (size_t axis = 0; axis < c.strides.size(); ++axis)
    outside.push_back(c.x[2 + axis] - ((out[2 + axis] - 1) * c.strides[axis] - 2 * c.padding[axis] +
                                       c.dilation[axis] * (c.weight[2 + axis] - 1) + 1));
  return make(named(c, "conv_transpose"), c).set("output_padding", outside);
}

} // namespace

TEST_CASE("convolutions and their gradients against double, in every dtype") {
  auto dtype = GENERATE(DType::Float32, DType::Float64, DType::Float16, DType::BFloat16);
  double tolerance = dtype == DType::BFloat16 ? 2e-2 : dtype == DType::Float16 ? 4e-3 : 1e-5;
  for (const Case &c : cases) {
    HostTensor x = to(randomF32(c.x, 1), dtype), weight = to(randomF32(c.weight, 2), dtype);
    CallResult forward = callKernel(make(named(c, "conv"), c), {x, weight});
    REQUIRE(forward.error == "");
    const Shape &shape = forward.outputs[0].meta.shape;
    HostTensor dout = to(randomF32(shape, 3), dtype);
    auto xs = asDouble(x), ws = asDouble(weight), ds = asDouble(dout);
    std::vector<double> y(ds.size()), dx(xs.size()), dw(ws.size());
    products(c, shape, [&](int64_t a, int64_t b, int64_t o) {
      y[size_t(o)] += xs[size_t(a)] * ws[size_t(b)];
      dx[size_t(a)] += ds[size_t(o)] * ws[size_t(b)];
      dw[size_t(b)] += ds[size_t(o)] * xs[size_t(a)];
    });
    checkClose(asDouble(forward.outputs[0]), y, tolerance);
    CallResult data = callKernel(make(named(c, "conv", "_backward_data"), c), {weight, dout, x});
    CallResult weights = callKernel(make(named(c, "conv", "_backward_weight"), c), {x, dout, weight});
    REQUIRE(data.error == "");
    REQUIRE(weights.error == "");
    checkClose(asDouble(data.outputs[0]), dx, tolerance);
    CallResult again = callKernel(transposed(c, shape), {dout, weight});
    REQUIRE(again.error == "");
    CHECK(again.outputs[0].storage == data.outputs[0].storage);
    checkClose(asDouble(weights.outputs[0]), dw, tolerance * 2);
  }
}

TEST_CASE("conv2d: nothing in, nothing out; nothing to sum is zero") {
  Case c = {{0, 3, 5, 5}, {4, 3, 1, 1}};
  CHECK(callKernel(make("conv2d", c), {randomF32(c.x, 1), randomF32(c.weight, 2)}).error == "");
  HostTensor dout = randomF32({0, 4, 5, 5}, 3);
  HostTensor gradient =
      callKernel(make("conv2d_backward_weight", c), {randomF32(c.x, 1), dout, randomF32(c.weight, 2)}).outputs[0];
  CHECK(gradient.values<float>() == std::vector<float>(12, 0));
}

TEST_CASE("conv2d: forward and data gradient give the same bits for 1 and 2 threads") {
  Case c = {{4, 32, 28, 28}, {48, 32, 3, 3}, {1, 1}, {1, 1}};
  HostTensor x = randomF32(c.x, 1), weight = randomF32(c.weight, 2), dout = randomF32({4, 48, 28, 28}, 3);
  CallOptions two;
  two.threads = 2;
  CallResult one = callKernel(make("conv2d", c), {x, weight}), both = callKernel(make("conv2d", c), {x, weight}, two);
  CHECK(one.implementation == both.implementation);
  CHECK(one.outputs[0].storage == both.outputs[0].storage);
  CHECK(callKernel(make("conv2d_backward_data", c), {weight, dout, x}).outputs[0].storage ==
        callKernel(make("conv2d_backward_data", c), {weight, dout, x}, two).outputs[0].storage);
}

TEST_CASE("conv2d: the bits of an image do not depend on its batch") {
  Case c = {{4, 32, 14, 14}, {32, 32, 3, 3}, {1, 1}, {1, 1}};
  HostTensor x = randomF32(c.x, 1), weight = randomF32(c.weight, 2), first(DType::Float32, {1, 32, 14, 14});
  std::memcpy(first.data(), x.data(), 32 * 14 * 14 * sizeof(float));
  HostTensor all = callKernel(make("conv2d", c), {x, weight}).outputs[0];
  HostTensor alone = callKernel(make("conv2d", c), {first, weight}).outputs[0];
  CHECK(std::memcmp(all.data(), alone.data(), 32 * 14 * 14 * sizeof(float)) == 0);
}
