// Lists the GPU's tests as skipped, with the reason, where they are not built.
#include "tools/bazel/catch2/Skip.h"

#ifdef TESS_CUDA_TOOLKIT
#include <cuda.h>

TEST_CASE("the toolkit has every function that is called") { CHECK(CUDA_VERSION >= 12040); }
#else
TEST_CASE("the CUDA device's tests") { TESS_SKIP("no CUDA toolkit in CUDA_HOME or /usr/local/cuda"); }
#endif
