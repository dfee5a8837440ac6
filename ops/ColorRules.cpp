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

/// The conversion of a mode of the record.
static Conversion conversionOf(const OpDef &op) {
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
  shape[3] = conversion.result.size();
  return single(operands, shape);
}

} // namespace shapes

namespace forwards {

llvm::SmallVector<int, 4> cvtColor(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  llvm::SmallVector<int, 4> channels;
  int delta = constantLike(b, op.attr("delta"), v[0]);
  auto scaled = [&](int x, double factor) { return factor == 1 ? x : times(b, x, constantLike(b, factor, v[0])); };
  for (const Channel &channel : conversionOf(op).result) {
    int sum = -1;
    for (unsigned i = 0; i < 3; ++i)
      if (channel.factors[i] != 0)
        sum = accumulate(b, sum, scaled(sliceOf(b, v[0], 3, i, i + 1), channel.factors[i]));
    channels.push_back(channel.delta == 0 ? sum : plus(b, sum, scaled(delta, channel.delta)));
  }
  if (channels.size() == 1)
    return channels;
  return {call(b, "concat", channels, {{"axis", 3}})};
}

} // namespace forwards

} // namespace tess
