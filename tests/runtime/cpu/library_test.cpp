#include "runtime/cpu/DnnlCalls.h"
#include "runtime/cpu/Kernels.h"
#include "tests/runtime/KernelHarness.h"

using namespace tess;
using namespace tess::runtime;
using namespace tess::test;

/// Prepares a matrix product by calls whose making fails with `status`.
static llvm::Expected<PreparedRef> prepareFailing(dnnl_status_t status) {
  static OpDef op = OpDef::get("matmul");
  static TensorMeta metas[] = {TensorMeta(DType::Float32, {4, 4}), TensorMeta(DType::Float32, {4, 4})};
  PrepareRequest request{op, metas, llvm::ArrayRef(metas).take_front(1)};
  return prepareCalls(request, 1, [&](DnnlCalls &) { throw dnnl::error(status, "no"); }, cpu::prepareOwnMatmul);
}

TEST_CASE("only a kernel that the library lacks becomes our own loops, and is counted") {
  uint64_t before = preparedCacheStats().fallbacks;
  PreparedRef kernel = get(prepareFailing(dnnl_unimplemented));
  CHECK(kernel->implementation() == "own:matmul");
  CHECK(preparedCacheStats().fallbacks == before + 1);
}

TEST_CASE("any other failure of the library is an error with its own code") {
  uint64_t before = preparedCacheStats().fallbacks;
  CHECK(codeOf(prepareFailing(dnnl_out_of_memory)) == ErrorCode::ResourceExhausted);
  CHECK(codeOf(prepareFailing(dnnl_invalid_arguments)) == ErrorCode::Internal);
  CHECK(messageOf(prepareFailing(dnnl_out_of_memory)) == "matmul: oneDNN must have this kernel, got no");
  CHECK(preparedCacheStats().fallbacks == before);
}
