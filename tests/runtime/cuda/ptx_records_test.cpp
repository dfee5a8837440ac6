// Every kernel that the records' samples compile to is PTX that ptxas accepts, for the GPUs of two generations.
#include "compiler/Compile.h"
#include "tests/ops/Samples.h"
#include "tests/runtime/Expect.h"
#include "tests/runtime/cuda/Ptxas.h"
#include "tools/bazel/catch2/Skip.h"

#include <set>

using namespace tess;
using namespace tess::test;

static runtime::Executable compiled(const SampleCall &call, const std::string &target) {
  ir::GraphBuilder builder;
  llvm::SmallVector<ir::GraphBuilder::Value, 4> inputs;
  for (auto [number, meta] : llvm::enumerate(call.operands))
    inputs.push_back(builder.input("x" + std::to_string(number), meta));
  for (auto [number, result] : llvm::enumerate(get(builder.apply(call.op, inputs, call.segments))))
    builder.output(result, "y" + std::to_string(number));
  compiler::CompileOptions options;
  options.target = target;
  return get(compiler::compile(builder.finish(), options));
}

/// Has every kernel of the samples in `dtype` assembled, once each.
static void assembleAll(const std::string &architecture, DType dtype, std::set<std::string> &kernels) {
  unsigned refused = 0;
  auto assemble = [&](const SampleCall &call) {
    runtime::Executable executable = compiled(call, architecture);
    CHECK(executable.target == "gpu:" + architecture);
    for (const runtime::Image &image : executable.images) {
      REQUIRE(image.kind == runtime::ImageKind::Ptx);
      if (refused > 20 || !kernels.insert(image.bytes).second)
        continue;
      Ptxas run = Ptxas::assemble(image.bytes, architecture, "-O1");
      INFO(call.name << " for " << architecture << "\n" << run.output);
      CHECK(run.status == 0);
      refused += run.status != 0;
    }
  };
  forEachSample(assemble, dtype);
}

TEST_CASE("ptxas accepts every kernel of the records' samples") {
  NEEDS_PTXAS;
  for (const char *architecture : {"sm_80", "sm_90"}) {
    std::set<std::string> kernels;
    assembleAll(architecture, DType::Float32, kernels);
    CHECK(kernels.size() > 250);
  }
}

TEST_CASE("and those of other dtypes") {
  NEEDS_PTXAS;
  std::set<std::string> kernels;
  for (DType dtype : {DType::BFloat16, DType::Float64, DType::UInt8, DType::Int64, DType::Bool})
    assembleAll("sm_80", dtype, kernels);
  CHECK(kernels.size() > 500);
}
