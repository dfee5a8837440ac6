//===- codec_test.cpp - operators as text, old and new -------------------===//
#include "tests/ops/Samples.h"

#include "ops/Builtin.h"

using namespace tess;
using namespace tess::test;

static void checkRoundTrip(const OpDef &op) {
  INFO(op.serialize());
  llvm::Expected<OpDef> parsed = OpDef::parse(op.serialize());
  std::string text = parsed ? "" : takeError(parsed.takeError()).second;
  REQUIRE(text == "");
  CHECK(parsed->isSame(op));
  CHECK(parsed->hash() == op.hash());
}

/// Another value that the attribute allows.
static AttrValue otherValue(const AttrInfo &attr) {
  switch (attr.kind) {
  case AttrKind::I64:
    return attr.hasDefault && attr.defaultValue() == AttrValue(1) ? AttrValue(2) : AttrValue(1);
  case AttrKind::F64:
    return AttrValue(0.375);
  case AttrKind::Bool:
    return AttrValue(!attr.hasDefault || !attr.defaultValue().boolean());
  case AttrKind::Str:
    return attr.cases.empty() ? AttrValue("a, {b} = \"c\"") : AttrValue(attr.cases.back());
  case AttrKind::I64List:
    return AttrValue(IntList(attr.length > 0 ? attr.length : 3, 2));
  case AttrKind::DType:
    return AttrValue(DType::Int8);
  case AttrKind::None:
  case AttrKind::Parameter:
  case AttrKind::Body:
    break;
  }
  return AttrValue();
}

TEST_CASE("every operator comes back from its text") {
  for (const OpInfo &info : allOps()) {
    OpDef op(info);
    for (const AttrInfo &attr : info.attrs)
      if (!attr.hasDefault)
        op.set(attr.name, otherValue(attr));
    checkRoundTrip(op);
    for (const AttrInfo &attr : info.attrs)
      op.set(attr.name, otherValue(attr));
    checkRoundTrip(op);
  }
  forEachSample([](const SampleCall &call) { checkRoundTrip(call.op); });
}

TEST_CASE("the text is short, and carries a version only from the second on") {
  CHECK(builtin::Softmax(-1).serialize() == "softmax{axis=-1}");
  CHECK(builtin::Add().serialize() == "add{}");
  CHECK(builtin::Conv2d().serialize() == "conv2d{strides=[1, 1], padding=[0, 0], dilation=[1, 1], groups=1}");
  CHECK(builtin::Flatten(1, 2).serialize() == "flatten@2{start_axis=1, end_axis=2}");
  CHECK(builtin::CrossEntropy().serialize() ==
        "cross_entropy{axis=1, label_smooth=0.0, with_logits=true, reduction=\"mean\"}");
}

TEST_CASE("an older version is upgraded") {
  OpDef op = llvm::cantFail(OpDef::parse("flatten{start=1, end=2}"));
  CHECK(op.isSame(builtin::Flatten(1, 2)));
  CHECK(llvm::cantFail(OpDef::parse("flatten{start=1}")).isSame(builtin::Flatten(1, -1)));
  CHECK(llvm::cantFail(OpDef::parse("flatten@1{}")).isSame(builtin::Flatten(0, -1)));
}

TEST_CASE("a new name is not an old one") {
  CHECK(errorOf(OpDef::parse("flatten@2{start=1}")) ==
        "flatten: attribute must be one of [start_axis, end_axis], got 'start'");
}

TEST_CASE("spaces and order do not matter") {
  OpDef op = llvm::cantFail(OpDef::parse(" sum{ keepdims = true ,axes=[ 1,0 ] } "));
  CHECK(op.toString() == "sum(axes=[1, 0], keepdims=true)");
}

TEST_CASE("bad text is refused with what is wrong") {
  CHECK(errorOf(OpDef::parse("softmax")) == "operator: text must be name{attribute=value, ...}, got 'softmax'");
  CHECK(errorOf(OpDef::parse("softmax{axis}")) ==
        "operator: text must be name{attribute=value, ...}, got 'softmax{axis}'");
  CHECK(errorOf(OpDef::parse("sum{axes=[1}")) ==
        "operator: text must be name{attribute=value, ...}, got 'sum{axes=[1}'");
  CHECK(errorOf(OpDef::parse("sofmax{}")) ==
        "operator: name must be known, got 'sofmax', written by a newer Tessera or damaged");
  CHECK(errorOf(OpDef::parse("softmax@9{}")) ==
        "softmax: version must be in [1, 1], got 9, written by a newer Tessera");
  CHECK(errorOf(OpDef::parse("softmax@x{}")) == "operator: text must be name{attribute=value, ...}, got 'softmax@x{}'");
  CHECK(errorOf(OpDef::parse("softmax{axis=a}")) == "softmax.axis: attribute: value must be an integer, got 'a'");
  CHECK(errorOf(OpDef::parse("softmax{dim=1}")) == "softmax: attribute must be one of [axis], got 'dim'");
  CHECK(errorOf(OpDef::parse("reshape{}")) == "reshape: attributes must all be given, got none for shape");
}

TEST_CASE("attributes from users are checked") {
  CHECK(errorOf(OpDef::make("eye", {})) == "eye: attributes must all be given, got none for n, m");
  CHECK(errorOf(OpDef::make("nothing", {})) == "operator: name must be known, got 'nothing'");
  CHECK(errorOf(OpDef::make("softmax", {{"axis", "x"}})) == "softmax: axis must be of kind int, got string \"x\"");
  CHECK(errorOf(OpDef::make("dropout", {{"p", 1.5}})) == "dropout: p must be in [0.0, 1.0], got 1.5");
  CHECK(errorOf(OpDef::make("topk", {{"k", -1}})) == "topk: k must be in [0, 1000000000], got -1");
  CHECK(errorOf(OpDef::make("cross_entropy", {{"reduction", "max"}})) ==
        "cross_entropy: reduction must be one of \"mean\", \"sum\", \"none\", got \"max\"");
  CHECK(errorOf(OpDef::make("conv2d", {{"strides", IntList{1, 2, 3}}})) ==
        "conv2d: strides must have length 2, got [1, 2, 3]");
  CHECK(errorOf(OpDef::make("conv2d", {{"strides", IntList{1, 0}}})) ==
        "conv2d: strides must be in [1, 1000000000], got [1, 0]");
}

TEST_CASE("numbers are taken where they mean the same") {
  OpDef op = llvm::cantFail(OpDef::make("conv2d", {{"strides", 2}}));
  CHECK(op.ints("strides") == IntList{2, 2});
  CHECK(llvm::cantFail(OpDef::make("clip", {{"lower", 1}})).f64("lower") == 1.0);
  CHECK(llvm::cantFail(OpDef::make("sum", {{"axes", 1}})).ints("axes") == IntList{1});
}
