//===- TensorMeta.cpp - shapes, layouts and their text -------------------===//
#include "ops/TensorMeta.h"

#include "llvm/ADT/STLExtras.h"

namespace tess {

bool TensorMeta::isStatic() const { return !llvm::is_contained(shape, kUnknown); }

int64_t TensorMeta::numElements() const {
  if (llvm::is_contained(shape, 0))
    return 0;
  int64_t count = 1;
  for (int64_t dim : shape) {
    if (dim == kUnknown)
      return kUnknown;
    if (__builtin_mul_overflow(count, dim, &count))
      return INT64_MAX;
  }
  return count;
}

Shape contiguousStrides(llvm::ArrayRef<int64_t> shape) {
  Shape strides(shape.size(), 1);
  for (int i = int(shape.size()) - 2; i >= 0; --i) // strides overflow only where there is no element to find
    strides[i] = int64_t(uint64_t(strides[i + 1]) * uint64_t(shape[i + 1]));
  return strides;
}

Layout Layout::contiguous(llvm::ArrayRef<int64_t> shape) {
  return {Shape(shape.begin(), shape.end()), contiguousStrides(shape), 0};
}

bool Layout::isContiguous() const {
  if (llvm::is_contained(shape, 0))
    return true;
  int64_t expected = 1;
  for (int i = int(shape.size()) - 1; i >= 0; --i) {
    if (shape[i] != 1 && strides[i] != expected)
      return false;
    expected *= shape[i];
  }
  return true;
}

std::string toString(llvm::ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i)
      text += ", ";
    text += shape[i] == kUnknown ? "?" : std::to_string(shape[i]);
  }
  return text + "]";
}

std::string toString(const TensorMeta &meta) {
  return shortName(meta.dtype).str() + toString(llvm::ArrayRef(meta.shape));
}

} // namespace tess
