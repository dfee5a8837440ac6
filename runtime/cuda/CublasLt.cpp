//===- CublasLt.cpp - matrix products by cuBLASLt -------------------------===//
//
// The library counts columns first, so a row-major matrix is the transposed one
// to it. It therefore computes out^T = rhs^T * lhs^T: the operands change
// places, and nothing else changes.
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/CublasLt.h"

#include "ops/vocabulary/Error.h"

namespace tess::runtime::cuda {

// The size that NVIDIA advises for Hopper.
static constexpr uint64_t kMaxWorkspaceBytes = uint64_t(32) << 20;

llvm::Expected<std::unique_ptr<CublasLtLibrary>> CublasLtLibrary::load(llvm::ArrayRef<std::string> names) {
  llvm::Expected<SharedLibrary> opened = SharedLibrary::open("cuda", names);
  if (!opened)
    return opened.takeError();
  std::unique_ptr<CublasLtLibrary> library(new CublasLtLibrary());
#define TESS_CUBLASLT_RESOLVE(name)                                                                                    \
  if (llvm::Error error = opened->resolve(#name, library->name))                                                       \
    return error;
  TESS_CUBLASLT_FUNCTIONS(TESS_CUBLASLT_RESOLVE)
#undef TESS_CUBLASLT_RESOLVE
  return library;
}

llvm::Expected<const CublasLtLibrary *> CublasLtLibrary::get() {
  static std::mutex mutex;
  static std::unique_ptr<CublasLtLibrary> library;
  std::lock_guard<std::mutex> lock(mutex);
  if (!library) {
    auto loaded = load(toolkitNames("libcublasLt.so." + std::to_string(CUBLAS_VER_MAJOR)));
    if (!loaded)
      return loaded.takeError();
    library = std::move(*loaded);
  }
  return library.get();
}

llvm::Error CublasLtLibrary::check(cublasStatus_t status, const char *call) const {
  if (status == CUBLAS_STATUS_SUCCESS)
    return llvm::Error::success();
  ErrorCode code = ErrorCode::Internal;
  if (status == CUBLAS_STATUS_ALLOC_FAILED)
    code = ErrorCode::ResourceExhausted;
  if (status == CUBLAS_STATUS_NOT_SUPPORTED)
    code = ErrorCode::Unimplemented;
  return makeError(code, llvm::Twine("cuda: ") + call + " must succeed, got " + cublasLtGetStatusName(status) + " (" +
                             cublasLtGetStatusString(status) + ")");
}

MatmulShape MatmulShape::packed(DType dtype, int64_t batch, int64_t m, int64_t n, int64_t k, bool transposeLhs,
                                bool transposeRhs) {
  MatmulShape shape;
  shape.dtype = dtype;
  shape.batch = batch;
  shape.m = m;
  shape.n = n;
  shape.k = k;
  shape.transposeLhs = transposeLhs;
  shape.transposeRhs = transposeRhs;
  shape.lhs = {transposeLhs ? m : k, m * k};
  shape.rhs = {transposeRhs ? k : n, k * n};
  shape.out = {n, m * n};
  return shape;
}

static llvm::Error verifyRows(const char *operand, const MatrixLayout &layout, int64_t columns) {
  if (layout.rowStride >= columns && layout.batchStride >= 0)
    return llvm::Error::success();
  return invalidArgument(llvm::Twine("matmul: rows of ") + operand +
                         " must not overlap and strides not be negative, got " + llvm::Twine(columns) +
                         " columns, row stride " + llvm::Twine(layout.rowStride) + ", batch stride " +
                         llvm::Twine(layout.batchStride));
}

llvm::Error MatmulShape::verify() const {
  if (!isFloat(dtype))
    return makeError(ErrorCode::Unimplemented, "matmul: the type must be a float on a GPU, got " + shortName(dtype));
  if (accumulate && isNarrowFloat(dtype))
    return makeError(ErrorCode::Unimplemented,
                     "matmul: a sum with what out holds must be of float32 or float64, got " + shortName(dtype));
  if (std::min({batch, m, n, k}) < 0 || std::max({batch, m, n, k}) > INT32_MAX)
    return invalidArgument("matmul: sizes must be in [0, 2147483647], got batch " + llvm::Twine(batch) + ", m " +
                           llvm::Twine(m) + ", n " + llvm::Twine(n) + ", k " + llvm::Twine(k));
  if (llvm::Error error = verifyRows("lhs", lhs, transposeLhs ? m : k))
    return error;
  if (llvm::Error error = verifyRows("rhs", rhs, transposeRhs ? k : n))
    return error;
  if (llvm::Error error = verifyRows("out", out, n))
    return error;
  if (batch > 1 && m && n && out.batchStride < (m - 1) * out.rowStride + n)
    return invalidArgument("matmul: matrices of out must not overlap, got batch stride " +
                           llvm::Twine(out.batchStride));
  return llvm::Error::success();
}

static cudaDataType_t dataType(DType dtype) {
  switch (dtype) {
  case DType::Float16:
    return CUDA_R_16F;
  case DType::BFloat16:
    return CUDA_R_16BF;
  case DType::Float64:
    return CUDA_R_64F;
  default:
    return CUDA_R_32F;
  }
}

llvm::Expected<std::unique_ptr<CublasLt>> CublasLt::create(CudaDevice &device) {
  llvm::Expected<const CublasLtLibrary *> library = CublasLtLibrary::get();
  if (!library)
    return library.takeError();
  if (llvm::Error error = device.activate())
    return error;
  std::unique_ptr<CublasLt> result(new CublasLt(device, **library));
  if (llvm::Error error = (*library)->check((*library)->cublasLtCreate(&result->handle), "cublasLtCreate"))
    return error;
  return result;
}

CublasLt::~CublasLt() {
  if (handle && device.tryActivate())
    library.cublasLtDestroy(handle);
}

namespace {

/// Fills a plan by calls of the library, up to the first failure.
class Planner {
public:
  Planner(const CublasLtLibrary &library, MatmulPlan &plan) : library(library), plan(plan), shape(plan.shape) {}

  llvm::Error run(cublasLtHandle_t handle) {
    describe();
    layout(plan.lhs, shape.transposeLhs ? shape.k : shape.m, shape.transposeLhs ? shape.m : shape.k, shape.lhs);
    layout(plan.rhs, shape.transposeRhs ? shape.n : shape.k, shape.transposeRhs ? shape.k : shape.n, shape.rhs);
    layout(plan.out, shape.m, shape.n, shape.out);
    prefer();
    if (status == CUBLAS_STATUS_SUCCESS)
      choose(handle);
    return library.check(status, failed);
  }

private:
  void call(cublasStatus_t result, const char *name) {
    if (status != CUBLAS_STATUS_SUCCESS || result == CUBLAS_STATUS_SUCCESS)
      return;
    status = result;
    failed = name;
  }

  void describe() {
    bool f64 = shape.dtype == DType::Float64;
    call(library.cublasLtMatmulDescInit_internal(&plan.desc, sizeof(plan.desc),
                                                 f64 ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F,
                                                 f64 ? CUDA_R_64F : CUDA_R_32F),
         "cublasLtMatmulDescInit");
    int32_t first = shape.transposeRhs ? CUBLAS_OP_T : CUBLAS_OP_N,
            second = shape.transposeLhs ? CUBLAS_OP_T : CUBLAS_OP_N;
    call(library.cublasLtMatmulDescSetAttribute(&plan.desc, CUBLASLT_MATMUL_DESC_TRANSA, &first, sizeof(first)),
         "cublasLtMatmulDescSetAttribute");
    call(library.cublasLtMatmulDescSetAttribute(&plan.desc, CUBLASLT_MATMUL_DESC_TRANSB, &second, sizeof(second)),
         "cublasLtMatmulDescSetAttribute");
  }

  void layout(cublasLtMatrixLayoutOpaque_t &result, int64_t rows, int64_t columns, const MatrixLayout &stored) {
    call(library.cublasLtMatrixLayoutInit_internal(&result, sizeof(result), dataType(shape.dtype), columns, rows,
                                                   stored.rowStride),
         "cublasLtMatrixLayoutInit");
    int32_t batch = int32_t(shape.batch);
    int64_t stride = stored.batchStride;
    call(library.cublasLtMatrixLayoutSetAttribute(&result, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof(batch)),
         "cublasLtMatrixLayoutSetAttribute");
    call(library.cublasLtMatrixLayoutSetAttribute(&result, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                                  sizeof(stride)),
         "cublasLtMatrixLayoutSetAttribute");
  }

  template <typename T> void prefer(cublasLtMatmulPreferenceAttributes_t attribute, T value) {
    call(library.cublasLtMatmulPreferenceSetAttribute(&preference, attribute, &value, sizeof(value)),
         "cublasLtMatmulPreferenceSetAttribute");
  }

  void prefer() {
    call(library.cublasLtMatmulPreferenceInit_internal(&preference, sizeof(preference)),
         "cublasLtMatmulPreferenceInit");
    prefer<uint64_t>(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kMaxWorkspaceBytes);
    // The parts of a split sum are added in the compute type; they are never rounded to the type of the operands
    // before.
    prefer<uint32_t>(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);
    for (auto attribute : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                           CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
      prefer<uint32_t>(attribute, 16);
  }

  void choose(cublasLtHandle_t handle) {
    cublasLtMatmulHeuristicResult_t best = {};
    int found = 0;
    call(library.cublasLtMatmulAlgoGetHeuristic(handle, &plan.desc, &plan.rhs, &plan.lhs, &plan.out, &plan.out,
                                                &preference, 1, &best, &found),
         "cublasLtMatmulAlgoGetHeuristic");
    call(found ? best.state : CUBLAS_STATUS_NOT_SUPPORTED, "cublasLtMatmulAlgoGetHeuristic");
    plan.algorithm = best.algo;
    plan.workspaceBytes = best.workspaceSize;
  }

  const CublasLtLibrary &library;
  MatmulPlan &plan;
  const MatmulShape &shape;
  cublasLtMatmulPreferenceOpaque_t preference = {};
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  const char *failed = "";
};

bool isEmpty(const MatmulShape &shape) { return !shape.batch || !shape.m || !shape.n; }

} // namespace

llvm::Expected<MatmulPlan> CublasLt::plan(const MatmulShape &shape) const {
  if (llvm::Error error = shape.verify())
    return error;
  MatmulPlan plan = {};
  plan.shape = shape;
  if (isEmpty(shape) || !shape.k)
    return plan;
  if (llvm::Error error = device.activate())
    return error;
  if (llvm::Error error = Planner(library, plan).run(handle))
    return error;
  return plan;
}

llvm::Error CublasLt::clear(const MatmulShape &shape, void *out, CudaStream &stream) const {
  const Driver &d = device.driver();
  size_t width = byteWidth(shape.dtype);
  for (int64_t b = 0; b < shape.batch; ++b) {
    auto matrix = reinterpret_cast<CUdeviceptr>(out) + b * shape.out.batchStride * width;
    if (llvm::Error error = d.check(
            d.cuMemsetD2D8Async(matrix, shape.out.rowStride * width, 0, shape.n * width, shape.m, stream.handle()),
            "cuMemsetD2D8Async"))
      return error;
  }
  return llvm::Error::success();
}

llvm::Error CublasLt::run(const MatmulPlan &plan, const void *lhs, const void *rhs, void *out, void *workspace,
                          CudaStream &stream) const {
  if (isEmpty(plan.shape))
    return llvm::Error::success();
  if (llvm::Error error = device.activate())
    return error;
  if (!plan.shape.k) // an empty sum
    return plan.shape.accumulate ? llvm::Error::success() : clear(plan.shape, out, stream);
  bool f64 = plan.shape.dtype == DType::Float64, adds = plan.shape.accumulate;
  double one64 = 1, beta64 = adds;
  float one32 = 1, beta32 = adds;
  const void *one = f64 ? static_cast<void *>(&one64) : &one32, *beta = f64 ? static_cast<void *>(&beta64) : &beta32;
  MatmulPlan p = plan; // the library's pointers are not const
  return library.check(library.cublasLtMatmul(handle, &p.desc, one, rhs, &p.rhs, lhs, &p.lhs, beta, out, &p.out, out,
                                              &p.out, &p.algorithm, workspace, p.workspaceBytes, stream.handle()),
                       "cublasLtMatmul");
}

} // namespace tess::runtime::cuda
