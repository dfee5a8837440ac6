//===- KeptCalls.cpp - how much traces keep ------------------------------===//
#include "eager/tracing/KeptCalls.h"

#include "runtime/threads/Fork.h"
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
  KeptCalls() { runtime::holdAcrossFork(mutex); }

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
  void use(KeptCall &call) {
    if (!call.isKept)
      return;
    latest = &call;
    order.splice(order.begin(), order, call.place);
    auto *own = llvm::find(*call.variants, &call);
    std::rotate(call.variants->begin(), own, own + 1);
  }
  /// Removes calls until none must go, and has their traces drop them. Takes the mutex itself.
  void makeRoom(const KeptCall *staying) {
    KeptCall::Cause cause;
    while (std::shared_ptr<const KeptCall::Forget> forget = takeNext(staying, cause))
      (*forget)(cause);
  }

  std::mutex mutex;
  uint64_t held = 0, limit = kDefaultLimit;
  /// The call that was used last, and never one that is gone. Most calls are those of the same trace, so use() reads it
  /// without the mutex: a value that another thread is replacing only changes the order of two calls that run at once.
  std::atomic<const KeptCall *> latest = nullptr;

private:
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

  std::list<KeptCall *> order; // the latest used first
};

static KeptCalls &all() {
  static KeptCalls *calls = new KeptCalls; // never freed: calls of a frontend may die after static objects
  return *calls;
}
static const runtime::MadeAtLoad<all> kMade;

KeptCall::KeptCall(const KeptCall *sibling, Forget forget)
    : variants(sibling ? sibling->variants : std::make_shared<Variants>()),
      forget(std::make_shared<const Forget>(std::move(forget))) {}

KeptCall::~KeptCall() {
  std::lock_guard lock(all().mutex);
  all().remove(*this);
}

void KeptCall::put(uint64_t bytes, bool isNew) {
  {
    std::lock_guard lock(all().mutex);
    if (!isNew && !isKept)
      return;
    all().remove(*this);
    all().add(*this, bytes);
  }
  all().makeRoom(this);
}

void KeptCall::use() {
  if (all().latest.load(std::memory_order_relaxed) == this)
    return;
  std::lock_guard lock(all().mutex);
  all().use(*this);
}

void setTraceLimit(uint64_t bytes) {
  {
    std::lock_guard lock(all().mutex);
    all().limit = bytes;
  }
  all().makeRoom(nullptr);
}

uint64_t traceLimit() {
  std::lock_guard lock(all().mutex);
  return all().limit;
}

uint64_t traceBytes() {
  std::lock_guard lock(all().mutex);
  return all().held;
}

} // namespace tess::eager
