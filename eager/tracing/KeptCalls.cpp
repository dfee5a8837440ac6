//===- KeptCalls.cpp - how much traces keep ------------------------------===//
#include "eager/tracing/KeptCalls.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <atomic>
#include <mutex>

namespace tess::eager {

/// Number of calls of one signature that a trace keeps.
static constexpr size_t kMaxVariants = 4;
static constexpr uint64_t kDefaultLimit = 1 << 30; // bytes

/// All kept calls of the process. Its mutex guards every KeptCall, and is never held while others' code runs.
class KeptCalls {
public:
  static KeptCalls &ofProcess() {
    static KeptCalls *calls = new KeptCalls; // never freed: calls of a frontend may die after static objects
    return *calls;
  }

  void keep(KeptCall &call, uint64_t bytes, bool isNew) {
    {
      std::lock_guard lock(mutex);
      if (!isNew && !call.isKept)
        return;
      remove(call);
      add(call, bytes);
    }
    makeRoom(&call);
  }
  void use(KeptCall &call) {
    if (latest.load(std::memory_order_relaxed) == &call)
      return;
    std::lock_guard lock(mutex);
    if (!call.isKept)
      return;
    latest = &call;
    order.splice(order.begin(), order, call.place);
    auto *own = llvm::find(*call.variants, &call);
    std::rotate(call.variants->begin(), own, own + 1);
  }
  void drop(KeptCall &call) {
    std::lock_guard lock(mutex);
    remove(call);
  }
  void setLimit(uint64_t bytes) {
    {
      std::lock_guard lock(mutex);
      limit = bytes;
    }
    makeRoom(nullptr);
  }
  uint64_t maxBytes() {
    std::lock_guard lock(mutex);
    return limit;
  }
  uint64_t bytes() {
    std::lock_guard lock(mutex);
    return held;
  }

private:
  void add(KeptCall &call, uint64_t bytes) {
    call.held = bytes;
    call.isKept = true;
    held += bytes;
    latest = &call;
    order.push_front(&call);
    call.place = order.begin();
    call.variants->insert(call.variants->begin(), &call);
  }
  void remove(KeptCall &call) {
    if (!call.isKept)
      return;
    call.isKept = false;
    if (latest == &call)
      latest = nullptr;
    held -= call.held;
    order.erase(call.place);
    llvm::erase(*call.variants, &call);
  }

  /// Removes the next call that must go, and returns what its trace does then; null: none must.
  std::shared_ptr<const KeptCall::Forget> takeNext(const KeptCall *staying, KeptCall::Cause &cause) {
    std::lock_guard lock(mutex);
    KeptCall *next = nullptr;
    if (staying && staying->variants->size() > kMaxVariants) {
      cause = KeptCall::Cause::Variants;
      next = staying->variants->back();
    } else if (held > limit) {
      cause = KeptCall::Cause::Bytes;
      auto oldest = llvm::find_if(llvm::reverse(order), [&](KeptCall *call) { return call != staying; });
      next = oldest == order.rend() ? nullptr : *oldest;
    }
    if (!next)
      return nullptr;
    remove(*next);
    return next->forget;
  }
  void makeRoom(const KeptCall *staying) {
    KeptCall::Cause cause;
    while (std::shared_ptr<const KeptCall::Forget> forget = takeNext(staying, cause))
      (*forget)(cause);
  }

  std::mutex mutex;
  std::list<KeptCall *> order;              // the latest used first
  std::atomic<KeptCall *> latest = nullptr; // read without the mutex: most calls are those of the same trace
  uint64_t held = 0, limit = kDefaultLimit;
};

KeptCall::KeptCall(const KeptCall *sibling, Forget forget)
    : variants(sibling ? sibling->variants : std::make_shared<Variants>()),
      forget(std::make_shared<const Forget>(std::move(forget))) {}
KeptCall::~KeptCall() { KeptCalls::ofProcess().drop(*this); }
void KeptCall::keep(uint64_t bytes) { KeptCalls::ofProcess().keep(*this, bytes, true); }
void KeptCall::recount(uint64_t bytes) { KeptCalls::ofProcess().keep(*this, bytes, false); }
void KeptCall::use() { KeptCalls::ofProcess().use(*this); }

void setTraceLimit(uint64_t bytes) { KeptCalls::ofProcess().setLimit(bytes); }
uint64_t traceLimit() { return KeptCalls::ofProcess().maxBytes(); }
uint64_t traceBytes() { return KeptCalls::ofProcess().bytes(); }

} // namespace tess::eager
