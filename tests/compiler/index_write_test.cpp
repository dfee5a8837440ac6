//===- index_write_test.cpp - programs that write at indices --------------===//
#include "tests/compiler/ProgramSupport.h"

#include <catch2/catch.hpp>

using namespace tess;
using namespace tess::ir;
using namespace tess::test;

namespace {

/// A state of 5 rows with others set at indices, which go to its memory.
struct Update {
  Values x = noise(15, 1), rows = noise(6, 2);
  std::vector<int32_t> index = {-1, 1};
  std::shared_ptr<runtime::Bound> bound;

  /// `computed`: the kernel makes the indices.
  explicit Update(bool computed = false) {
    GraphBuilder b;
    auto state = b.input("x", TensorMeta(DType::Float32, {5, 3}));
    auto value = b.input("rows", TensorMeta(DType::Float32, {2, 3}));
    auto places = b.input("index", TensorMeta(DType::Int32, {2}));
    if (computed)
      places = apply(b, OpDef::get("add"), {places, places});
    OpDef op = OpDef::get("index_set").set("axes", IntList{0});
    auto written = llvm::cantFail(b.apply(op, {state, value, places}, {1, 1, 1}));
    b.output(written.front(), "updated", /*donates=*/0);
    program = llvm::cantFail(runtime::Program::create(llvm::cantFail(compiler::compile(b.finish()))));
    bound = llvm::cantFail(program->bind(
        {TensorMeta(DType::Float32, {5, 3}), TensorMeta(DType::Float32, {2, 3}), TensorMeta(DType::Int32, {2})}));
  }

  llvm::Error run() {
    return runtime::run(*bound, {x.data(), rows.data(), index.data()}, llvm::ArrayRef<void *>{x.data()});
  }

private:
  std::shared_ptr<runtime::Program> program;
};

} // namespace

TEST_CASE("a write at indices goes to the caller's memory, and copies nothing") {
  Update update;
  Values before = update.x;
  llvm::cantFail(update.run());
  for (int column = 0; column < 3; ++column) {
    before[12 + column] = update.rows[column];
    before[3 + column] = update.rows[3 + column];
  }
  CHECK(sameBits(update.x, before));
  CHECK(update.bound->launches() == 2); // one looks at the indices, the other writes
}

TEST_CASE("a wrong index leaves the caller's memory as it was") {
  for (bool computed : {false, true}) {
    Update update(computed);
    update.index = {1, 5};
    Values before = update.x;
    auto [code, text] = takeError(update.run());
    CHECK(code == ErrorCode::OutOfRange);
    CHECK(text.find(computed ? "index must be in [-5, 4], got 10" : "index must be in [-5, 4], got 5") !=
          std::string::npos);
    CHECK(sameBits(update.x, before));
    update.index = {1, 2};
    llvm::cantFail(update.run());
    CHECK(!sameBits(update.x, before));
  }
}

TEST_CASE("what a kernel writes into at indices is made where the output lies") {
  GraphBuilder b;
  auto x = b.input("x", TensorMeta(DType::Float32, {kUnknown, 3}));
  auto index = b.input("index", TensorMeta(DType::Int32, {kUnknown, 3}));
  auto rows = b.input("rows", TensorMeta(DType::Float32, {kUnknown, 3}));
  OpDef add = OpDef::get("add_along_axes").set("axes", IntList{0});
  b.output(apply(b, add, {apply(b, OpDef::get("exp"), {x}), rows, index}), "out");
  auto program = llvm::cantFail(runtime::Program::create(llvm::cantFail(compiler::compile(b.finish()))));
  TensorMeta meta(DType::Float32, {2, 3});
  auto bound = llvm::cantFail(program->bind({meta, TensorMeta(DType::Int32, {2, 3}), meta}));
  CHECK(bound->launches() == 2);
  CHECK(bound->plan().empty());
  Values zeros(6), ones(6, 1), out(6);
  std::vector<int32_t> places = {0, 1, 1, 1, 1, 0};
  llvm::cantFail(runtime::run(*bound, {zeros.data(), places.data(), ones.data()}, llvm::ArrayRef<void *>{out.data()}));
  CHECK(out == Values{2, 1, 2, 2, 3, 2});
}

TEST_CASE("what is read for its shape only is not made") {
  GraphBuilder b;
  auto x = b.input("x", TensorMeta(DType::Float32, {kUnknown, 3}));
  auto row = b.input("row", TensorMeta(DType::Float32, {3}));
  auto exp = apply(b, OpDef::get("exp"), {x});
  b.output(apply(b, OpDef::get("neg"), {apply(b, OpDef::get("broadcast_like"), {row, exp})}), "out");
  Result result = runGraph(b.finish(), {{{2, 3}, {1, 2, 3, 4, 5, 6}}, {{3}, {7, 8, 9}}});
  CHECK(result.outputs[0] == Values{-7, -8, -9, -7, -8, -9});
  CHECK(result.launches == 1);
}
