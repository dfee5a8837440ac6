//===- StridedCopy.h - copying between layouts on the host ------*- C++ -*-===//
#pragma once

#include "ops/TensorMeta.h"

namespace tess::runtime {

/// Copies elements of `width` bytes (1, 2, 4, 8 or 16). Shapes are equal; a source stride of 0 repeats. Pointers
/// address the element at index 0: the offsets of the layouts do not count. The two do not overlap.
void copyStrided(void *destination, const Layout &to, const void *source, const Layout &from, int64_t width);

} // namespace tess::runtime
