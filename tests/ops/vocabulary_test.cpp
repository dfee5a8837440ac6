//===- vocabulary_test.cpp - dtypes, values, shapes, errors, promotion ---===//
#include "ops/inference/Promotion.h"
#include "ops/operator/OpDef.h"
#include "ops/vocabulary/Error.h"
#include "ops/vocabulary/Hash.h"
#include "ops/vocabulary/LruCache.h"
#include "ops/vocabulary/Quantization.h"
#include "tests/ops/Samples.h"

#include <algorithm>
#include <cmath>

using namespace tess;
using namespace tess::test;

TEST_CASE("dtypes have two names") {
  for (unsigned i = 0; i < kNumDTypes; ++i) {
    DType d = DType(i);
    CHECK(parseDType(shortName(d)) == d);
    CHECK(parseDType(numpyName(d)) == d);
  }
  CHECK(numpyName(DType::BFloat16) == "bfloat16");
  CHECK(!parseDType("float"));
  CHECK(isFloat(DType::BFloat16));
  CHECK((isInt(DType::UInt8) && isInt(DType::UInt64) && isInt(DType::Int64)));
  CHECK((isUnsignedInt(DType::UInt32) && !isUnsignedInt(DType::Int32) && !isUnsignedInt(DType::Bool)));
  CHECK(!isInt(DType::Bool));
  CHECK(byteWidth(DType::Bool) == 1);
}

TEST_CASE("attribute values keep their text") {
  std::pair<AttrValue, const char *> cases[] = {{int64_t(3), "3"},
                                                {int64_t(INT64_MIN), "-9223372036854775808"},
                                                {0.5, "0.5"},
                                                {1.0, "1.0"},
                                                {1e-5, "1e-05"},
                                                {-0.0, "-0.0"},
                                                {0.1 + 0.2, "0.30000000000000004"},
                                                {INFINITY, "inf"},
                                                {-INFINITY, "-inf"},
                                                {true, "true"},
                                                {"say \"a\\b\"\n", "\"say \\\"a\\\\b\\\"\\n\""},
                                                {IntList{1, -2}, "[1, -2]"},
                                                {IntList{}, "[]"},
                                                {DType::Float16, "f16"}};
  for (const auto &[value, text] : cases) {
    CHECK(value.toText() == text);
    AttrValue parsed = llvm::cantFail(AttrValue::parse(value.kind(), text));
    CHECK(parsed == value);
    CHECK(parsed.hash() == value.hash());
  }
  CHECK(AttrValue().toText() == "none");
  CHECK(!(AttrValue(0.0) == AttrValue(-0.0)));
  CHECK(AttrValue(NAN) == AttrValue(NAN));
  CHECK(!(AttrValue(int64_t(1)) == AttrValue(true)));
}

TEST_CASE("text that is no attribute value is refused") {
  CHECK(errorOf(AttrValue::parse(AttrKind::I64, "1.5")) == "attribute: value must be an integer, got '1.5'");
  CHECK(errorOf(AttrValue::parse(AttrKind::F64, "x")) == "attribute: value must be a number, got 'x'");
  CHECK(errorOf(AttrValue::parse(AttrKind::Bool, "1")) == "attribute: value must be true or false, got '1'");
  CHECK(errorOf(AttrValue::parse(AttrKind::Str, "a\"")) == "attribute: value must be a quoted string, got 'a\"'");
  CHECK(errorOf(AttrValue::parse(AttrKind::I64List, "[1,]")) ==
        "attribute: value must be a list of integers, got '[1,]'");
  CHECK(errorOf(AttrValue::parse(AttrKind::DType, "float")) == "attribute: value must be a dtype, got 'float'");
}

