//===- TensorMeta.cpp - shapes, layouts and their text -------------------===//
#include "ops/vocabulary/TensorMeta.h"
#include "ops/vocabulary/SizeExpr.h"

#include "llvm/ADT/STLExtras.h"

namespace tess {

bool TensorMeta::isStatic() const { return !llvm::is_contained(shape, kUnknown); }

/// The product of sizes that are not all numbers.
static int64_t productOf(llvm::ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t dim : shape)
    count = sizes::multiply(count, dim);
  return count;
}

int64_t TensorMeta::numElements() const {
  if (llvm::is_contained(shape, 0))
    return 0;
  int64_t count = 1;
  for (int64_t dim : shape) {
    if (dim < 0)
      return productOf(shape);
    if (__builtin_mul_overflow(count, dim, &count))
      return INT64_MAX;
  }
  return count;
}

void forgetExpressions(llvm::MutableArrayRef<TensorMeta> metas) {
  for (TensorMeta &meta : metas)
    for (int64_t &size : meta.shape)
      size = sizes::isSymbolic(size) ? kUnknown : size;
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

Layout Layout::broadcastTo(llvm::ArrayRef<int64_t> to) const {
  Layout out{Shape(to.begin(), to.end()), Shape(to.size(), 0), offset};
  size_t lead = to.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] == to[lead + i])
      out.strides[lead + i] = strides[i];
  return out;
}

bool broadcastInto(Shape &shape, llvm::ArrayRef<int64_t> other) {
  if (llvm::ArrayRef(shape) == other)
    return true;
  if (shape.size() < other.size())
    shape.insert(shape.begin(), other.size() - shape.size(), 1);
  size_t shift = shape.size() - other.size();
  for (size_t i = 0; i < other.size(); ++i) {
    int64_t &mine = shape[shift + i], theirs = other[i];
    if (mine == theirs || theirs == 1)
      continue;
    if (mine == 1 || mine == kUnknown)
      mine = theirs;
    else if (sizes::isSymbolic({mine, theirs}))
      mine = sizes::isSymbolic(mine) && theirs != kUnknown ? theirs : mine; // or one repeats, which the run finds out
    else if (theirs != kUnknown)
      return false;
  }
  return true;
}

bool broadcastsTo(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to) {
  if (from.size() > to.size())
    return false;
  return llvm::all_of(llvm::zip(from, to.take_back(from.size())), [](auto sizes) {
    auto [own, wanted] = sizes;
    return own == 1 || own == wanted || own == kUnknown || wanted == kUnknown || sizes::isSymbolic({own, wanted});
  });
}

std::string toString(llvm::ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i)
      text += ", ";
    text += sizes::toText(shape[i]);
  }
  return text + "]";
}

std::string toString(const TensorMeta &meta) {
  return shortName(meta.dtype).str() + toString(llvm::ArrayRef(meta.shape));
}

} // namespace tess
