// Kernels as PTX: the rounding rules in the text, and ptxas accepts all of it. Needs no GPU.
#include "compiler/target/PtxGenerator.h"
#include "tests/runtime/Expect.h"
#include "tests/runtime/cuda/PtxSpecs.h"
#include "tools/bazel/catch2/Skip.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <sys/wait.h>

using namespace tess;
using namespace tess::test;
using namespace tess::compiler;
using Catch::Contains;

static std::string compile(llvm::ArrayRef<PtxGenerator::NamedKernel> kernels) {
  return get(get(PtxGenerator::create("sm_90"))->compile(kernels));
}

namespace {

/// One run of ptxas; 127: the toolkit is missing, and the output says so.
struct Ptxas {
  int status;
  std::string output;

  explicit Ptxas(const std::string &arguments) {
    std::string log = std::getenv("TEST_TMPDIR") + std::string("/ptxas.log");
    std::string tool = std::getenv("TEST_SRCDIR") + std::string("/cuda/ptxas.sh");
    int result = std::system((tool + " " + arguments + " >" + log + " 2>&1").c_str());
    status = WIFEXITED(result) ? WEXITSTATUS(result) : -1;
    std::stringstream text;
    text << std::ifstream(log).rdbuf();
    output = text.str();
  }

  static Ptxas assemble(const std::string &ptx) {
    std::string file = std::getenv("TEST_TMPDIR") + std::string("/kernel.ptx");
    std::ofstream(file) << ptx;
    return Ptxas("-arch=sm_90 -v " + file + " -o " + file + ".cubin");
  }
};

#define NEEDS_PTXAS                                                                                                    \
  if (Ptxas probe("--version"); probe.status == 127)                                                                   \
  TESS_SKIP(probe.output)

} // namespace

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

TEST_CASE("what cannot be a kernel is an error") {
  auto generator = get(PtxGenerator::create("sm_90"));
  SpecBuilder reduces(1, 1, VectorAxis::Reduced);
  int x = reduces.input(DType::Float32, InnerClass::Contiguous, true);
  reduces.output(reduces.reduce(ReduceKind::Sum, DType::Float32, x), DType::Float32, InnerClass::Strided);
  CHECK(messageOf(generator->compile({{"f", reduces.spec}})) == "ptx: a kernel must have no reduced group, got 1 in f");
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
