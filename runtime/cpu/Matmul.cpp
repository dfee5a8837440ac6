//===- Matmul.cpp - matrix products by oneDNN -----------------------------===//
#include "ops/vocabulary/Error.h"
#include "runtime/cpu/DnnlCalls.h"
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/MatmulShape.h"
#include "runtime/threads/ParallelFor.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::runtime::cpu {

static bool flag(const OpDef &op, llvm::StringRef name) {
  for (const AttrInfo &attr : op.info().attrs)
    if (name == attr.name)
      return op.boolean(name);
  return false;
}

/// The layout of a row-major operand with `batchRank` leading axes; the last two of a transposed one are exchanged.
static Layout batched(const TensorMeta &operand, size_t batchRank, bool transpose) {
  Layout layout = Layout::contiguous(operand.shape), out;
  size_t missing = batchRank + 2 - layout.shape.size();
  out.shape.assign(missing, 1);
  out.strides.assign(missing, 1);
  out.shape.append(layout.shape.begin(), layout.shape.end());
  out.strides.append(layout.strides.begin(), layout.strides.end());
  if (transpose) {
    std::swap(out.shape[batchRank], out.shape[batchRank + 1]);
    std::swap(out.strides[batchRank], out.strides[batchRank + 1]);
  }
  return out;
}

MatmulShape matmulShape(const PrepareRequest &request) {
  MatmulShape shape;
  shape.out = request.outputs[0].shape;
  size_t batchRank = shape.out.size() - 2;
  shape.lhs = batched(request.inputs[0], batchRank, flag(request.op, "transpose_x"));
  shape.rhs = batched(request.inputs[1], batchRank, flag(request.op, "transpose_y"));
  shape.m = shape.out[batchRank];
  shape.n = shape.out[batchRank + 1];
  shape.k = shape.lhs.shape[batchRank + 1];
  for (size_t i = 0; i < batchRank; ++i)
    shape.batch *= shape.out[i];
  return shape;
}

/// Gives axes of size 1 the strides of a packed tensor: oneDNN reads a leading dimension from them.
static Layout tidy(Layout layout) {
  size_t r = layout.shape.size();
  int64_t rows = layout.shape[r - 2], columns = layout.shape[r - 1];
  int64_t &rowStride = layout.strides[r - 2], &columnStride = layout.strides[r - 1];
  if (rows == 1 && columns == 1)
    rowStride = columnStride = 1;
  else if (rows == 1)
    rowStride = columnStride == 1 ? columns : 1;
  else if (columns == 1)
    columnStride = 1;
  int64_t packed = rows * columns;
  for (size_t i = r - 2; i-- > 0;) {
    if (layout.shape[i] == 1)
      layout.strides[i] = packed;
    packed = std::max(packed, layout.shape[i] * layout.strides[i]);
  }
  return layout;
}

/// Turns a product (*B, M, K) x (K, N) with packed rows into a single one of B * M rows: the same sums in fewer calls.
static void collapseBatch(MatmulShape &shape) {
  size_t batchRank = shape.out.size() - 2;
  int64_t rowStride = 0, expected = 0;
  for (size_t i = batchRank + 1; i-- > 0;) { // from the rows outwards
    if (i < batchRank && shape.rhs.shape[i] != 1)
      return;
    if (shape.out[i] == 1)
      continue;
    int64_t stride = shape.lhs.strides[i];
    if (shape.lhs.shape[i] != shape.out[i] || (rowStride && stride != expected))
      return;
    rowStride = rowStride ? rowStride : stride;
    expected = stride * shape.out[i];
  }
  shape.lhs = {
      {shape.batch * shape.m, shape.k}, {rowStride ? rowStride : shape.k, shape.lhs.strides[batchRank + 1]}, 0};
  shape.rhs = {{shape.k, shape.n}, {shape.rhs.strides[batchRank], shape.rhs.strides[batchRank + 1]}, 0};
  shape.out = {shape.batch * shape.m, shape.n};
}

