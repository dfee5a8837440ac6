//===- KernelLoops.cpp - loops over one group of the domain ---------------===//
#include "compiler/emit/KernelLoops.h"

namespace tess::compiler {

using Values = LaneBuilder::Values;

Values KernelLoops::indexLoop(V lo, V hi, unsigned group, llvm::ArrayRef<V> init, Body body, bool backward) {
  return scopes.loop(lo, hi, b.index(1), init, [&](V index, llvm::ArrayRef<V> values) {
    scopes.enterGroup(group, backward ? lo + hi - b.index(1) - index : index);
    return body(values);
  });
}

Values KernelLoops::lanesLoop(V lo, V hi, unsigned group, llvm::ArrayRef<V> init, Body body, bool backward) {
  return scopes.loop(lo, hi, b.index(kLanes), init, [&](V index, llvm::ArrayRef<V> values) {
    scopes.enterLanes(group, backward ? lo + hi - b.index(kLanes) - index : index);
    return body(values);
  });
}

Values KernelLoops::vectorLoop(V lo, V hi, unsigned group, llvm::ArrayRef<V> init, Body body, bool backward) {
  V rest = (hi - lo) & b.index(kLanes - 1);
  V tail = backward ? lo : hi - rest, end = backward ? lo + rest : hi;
  Values carried = lanesLoop(backward ? end : lo, backward ? hi : tail, group, init, body, backward);
  return scopes.when(lt(tail, end), carried, [&] {
    scopes.enterLanes(group, tail);
    scopes.limitLanes(rest);
    return body(carried);
  });
}

void KernelLoops::scalarTailLoop(V lo, V hi, unsigned group, llvm::function_ref<void()> body) {
  V middle = hi - ((hi - lo) & b.index(kLanes - 1));
  auto run = [&](llvm::ArrayRef<V>) { return body(), Values(); };
  lanesLoop(lo, middle, group, {}, run, false);
  indexLoop(middle, hi, group, {}, run);
}

void KernelLoops::wholeLoop(V lo, V hi, unsigned group, llvm::function_ref<void()> body) {
  scopes.loop(lo, hi, b.index(kLanes), {}, [&](V index, llvm::ArrayRef<V>) {
    scopes.enterLanes(group, index);
    scopes.limitLanesAtEnd(hi - index);
    body();
    return Values();
  });
}

} // namespace tess::compiler
