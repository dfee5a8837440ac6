//===- StridedCopy.h - copying between layouts on the host ------*- C++ -*-===//
#pragma once

#include "ops/vocabulary/TensorMeta.h"

#include <utility>

namespace tess::runtime {

/// Copies elements of `width` bytes (1, 2, 4, 8 or 16). Shapes are equal; a source stride of 0 repeats. Pointers
/// address the element at index 0: the offsets of the layouts do not count. The two do not overlap.
void copyStrided(void *destination, const Layout &to, const void *source, const Layout &from, int64_t width);

/// What a layout that is not empty reaches, in bytes from its first element.
std::pair<int64_t, int64_t> reachOf(const Layout &layout, int64_t width);

} // namespace tess::runtime
