#include "runtime/device/Elements.h"
#include "tests/runtime/KernelHarness.h"

#include <limits>

using namespace tess;
using namespace tess::runtime;
using namespace tess::test;

namespace {

OpDef pool(const char *name, IntList kernel, IntList strides, IntList padding, bool includePad = true) {
  OpDef op = OpDef::get(name);
  op.set("kernel_size", kernel).set("strides", strides).set("padding", padding);
  if (llvm::StringRef(name).starts_with("avg"))
    op.set("count_include_pad", includePad);
  return op;
}

struct Case {
  Shape x;
  IntList kernel, strides, padding;
};
const std::vector<Case> cases = {{{2, 3, 6, 8}, {2, 2}, {2, 2}, {0, 0}},  {{1, 2, 5, 5}, {3, 2}, {1, 1}, {1, 0}},
                                 {{1, 17, 9, 7}, {3, 3}, {2, 2}, {1, 1}}, {{1, 1, 3, 3}, {1, 1}, {2, 2}, {0, 0}},
                                 {{2, 3, 2, 97}, {1, 2}, {1, 2}, {0, 0}}, {{1, 2, 3, 70}, {1, 3}, {2, 1}, {0, 1}},
                                 {{1, 2, 3, 80}, {1, 5}, {1, 3}, {0, 2}}, {{1, 2, 1, 3}, {1, 4}, {1, 2}, {0, 2}}};

/// Calls fn(output, input or -1 for padding) for every element of every window.
template <typename Fn> void windows(const Case &c, const Shape &out, Fn &&fn) {
  for (int64_t plane = 0; plane < out[0] * out[1]; ++plane)
    for (int64_t oh = 0; oh < out[2]; ++oh)
      for (int64_t ow = 0; ow < out[3]; ++ow)
        for (int64_t kh = 0; kh < c.kernel[0]; ++kh)
          for (int64_t kw = 0; kw < c.kernel[1]; ++kw) {
            int64_t h = oh * c.strides[0] - c.padding[0] + kh, w = ow * c.strides[1] - c.padding[1] + kw;
            bool inside = h >= 0 && h < c.x[2] && w >= 0 && w < c.x[3];
            fn(size_t((plane * out[2] + oh) * out[3] + ow), inside ? (plane * c.x[2] + h) * c.x[3] + w : -1);
          }
}

HostTensor half(HostTensor from) {
  HostTensor out(DType::Float16, from.meta.shape);
  auto values = from.values<float>();
  for (size_t i = 0; i < values.size(); ++i)
    out.as<F16>()[i] = F16(values[i]);
  return out;
}

} // namespace

TEST_CASE("max_pool2d takes the largest, NaN if there is one, and never the padding") {
  for (const Case &c : cases) {
    HostTensor x = randomF32(c.x, 1);
    auto values = x.values<float>();
    for (float &v : values)
      v -= 10; // padding of 0 would win
    values[3] = NAN;
    x = HostTensor(DType::Float32, c.x, values);
    HostTensor result = callKernel(pool("max_pool2d", c.kernel, c.strides, c.padding), {x}).outputs[0];
    std::vector<float> expected(size_t(result.meta.numElements()), -std::numeric_limits<float>::infinity());
    windows(c, result.meta.shape, [&](size_t o, int64_t i) {
      if (i >= 0 && (std::isnan(values[size_t(i)]) || values[size_t(i)] > expected[o]))
        expected[o] = values[size_t(i)];
    });
    auto got = result.values<float>();
    for (size_t i = 0; i < got.size(); ++i)
      CHECK((got[i] == expected[i] || (std::isnan(got[i]) && std::isnan(expected[i]))));
  }
}

TEST_CASE("max_pool2d_backward sends each gradient to the first largest element") {
  Case c = {{1, 1, 2, 4}, {2, 2}, {2, 2}, {0, 0}};
  HostTensor x(DType::Float32, c.x, std::vector<float>{5, 1, 2, 7, 5, 5, 7, NAN});
  OpDef forward = pool("max_pool2d", c.kernel, c.strides, c.padding);
  HostTensor out = callKernel(forward, {x}).outputs[0];
  HostTensor dout(DType::Float32, {1, 1, 1, 2}, std::vector<float>{3, 4});
  HostTensor dx = callKernel(pool("max_pool2d_backward", c.kernel, c.strides, c.padding), {x, out, dout}).outputs[0];
  CHECK(dx.values<float>() == std::vector<float>{3, 0, 0, 0, 0, 0, 0, 4});
}

