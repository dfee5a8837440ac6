// Every operator on a GPU: the bits of the CPU, forwards and backwards.
#include "tests/eager/DeviceRecords.h"
#include "tests/runtime/cuda/Gpu.h"

using namespace tess;
using namespace tess::test;

TEST_CASE("every operator of float32 has the CPU's bits") {
  TESS_GPU(gpu);
  CHECK(checkRecords(gpu, DType::Float32) > 1000);
}

TEST_CASE("and of other dtypes") {
  TESS_GPU(gpu);
  for (DType dtype : {DType::Float16, DType::BFloat16, DType::Float64, DType::Complex64, DType::Int32, DType::Int64,
                      DType::UInt8, DType::Bool})
    checkRecords(gpu, dtype);
}
