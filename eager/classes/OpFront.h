//===- OpFront.h - operators that a thread looked up ------------*- C++ -*-===//
//
// What the calling thread found in the operator cache before: a look-up that
// hits here takes no lock and writes nothing that another thread reads.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/classes/CompiledOp.h"

#include <array>
#include <memory>
#include <vector>

namespace tess::eager {

/// A reference to every operator that the thread found last, a few for each hash. An operator that the cache evicts
/// stays until the thread looks something up again; while it is pinned it stays in any case.
class OpFront {
public:
  /// Of the calling thread.
  static OpFront &own() { return LLVM_LIKELY(current != nullptr) ? *current : make(); }
  /// Tells all threads that operators were evicted, which they give up at their next look-up.
  static void noteEviction() { evictions.fetch_add(1, std::memory_order_release); }
  ~OpFront();

  /// The operator of `key` that serves `op`; null when the thread did not look it up lately.
  CompiledOp *find(const KeyPrint &key, const OpDef &op) {
    if (LLVM_UNLIKELY(seen != evictions.load(std::memory_order_acquire)))
      forget();
    for (const CompiledOpPtr &known : setOf(key))
      if (known && known->key == key && known->answers(op))
        return known.get();
    return nullptr;
  }
  /// Remembers `op`, in the place of the one that was inserted longest ago among those of its hash.
  void insert(CompiledOpPtr op);
  /// Gives up everything, for when the cache evicted something.
  void forget();

  // Between these, what find() and insert() saw is not freed; they nest.
  void pin() { ++pins; }
  void unpin() {
    if (--pins == 0 && LLVM_UNLIKELY(!parked.empty()))
      parked.clear();
  }

private:
  static constexpr unsigned kSets = 2048, kWays = 2;
  using Set = std::array<CompiledOpPtr, kWays>;

  static OpFront &make();
  Set &setOf(const KeyPrint &key) { return sets[key.high % kSets]; }
  void park(CompiledOpPtr op);

  static constinit thread_local OpFront *current;
  static std::atomic<uint64_t> evictions;
  uint64_t seen = evictions.load(std::memory_order_acquire);
  unsigned pins = 0;
  std::vector<CompiledOpPtr> parked; // given up while pinned
  std::vector<Set *> used;           // those that are not empty
  std::array<Set, kSets> sets;
};

/// Ends a CompiledOpRef.
struct Unpin {
  OpFront *front = nullptr;
  void operator()(CompiledOp *) const { front->unpin(); }
};
/// What a look-up found; it stays alive while this does, evicted or not. For the thread that looked it up only.
using CompiledOpRef = std::unique_ptr<CompiledOp, Unpin>;
/// The reference to what `front` just found or inserted.
inline CompiledOpRef pinned(CompiledOp &op, OpFront &front) {
  front.pin();
  return {&op, Unpin{&front}};
}

} // namespace tess::eager
