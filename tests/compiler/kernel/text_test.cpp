//===- kernel_text_test.cpp - kernels as text -----------------------------===//
//
// Every spec that another kernel test compiles goes through its text there; here
// are the forms that none has, and texts that are no kernel.
//
//===----------------------------------------------------------------------===//
#include "compiler/kernel/KernelSpec.h"
#include "ops/vocabulary/Error.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace tess;
using namespace tess::compiler;

namespace {

std::string messageOf(llvm::StringRef text) {
  llvm::Expected<KernelSpec> spec = KernelSpec::parse(text);
  return spec ? "parsed" : takeError(spec.takeError()).second;
}

const std::string kHeader = "kernel parallel=1 reduced=0 lanes=parallel attrs=0\n";

} // namespace

TEST_CASE("spaces and empty lines mean nothing") {
  llvm::Expected<KernelSpec> spec = KernelSpec::parse("\n  kernel  parallel=2 reduced=1\tlanes=reduced attrs=3 \n\n"
                                                      "o0 =  output i64  strided\n n0 = dimindex 2 : i64 \n"
                                                      "n1 = attr int 2 : i64\nstore n1 o0");
  REQUIRE(bool(spec));
  CHECK(spec->toText() == "kernel parallel=2 reduced=1 lanes=reduced attrs=3\no0 = output i64 strided\n"
                          "n0 = dimindex 2 : i64\nn1 = attr int 2 : i64\nstore n1 o0\n");
}

TEST_CASE("scans and their order are words of the text") {
  const std::string text = "kernel parallel=0 reduced=1 lanes=reduced order=backward attrs=0\n"
                           "o0 = input f32 contiguous varies\no1 = output f32 contiguous varies\nn0 = load o0 : f32\n"
                           "n1 = scan logaddexp n0 : f32\nn2 = scan add exclusive n1 n0 : f32\nstore n2 o1\n";
  llvm::Expected<KernelSpec> spec = KernelSpec::parse(text);
  REQUIRE(bool(spec));
  CHECK(spec->toText() == text);
}

TEST_CASE("constants keep their bits") {
  for (double value : {0.0, -0.0, 0.1, -1e300, 5e-324, 16777217.0, HUGE_VAL, -HUGE_VAL, std::nan("7")}) {
    KernelSpec spec;
    spec.nodes.push_back({NodeKind::Const, DType::Float64});
    spec.nodes.back().constant = value;
    llvm::Expected<KernelSpec> parsed = KernelSpec::parse(spec.toText());
    REQUIRE(bool(parsed));
    CHECK(llvm::bit_cast<uint64_t>(parsed->nodes[0].constant) == llvm::bit_cast<uint64_t>(value));
  }
}

TEST_CASE("what is no kernel is refused by its line") {
  CHECK(messageOf("") == "kernel: line 0 must have kernel, got its end");
  CHECK(messageOf("kernel parallel=300") == "kernel: line 1 must have parallel=<number>, got parallel=300");
  CHECK(messageOf("kernel parallel=1 reduced=0 lanes=both") ==
        "kernel: line 1 must have lanes=parallel or lanes=reduced, got lanes=both");
  auto second = [](const std::string &line) { return messageOf(kHeader + line); };
  CHECK(second("load n1") == "kernel: line 2 must have a bound, an operand, a node or a store, got load n1");
  CHECK(second("o1 = input f32 contiguous") ==
        "kernel: line 2 must have operands in order, got = input f32 contiguous");
  CHECK(second("o0 = input f9 contiguous") == "kernel: line 2 must have a dtype, got f9 contiguous");
  CHECK(second("o0 = input f32 near") ==
        "kernel: line 2 must have contiguous, broadcast, strided or repeated, got near");
  CHECK(second("o0 = input f32 strided varies now") == "kernel: line 2 must have nothing more, got now");
  CHECK(second("n1 = const 1 : f32") == "kernel: line 2 must have nodes in order, got = const 1 : f32");
  CHECK(second("n0 = const one : f32") == "kernel: line 2 must have a number, got one : f32");
  CHECK(second("n0 = plus n0 : f32") == "kernel: line 2 must have a function, got plus n0 : f32");
  CHECK(second("n0 = reduce most n0 : f32") == "kernel: line 2 must have a kind of reduction, got most n0 : f32");
  CHECK(second("n0 = scan most n0 : f32") == "kernel: line 2 must have a function, got most n0 : f32");
  CHECK(second("n0 = attr 0 : f32") == "kernel: line 2 must have float or int, got 0 : f32");
  CHECK(second("n0 = neg n99999 : f32") == "kernel: line 2 must have n<number>, got n99999 : f32");
  CHECK(second("n0 = neg n0 f32") == "kernel: line 2 must have :, got f32");
  CHECK(second("\nstore n0") == "kernel: line 3 must have o<number>, got its end");
}