/// Makes oneDNN generate its 64 GEMM kernels now; it would do so when the first product runs. Their time thus counts as
/// preparing a primitive, which is measured, and not as a call.
static void generateGemmKernels() {
  [[maybe_unused]] static const bool done = [] {
    float ones[4] = {1, 1, 1, 1}, product[4]; // a product of single numbers would generate none
    dnnl::error::wrap_c_api(dnnl_sgemm('N', 'N', 2, 2, 2, 1, ones, 2, ones, 2, 0, product, 2),
                            "could not generate the kernels of matrix products");
    return true;
  }();
}

static void build(DnnlCalls &calls, const PrepareRequest &request, const MatmulShape &shape) {
  DType dtype = request.outputs[0].dtype;
  int lhs = calls.inputSlot(0, dnnlDesc(dtype, tidy(shape.lhs)));
  int rhs = calls.inputSlot(1, dnnlDesc(dtype, tidy(shape.rhs)));
  int out = calls.outputSlot(0, dnnlDesc(dtype, tidy(Layout::contiguous(shape.out))));
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::matmul::primitive_desc desc({calls.desc(lhs), calls.desc(rhs), calls.desc(out)}, attr, dnnlEngine());
  std::vector<std::pair<int, int>> args = {{DNNL_ARG_SRC, lhs}, {DNNL_ARG_WEIGHTS, rhs}, {DNNL_ARG_DST, out}};
  if (desc.scratchpad_desc().get_size())
    args.push_back({DNNL_ARG_SCRATCHPAD, calls.workspaceSlot(desc.scratchpad_desc())});
  calls.call(dnnl::matmul(desc), std::move(args));
  if (llvm::StringRef(desc.impl_info_str()).starts_with("gemm:"))
    generateGemmKernels();
  calls.setImplementation(desc.impl_info_str());
}

/// Whether offsets within a block of rows of the result fit into 32 bits, as oneDNN 2.6.3 takes for granted: 17 rows of
/// 128 MiB end the process. Blocks of 25 rows were seen, of 30 not.
static bool hasShortRows(const MatmulShape &shape, DType dtype) {
  constexpr int64_t kMostRows = 32;
  int64_t rows = std::min(shape.out[shape.out.size() - 2], kMostRows) - 1;
  return rows * shape.n * byteWidth(dtype) <= INT32_MAX;
}

/// Whether our own loops of this name may run. A file that was compiled for a kernel of the library keeps that kernel.
static bool mayBe(const char *own, const PrepareRequest &request) {
  return request.implementation.empty() || request.implementation == own;
}

llvm::Expected<PreparedRef> prepareMatmul(const PrepareRequest &request) {
  MatmulShape shape = matmulShape(request);
  std::optional<dnnl::memory::data_type> type = dnnlType(request.outputs[0].dtype);
  bool same = request.inputs[0].dtype == request.inputs[1].dtype && request.inputs[0].dtype == request.outputs[0].dtype;
  int64_t products = shape.batch * shape.m * shape.n * shape.k;
  if (!type || !same || products == 0 || (products <= kOwnProducts && mayBe(kOwnMatmul, request)))
    return prepareOwnMatmul(request);
  collapseBatch(shape);
  bool isByVector = shape.out.size() == 2 && shape.n == 1 && request.outputs[0].dtype == DType::Float32;
  if (isByVector && mayBe(kMatrixVector, request))
    return prepareMatrixVector(shape, request.threads);
  if (!hasShortRows(shape, request.outputs[0].dtype))
    return prepareOwnMatmul(request);
  unsigned threads = products < kSerialProducts ? 1 : request.threads;
  return prepareCalls(request, threads, [&](DnnlCalls &calls) { build(calls, request, shape); }, prepareOwnMatmul);
}

} // namespace tess::runtime::cpu
