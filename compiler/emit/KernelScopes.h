//===- KernelScopes.h - the open loops of a kernel --------------*- C++ -*-===//
//
// A stack of scopes: the entry block, then the open bodies of loops and of
// conditions. Every value is built in the outermost scope that its inputs allow,
// so nothing is computed again in an inner loop, and is found there until the
// scope ends (ScopeMemo).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/lanes/LaneBuilder.h"

namespace tess::compiler {

/// A value, and the depth of the scope that holds it.
struct ScopedValue {
  V value;
  unsigned depth = 0;
};

/// Position of a scope in one group of the domain.
struct GroupIndex {
  unsigned group; // parallel groups first
  V index;        // i64 scalar; of lane 0 on the vector axis
  bool lanes;
};

/// Limits which lanes of the vector axis count; all count where nothing is set.
struct LaneLimit {
  V mask, remaining; // of a tail: which lanes, how many (i64)
  V whole;           // i1 scalar, of a loop that has the tail in it: every lane, or `remaining`
};

/// Opens and closes scopes, and knows where they stand. Depth 0 is the entry block.
class KernelScopes {
public:
  using Values = LaneBuilder::Values;

  /// Begins with the entry block, whose last operation is `end`.
  KernelScopes(LaneBuilder &b, mlir::Operation *end) : b(b) { open(end); }

  // Scopes: each lives as long as the body that it is of.
  /// LaneBuilder::forLoop, whose body is a scope.
  Values loop(V lo, V hi, V step, llvm::ArrayRef<V> init, LaneBuilder::LoopBody body);
  /// LaneBuilder::loopWhile, whose body is a scope.
  Values loopWhile(llvm::ArrayRef<V> init, llvm::function_ref<Values(llvm::ArrayRef<V>)> body,
                   llvm::function_ref<V(llvm::ArrayRef<V>)> isMore, llvm::function_ref<Values(llvm::ArrayRef<V>)> next);
  /// LaneBuilder::ifThen, whose body is a scope.
  Values when(V condition, llvm::ArrayRef<V> otherwise, llvm::function_ref<Values()> body);

  // Where the innermost scope stands.
  /// Enters one index of a group of the domain.
  void enterGroup(unsigned group, V index) { scopes.back().groups.push_back({group, index, false}); }
  /// Enters 16 of them, the first of which is `index`: the vector axis.
  void enterLanes(unsigned group, V index) { scopes.back().groups.push_back({group, index, true}); }
  /// Makes the scope a tail: `remaining` lanes count.
  void limitLanes(V remaining);
  /// Makes the scope a loop that has the tail in it: as many lanes count as there are, but at most `remaining`.
  void limitLanesAtEnd(V remaining);

  // Open scopes and groups.
  unsigned innermost() const { return unsigned(scopes.size()) - 1; }
  /// A number that no other scope of the kernel has, closed ones included.
  unsigned serialOf(unsigned depth) const { return scopes[depth].serial; }
  /// Groups that the scope enters.
  llvm::ArrayRef<GroupIndex> groupsAt(unsigned depth) const { return scopes[depth].groups; }
  /// Depth of the scope in which a group is open.
  unsigned depthOf(unsigned group) const;
  /// Position in a group that is open.
  const GroupIndex &positionIn(unsigned group) const;
  V indexOf(unsigned group) const { return positionIn(group).index; }

  // The vector axis.
  /// Whether it is open, rather than one index along it.
  bool hasLanes() const { return laneScope() != nullptr; }
  /// Position of its first lane; null when it is not open.
  const GroupIndex *lanes() const;
  /// Depth of the scope in which it is open.
  unsigned depthOfLanes() const { return unsigned(laneScope() - scopes.begin()); }
  /// Lanes that count, where it is open.
  const LaneLimit &laneLimit() const { return laneScope()->limit; }
  /// Lanes that count: null for all, and where it is not open.
  V mask() const { return hasLanes() ? laneLimit().mask : V(); }
  /// The first `remaining` lanes of the limit.
  V tailMask() const;

  /// Runs `build` with the insertion point in the scope.
  template <typename F> auto at(unsigned depth, F &&build) {
    const Scope &scope = scopes[depth];
    LaneBuilder::InsertBefore here(b, scope.nested ? scope.nested : scope.end);
    return build();
  }

private:
  struct Scope {
    mlir::Operation *end; // of its last block
    unsigned serial;
    mlir::Operation *nested = nullptr; // what branches to the inner scope, while that is open
    llvm::SmallVector<GroupIndex, 4> groups = {};
    LaneLimit limit = {};
  };
  class Body;

  void open(mlir::Operation *end) { scopes.push_back({end, opened++}); }
  const Scope *laneScope() const;

  LaneBuilder &b;
  llvm::SmallVector<Scope, 6> scopes;
  unsigned opened = 0;
};

/// Values by key, each found until the scope that holds it ends.
template <typename Key, typename Value> class ScopeMemo {
public:
  explicit ScopeMemo(const KernelScopes &scopes) : scopes(scopes) {}

  /// The value that the scope holds, or none.
  Value find(unsigned depth, Key key) const { return values.lookup({scopes.serialOf(depth), key}); }
  void set(unsigned depth, Key key, Value value) { values[{scopes.serialOf(depth), key}] = value; }

private:
  const KernelScopes &scopes;
  llvm::DenseMap<std::pair<unsigned, Key>, Value> values;
};

} // namespace tess::compiler
