//===- WindowRules.cpp - the windows of operators -------------------------===//
#include "ops/WindowRules.h"
#include "ops/Notation.h"
#include "ops/SizeExpr.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::windows {

Windows of(const OpDef &op) {
  const Notation &notation = *op.info().notation;
  const NotationPlace &place = notation.reads[0].places.back();
  const IntList &sizes = op.attr(unsigned(notation.symbols[place.digits[1]].extent)).ints();
  Windows windows;
  for (auto [number, size] : llvm::enumerate(sizes))
    windows.push_back(BoundNotation::windowOf(op, place, int(number), size));
  return windows;
}

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
