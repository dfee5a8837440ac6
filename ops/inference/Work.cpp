//===- Work.cpp - how much an operator computes ---------------------------===//
#include "ops/inference/Work.h"

#include "llvm/ADT/STLExtras.h"

namespace tess {

// A core of 2020 or so makes 100 G operations, and moves 10 GB, in a second.
static constexpr double kPerByte = 100, kPerOperation = 10;

static double elementsOf(const TensorMeta &meta) {
  double elements = 1;
  for (int64_t size : meta.shape)
    elements *= double(std::max<int64_t>(size, 0));
  return elements;
}

double picosecondsOf(const TensorMeta &meta) { return kPerByte * elementsOf(meta) * double(byteWidth(meta.dtype)); }

double operationsOf(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, llvm::ArrayRef<TensorMeta> results) {
  const OpInfo &info = op.info();
  if (info.multiplyAdds)
    return 2 * info.multiplyAdds(op, operands, results);
  switch (info.lowering) {
  case Lowering::View:
  case Lowering::Movement:
  case Lowering::Library:
  case Lowering::Sequential:
  case Lowering::Control:
    return 0;
  default:
    break;
  }
  double most = 0;
  for (const TensorMeta &meta : llvm::concat<const TensorMeta>(operands, results))
    most = std::max(most, elementsOf(meta));
  return most;
}

double picosecondsOf(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, llvm::ArrayRef<TensorMeta> results) {
  double picoseconds = kPerOperation * operationsOf(op, operands, results);
  for (const TensorMeta &meta : llvm::concat<const TensorMeta>(operands, results))
    picoseconds += picosecondsOf(meta);
  return picoseconds;
}

} // namespace tess
