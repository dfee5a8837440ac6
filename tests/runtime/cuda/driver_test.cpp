// What must hold without a GPU: missing libraries and bad shapes are errors with their reasons.
#include "runtime/Devices.h"
#include "runtime/cuda/CublasLt.h"
#include "runtime/cuda/CudaDevice.h"
#include "runtime/cuda/CudaDevices.h"
#include "tests/runtime/Expect.h"
#include "tools/bazel/catch2/Skip.h"

using namespace tess;
using namespace tess::test;
using namespace tess::runtime::cuda;
using Catch::Contains;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using namespace tess::runtime;

TEST_CASE("a driver that is not there is an error that names it") {
  CHECK(codeOf(Driver::load({"libcuda-of-no-machine.so.1"})) == ErrorCode::NotFound);
  std::string message = messageOf(Driver::load({"libcuda-of-no-machine.so.1", "/nowhere/libcuda.so.1"}));
  CHECK_THAT(message, StartsWith("cuda: a library must be there, got "));
  CHECK_THAT(message, Contains("libcuda-of-no-machine.so.1: cannot open shared object file"));
  CHECK_THAT(message, Contains("; /nowhere/libcuda.so.1"));
  CHECK_THAT(messageOf(Driver::load({})), Contains("got no name to look for"));
}

TEST_CASE("a library without a function that is called is an error that names both") {
  CHECK_THAT(messageOf(Driver::load({"libm.so.6"})), Contains("got libm.so.6 without cuInit"));
  CHECK(codeOf(CublasLtLibrary::load({"libm.so.6"})) == ErrorCode::NotFound);
  CHECK_THAT(messageOf(CublasLtLibrary::load({"libm.so.6"})), Contains("got libm.so.6 without cublasLtCreate"));
}

TEST_CASE("a GPU that is not there is an error each time, and no crash") {
  auto first = cudaDevice(1000), second = cudaDevice(1000);
  std::string message = messageOf(std::move(first));
  CHECK_THAT(message, StartsWith("cuda: ") && Contains(" must ") && Contains(", got "));
  CHECK(messageOf(std::move(second)) == message);
  CHECK(messageOf(CudaDevice::create(-1)) != "");
}

TEST_CASE("GPUs are among the devices as many as there are") {
  CHECK(messageOf(findDevice("gpu0", "tensor")) == "tensor: device must be one of cpu0, sim0, null0, got 'gpu0'");
  registerGpus();
  std::string count = std::to_string(deviceCount("gpu").value());
  CHECK_THAT(messageOf(findDevice("gpu" + count, "tensor")),
             StartsWith("tensor: device must be one of cpu0, sim0, null0") && EndsWith(", got 'gpu" + count + "'"));
  if (count == "0")
    TESS_SKIP("no GPU");
  CHECK((*findDevice("gpu0"))->name() == "gpu0");
}

TEST_CASE("a driver's error has its name and number") {
  auto loaded = Driver::load({"libcuda.so.1"});
  if (!loaded)
    TESS_SKIP(takeError(loaded.takeError()).second);
  CHECK(messageOf((*loaded)->check(CUDA_SUCCESS, "cuInit")) == "");
  CHECK_THAT(messageOf((*loaded)->check(CUDA_ERROR_INVALID_VALUE, "cuMemcpy")),
             StartsWith("cuda: cuMemcpy must succeed, got CUDA_ERROR_INVALID_VALUE (1: "));
  CHECK(takeError((*loaded)->check(CUDA_ERROR_OUT_OF_MEMORY, "cuMemAlloc")).first == ErrorCode::ResourceExhausted);
}

TEST_CASE("cuBLASLt opens without a GPU") {
  auto library = CublasLtLibrary::get();
  if (!library)
    TESS_SKIP(takeError(library.takeError()).second);
  CHECK((*library)->cublasLtGetVersion() / 10000 == CUBLAS_VER_MAJOR);
  CHECK(messageOf((*library)->check(CUBLAS_STATUS_SUCCESS, "cublasLtMatmul")) == "");
  CHECK_THAT(messageOf((*library)->check(CUBLAS_STATUS_INVALID_VALUE, "cublasLtMatmul")),
             StartsWith("cuda: cublasLtMatmul must succeed, got CUBLAS_STATUS_INVALID_VALUE ("));
  CHECK(takeError((*library)->check(CUBLAS_STATUS_NOT_SUPPORTED, "x")).first == ErrorCode::Unimplemented);
}

TEST_CASE("a product's shape is checked before the library sees it") {
  MatmulShape shape = MatmulShape::packed(DType::Float32, 2, 3, 5, 7, /*transposeLhs=*/true, /*transposeRhs=*/true);
  CHECK(messageOf(shape.verify()) == "");
  CHECK(shape.lhs.rowStride == 3);
  CHECK(shape.rhs.rowStride == 7);
  CHECK(shape.out.rowStride == 5);
  SECTION("type") {
    shape.dtype = DType::Int32;
    CHECK(messageOf(shape.verify()) == "matmul: the type must be a float on a GPU, got i32");
  }
  SECTION("sum of narrow floats") {
    shape.accumulate = true;
    CHECK(messageOf(shape.verify()) == "");
    shape.dtype = DType::BFloat16;
    CHECK(messageOf(shape.verify()) == "matmul: a sum with what out holds must be of float32 or float64, got bf16");
  }
  SECTION("size") {
    shape.k = -1;
    CHECK(messageOf(shape.verify()) == "matmul: sizes must be in [0, 2147483647], got batch 2, m 3, n 5, k -1");
  }
  SECTION("rows") {
    shape.lhs.rowStride = 2;
    CHECK(messageOf(shape.verify()) ==
          "matmul: rows of lhs must not overlap and strides not be negative, got 3 columns, "
          "row stride 2, batch stride 21");
    shape.lhs.rowStride = 3;
    shape.rhs.batchStride = -35;
    CHECK_THAT(messageOf(shape.verify()), StartsWith("matmul: rows of rhs must not overlap"));
    shape.rhs.batchStride = 0;
    shape.out.rowStride = 4;
    CHECK_THAT(messageOf(shape.verify()), StartsWith("matmul: rows of out must not overlap"));
  }
  SECTION("matrices of the result") {
    shape.out.batchStride = 14;
    CHECK(messageOf(shape.verify()) == "matmul: matrices of out must not overlap, got batch stride 14");
    shape.batch = 1;
    CHECK(messageOf(shape.verify()) == "");
  }
}
