//===- OpFront.cpp - operators that a thread looked up --------------------===//
//
// The pointer to a thread's front is a constant-initialised thread_local without
// a destructor, so that a hit costs no guard; a second one ends the front.
//
//===----------------------------------------------------------------------===//
#include "eager/classes/OpFront.h"

#include <memory>

namespace tess::eager {

constinit thread_local OpFront *OpFront::current = nullptr;
std::atomic<uint64_t> OpFront::evictions{0};

OpFront &OpFront::make() {
  static thread_local std::unique_ptr<OpFront> owner;
  owner = std::make_unique<OpFront>();
  current = owner.get();
  return *current;
}

OpFront::~OpFront() { current = nullptr; }

void OpFront::park(CompiledOpPtr op) {
  if (pins && op)
    parked.push_back(std::move(op));
}

void OpFront::insert(CompiledOpPtr op) {
  Set &set = setOf(op->key);
  if (!set.front())
    used.push_back(&set);
  park(std::move(set.back()));
  std::move_backward(set.begin(), set.end() - 1, set.end());
  set.front() = std::move(op);
}

void OpFront::forget() {
  seen = evictions.load(std::memory_order_acquire);
  for (Set *set : used)
    for (CompiledOpPtr &op : *set)
      park(std::exchange(op, nullptr));
  used.clear();
}

} // namespace tess::eager
