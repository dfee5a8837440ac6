//===- quantized_test.cpp - quantized dtypes, and operators that move them ===//
#include "ops/inference/Promotion.h"
#include "ops/inference/QuantizedMetas.h"
#include "ops/table/Builtin.h"
#include "ops/vocabulary/Quantization.h"
#include "tests/ops/Samples.h"

using namespace tess;
using namespace tess::test;
using namespace tess::builtin;

static DType dtypeOf(llvm::StringRef text) {
  std::optional<DType> dtype = parseDType(text);
  REQUIRE(dtype);
  return *dtype;
}

static std::string results(const OpDef &op, llvm::ArrayRef<TensorMeta> operands,
                           llvm::ArrayRef<unsigned> segments = {}) {
  llvm::Expected<Metas> metas = op.infer(operands, segments);
  return metas ? toString(metas->front()) : takeError(metas.takeError()).second;
}

TEST_CASE("quantized dtypes have texts") {
  for (const char *text :
       {"qint8<0.1>", "quint8<0.1:128>", "qint8_narrow<1e-05>", "qint32<3>", "quint4@2<0.5:1|2:3>"}) {
    DType dtype = dtypeOf(text);
    CHECK(shortName(dtype) == text);
    CHECK(mlirName(dtype) == ("!tess.quantized<\"" + std::string(text) + "\">"));
    CHECK(dtype == dtypeOf(text));
    CHECK(kindOf(dtype) != dtype);
    CHECK(allows(kindOf(dtype), dtype));
    CHECK(!allows(dtype, kindOf(dtype)));
    CHECK(!allows(dtypeOf("qint8<7>"), dtype));
  }
  CHECK(dtypeOf("qint8<0.10>") == dtypeOf("qint8<0.1>"));
  for (const char *text :
       {"qint8<>", "qint8<0>", "qint8<-1>", "qint8<inf>", "qint8<0.1", "qint8<0.1:3>", "quint8<0.1>", "quint8<0.1:256>",
        "qint8<0.1|0.2>", "qint8@<0.1>", "qint8@8<0.1>", "qint8@-1<0.1>", "int8<0.1>", "qint8@0<>", "qint8<0.1>x"})
    CHECK(!parseDType(text));
}

TEST_CASE("quantized dtypes have parameters") {
  const Quantization &one = *quantizationOf(dtypeOf("quint8<0.5:7>"));
  CHECK(one.scales[0] == 0.5f);
  CHECK(one.zeroPoints[0] == 7);
  CHECK(!one.isPerChannel());
  CHECK(!quantizationOf(DType::QInt8));
  CHECK(!quantizationOf(DType::Int8));
  DType channels = dtypeOf("qint4@1<0.5|0.25>");
  CHECK(isPerChannel(channels));
  CHECK(llvm::cantFail(withChannelAxis(channels, 0)) == dtypeOf("qint4@0<0.5|0.25>"));
  CHECK(byteWidth(channels) == 1);
  CHECK(storageOf(dtypeOf("qint32<1>")) == DType::Int32);
  CHECK(storageOf(DType::Float32) == DType::Float32);
}

TEST_CASE("parameters of a process are bounded") {
  Quantization channels;
  channels.axis = 0;
  channels.scales.assign(1 << 20, 0.5f);
  channels.zeroPoints.assign(1 << 20, 0);
  std::string refused;
  for (int i = 0; i < 64 && refused.empty(); ++i) {
    channels.scales[0] = float(i + 1);
    refused = errorOf(quantizedDType(DType::QInt8, channels));
  }
  CHECK(refused == "qint8: a process must have at most 1048576 quantized dtypes in 256 MiB, got one more");
}

TEST_CASE("operators that move keep a scale for the whole tensor") {
  TensorMeta x(dtypeOf("qint8<0.5>"), {2, 3});
  CHECK(results(Transpose({1, 0}), {x}) == "qint8<0.5>[3, 2]");
  CHECK(results(Concat(), {x, x}) == "qint8<0.5>[4, 3]");
  CHECK(results(Roll(1), {x}) == "qint8<0.5>[2, 3]");
  CHECK(results(Concat(), {x, TensorMeta(dtypeOf("qint8<0.25>"), {2, 3})}) ==
        "concat: operands must have one dtype, got inputs qint8<0.5>[2, 3] and inputs qint8<0.25>[2, 3]");
  CHECK(results(Neg(), {x}) == "neg: x must be a number or complex, got qint8<0.5>[2, 3]");
  CHECK(results(ZerosLike(), {x}) == "zeros_like: x must be neither quantized nor intb, got qint8<0.5>[2, 3]");
  CHECK(results(Cast(x.dtype), {TensorMeta(DType::Float32, {2})}) == "cast: dtype must be unquantized, got qint8<0.5>");
}

