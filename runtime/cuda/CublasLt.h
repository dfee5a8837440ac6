//===- CublasLt.h - matrix products by cuBLASLt -----------------*- C++ -*-===//
//
// Loaded at run time. Products are planned once per shape: the plan keeps the
// library's first choice of algorithm, so that all its runs give the same bits.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/vocabulary/DType.h"
#include "runtime/cuda/CudaDevice.h"

#include <cublasLt.h>

namespace tess::runtime::cuda {

#define TESS_CUBLASLT_FUNCTIONS(X)                                                                                     \
  X(cublasLtCreate)                                                                                                    \
  X(cublasLtDestroy)                                                                                                   \
  X(cublasLtGetVersion)                                                                                                \
  X(cublasLtGetStatusName)                                                                                             \
  X(cublasLtGetStatusString)                                                                                           \
  X(cublasLtMatmul)                                                                                                    \
  X(cublasLtMatmulAlgoGetHeuristic)                                                                                    \
  X(cublasLtMatmulDescInit_internal)                                                                                   \
  X(cublasLtMatmulDescSetAttribute)                                                                                    \
  X(cublasLtMatrixLayoutInit_internal)                                                                                 \
  X(cublasLtMatrixLayoutSetAttribute)                                                                                  \
  X(cublasLtMatmulPreferenceInit_internal)                                                                             \
  X(cublasLtMatmulPreferenceSetAttribute)

/// The library's functions, each a member of its own name.
class CublasLtLibrary {
public:
  /// The library of this process, kept to the end. NotFound when the machine has none.
  static llvm::Expected<const CublasLtLibrary *> get();
  /// Opens the first of `names` and finds every function.
  static llvm::Expected<std::unique_ptr<CublasLtLibrary>> load(llvm::ArrayRef<std::string> names);
  /// Success, or `cuda: <call> must succeed, got <error>`.
  llvm::Error check(cublasStatus_t status, const char *call) const;

#define TESS_CUBLASLT_MEMBER(name) decltype(&::name) name = nullptr;
  TESS_CUBLASLT_FUNCTIONS(TESS_CUBLASLT_MEMBER)
#undef TESS_CUBLASLT_MEMBER

private:
  CublasLtLibrary() = default;
};

/// One operand of a product, as stored: rows of contiguous elements.
struct MatrixLayout {
  int64_t rowStride = 0;   // elements from a row to the next; at least the columns
  int64_t batchStride = 0; // elements from a matrix to the next; 0 for an input: the same matrix each time
};

/// out[b, m, n] = sum over k of lhs[b, m, k] * rhs[b, k, n], row-major.
struct MatmulShape {
  DType dtype = DType::Float32; // of all three; float16 and bfloat16 are summed in float32, float32 never as TF32
  int64_t batch = 1, m = 0, n = 0, k = 0;
  bool transposeLhs = false; // lhs is stored [k, m]
  bool transposeRhs = false; // rhs is stored [n, k]
  MatrixLayout lhs, rhs, out;
  /// out += instead of out =. Not of narrow floats: cuBLASLt 13.0 rounds the product before it adds (seen on an H100).
  bool accumulate = false;

  /// A shape with operands that are packed in memory.
  static MatmulShape packed(DType dtype, int64_t batch, int64_t m, int64_t n, int64_t k, bool transposeLhs = false,
                            bool transposeRhs = false);
  /// InvalidArgument when sizes or strides cannot be, Unimplemented on a dtype that is no float.
  llvm::Error verify() const;
};

/// A product ready to run: a value, holds no resource.
struct MatmulPlan {
  MatmulShape shape;
  cublasLtMatmulDescOpaque_t desc;
  cublasLtMatrixLayoutOpaque_t lhs, rhs, out;
  cublasLtMatmulAlgo_t algorithm;
  /// What run() needs as workspace.
  size_t workspaceBytes = 0;
};

/// A handle of the library on one GPU; any number of threads may use it.
class CublasLt {
public:
  /// Errors when the library is missing or refuses the GPU. `device` must outlive it.
  static llvm::Expected<std::unique_ptr<CublasLt>> create(CudaDevice &device);
  ~CublasLt();
  CublasLt(const CublasLt &) = delete;
  CublasLt &operator=(const CublasLt &) = delete;

  /// Picks the algorithm: a pure function of shape, library and GPU, for operands 16-byte aligned. Unimplemented when
  /// the library has none.
  llvm::Expected<MatmulPlan> plan(const MatmulShape &shape) const;
  /// Queues a product. Operands are of the device, 16-byte aligned; `workspace` has plan.workspaceBytes, 256-byte
  /// aligned, null when that is 0.
  llvm::Error run(const MatmulPlan &plan, const void *lhs, const void *rhs, void *out, void *workspace,
                  CudaStream &stream) const;

private:
  CublasLt(CudaDevice &device, const CublasLtLibrary &library) : device(device), library(library) {}
  llvm::Error clear(const MatmulShape &shape, void *out, CudaStream &stream) const;

  CudaDevice &device;
  const CublasLtLibrary &library;
  cublasLtHandle_t handle = nullptr;
};

} // namespace tess::runtime::cuda
