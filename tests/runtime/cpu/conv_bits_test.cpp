// Convolutions by generated kernels: the bits of one order, whatever threads, level of the processor and layout.
#include "runtime/contract/Kernels.h"
#include "runtime/device/Elements.h"
#include "tests/runtime/ConvCases.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace tess;
using namespace tess::runtime;
using namespace tess::test;

namespace {

constexpr const char *kLevels[] = {"x86-64-v4+avx512bf16", "x86-64-v4", "x86-64-v3"};

const std::vector<ConvCase> cases = {
    {{1, 16, 9, 31}, {32, 16, 3, 3}, {1, 1}, {1, 1}},
    {{3, 32, 14, 15}, {16, 32, 3, 3}, {1, 1}, {1, 1}}, // images that are matrices of their own
    {{5, 32, 4, 3}, {48, 32, 3, 2}, {1, 1}, {1, 0}},   // tiles of several images
    {{2, 64, 13, 9}, {32, 32, 3, 3}, {2, 1}, {1, 2}, {1, 2}, 2},
    {{2, 48, 6, 6}, {32, 48, 1, 1}},
    {{1, 80, 5, 5}, {32, 80, 5, 5}, {3, 2}, {2, 2}}, // several chunks
    {{2, 3, 17, 40}, {16, 3, 7, 7}, {2, 2}, {3, 3}},
    {{1, 5, 12, 12}, {7, 5, 4, 4}, {1, 1}, {1, 1}},
    {{4, 16, 21}, {16, 16, 4}, {1}, {3}, {2}},
    {{1, 16, 4, 5, 6}, {32, 16, 3, 1, 2}, {2, 1, 3}, {1, 0, 1}, {1, 3, 2}},
    // channels that are in no blocks: several chunks, whole images, and such as are parts of a panel
    {{3, 1, 28, 28}, {10, 1, 5, 5}},
    {{2, 17, 14, 15}, {48, 17, 5, 5}, {1, 1}, {2, 2}},
    {{7, 9, 3, 5}, {33, 9, 3, 3}, {1, 1}, {1, 1}},
    {{2, 24, 17, 19}, {32, 12, 3, 3}, {2, 3}, {1, 2}, {1, 2}, 2},
    {{1, 6, 40}, {16, 6, 4}, {1}, {3}, {2}},
    {{2, 3, 5, 9, 8}, {20, 3, 3, 2, 3}, {2, 1, 3}, {1, 0, 2}, {1, 3, 1}},
    {{2, 64, 13, 14}, {3, 64, 3, 3}, {1, 1}, {1, 1}}, // fewer results than a panel has
    {{1, 32, 9, 9}, {8, 16, 1, 1}, {2, 2}, {0, 0}, {1, 1}, 2},
    // Depthwise ones.
    {{2, 16, 9, 13}, {16, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 16},
    {{1, 32, 30, 37}, {64, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 32},
    {{3, 17, 28, 33}, {17, 1, 5, 5}, {1, 1}, {2, 2}, {1, 1}, 17},
    {{2, 17, 29, 31}, {34, 1, 3, 3}, {2, 2}, {1, 1}, {1, 1}, 17},
    {{1, 16, 26, 40}, {48, 1, 7, 7}, {1, 1}, {3, 3}, {1, 1}, 16},
    {{1, 16, 31, 29}, {16, 1, 3, 2}, {3, 3}, {2, 1}, {2, 3}, 16},
    {{2, 32, 12, 7}, {32, 1, 3, 3}, {2, 2}, {2, 4}, {2, 2}, 32},
    {{1, 2, 27, 28}, {2, 1, 17, 19}, {1, 1}, {8, 9}, {1, 1}, 2}, // several chunks
    {{2, 32, 3}, {32, 1, 5}, {1}, {6}, {1}, 32},
    {{2, 16, 150}, {32, 1, 4}, {2}, {3}, {3}, 16},
    {{1, 3, 5000}, {3, 1, 31}, {1}, {15}, {1}, 3}, // several boxes
    {{1, 16, 200, 90}, {16, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 16},
    {{2, 6, 7, 7}, {6, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 6}, // two channels in a vector
    {{1, 10, 15, 14}, {20, 1, 5, 5}, {2, 2}, {2, 2}, {1, 1}, 10},
    {{1, 32, 9, 40}, {32, 1, 3, 3}, {2, 1}, {1, 1}, {1, 1}, 32},
    {{1, 16, 21, 20}, {16, 1, 7, 7}, {2, 2}, {3, 3}, {1, 1}, 16},
    {{1, 3, 12, 21}, {3, 1, 3, 3}, {1, 1}, {2, 2}, {2, 2}, 3},
    {{2, 16, 5, 9, 11}, {16, 1, 3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, 16},
    {{1, 16, 4, 9, 11}, {16, 1, 1, 3, 3}, {2, 1, 1}, {1, 1, 1}, {1, 1, 1}, 16}, // one place along the depth
    {{1, 17, 6, 10, 26}, {17, 1, 2, 3, 3}, {2, 1, 2}, {1, 0, 1}, {1, 2, 1}, 17},
};

/// Depthwise convolutions whose images are in one box.
const std::vector<ConvCase> depthwiseCases = {
    {{40, 16, 9, 13}, {16, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 16}, // several pieces
    {{2, 17, 28, 33}, {34, 1, 5, 5}, {1, 1}, {2, 2}, {1, 1}, 17},
    {{3, 32, 14, 14}, {32, 1, 3, 3}, {2, 2}, {1, 1}, {1, 1}, 32},
    {{2, 3, 12, 19}, {9, 1, 3, 3}, {1, 1}, {0, 2}, {1, 1}, 3}, // an odd number of results
    {{3, 5, 15, 17}, {5, 1, 3, 3}, {2, 2}, {1, 0}, {1, 1}, 5},
    {{1, 3, 300}, {3, 1, 31}, {1}, {15}, {1}, 3},
    {{2, 16, 5, 9, 11}, {16, 1, 3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, 16},
};

/// Convolutions that are products at points.
const std::vector<ConvCase> pointCases = {
    {{1, 32, 14, 14}, {64, 32, 3, 3}, {1, 1}, {1, 1}},
    {{3, 48, 17, 22}, {32, 48, 3, 3}, {1, 1}, {0, 2}},
    {{1, 304, 15, 19}, {32, 304, 3, 3}, {1, 1}, {1, 1}}, // several chunks
};

std::vector<ConvCase> allCases() {
  std::vector<ConvCase> all = cases;
  all.insert(all.end(), pointCases.begin(), pointCases.end());
  return all;
}

/// Elements of an image in blocks of 16 channels, or row-major again.
std::vector<char> reordered(const HostTensor &from, bool toBlocks) {
  const TensorMeta &meta = from.meta;
  const size_t width = byteWidth(meta.dtype), channels = size_t(meta.shape[1]);
  const size_t plane = size_t(meta.numElements()) / size_t(meta.shape[0]) / channels;
  std::vector<char> out(from.storage.size());
  for (size_t image = 0, at = 0; image < size_t(meta.shape[0]); ++image)
    for (size_t c = 0; c < channels; ++c)
      for (size_t i = 0; i < plane; ++i, ++at) {
        const size_t blocked = ((image * channels / 16 + c / 16) * plane + i) * 16 + c % 16;
        std::memcpy(&out[(toBlocks ? blocked : at) * width], &from.storage[(toBlocks ? at : blocked) * width], width);
      }
  return out;
}

/// A call with its operands in the packings that the kernel asks for where `mask` has their bit: an image, a weight
/// in panels, the result.
HostTensor packedCall(const OpDef &op, HostTensor x, HostTensor weight, unsigned mask) {
  const KernelDef *def = findKernel(hostDevice().kernels(), op.info().kernel);
  Metas inputs = {x.meta, weight.meta}, results = get(op.infer(inputs));
  PrepareRequest request{op, inputs, results};
  request.threads = 2;
  PreparedRef plain = get(prepareKernel(hostDevice().kernels(), request));
  std::vector<std::string> packings = {mask & 1 ? plain->inputPacking(0).text : "",
                                       mask & 2 ? plain->inputPacking(1).text : ""};
  const std::string result = mask & 4 ? plain->outputPacking().text : "";
  std::vector<char> panels(std::max(plain->inputPacking(1).constantBytes, weight.storage.size()) + 64),
      image(x.storage.size());
  void *operands[] = {x.data(), weight.data()};
  if (!packings[0].empty()) {
    ok(def->pack(request, 0, packings[0], x.data(), image.data()));
    CHECK(image == reordered(x, true));
    operands[0] = image.data();
  }
  if (!packings[1].empty()) {
    operands[1] = reinterpret_cast<void *>(llvm::alignTo(reinterpret_cast<uintptr_t>(panels.data()), 64));
    ok(def->pack(request, 1, packings[1], weight.data(), operands[1]));
  }
  request.inputPackings = packings;
  request.outputPacking = result;
  PreparedRef kernel = get(prepareKernel(hostDevice().kernels(), request));
  HostTensor out(results[0].dtype, results[0].shape);
  RunContext context;
  CHECK(runPrepared(*kernel, context, operands, {out.data()}) == "");
  if (!result.empty())
    out.storage = reordered(out, false);
  return out;
}

bool equalBits(const HostTensor &a, const HostTensor &b) {
  return a.storage.size() == b.storage.size() &&
         !std::memcmp(a.storage.data(), b.storage.data(), size_t(a.meta.numElements()) * byteWidth(a.meta.dtype));
}

/// Calls fn(channel, place) for the products of a result in their order: places before channels where these are in
/// blocks of 16, for results that fill one; else channels before places, as in the weight.
template <typename Fn> void visitProducts(const ConvCase &c, Fn &&fn) {
  const int64_t channels = c.weight[1], places = countOf(llvm::ArrayRef(c.weight).drop_front(2));
  const bool byPlaces = channels % 16 == 0 && c.weight[0] / c.groups >= 16;
  for (int64_t number = 0; number < channels * places; ++number)
    byPlaces ? fn(number % channels, number / channels) : fn(number / places, number % places);
}

/// One element of a convolution of float32: chunks of 256 products in their order. Chunks of depthwise ones are added
/// in float64.
float elementOf(const ConvCase &c, const float *x, const float *weight, int64_t image, int64_t channel,
                const Shape &at) {
  const int64_t perGroup = c.weight[1], group = channel / (c.weight[0] / c.groups);
  llvm::ArrayRef<int64_t> plane = llvm::ArrayRef(c.x).drop_front(2), window = llvm::ArrayRef(c.weight).drop_front(2);
  const bool isDepthwise = c.groups > 1 && perGroup == 1;
  float sum = 0;
  double total = 0;
  auto addSum = [&] { total = isDepthwise ? total + sum : double(float(total) + sum); };
  int64_t number = 0;
  visitProducts(c, [&](int64_t i, int64_t k) {
    if (number && number % kContractLines == 0) {
      addSum();
      sum = 0;
    }
    ++number;
    const int64_t element = covered(c, plane, at, placeIn(window, k));
    const float value = element < 0 ? 0 : x[(image * c.x[1] + group * perGroup + i) * countOf(plane) + element];
    sum = std::fma(value, weight[(channel * perGroup + i) * countOf(window) + k], sum);
  });
  if (number > kContractLines)
    addSum();
  return number > kContractLines ? float(total) : sum;
}

/// One element of the gradient of a depthwise weight of float32, whose images are in one box: lanes of 8, by images,
/// columns of vectors and rows, over pieces of whole images with at most 256 vectors.
float weightOf(const ConvCase &c, const Shape &shape, const float *x, const float *dout, int64_t channel,
               int64_t place) {
  llvm::ArrayRef<int64_t> plane = llvm::ArrayRef(c.x).drop_front(2), window = llvm::ArrayRef(c.weight).drop_front(2),
                          results = llvm::ArrayRef(shape).drop_front(2);
  const int64_t width = results.back(), rows = countOf(results) / width, columns = (width + 7) / 8;
  const int64_t images = std::max<int64_t>(1, 256 / (rows * columns)), from = channel / (shape[1] / c.x[1]);
  float lanes[8] = {};
  double total = 0;
  for (int64_t image = 0; image < shape[0]; ++image) {
    for (int64_t column = 0; column < columns * 8; column += 8)
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t at = column; at < std::min(column + 8, width); ++at) {
          const int64_t result = row * width + at;
          const int64_t element = covered(c, plane, placeIn(results, result), placeIn(window, place));
          const float value = element < 0 ? 0 : x[(image * c.x[1] + from) * countOf(plane) + element];
          float &lane = lanes[at - column];
          lane = std::fma(value, dout[(image * shape[1] + channel) * rows * width + result], lane);
        }
    if ((image + 1) % images && image + 1 < shape[0])
      continue;
    for (int64_t half : {4, 2, 1})
      for (int64_t i = 0; i < half; ++i)
        lanes[i] += lanes[i + half];
    total += lanes[0];
    std::fill_n(lanes, 8, 0.0f);
  }
  return float(total);
}

HostTensor expected(const ConvCase &c, const TensorMeta &meta, HostTensor x, HostTensor weight) {
  HostTensor out(meta.dtype, meta.shape);
  llvm::ArrayRef<int64_t> results = llvm::ArrayRef(meta.shape).drop_front(2);
  const int64_t plane = countOf(results);
  for (int64_t i = 0; i < meta.numElements(); ++i)
    out.as<float>()[i] = elementOf(c, x.as<float>(), weight.as<float>(), i / plane / meta.shape[1],
                                   i / plane % meta.shape[1], placeIn(results, i % plane));
  return out;
}

} // namespace

TEST_CASE("convolutions have the bits of chunks of multiply-adds in order") {
  for (const ConvCase &c : cases) {
    HostTensor x = randomF32(c.x, 1), weight = randomF32(c.weight, 2);
    CallResult result = callKernel(makeConv(namedConv(c, "conv"), c), {x, weight});
    REQUIRE(result.error == "");
    CHECK(equalBits(result.outputs[0], expected(c, result.outputs[0].meta, x, weight)));
  }
}

TEST_CASE("the layout of images and weights decides no bit") {
  auto dtype = GENERATE(DType::Float32, DType::Float64, DType::Float16, DType::BFloat16);
  for (const ConvCase &c : allCases()) {
    OpDef op = makeConv(namedConv(c, "conv"), c);
    HostTensor x = convertedTo(randomF32(c.x, 1), dtype), weight = convertedTo(randomF32(c.weight, 2), dtype);
    HostTensor plain = packedCall(op, x, weight, 0);
    for (unsigned mask = 1; mask < 8; ++mask)
      CHECK(equalBits(packedCall(op, x, weight, mask), plain));
    // The transposed convolution of the result gives an image of the first shape.
    OpDef back = transposedConv(c, plain.meta.shape);
    HostTensor image = packedCall(back, plain, weight, 0);
    for (unsigned mask = 1; mask < 8; ++mask)
      CHECK(equalBits(packedCall(back, plain, weight, mask), image));
  }
}

TEST_CASE("threads and the level of the processor decide no bit of convolutions and their gradients") {
  auto dtype = GENERATE(DType::Float32, DType::Float64, DType::Float16, DType::BFloat16);
  const std::string before = contract::highestLevel().str();
  const uint64_t limit = preparedCacheStats().limit;
  for (const ConvCase &c : allCases()) {
    HostTensor x = convertedTo(randomF32(c.x, 1), dtype), weight = convertedTo(randomF32(c.weight, 2), dtype), first[3];
    for (const char *level : kLevels)
      for (unsigned threads : {1u, 2u, 3u}) {
        llvm::cantFail(contract::limitLevel(level));
        setPreparedCacheLimit(0); // kernels keep the level that they were prepared for
        CallOptions options;
        options.threads = threads;
        HostTensor y = callKernel(makeConv(namedConv(c, "conv"), c), {x, weight}, options).outputs[0];
        HostTensor all[] = {
            y, callKernel(makeConv(namedConv(c, "conv", "_backward_data"), c), {weight, y, x}, options).outputs[0],
            callKernel(makeConv(namedConv(c, "conv", "_backward_weight"), c), {x, y, weight}, options).outputs[0]};
        for (unsigned i = 0; i < 3; ++i) {
          if (first[i].storage.empty())
            first[i] = all[i];
          CHECK(equalBits(all[i], first[i]));
        }
      }
  }
  llvm::cantFail(contract::limitLevel(before));
  setPreparedCacheLimit(limit);
}

TEST_CASE("an image has the bits of its own in any batch, by products at points, too") {
  for (const ConvCase &c : pointCases) {
    ConvCase many = c;
    many.x[0] = 5;
    HostTensor x = randomF32(many.x, 1), weight = randomF32(c.weight, 2), last(DType::Float32, c.x);
    last.meta.shape[0] = 1;
    const size_t bytes = size_t(last.meta.numElements()) * sizeof(float);
    std::memcpy(last.data(), x.storage.data() + 4 * bytes, bytes);
    CallResult all = callKernel(makeConv("conv2d", many), {x, weight}),
               alone = callKernel(makeConv("conv2d", c), {last, weight});
    CHECK(all.implementation == "own:winograd");
    const size_t results = size_t(alone.outputs[0].meta.numElements()) * sizeof(float);
    CHECK(!std::memcmp(all.outputs[0].storage.data() + 4 * results, alone.outputs[0].data(), results));
  }
}

TEST_CASE("a setting has windows of 3 x 3 summed directly, in all of their operators") {
  CallOptions direct, named;
  direct.settings.winograd = false;
  named.implementation = "own:window";
  for (const ConvCase &c : pointCases) {
    HostTensor x = randomF32(c.x, 1), weight = randomF32(c.weight, 2);
    HostTensor y = callKernel(makeConv("conv2d", c), {x, weight}).outputs[0], turned = randomF32(c.weight, 3);
    turned.meta.shape = {c.weight[1], c.weight[0], 3, 3};
    const std::pair<const char *, std::vector<HostTensor>> calls[] = {
        {"conv2d", {x, weight}}, {"conv2d_backward_data", {weight, y, x}}, {"conv_transpose2d", {x, turned}}};
    for (const auto &[name, operands] : calls) {
      OpDef op = makeConv(name, c);
      CallResult at = callKernel(op, operands), off = callKernel(op, operands, direct);
      CHECK(at.implementation == "own:winograd");
      CHECK(off.implementation == "own:window");
      CHECK(!equalBits(at.outputs[0], off.outputs[0]));
      CHECK(equalBits(off.outputs[0], callKernel(op, operands, named).outputs[0]));
    }
  }
}

TEST_CASE("gradients of depthwise weights have the bits of lanes over pieces") {
  for (const ConvCase &c : depthwiseCases) {
    HostTensor x = randomF32(c.x, 1), weight = randomF32(c.weight, 2);
    HostTensor y = callKernel(makeConv(namedConv(c, "conv"), c), {x, weight}).outputs[0];
    CallResult result = callKernel(makeConv(namedConv(c, "conv", "_backward_weight"), c), {x, y, weight});
    CHECK(result.implementation == "own:depthwise");
    HostTensor expected(DType::Float32, c.weight);
    const int64_t window = countOf(c.weight) / c.weight[0];
    for (int64_t i = 0; i < expected.meta.numElements(); ++i)
      expected.as<float>()[i] = weightOf(c, y.meta.shape, x.as<float>(), y.as<float>(), i / window, i % window);
    CHECK(equalBits(result.outputs[0], expected));
  }
}

TEST_CASE("a NaN reaches the results of the windows that have it, and no others") {
  for (const ConvCase &c : depthwiseCases) {
    HostTensor x = randomF32(c.x, 1), weight = randomF32(c.weight, 2);
    weight.as<float>()[0] = std::nanf("");
    x.as<float>()[countOf(c.x) - 1] = std::nanf("");
    OpDef op = makeConv(namedConv(c, "conv"), c);
    CallResult forward = callKernel(op, {x, weight});
    CHECK(forward.implementation == "own:depthwise");
    const TensorMeta &meta = forward.outputs[0].meta;
    HostTensor dout = randomF32(meta.shape, 3), wanted = expected(c, meta, x, weight);
    const std::vector<float> blocked = packedCall(op, x, weight, 5).values<float>();
    for (size_t i = 0; i < blocked.size(); ++i) {
      CHECK(std::isnan(forward.outputs[0].as<float>()[i]) == std::isnan(wanted.as<float>()[i]));
      CHECK(std::isnan(blocked[i]) == std::isnan(wanted.as<float>()[i]));
    }
    const std::vector<float> gradient =
        callKernel(makeConv(namedConv(c, "conv", "_backward_weight"), c), {x, dout, weight}).outputs[0].values<float>();
    const size_t window = size_t(countOf(c.weight) / c.weight[0]);
    for (size_t i = 0; i < gradient.size(); ++i)
      CHECK(std::isnan(gradient[i]) == std::isnan(weightOf(c, meta.shape, x.as<float>(), dout.as<float>(),
                                                           int64_t(i / window), int64_t(i % window))));
  }
}
