//===- KernelScopes.cpp - the open loops of a kernel ----------------------===//
#include "compiler/emit/KernelScopes.h"

#include "llvm/ADT/STLExtras.h"

#include <optional>

namespace tess::compiler {

using Values = KernelScopes::Values;

class KernelScopes::Body {
public:
  Body(KernelScopes &of, mlir::Operation *branch, mlir::Operation *end) : of(of) {
    of.scopes.back().nested = branch;
    of.open(end);
  }
  ~Body() {
    of.scopes.pop_back();
    of.scopes.back().nested = nullptr;
  }
  Body(const Body &) = delete;

private:
  KernelScopes &of;
};

Values KernelScopes::loop(V lo, V hi, V step, llvm::ArrayRef<V> init, LaneBuilder::LoopBody body) {
  std::optional<Body> scope;
  return b.forLoop(lo, hi, step, init, body,
                   [&](mlir::Operation *branch, mlir::Operation *end) { scope.emplace(*this, branch, end); });
}

Values KernelScopes::loopWhile(llvm::ArrayRef<V> init, llvm::function_ref<Values(llvm::ArrayRef<V>)> body,
                               llvm::function_ref<V(llvm::ArrayRef<V>)> isMore,
                               llvm::function_ref<Values(llvm::ArrayRef<V>)> next) {
  std::optional<Body> scope;
  return b.loopWhile(init, body, isMore, next,
                     [&](mlir::Operation *branch, mlir::Operation *end) { scope.emplace(*this, branch, end); });
}

Values KernelScopes::when(V condition, llvm::ArrayRef<V> otherwise, llvm::function_ref<Values()> body) {
  std::optional<Body> scope;
  return b.ifThen(condition, otherwise, body,
                  [&](mlir::Operation *branch, mlir::Operation *end) { scope.emplace(*this, branch, end); });
}

void KernelScopes::limitLanes(V remaining) {
  scopes.back().limit.remaining = remaining;
  scopes.back().limit.mask = tailMask();
}

void KernelScopes::limitLanesAtEnd(V remaining) {
  scopes.back().limit.remaining = remaining;
  scopes.back().limit.whole = ge(remaining, b.index(kLanes));
}

unsigned KernelScopes::depthOf(unsigned group) const {
  auto isOf = [&](const GroupIndex &index) { return index.group == group; };
  const Scope *open = llvm::find_if(scopes, [&](const Scope &scope) { return llvm::any_of(scope.groups, isOf); });
  assert(open != scopes.end() && "every group is open where it is used");
  return unsigned(open - scopes.begin());
}

const GroupIndex &KernelScopes::positionIn(unsigned group) const {
  return *llvm::find_if(scopes[depthOf(group)].groups, [&](const GroupIndex &index) { return index.group == group; });
}

const KernelScopes::Scope *KernelScopes::laneScope() const {
  for (const Scope &scope : scopes)
    if (!scope.groups.empty() && scope.groups.back().lanes)
      return &scope;
  return nullptr;
}

const GroupIndex *KernelScopes::lanes() const {
  const Scope *scope = laneScope();
  return scope ? &scope->groups.back() : nullptr;
}

V KernelScopes::tailMask() const { return lt(b.iota(Elem::I32), b.splat(b.convert(laneLimit().remaining, Elem::I32))); }

} // namespace tess::compiler