TEST_CASE("metas and layouts") {
  TensorMeta meta(DType::Float32, {2, kUnknown});
  CHECK(toString(meta) == "f32[2, ?]");
  CHECK(!meta.isStatic());
  CHECK(meta.numElements() == kUnknown);
  CHECK(TensorMeta(DType::Int8, {kUnknown, 0}).numElements() == 0);
  CHECK(TensorMeta(DType::Int8, {}).numElements() == 1);
  CHECK(contiguousStrides({2, 3, 4}) == Shape{12, 4, 1});
  CHECK(Layout::contiguous({2, 3}).isContiguous());
  CHECK(Layout{{2, 1, 3}, {3, 77, 1}, 5}.isContiguous());
  CHECK(!Layout{{2, 3}, {1, 2}, 0}.isContiguous());
  CHECK(Layout{{0, 3}, {9, 9}, 0}.isContiguous());
}

TEST_CASE("layouts and shapes broadcast from the right") {
  Layout row{{1, 3}, {7, 2}, 5};
  Layout repeated = row.broadcastTo({4, 2, 3});
  CHECK(repeated.shape == Shape{4, 2, 3});
  CHECK(repeated.strides == Shape{0, 0, 2});
  CHECK(repeated.offset == 5);
  CHECK(row.broadcastTo({1, 3}).strides == row.strides);
  CHECK(Layout{{}, {}, 1}.broadcastTo({2}).strides == Shape{0});
  CHECK(broadcastsTo({1, 3}, {4, 2, 3}));
  CHECK(broadcastsTo({kUnknown}, {3}));
  CHECK(broadcastsTo({3}, {kUnknown}));
  CHECK(!broadcastsTo({2, 3}, {3}));
  CHECK(!broadcastsTo({3}, {1}));
  Shape shape{3, 1};
  CHECK(broadcastInto(shape, {2, 1, 4}));
  CHECK(shape == Shape{2, 3, 4});
  CHECK(!broadcastInto(shape, {5}));
}

TEST_CASE("a cache drops what was used longest ago") {
  LruCache<std::string> cache(1000);
  cache.insert("a", "A", 300);
  cache.insert("b", "B", 300);
  CHECK(*cache.find(llvm::StringRef("ab").take_front()) == "A");
  cache.insert("a", "another", 1);
  CHECK(*cache.find("a") == "A");
  cache.insert("c", "C", 300);
  CHECK(!cache.find("b"));
  CHECK((*cache.find("a") == "A" && *cache.find("c") == "C"));
  cache.insert("large", "L", 2000);
  CHECK((cache.size() == 0 && cache.bytes() == 0 && cache.evictions() == 4));
  LruCache<int, uint64_t> byHash(1000);
  byHash.insert(~uint64_t(0), 1, 4);
  CHECK(*byHash.find(~uint64_t(0)) == 1);
}

TEST_CASE("errors keep code and text, foreign ones become Internal") {
  auto [code, text] = takeError(makeError(ErrorCode::OutOfRange, "a: b must hold, got c"));
  CHECK(code == ErrorCode::OutOfRange);
  CHECK(text == "a: b must hold, got c");
  auto foreign = takeError(llvm::createStringError("other"));
  CHECK(foreign.first == ErrorCode::Internal);
  CHECK(foreign.second == "other");
}

static DType promoted(llvm::ArrayRef<DType> dtypes, llvm::ArrayRef<bool> weak = {}) { return *promote(dtypes, weak); }

