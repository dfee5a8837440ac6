//===- PixelPieces.h - what rules about images are written with -*- C++ -*-===//
#pragma once

#include "ops/graphs/GraphPieces.h"

namespace tess::pieces {

inline int plus(SubgraphBuilder &b, int x, int y) { return call(b, "add", {x, y}); }
inline int minus(SubgraphBuilder &b, int x, int y) { return call(b, "sub", {x, y}); }
inline int times(SubgraphBuilder &b, int x, int y) { return call(b, "mul", {x, y}); }

/// `x` with new axes of size 1, counted in the result.
inline int withAxes(SubgraphBuilder &b, int x, const IntList &axes) {
  return call(b, "expand_dims", {x}, {{"axis", axes}});
}
/// `x` with the axes from `first` to `last` made one.
inline int flattened(SubgraphBuilder &b, int x, int64_t first, int64_t last) {
  return call(b, "flatten", {x}, {{"start_axis", first}, {"end_axis", last}});
}
/// `x` with its axes in another order.
inline int permuted(SubgraphBuilder &b, int x, const IntList &pattern) {
  return call(b, "transpose", {x}, {{"pattern", pattern}});
}

/// The size of an axis as a number of rank 0; 0 where another axis is empty and this one not known.
int sizeOf(SubgraphBuilder &b, int x, unsigned axis, DType dtype);
/// 0, 1, ... for the elements of an axis; zeros where another axis is empty and this one not known.
int numbersAlong(SubgraphBuilder &b, int x, unsigned axis, DType dtype);

/// Neighbouring pixels along an axis for each of some positions: where the first one is, a whole number, and what each
/// one counts for; without weights it is the first one alone.
struct Taps {
  int first;
  llvm::SmallVector<int, 4> weights;
};
/// Those of a mode: "nearest", "linear" or "cubic".
Taps tapsAt(SubgraphBuilder &b, llvm::StringRef mode, int position);
/// Where pixel `number` of the taps is.
int tapPlace(SubgraphBuilder &b, const Taps &taps, unsigned number);

/// Whole numbers as indices into an axis of `size` pixels (a value of their dtype): of what lies outside the pixel that
/// stands for it, of NaN the first one.
int borderIndex(SubgraphBuilder &b, llvm::StringRef borderMode, int place, int size);

/// `x` at positions along an axis of `size` elements (a value of their dtype), by a mode; beyond an end lies the
/// element there.
int interpolated(SubgraphBuilder &b, int x, int positions, int size, unsigned axis, llvm::StringRef mode);

/// The pixels at (y, x), [B, OH, OW], of images [B, C, H, W]: [B, C, OH, OW]. The modes are those of the record
/// `remap`; `borderValue` is a number or a runtime attribute.
int pixelsAt(SubgraphBuilder &b, int images, int y, int x, llvm::StringRef interpolation, llvm::StringRef border,
             AttrValue borderValue);
/// The same of images number `image`, [B, 1, 1], for `op`, which errors about these name.
int pixelsOf(SubgraphBuilder &b, const OpDef &op, int images, int image, int y, int x, llvm::StringRef interpolation,
             llvm::StringRef border, AttrValue borderValue);

} // namespace tess::pieces
