//===- older_test.cpp - what operators of older versions become -----------===//
//
// Golden files, read as if the present versions of some of their operators had
// followed others: no released operator has changed in these ways yet.
//
//===----------------------------------------------------------------------===//
#include "compiler/ProgramFile.h"
#include "ops/graphs/GraphPieces.h"
#include "ops/table/Upgrades.h"
#include "ops/vocabulary/Error.h"
#include "tessera/Jit.h"
#include "tests/golden/ChangedFile.h"

#include <catch2/catch.hpp>

using namespace tess;
using namespace tess::runtime;

/// "softmax{axis=1}" as version 1 might have been: "softmax{ax=[1]}", which has as many bytes.
static std::string inListForm(std::string bytes) {
  const std::string now = "softmax{axis=", then = "softmax{ax=[";
  for (size_t at = bytes.find(now); at != std::string::npos; at = bytes.find(now, at + 1)) {
    size_t end = bytes.find('}', at);
    if (bytes[at - 1] != '_')
      bytes.replace(at, end - at, then + bytes.substr(at + now.size(), end - at - now.size()) + "]");
  }
  return bytes;
}

TEST_CASE("a file with an attribute of another kind opens") {
  test::ChangedFile older("tests/golden/1/softmax.tess", SectionKind::Graph, inListForm);
  const std::string want = llvm::cantFail(compiler::readGraph("tests/golden/1/softmax.tess")).toText();
  REQUIRE(want.find("tess.softmax") != std::string::npos);
  CHECK(older.graphRefusal() == "softmax: attribute must be one of [axis], got 'ax'");
  const char *const lines[] = {"1: rename ax axis", "1: retype axis ints int"};
  ScopedHistory history(*findOp("softmax"), {2, lines, {}});
  CHECK(llvm::cantFail(compiler::readGraph(older.path())).toText() == want);
}

/// relu, of float64 and by other operators.
static llvm::SmallVector<int, 4> wideRelu(SubgraphBuilder &b, const OpDef &, llvm::ArrayRef<int> v) {
  int wide = pieces::castTo(b, v[0], DType::Float64);
  return {pieces::castTo(b, pieces::call(b, "maximum", {wide, pieces::constantLike(b, AttrValue(0.0), wide)}),
                         DType::Float32)};
}

TEST_CASE("a file with an operator that became several, on values of another dtype, gives the same") {
  const std::string path = "tests/golden/1/digits.tess";
  std::vector<float> pixels(16 * 64);
  for (size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = float(i * 37 % 17) / 16;
  auto run = [&] {
    tessera::jit::Program program = tessera::jit::load(path);
    std::vector<tessera::Tensor> results = program({tessera::tensor(pixels, tessera::Shape{16, 1, 8, 8})});
    return std::pair(results[0].toVector<float>(), program.graphText());
  };
  auto [want, plain] = run();
  CHECK(plain.find("tess.maximum") == std::string::npos);
  const OpInfo &relu = *findOp("relu");
  const Split splits[] = {{&relu, 1, "", wideRelu}};
  ScopedHistory history(relu, {2, {}, splits});
  auto [got, split] = run();
  CHECK(split.find("tess.maximum") != std::string::npos);
  CHECK(split.find("tess.relu") == std::string::npos);
  CHECK(got == want);
}

TEST_CASE("code of an operator that became several is left out, and refused by name where there is no other") {
  const OpInfo &relu = *findOp("relu");
  const Split splits[] = {{&relu, 1, "", wideRelu}};
  test::ChangedFile same("tests/golden/1/digits.tess", SectionKind::Graph);
  ScopedHistory history(relu, {2, {}, splits});
  CHECK(same.codeRefusal() ==
        "executable x86-64-v3: relu: an operator must be one here, got version 1, which is several "
        "by now: compile the file's graph again");
  CHECK(tessera::jit::load(same.path(), true).graphText().find("tess.maximum") != std::string::npos);
}
