//===- WindowCount.cpp - how many windows fit -----------------------------===//
#include "ops/inference/WindowCount.h"
#include "ops/vocabulary/SizeExpr.h"

namespace tess::windows {

int64_t count(int64_t size, const WindowAxis &window) {
  if (size == kUnknown || window.size == kUnknown)
    return kUnknown;
  int64_t whole = sizes::add(sizes::multiply(window.dilation, sizes::add(window.size, -1)), 1);
  if (sizes::isSymbolic({size, whole}))
    return sizes::add(sizes::floorDivide(sizes::add(size, sizes::subtract(2 * window.padding, whole)), window.stride),
                      1);
  int64_t room = size + 2 * window.padding - whole;
  return room < 0 ? -1 : room / window.stride + 1;
}

} // namespace tess::windows
