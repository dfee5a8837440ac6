//===- ColorRules.cpp - conversions of colours, as operators --------------===//
#include "ops/ForwardRules.h"
#include "ops/PixelPieces.h"
#include "ops/RuleErrors.h"
#include "ops/ShapeRules.h"

#include "llvm/ADT/StringSwitch.h"

namespace tess {

using namespace pieces;

namespace {

/// A channel of the result: what each channel counts for, and delta.
struct Channel {
  double factors[3];
  double delta = 0;
};
struct Conversion {
  int64_t channels; // of x
  llvm::ArrayRef<Channel> result;
  /// "NV12": the rows of x are those of Y, then half as many of colours, which are Y, Cr, Cb; empty: x has channels.
  llvm::StringRef planes = "";
};

} // namespace

static constexpr double kRed = 0.299, kGreen = 0.587, kBlue = 0.114, kU = 0.492, kV = 0.877;
static constexpr Channel kFirst = {{1, 0, 0}}, kSecond = {{0, 1, 0}}, kThird = {{0, 0, 1}};
static constexpr Channel kRgbToGray[] = {{{kRed, kGreen, kBlue}}}, kBgrToGray[] = {{{kBlue, kGreen, kRed}}};
static constexpr Channel kGrayToRgb[] = {kFirst, kFirst, kFirst};
static constexpr Channel kSame[] = {kFirst, kSecond, kThird}, kReversed[] = {kThird, kSecond, kFirst};
static constexpr Channel kRgbToYuv[] = {{{kRed, kGreen, kBlue}},
                                        {{-kU * kRed, -kU * kGreen, kU * (1 - kBlue)}, 1},
                                        {{kV * (1 - kRed), -kV * kGreen, -kV * kBlue}, 1}};
static constexpr Channel kYuvToRgb[] = {{{1, 0, 1.140}, -1.140}, {{1, -0.395, -0.581}, 0.976}, {{1, 2.032, 0}, -2.032}};
static constexpr Channel kRedOfCr = {{1, 1.403, 0}, -1.403}, kGreenOfBoth = {{1, -0.714, -0.344}, 1.058},
                         kBlueOfCb = {{1, 0, 1.773}, -1.773};
static constexpr Channel kYCrCbToRgb[] = {kRedOfCr, kGreenOfBoth, kBlueOfCb};
static constexpr Channel kYCrCbToBgr[] = {kBlueOfCb, kGreenOfBoth, kRedOfCr};
// Y in [16, 235], 16 being an eighth of delta.
static constexpr Channel kRedOfVideo = {{1.164, 1.596, 0}, -1.596 - 1.164 / 8},
                         kGreenOfVideo = {{1.164, -0.813, -0.391}, 0.813 + 0.391 - 1.164 / 8},
                         kBlueOfVideo = {{1.164, 0, 2.018}, -2.018 - 1.164 / 8};
static constexpr Channel kVideoToRgb[] = {kRedOfVideo, kGreenOfVideo, kBlueOfVideo};
static constexpr Channel kVideoToBgr[] = {kBlueOfVideo, kGreenOfVideo, kRedOfVideo};

/// The conversion of a mode of the record.
static Conversion conversionOf(const OpDef &op) {
  auto [colours, planes] = llvm::StringRef(op.str("mode")).rsplit('_');
  if (!planes.empty())
    return {1,
            llvm::StringSwitch<llvm::ArrayRef<Channel>>(colours)
                .Case("YUV2GRAY", kFirst)
                .Case("YUV2RGB", kYCrCbToRgb)
                .Case("YUV2BGR", kYCrCbToBgr)
                .Case("BT601_YUV2RGB", kVideoToRgb)
                .Default(kVideoToBgr),
            planes};
  return llvm::StringSwitch<Conversion>(op.str("mode"))
      .Case("RGB2GRAY", {3, kRgbToGray})
      .Case("BGR2GRAY", {3, kBgrToGray})
      .Case("RGBA2GRAY", {4, kRgbToGray})
      .Case("GRAY2RGB", {1, kGrayToRgb})
      .Cases({"RGB2BGR", "BGR2RGB"}, {3, kReversed})
      .Case("RGBA2RGB", {4, kSame})
      .Case("RGBA2BGR", {4, kReversed})
      .Case("RGB2YUV", {3, kRgbToYuv})
      .Case("YUV2RGB", {3, kYuvToRgb})
      .Case("YCrCb2RGB", {3, kYCrCbToRgb})
      .Default({3, kYCrCbToBgr});
}

namespace shapes {

llvm::Expected<Metas> cvtColor(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, llvm::ArrayRef<unsigned>) {
  if (operands[0].rank() != 4)
    return mustHold(op, "x must have rank 4", operands);
  Conversion conversion = conversionOf(op);
  Shape shape = operands[0].shape;
  if (differs(shape[3], conversion.channels))
    return mustHold(op,
                    "last axis of x must have the channels of mode (" + llvm::Twine(conversion.channels) + " of " +
                        op.str("mode") + ")",
                    operands);
  if (!conversion.planes.empty()) {
    bool hasPlanes = sizes::modulo(shape[1], 3) <= 0 && sizes::modulo(shape[2], 2) <= 0; // or it is not known
    if (!hasPlanes)
      return mustHold(op, "height of x must be a multiple of 3 and its width even for planes of colours", operands);
    shape[1] = sizes::multiply(sizes::floorDivide(shape[1], 3), 2);
  }
  shape[3] = conversion.result.size();
  return single(operands, shape);
}

} // namespace shapes

namespace forwards {

/// Y, Cr and Cb of an image in planes: every colour is that of four pixels.
static llvm::SmallVector<int, 4> ofPlanes(SubgraphBuilder &b, int x, llvm::StringRef planes) {
  const Shape shape = b.meta(x).shape;
  int64_t half = sizes::floorDivide(shape[1], 3), width = shape[2];
  int64_t rows = sizes::multiply(half, 2);
  int colours = sliceOf(b, x, 1, rows, INT64_MAX);
  if (!planes.starts_with("NV")) { // one plane after the other, not one colour after the other
    IntList apart = {shape[0], 2, half, sizes::floorDivide(width, 2)};
    colours = permuted(b, call(b, "reshape", {colours}, {{"shape", apart}}), {0, 2, 3, 1});
    colours = call(b, "reshape", {colours}, {{"shape", IntList{shape[0], half, width, 1}}});
  }
  llvm::SmallVector<int, 4> parts = {sliceOf(b, x, 1, 0, rows)};
  for (int64_t first : {1, 0}) {
    bool isSwapped = planes == "NV21" || planes == "YV12";
    int part = sliceOf(b, colours, 2, isSwapped ? 1 - first : first, INT64_MAX, 2);
    for (int64_t axis : {1, 2})
      part = call(b, "repeat", {part}, {{"repeats", int64_t(2)}, {"axis", axis}});
    parts.push_back(part);
  }
  return parts;
}

llvm::SmallVector<int, 4> cvtColor(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  Conversion conversion = conversionOf(op);
  llvm::SmallVector<int, 4> channels, parts;
  if (!conversion.planes.empty() && llvm::is_contained(b.meta(v[0]).shape, kUnknown)) {
    b.fail(
        invalidArgument(op.name() + ": sizes of x must be known for planes of colours, got " + toString(b.meta(v[0]))));
    return {-1};
  }
  if (!conversion.planes.empty())
    parts = ofPlanes(b, v[0], conversion.planes);
  int delta = constantLike(b, op.attr("delta"), v[0]);
  auto scaled = [&](int x, double factor) { return factor == 1 ? x : times(b, x, constantLike(b, factor, v[0])); };
  auto part = [&](unsigned i) { return parts.empty() ? sliceOf(b, v[0], 3, i, i + 1) : parts[i]; };
  for (const Channel &channel : conversion.result) {
    int sum = -1;
    for (unsigned i = 0; i < 3; ++i)
      if (channel.factors[i] != 0)
        sum = accumulate(b, sum, scaled(part(i), channel.factors[i]));
    channels.push_back(channel.delta == 0 ? sum : plus(b, sum, scaled(delta, channel.delta)));
  }
  if (channels.size() == 1)
    return channels;
  return {call(b, "concat", channels, {{"axis", 3}})};
}

} // namespace forwards

} // namespace tess
