//===- WindowCount.h - how many windows fit ---------------------*- C++ -*-===//
#pragma once

#include "ops/operator/OpInfo.h"

namespace tess::windows {

/// The number of windows along an axis of `size` elements; -1 when not even one fits.
int64_t count(int64_t size, const WindowAxis &window);
/// The number for terms of records.
inline int64_t countOf(int64_t size, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation) {
  return count(size, {kernel, stride, padding, dilation});
}

} // namespace tess::windows
