//===- TensorMeta.h - what is known of a tensor without its data -*- C++ -*-===//
//
// Shapes, strides and dtypes as inference sees them. A dimension may be unknown.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/vocabulary/DType.h"
#include "ops/vocabulary/SizeHandles.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <string>

namespace tess {

/// Most elements a tensor may have: their bytes can be counted.
constexpr int64_t kMaxElements = int64_t(1) << 59;

/// Sizes, or strides, per axis; kUnknown where a size is not known.
using Shape = llvm::SmallVector<int64_t, 6>;

/// The dtype and shape of a value; equal when both are, unknown sizes included.
struct TensorMeta {
  DType dtype = DType::Float32;
  Shape shape;

  TensorMeta() = default;
  TensorMeta(DType dtype, llvm::ArrayRef<int64_t> shape) : dtype(dtype), shape(shape.begin(), shape.end()) {}

  /// The number of axes; whether every size is known.
  unsigned rank() const { return shape.size(); }
  bool isStatic() const;
  /// Product of the dimensions, an expression when one is; kUnknown when one is unknown (and none is 0), INT64_MAX when
  /// it is larger.
  int64_t numElements() const;
  bool operator==(const TensorMeta &other) const { return dtype == other.dtype && shape == other.shape; }
};
/// One meta for each operand or result.
using Metas = llvm::SmallVector<TensorMeta, 4>;

/// Makes sizes that are expressions unknown, for code that knows numbers only.
void forgetExpressions(llvm::MutableArrayRef<TensorMeta> metas);

/// Where the elements of a view lie in its storage; strides and offset in elements.
struct Layout {
  Shape shape;
  Shape strides;
  int64_t offset = 0;

  /// The row-major layout of `shape`, without an offset.
  static Layout contiguous(llvm::ArrayRef<int64_t> shape);
  /// Whether the elements lie row-major without gaps; strides of axes of size 1 and the offset do not count.
  bool isContiguous() const;
  /// The same elements over `to`, which the shape must broadcast to: axes are aligned from the right, and those that
  /// `to` makes longer or adds repeat with stride 0.
  Layout broadcastTo(llvm::ArrayRef<int64_t> to) const;
};

/// Broadcasts `other` into `shape`; false when they do not fit. Unknown against n > 1 gives n, against 1 or unknown
/// unknown.
bool broadcastInto(Shape &shape, llvm::ArrayRef<int64_t> other);
/// Whether `from` broadcasts to exactly `to`, as far as it is known.
bool broadcastsTo(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);

/// Row-major strides of `shape`, in elements; they wrap around where the shape has no elements.
Shape contiguousStrides(llvm::ArrayRef<int64_t> shape);
/// "f32[2, 3]"; an unknown dimension prints "?".
std::string toString(const TensorMeta &meta);
/// "[2, 3]".
std::string toString(llvm::ArrayRef<int64_t> shape);

} // namespace tess
