//===- MatmulShape.cpp - a matrix product over strides --------------------===//
#include "runtime/cpu/MatmulShape.h"

#include "runtime/cpu/Odometer.h"
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

int64_t batchOffset(const MatmulShape &shape, const Layout &layout, int64_t batch) {
  int64_t offset = 0;
  for (size_t axis = shape.out.size() - 2; axis-- > 0;) {
    int64_t index = batch % shape.out[axis];
    offset += layout.shape[axis] == 1 ? 0 : index * layout.strides[axis];
    batch /= shape.out[axis];
  }
  return offset;
}

void collapseBatch(MatmulShape &shape) {
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

contract::ProductShape productShape(const MatmulShape &shape, const PrepareRequest &request) {
  const size_t rows = shape.out.size() - 2, columns = rows + 1;
  contract::ProductShape result{
      request.inputs[0].dtype, shape.out[rows], shape.out[columns], shape.k, 0, 0, 0, 0, {}, {}};
  auto strides = [&](const Layout &layout, int64_t &row, int64_t &column) {
    row = layout.strides[rows];
    column = layout.strides[columns];
    if (row != 1 && column != 1) // an axis of one element
      (layout.shape[rows] == 1 ? row : column) = 1;
  };
  strides(shape.lhs, result.lhsRow, result.lhsColumn);
  strides(shape.rhs, result.rhsRow, result.rhsColumn);
  result.rightDType = request.inputs[1].dtype;
  result.resultDType = request.outputs[0].dtype;
  result.hasPanels = !request.inputPackings.empty() && contract::Products::isPanels(request.inputPackings[1]);
  const int64_t batch = countOf(llvm::ArrayRef(shape.out).drop_back(2));
  for (int64_t i = 0; i < batch; ++i) {
    result.lhsAt.push_back(batchOffset(shape, shape.lhs, i));
    result.rhsAt.push_back(batchOffset(shape, shape.rhs, i));
  }
  if (llvm::all_equal(result.rhsAt))
    result.rhsAt.resize(1);
  return result;
}

} // namespace tess::runtime::cpu