TEST_CASE("overlapping windows add their gradients") {
  Case c = {{1, 1, 1, 3}, {1, 2}, {1, 1}, {0, 0}};
  HostTensor x(DType::Float32, c.x, std::vector<float>{1, 9, 2});
  HostTensor out = callKernel(pool("max_pool2d", c.kernel, c.strides, c.padding), {x}).outputs[0];
  HostTensor dout(DType::Float32, {1, 1, 1, 2}, std::vector<float>{3, 4});
  HostTensor dx = callKernel(pool("max_pool2d_backward", c.kernel, c.strides, c.padding), {x, out, dout}).outputs[0];
  CHECK(dx.values<float>() == std::vector<float>{0, 7, 0});
}

TEST_CASE("avg_pool2d and its gradient, padding counted or not, by the library and by our own loops") {
  for (const Case &c : cases)
    for (bool includePad : {true, false}) {
      HostTensor x = randomF32(c.x, 1);
      OpDef op = pool("avg_pool2d", c.kernel, c.strides, c.padding, includePad);
      HostTensor result = callKernel(op, {x}).outputs[0], own = callKernel(op, {half(x)}).outputs[0];
      size_t count = size_t(result.meta.numElements());
      std::vector<double> sum(count), size(count);
      auto values = x.values<float>();
      windows(c, result.meta.shape, [&](size_t o, int64_t i) {
        sum[o] += i >= 0 ? values[size_t(i)] : 0;
        size[o] += i >= 0 || includePad;
      });
      for (size_t o = 0; o < count; ++o) {
        CHECK(result.as<float>()[o] == Approx(sum[o] / size[o]).margin(1e-6));
        CHECK(float(own.as<F16>()[o]) == Approx(sum[o] / size[o]).margin(2e-3));
      }
      HostTensor dout = randomF32(result.meta.shape, 2);
      std::vector<double> expected(values.size());
      windows(c, result.meta.shape, [&](size_t o, int64_t i) {
        if (i >= 0)
          expected[size_t(i)] += dout.as<float>()[o] / size[o];
      });
      OpDef backward = pool("avg_pool2d_backward", c.kernel, c.strides, c.padding, includePad);
      HostTensor dx = callKernel(backward, {dout, x}).outputs[0];
      HostTensor ownDx = callKernel(backward, {half(dout), half(x)}).outputs[0];
      for (size_t i = 0; i < expected.size(); ++i) {
        CHECK(dx.as<float>()[i] == Approx(expected[i]).margin(1e-6));
        CHECK(float(ownDx.as<F16>()[i]) == Approx(expected[i]).margin(4e-3));
      }
    }
}

TEST_CASE("averages along rows add in the order of the window") {
  for (const Case &c : cases) {
    if (c.kernel[0] != 1)
      continue;
    HostTensor x = randomF32(c.x, 3);
    HostTensor result = callKernel(pool("avg_pool2d", c.kernel, c.strides, c.padding), {x}).outputs[0];
    std::vector<float> sum(size_t(result.meta.numElements()));
    windows(c, result.meta.shape, [&](size_t o, int64_t i) { sum[o] += i >= 0 ? x.as<float>()[size_t(i)] : 0; });
    for (size_t o = 0; o < sum.size(); ++o)
      CHECK(result.as<float>()[o] == sum[o] / float(c.kernel[1]));
  }
}

TEST_CASE("pooling gives the same bits for 1 and 2 threads") {
  HostTensor x = randomF32({4, 32, 28, 28}, 1);
  CallOptions two;
  two.threads = 2;
  for (const char *name : {"max_pool2d", "avg_pool2d"}) {
    OpDef op = pool(name, {3, 3}, {2, 2}, {1, 1});
    CHECK(callKernel(op, {x}).outputs[0].storage == callKernel(op, {x}, two).outputs[0].storage);
  }
}

TEST_CASE("pooling of nothing is nothing") {
  for (const char *name : {"max_pool2d", "avg_pool2d"})
    CHECK(callKernel(pool(name, {2, 2}, {2, 2}, {0, 0}), {randomF32({0, 2, 4, 4}, 1)}).error == "");
}