TEST_CASE("tensors promote by the table") {
  using enum DType;
  struct Row {
    DType a, b, result;
  } rows[] = {
      {Int32, Float32, Float32}, {Float16, Float32, Float32},  {Float16, Int32, Float32},  {Float16, BFloat16, Float32},
      {Int8, Int16, Int16},      {UInt8, Int8, Int16},         {UInt8, Int32, Int32},      {Int32, Int64, Int64},
      {Int64, Float32, Float32}, {Int64, Float64, Float64},    {Bool, Bool, Bool},         {Bool, UInt8, UInt8},
      {Bool, Float16, Float16},  {BFloat16, Float64, Float64}, {UInt16, UInt8, UInt16},    {UInt64, UInt32, UInt64},
      {UInt16, Int8, Int32},     {UInt16, Int16, Int32},       {UInt16, Int64, Int64},     {UInt32, Int8, Int64},
      {UInt32, Int32, Int64},    {UInt8, Int64, Int64},        {UInt64, Float32, Float32}, {UInt32, Float16, Float32},
      {UInt64, Bool, UInt64}};
  for (const Row &row : rows) {
    INFO(shortName(row.a).str() << " " << shortName(row.b).str());
    CHECK(promoted({row.a, row.b}) == row.result);
    CHECK(promoted({row.b, row.a}) == row.result);
  }
  CHECK(promoted({Float16}) == Float16);
  CHECK(!promote({}));
  for (DType d : {Int8, Int16, Int32, Int64}) // no integer holds both, and a float would lose digits
    CHECK((!promote({UInt64, d}) && !promote({d, UInt64})));
  CHECK(errorOf(operandDTypes(*findOp("add"), {UInt64, Int64}, {})) ==
        "add: operands must have a common dtype, got u64 and i64");
}

TEST_CASE("Python numbers are weak") {
  using enum DType;
  struct Row {
    DType tensor, number, result;
  } rows[] = {{Int32, Int32, Int32},     {Int32, Float32, Float32},   {Float16, Float32, Float16},
              {Float16, Int32, Float16}, {UInt8, Int32, UInt8},       {UInt8, Float32, Float32},
              {Bool, Int32, Float32},    {Bool, Float32, Float32},    {Bool, Bool, Bool},
              {Int8, Bool, Int8},        {Float64, Float32, Float64}, {Int64, Int32, Int64},
              {UInt64, Int32, UInt64},   {UInt16, Float32, Float32}};
  for (const Row &row : rows) {
    INFO(shortName(row.tensor).str() << " and a number like " << shortName(row.number).str());
    CHECK(promoted({row.tensor, row.number}, {false, true}) == row.result);
    CHECK(promoted({row.number, row.tensor}, {true, false}) == row.result);
  }
  CHECK(promoted({Int64, Int64}, {true, true}) == Int32);
  CHECK(promoted({Float64, Int32}, {true, true}) == Float32);
  CHECK(*promoteFloat({Int32, Int32}) == Float32);
  CHECK(*promoteFloat({Float16, Float32}, {false, true}) == Float16);
}

TEST_CASE("operands that must agree are promoted, others stay") {
  using enum DType;
  auto targets = llvm::cantFail(operandDTypes(*findOp("where"), {Bool, Int32, Float32}, {false, false, true}));
  CHECK(!targets[0]);
  CHECK(targets[1] == Float32);
  CHECK(targets[2] == Float32);
  targets = llvm::cantFail(operandDTypes(*findOp("div"), {Int32, Int32}, {}));
  CHECK(targets[0] == Float32);
  targets = llvm::cantFail(operandDTypes(*findOp("equal"), {Float16, Float16}, {}));
  CHECK(!targets[0]);
  targets = llvm::cantFail(operandDTypes(*findOp("concat"), {Int32, Float32, Int8}, {}, {3}));
  CHECK(targets[0] == Float32);
  CHECK(!targets[1]);
  CHECK(targets[2] == Float32);
}

TEST_CASE("hashes of short sequences of small numbers do not meet") {
  std::vector<uint64_t> hashes, longest = {1};
  for (int length = 1; length <= 3; ++length) {
    std::vector<uint64_t> next;
    for (uint64_t hash : longest)
      for (int64_t value = -2; value < 80; ++value)
        next.push_back(mixHash(hash, uint64_t(value)));
    llvm::append_range(hashes, next);
    longest = std::move(next);
  }
  llvm::sort(hashes);
  CHECK(llvm::adjacent_find(hashes) == hashes.end());
}
