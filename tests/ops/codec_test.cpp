//===- codec_test.cpp - operators as text, old and new -------------------===//
#include "tests/ops/Samples.h"

#include "ops/graphs/GraphPieces.h"
#include "ops/table/Builtin.h"
#include "ops/table/UpgradeStep.h"
#include "ops/table/Upgrades.h"

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
    return attr.hasDefault && defaultOf(attr) == AttrValue(1) ? AttrValue(2) : AttrValue(1);
  case AttrKind::F64:
    return AttrValue(0.375);
  case AttrKind::Bool:
    return AttrValue(!attr.hasDefault || !defaultOf(attr).boolean());
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
        "cross_entropy@2{axis=1, label_smooth=0.0, with_logits=true, reduction=\"mean\", ignore_index=-100}");
}

TEST_CASE("an older version is upgraded") {
  OpDef op = llvm::cantFail(OpDef::parse("flatten{start=1, end=2}"));
  CHECK(op.isSame(builtin::Flatten(1, 2)));
  CHECK(llvm::cantFail(OpDef::parse("flatten{start=1}")).isSame(builtin::Flatten(1, -1)));
  CHECK(llvm::cantFail(OpDef::parse("flatten@1{}")).isSame(builtin::Flatten(0, -1)));
}

TEST_CASE("an attribute of another kind is upgraded") {
  const char *const lines[] = {"1: rename along axis", "1: retype axis ints int",
                               "2: retype with_logits str bool \"raw\"=true \"probability\"=false",
                               "2: retype label_smooth int float"};
  ScopedHistory history(*findOp("cross_entropy"), {3, lines, {}});
  auto parsed = [](llvm::StringRef text) { return llvm::cantFail(OpDef::parse(text)); };
  OpDef op = parsed("cross_entropy{along=[2], label_smooth=0, with_logits=\"probability\"}");
  CHECK(op.toString() ==
        "cross_entropy(axis=2, label_smooth=0.0, with_logits=false, reduction=\"mean\", ignore_index=-100)");
  CHECK(parsed("cross_entropy@2{axis=2, with_logits=\"raw\"}").boolean("with_logits"));
  CHECK(parsed("cross_entropy@3{axis=2, label_smooth=0.5}").f64("label_smooth") == 0.5);
  CHECK(errorOf(OpDef::parse("cross_entropy{along=[1, 2]}")) ==
        "cross_entropy.axis: attribute: value must be one that version 2 has, too, got [1, 2]");
  CHECK(errorOf(OpDef::parse("cross_entropy{along=1}")) ==
        "cross_entropy.axis: attribute: value must be a list of integers, got '1'");
  CHECK(errorOf(OpDef::parse("cross_entropy@2{with_logits=\"odd\"}")) ==
        "cross_entropy.with_logits: attribute: value must be one that version 3 has, too, got \"odd\"");
  CHECK(errorOf(OpDef::parse("cross_entropy@4{}")) ==
        "cross_entropy: version must be in [1, 3], got 4, written by a newer Tessera");
}

TEST_CASE("values keep their meaning in another kind, or are refused") {
  auto become = [](const char *kinds, llvm::StringRef text) {
    std::string line = std::string("1: retype a ") + kinds;
    llvm::Expected<std::string> result = retyped(llvm::cantFail(parseUpgradeStep(line)), text);
    return result ? *result : takeError(result.takeError()).second;
  };
  CHECK(become("bool int", "true") == "1");
  CHECK(become("int bool", "0") == "false");
  CHECK(become("int bool", "2") == "attribute: value must be one that version 2 has, too, got 2");
  CHECK(become("int float", "3") == "3.0");
  CHECK(become("int float", "9007199254740993") ==
        "attribute: value must be one that version 2 has, too, got 9007199254740993");
  CHECK(become("float int", "-4.0") == "-4");
  CHECK(become("float int", "0.5") == "attribute: value must be one that version 2 has, too, got 0.5");
  CHECK(become("float int", "inf") == "attribute: value must be one that version 2 has, too, got inf");
  CHECK(become("int ints", "7") == "[7]");
  CHECK(become("ints int", "[]") == "attribute: value must be one that version 2 has, too, got []");
  CHECK(become("int ints", "none") == "none");
  CHECK(become("int str 1=\"one\" 2=\"two\"", "2") == "\"two\"");
}

TEST_CASE("a line that is no upgrade is refused") {
  for (const char *line :
       {"", "1: rename axis", "x: drop a", "1: drop", "1: drop a b", "1: retype a int int", "1: retype a int complex",
        "1: retype a str bool", "1: retype a int str one=\"1\"", "1: split a"})
    CHECK(errorOf(parseUpgradeStep(line)) ==
          std::string("upgrades: a line must be 'VERSION: rename|default|drop|retype NAME ...', got '") + line + "'");
}

/// What `mean` would have been, had its first version been a sum by default, or a product of means.
static llvm::SmallVector<int, 4> sumOf(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  return {pieces::call(b, "sum", v, {{"axes", op.attr("axes")}})};
}
static llvm::SmallVector<int, 4> squareOf(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  return {pieces::call(b, "square", {pieces::call(b, "mean", v, {{"axes", op.attr("axes")}})})};
}

TEST_CASE("a version that became several operators is a graph of them") {
  const OpInfo &mean = *findOp("mean");
  const char *const lines[] = {"1: drop power", "1: rename axis axes"};
  const Split splits[] = {{&mean, 1, "power=2", squareOf}, {&mean, 1, "power=1", sumOf}};
  ScopedHistory history(mean, {2, lines, splits});
  auto operators = [](llvm::StringRef text) {
    StoredOp stored = llvm::cantFail(parseStored(text));
    if (!stored.split)
      return stored.op.toString();
    std::string names;
    for (const Subgraph::Node &node : llvm::cantFail(splitGraph(stored, {{DType::Float32, {2, 3}}})).nodes)
      names += node.op.toString() + ";";
    return names;
  };
  CHECK(operators("mean{axis=[1], power=2}") == "mean(axes=[1], keepdims=false);square();");
  CHECK(operators("mean{axis=[1], power=1}") == "sum(axes=[1], keepdims=false);");
  CHECK(operators("mean{axis=[1], power=0}") == "mean(axes=[1], keepdims=false)");
  CHECK(operators("mean@2{axes=[1]}") == "mean(axes=[1], keepdims=false)");
  CHECK(errorOf(OpDef::parse("mean{axis=[1], power=2}")) ==
        "mean: an operator must be one here, got version 1, which is several by now: compile the file's graph again");
  StoredOp stored = llvm::cantFail(parseStored("mean{axis=[1], power=2}"));
  CHECK(errorOf(splitGraph(stored, {})) == "mean: number of operands must be 1, got 0");
  CHECK_FALSE(errorOf(splitGraph(stored, {{DType::Int8, {2, 3}}})).empty());
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
