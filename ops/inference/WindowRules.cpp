//===- WindowRules.cpp - the windows of operators -------------------------===//
#include "ops/inference/WindowRules.h"
#include "ops/inference/Notation.h"
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

} // namespace tess::windows
