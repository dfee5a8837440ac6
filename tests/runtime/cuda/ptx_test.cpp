// Kernels as PTX: the rounding rules in the text, and ptxas accepts all of it. Needs no GPU.
#include "compiler/target/PtxGenerator.h"
#include "tests/runtime/Expect.h"
#include "tests/runtime/cuda/PtxSpecs.h"
#include "tests/runtime/cuda/Ptxas.h"
#include "tools/bazel/catch2/Skip.h"

using namespace tess;
using namespace tess::test;
using namespace tess::compiler;
using Catch::Contains;

static std::string compile(llvm::ArrayRef<PtxGenerator::NamedKernel> kernels) {
  return get(get(PtxGenerator::create("sm_90"))->compile(kernels));
}

TEST_CASE("ptxas accepts every function in every float type") {
  NEEDS_PTXAS;
  for (DType dtype : {DType::Float32, DType::Float64, DType::Float16, DType::BFloat16}) {
    std::string text = compile(floatFunctions(dtype));
    Ptxas run = Ptxas::assemble(text);
    CAPTURE(shortName(dtype).str(), run.output);
    CHECK(run.status == 0);
    CHECK_THAT(text, !Contains(".ftz") && !Contains(".approx") && !Contains("call.uni"));
  }
}

TEST_CASE("ptxas refuses what is no kernel") {
  NEEDS_PTXAS;
  std::string text = compile({{"f", scaledRelu(DType::Float32)}});
  REQUIRE(Ptxas::assemble(text).status == 0);
  size_t at = text.find("mul.rn.f32");
  REQUIRE(at != std::string::npos);
  CHECK(Ptxas::assemble(text.replace(at, 10, "mul.xx.f32")).status != 0);
}

TEST_CASE("every operation rounds on its own") {
  std::string text = compile({{"f", scaledRelu(DType::Float32)}});
  CHECK_THAT(text, Contains(".target sm_90") && Contains(".entry f("));
  CHECK_THAT(text, Contains("mul.rn.f32") && Contains("add.rn.f32"));
  CHECK_THAT(text, !Contains("fma.") && !Contains("mad.f") && !Contains("mad.rn.f"));
  // An unadorned add or mul is one that ptxas may contract.
  CHECK_THAT(text, !Contains("add.f32") && !Contains("mul.f32") && !Contains("sub.f32"));
  for (auto [name, instruction] : {std::pair("div_f32", "div.rn.f32"), std::pair("sqrt_f32", "sqrt.rn.f32")}) {
    bool found = false;
    for (const auto &kernel : floatFunctions(DType::Float32))
      if (kernel.first == name) {
        found = true;
        CHECK_THAT(compile({kernel}), Contains(instruction));
      }
    CHECK(found);
  }
}

TEST_CASE("double multiplies and adds are not contracted either") {
  std::string text = compile({{"f", scaledRelu(DType::Float64)}});
  CHECK_THAT(text, Contains("mul.rn.f64") && Contains("add.rn.f64"));
  CHECK_THAT(text, !Contains("fma.") && !Contains("add.f64") && !Contains("mul.f64"));
}

TEST_CASE("arguments are read in parameter space") {
  std::string text = compile({{"f", scaledRelu(DType::Float32)}});
  CHECK_THAT(text, !Contains(".local") && Contains("ld.param"));
  // 3 pointers; 2 sizes, 2 strides of 3 operands, 1 attribute.
  CHECK_THAT(text, Contains("f_param_0[24]") && Contains("f_param_1[72]") && Contains(".u64 f_param_2"));
}

TEST_CASE("functions and whole kernels share a module") {
  NEEDS_PTXAS;
  auto kernels = floatFunctions(DType::Float32);
  kernels.emplace_back("indices", indices());
  kernels.emplace_back("scaled", scaledRelu(DType::BFloat16));
  std::string text = compile(kernels);
  CHECK_THAT(text, Contains(".entry indices(") && Contains(".entry scaled(") && Contains(".entry tanh_f32("));
  Ptxas run = Ptxas::assemble(text);
  INFO(run.output);
  CHECK(run.status == 0);
}

TEST_CASE("a row is reduced by shuffles") {
  NEEDS_PTXAS;
  for (DType dtype : {DType::Float32, DType::Float64, DType::BFloat16, DType::Int8, DType::Int64, DType::Bool}) {
    SpecBuilder sum(1, 1, VectorAxis::Reduced), place(1, 1, VectorAxis::Reduced);
    int x = sum.input(dtype, InnerClass::Contiguous, true), y = place.input(dtype, InnerClass::Contiguous, true);
    sum.output(sum.reduce(ReduceKind::Sum, dtype, x), dtype, InnerClass::Strided);
    place.output(place.reduce(ReduceKind::ArgMax, DType::Int32, y), DType::Int32, InnerClass::Strided);
    std::string text = compile({{"sum", sum.spec}, {"place", place.spec}});
    Ptxas run = Ptxas::assemble(text);
    CAPTURE(shortName(dtype).str(), run.output);
    CHECK(run.status == 0);
    CHECK_THAT(text, Contains("shfl.sync.down.b32") && Contains("shfl.sync.idx.b32"));
  }
}

TEST_CASE("what cannot be a kernel is an error") {
  auto generator = get(PtxGenerator::create("sm_90"));
  CHECK(messageOf(generator->compile({{"a.b", indices()}})) ==
        "ptx: a kernel's name must be of letters, digits and '_', got 'a.b'");
  CHECK(messageOf(generator->compile({{"f", indices()}, {"f", indices()}})) ==
        "ptx: kernels of a module must have distinct names, got f twice");
  CHECK(messageOf(generator->compile({{"f", KernelSpec()}})) == "kernel: a kernel must store something, got no store");
  CHECK(messageOf(PtxGenerator::create("sm_9000")) == "ptx: the architecture must be one that LLVM knows, got sm_9000");
  CHECK(messageOf(PtxGenerator::create("")) == "ptx: the architecture must be one that LLVM knows, got ");
}

TEST_CASE("the same spec gives the same text") {
  auto generator = get(PtxGenerator::create("sm_90"));
  std::string first = get(generator->compile(floatFunctions(DType::Float32)));
  CHECK(get(generator->compile(floatFunctions(DType::Float32))) == first);
  CHECK(compile(floatFunctions(DType::Float32)) == first);
  CHECK_THAT(get(generator->dumpLlvm(indices())), Contains("define ptx_kernel void @kernel("));
}
