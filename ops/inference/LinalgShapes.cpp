//===- LinalgShapes.cpp - shapes of factors of matrices -------------------===//
#include "ops/inference/RuleErrors.h"
#include "ops/inference/ShapeRules.h"

namespace tess::shapes {

using Operands = llvm::ArrayRef<TensorMeta>;
using Segments = llvm::ArrayRef<unsigned>;

/// The shape of a batch of matrices [rows, columns], or of vectors where `columns` is none, beside that of x.
static Shape besideBatch(const TensorMeta &x, int64_t rows, std::optional<int64_t> columns = std::nullopt) {
  Shape shape(x.shape.begin(), x.shape.end() - 2);
  shape.push_back(rows);
  if (columns)
    shape.push_back(*columns);
  return shape;
}

/// Rows and columns of x, and the smaller of both.
struct MatrixSizes {
  int64_t rows, columns, least;
};

static llvm::Expected<MatrixSizes> sizesOf(const OpDef &op, Operands operands) {
  const Shape &shape = operands[0].shape;
  if (shape.size() < 2)
    return mustHold(op, "x must have rank >= 2", operands);
  int64_t rows = shape[shape.size() - 2], columns = shape.back();
  return MatrixSizes{rows, columns, sizes::minimum(rows, columns)};
}

llvm::Expected<Metas> qr(const OpDef &op, Operands operands, Segments) {
  const TensorMeta &x = operands[0];
  llvm::Expected<MatrixSizes> size = sizesOf(op, operands);
  if (!size)
    return size.takeError();
  return Metas{{x.dtype, besideBatch(x, size->rows, size->least)},
               {x.dtype, besideBatch(x, size->least, size->columns)}};
}

llvm::Expected<Metas> svd(const OpDef &op, Operands operands, Segments) {
  const TensorMeta &x = operands[0];
  llvm::Expected<MatrixSizes> size = sizesOf(op, operands);
  if (!size)
    return size.takeError();
  return Metas{{x.dtype, besideBatch(x, size->rows, size->least)},
               {x.dtype, besideBatch(x, size->least)},
               {x.dtype, besideBatch(x, size->least, size->columns)}};
}

llvm::Expected<Metas> svdvals(const OpDef &op, Operands operands, Segments) {
  llvm::Expected<MatrixSizes> size = sizesOf(op, operands);
  if (!size)
    return size.takeError();
  return single(operands, besideBatch(operands[0], size->least));
}

} // namespace tess::shapes