TEST_CASE("channels move with their axis") {
  TensorMeta x(dtypeOf("qint8@1<0.5|0.25|1>"), {kUnknown, 3, 4});
  CHECK(results(Transpose({1, 2, 0}), {x}) == "qint8@0<0.5|0.25|1>[3, 4, ?]");
  CHECK(results(SwapAxes(1, 2), {x}) == "qint8@2<0.5|0.25|1>[?, 4, 3]");
  CHECK(results(ExpandDims({1}), {x}) == "qint8@2<0.5|0.25|1>[?, 1, 3, 4]");
  CHECK(results(Reshape({-1, 3, 2, 2}), {x}) == "qint8@1<0.5|0.25|1>[?, 3, 2, 2]");
  CHECK(results(Reshape({-1}), {x}) ==
        "reshape: x must keep the axis of its channels whole and in order, got qint8@1<0.5|0.25|1>[?, 3, 4] to shape "
        "[?]; dequantize it first");
  CHECK(results(Slice({0, 0, 1}, {1, 3, 4}), {x}) == "qint8@1<0.5|0.25|1>[?, 3, 3]");
  CHECK(results(Slice({0, 1, 0}, {1, 3, 4}), {x}).find("slice: x must keep the axis of its channels") == 0);
  CHECK(results(Copy(), {x}) == "qint8@1<0.5|0.25|1>[?, 3, 4]");
  CHECK(results(Roll(1), {x}) == "qint8@1<0.5|0.25|1>[?, 3, 4]");
  CHECK(results(Roll(1, 1), {x}) ==
        "roll: x must keep the axis of its channels whole and in order, got qint8@1<0.5|0.25|1>[?, 3, 4] to shape [?, "
        "3, 4]; dequantize it first");
  CHECK(results(Stack(1), {x, x}) == "qint8@2<0.5|0.25|1>[?, 2, 3, 4]");
  CHECK(results(Stack(2), {x, x}) == "qint8@1<0.5|0.25|1>[?, 3, 2, 4]");
  CHECK(results(Split({1, 3}, -1), {x}) == "qint8@1<0.5|0.25|1>[?, 3, 1]");
  CHECK(results(Split({1, 2}, 1), {x}).find("split: x must keep the axis of its channels") == 0);
  CHECK(results(Tile({2, 1, 1}), {x}) == "qint8@1<0.5|0.25|1>[?, 3, 4]");
  CHECK(results(Tile({1, 2, 1}), {x}).find("tile: x must keep the axis of its channels") == 0);
  CHECK(results(MaskGet(), {TensorMeta(x.dtype, {2, 3, 4}), TensorMeta(DType::Bool, {2})}) ==
        "qint8@1<0.5|0.25|1>[?, 3, 4]");
  CHECK(results(MaskGet(), {TensorMeta(x.dtype, {2, 3, 4}), TensorMeta(DType::Bool, {2, 3})})
            .find("mask_get: x must keep the axis of its channels") == 0);
}

TEST_CASE("channels go by where the indexed axes stand") {
  auto picked = [](unsigned axis, IntList axes, std::initializer_list<TensorMeta> indices) {
    TensorMeta x(llvm::cantFail(withChannelAxis(dtypeOf("qint8@0<0.5|0.25|1>"), int(axis))), {3, 3, 3, 3});
    Metas operands = {x};
    operands.append(indices.begin(), indices.end());
    std::string text = results(IndexGet(std::move(axes)), operands, {1, unsigned(indices.size())});
    return text.substr(0, text.find('<'));
  };
  TensorMeta one(DType::Int32, {5}), two(DType::Int32, {5, 6});
  CHECK(picked(0, {1}, {one}) == "qint8@0");
  CHECK(picked(2, {1}, {one}) == "qint8@2");
  CHECK(picked(2, {1}, {two}) == "qint8@3");
  CHECK(picked(3, {-3, 2}, {one, one}) == "qint8@2");
  CHECK(picked(1, {0, 2}, {two, two}) == "qint8@2"); // those of the indices come first
  CHECK(picked(3, {0, 2}, {one, one}) == "qint8@2");
  CHECK(picked(1, {1}, {one}).find("index_get: x must keep the axis of its channels") == 0);
}

TEST_CASE("low-bit dtypes move, and are converted") {
  for (DType dtype : {DType::IntB1, DType::IntB2, DType::IntB4}) {
    std::string name = shortName(dtype).str();
    CHECK(parseDType(name) == dtype);
    CHECK(mlirName(dtype) == "!tess." + name);
    CHECK(storageOf(dtype) == DType::Int8);
    TensorMeta x(dtype, {2, 3});
    CHECK(results(Concat(), {x, x}) == name + "[4, 3]");
    CHECK(results(Cast(DType::Float32), {x}) == "f32[2, 3]");
    CHECK(results(Cast(dtype), {TensorMeta(DType::Float32, {2})}) == name + "[2]");
    CHECK(results(Add(), {x, x}) == "add: x must be a number or complex, got " + name + "[2, 3]");
    CHECK(results(ZerosLike(), {x}) == "zeros_like: x must be neither quantized nor intb, got " + name + "[2, 3]");
    CHECK(!promote({dtype, DType::Bool}));
  }
  CHECK(lowBitEnd(DType::IntB1) == 1);
  CHECK(lowBitEnd(DType::IntB2) == 3);
  CHECK(lowBitEnd(DType::IntB4) == 15);
}

TEST_CASE("tensors of stored integers need their scales") {
  auto check = [](TensorMeta meta) {
    llvm::Error error = checkQuantized("file", meta);
    return error ? takeError(std::move(error)).second : "";
  };
  CHECK(check({DType::Int8, {2}}) == "");
  CHECK(check({dtypeOf("qint8@0<1|2>"), {2}}) == "");
  CHECK(check({DType::QInt8, {2}}) == "file: a quantized dtype must have a scale, got qint8[2]");
  CHECK(check({dtypeOf("qint8@1<1|2>"), {2}}) ==
        "file: axis 1 must have a scale for each index, got 2 scales for shape [2]");
}
