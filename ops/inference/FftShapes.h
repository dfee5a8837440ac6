//===- FftShapes.h - axis and sizes of Fourier transforms -------*- C++ -*-===//
#pragma once

#include "ops/inference/RuleErrors.h"

namespace tess::fft {

/// The transformed axis of `x`, counted from the front.
inline int64_t axisOf(const OpDef &op, const TensorMeta &x) { return shapes::fromFront(op.i64("axis"), x.rank()); }

/// The number of elements in the half of a spectrum of `size`.
inline int64_t halfOf(int64_t size) { return size == kUnknown ? kUnknown : sizes::add(sizes::floorDivide(size, 2), 1); }

} // namespace tess::fft
