// What ships compiled: the classes as text, the same code as made here, no compiler at a first call.
#include "compiler/cache/ExecutableCache.h"
#include "compiler/cache/WarmSet.h"
#include "eager/classes/HostOptions.h"
#include "eager/classes/MiniGraph.h"
#include "eager/tensor/Counters.h"
#include "tests/eager/Helpers.h"

using namespace tess;
using namespace tess::eager;
using namespace tess::eager::testing;

static std::shared_ptr<const compiler::WarmSet> shipped(const std::string &level) {
  // This machine may not run the level: the container is read all the same.
  return llvm::cantFail(compiler::WarmSet::read("frontends/python/tessera/warm_set/" + level + ".tess"));
}

TEST_CASE("the text of a class is the class") {
  auto set = shipped("x86-64-v3");
  std::vector<std::string> keys = set->keys();
  REQUIRE(keys.size() > 500);
  for (const std::string &key : keys) {
    OpClass cls = llvm::cantFail(OpClass::parse(key));
    CHECK(cls.toText() == key);
  }
  CHECK(shipped("x86-64-v4")->keys() == keys);
  const char *strides = "add{} (f32[?, ?] strided, f32[?, ?] rows)";
  CHECK(llvm::cantFail(OpClass::parse(strides)).toText() == strides);
  const char *donated = "index_set{axes=[0]} (f32[?, ?] donated, f32[?], i32[?]) 1 1 1";
  CHECK(llvm::cantFail(OpClass::parse(donated)).toText() == donated);
}

TEST_CASE("a text that is no class is refused") {
  for (const char *text :
       {"", "add{}", "add{} (f32[?]", "add{} (f99[?], f32[?])", "add{} (f32[x], f32[?])", "add{} (f32, f32[?])",
        "add{} (f32[?], f32[?]) one", "add{} (f32[?] apart, f32[?])", "no{} (f32[?])"})
    CHECK(!errorOf(OpClass::parse(text)).second.empty());
  CHECK(errorOf(OpClass::parse("add{}")).second == "class: text must be operator (operands) segments, got 'add{}'");
}

static compiler::CompileOptions optionsOf(const std::string &level) {
  compiler::CompileOptions options = hostOptions();
  options.target = level;
  return options;
}

TEST_CASE("what ships is what is compiled here for its level") {
  for (const char *level : {"x86-64-v3", "x86-64-v4"}) {
    auto set = shipped(level);
    unsigned number = 0, images = 0;
    for (const std::string &key : set->keys()) {
      if (number++ % 16)
        continue; // each takes milliseconds
      runtime::Executable made = llvm::cantFail(compileClass(llvm::cantFail(OpClass::parse(key)), optionsOf(level)));
      std::optional<runtime::Executable> found = set->find(key);
      REQUIRE(found);
      REQUIRE(found->images.size() == made.images.size());
      for (auto [ours, theirs] : llvm::zip(made.images, found->images)) {
        CHECK(ours.hash == theirs.hash);
        CHECK(ours.features == theirs.features);
        ++images;
      }
    }
    CHECK(images > 30);
  }
}

TEST_CASE("a first call takes the code that shipped") {
  REQUIRE(compiler::warmSetNote().find(" classes") != std::string::npos); // opened by TESS_WARM_SET
  Counts before = counts();
  uint64_t taken = compiler::executableCacheStats().fromWarmSet;
  CHECK(values<float>(*run("add", {make<float>({1, 2}), make<float>({3, 4})})) == std::vector<float>{4, 6});
  CHECK(values<float>(*run("sum", {make<float>({1, 2, 3, 4}, {2, 2})})) == std::vector<float>{10});
  CHECK(counts()[unsigned(Count::Compilations)] == before[unsigned(Count::Compilations)]);
  CHECK(compiler::executableCacheStats().fromWarmSet - taken == 2);
}

TEST_CASE("neither numbers nor sizes are seen") {
  auto textOf = [](const OpDef &op, Metas operands) {
    return OpClass{op, std::move(operands), {}, {}}.neutral(/*sizesLater=*/true).toText();
  };
  TensorMeta x(DType::Float32, {kUnknown});
  OpDef relu = OpDef::get("leaky_relu");
  CHECK(textOf(OpDef(relu).set("negative_slope", 0.5), {x}) == textOf(OpDef(relu).set("negative_slope", 0.25), {x}));
  OpDef full = OpDef::get("full").set("value", 3.0);
  CHECK(textOf(OpDef(full).set("shape", IntList{3, 1}), {}) ==
        textOf(OpDef(full).set("shape", IntList{8, 9}).set("value", 2.0), {}));
  OpDef roll = OpDef::get("roll").set("axis", 0);
  CHECK(textOf(OpDef(roll).set("shift", 3), {x}) == textOf(OpDef(roll).set("shift", 8), {x}));
  CHECK(textOf(OpDef(full).set("shape", IntList{3}), {}) != textOf(OpDef(full).set("shape", IntList{8, 9}), {}));
}
