//===- OpCache.cpp - compiled operators by class -------------------------===//
#include "eager/classes/OpCache.h"

#include "eager/tensor/Counters.h"
#include "eager/tensor/Location.h"
#include "ops/graphs/Control.h"
#include "runtime/threads/Fork.h"
#include "llvm/ADT/STLExtras.h"

#include <array>
#include <condition_variable>

namespace tess::eager {

namespace {

constexpr unsigned kShards = 16;

std::atomic<uint64_t> limitPerShard{kDefaultOpCacheLimit / kShards};

/// Operators that were evicted, to be freed without a shard's mutex: their end takes other locks.
using Evicted = std::vector<CompiledOpPtr>;

class Shard {
public:
  Shard() { runtime::holdAcrossFork(mutex); }
  llvm::Expected<CompiledOpPtr> findOrBuild(const KeyPrint &key, const OpDef &op, llvm::function_ref<BuiltOp()> build);
  void addTo(OpCacheStats &stats);
  void addTo(std::vector<std::string> &classes);
  using Order = std::list<CompiledOpPtr>;
  /// These give what is evicted to the caller, which frees it.
  Evicted trim();
  Order clear();
  /// Called in a forked child, which has no thread that was building or waiting.
  void forgetBuilders() {
    building.clear();
    new (&built) std::condition_variable;
  }

private:
  CompiledOpPtr find(const KeyPrint &key, const OpDef &wanted);
  Evicted trimLocked();

  std::mutex mutex;
  std::condition_variable built;
  Order order;                                              // the latest used first
  std::unordered_multimap<uint64_t, Order::iterator> index; // by KeyPrint::low
  llvm::SmallVector<uint64_t, 2> building;
  uint64_t bytes = 0, hits = 0, misses = 0, evictions = 0;
};

std::array<Shard, kShards> &shards() {
  static auto *instance = [] { // never destroyed: threads may outlive main
    auto nothing = [] {};
    runtime::callAcrossFork(nothing, nothing, [] { llvm::for_each(shards(), [](Shard &s) { s.forgetBuilders(); }); });
    return new std::array<Shard, kShards>;
  }();
  return *instance;
}
const runtime::MadeAtLoad<shards> kMade;

/// With the mutex, as all that follows and is not public.
CompiledOpPtr Shard::find(const KeyPrint &key, const OpDef &wanted) {
  auto [first, last] = index.equal_range(key.low);
  for (auto it = first; it != last; ++it)
    if (CompiledOp &op = **it->second; op.key == key && op.answers(wanted)) {
      order.splice(order.begin(), order, it->second);
      return order.front();
    }
  return nullptr;
}

llvm::Expected<CompiledOpPtr> Shard::findOrBuild(const KeyPrint &key, const OpDef &op,
                                                 llvm::function_ref<BuiltOp()> build) {
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) {
    if (CompiledOpPtr known = find(key, op)) {
      ++hits;
      return known;
    }
    if (!llvm::is_contained(building, key.low))
      break;
    lock.unlock(); // never wait for the frontend's lock with this one held
    {
      BlockingRegion region;
      lock.lock();
      built.wait(lock, [&] { return !llvm::is_contained(building, key.low); });
      lock.unlock();
    }
    lock.lock();
  }
  ++misses;
  building.push_back(key.low);
  lock.unlock();
  BuiltOp made = build();
  lock.lock();
  building.erase(llvm::find(building, key.low));
  built.notify_all();
  if (!made)
    return made.takeError();
  CompiledOpPtr kept(made->release());
  bytes += kept->bytes;
  index.emplace(key.low, order.insert(order.begin(), kept));
  Evicted evicted = trimLocked();
  lock.unlock();
  return kept;
}

Evicted Shard::trimLocked() {
  Evicted evicted;
  while (bytes > limitPerShard.load(std::memory_order_relaxed) && order.size() > 1) {
    CompiledOp &oldest = *order.back();
    auto [first, last] = index.equal_range(oldest.key.low);
    index.erase(std::find_if(first, last, [&](const auto &entry) { return entry.second->get() == &oldest; }));
    bytes -= oldest.bytes;
    ++evictions;
    evicted.push_back(std::move(order.back()));
    order.pop_back();
  }
  if (!evicted.empty())
    OpFront::noteEviction();
  return evicted;
}

Evicted Shard::trim() {
  std::lock_guard<std::mutex> lock(mutex);
  return trimLocked();
}

Shard::Order Shard::clear() {
  std::lock_guard<std::mutex> lock(mutex);
  index = {}; // with the memory of its buckets, which a clear() would write
  bytes = 0;
  OpFront::noteEviction();
  return std::exchange(order, {});
}

void Shard::addTo(OpCacheStats &stats) {
  std::lock_guard<std::mutex> lock(mutex);
  stats.hits += hits;
  stats.misses += misses;
  stats.evictions += evictions;
  stats.entries += order.size();
  stats.bytes += bytes;
}

void Shard::addTo(std::vector<std::string> &classes) {
  std::lock_guard<std::mutex> lock(mutex);
  for (const CompiledOpPtr &op : order)
    if (!control::findBody(op->op))
      classes.push_back(op->text);
}

} // namespace

llvm::Expected<CompiledOpRef> findOrBuild(const OpKey &key, const OpDef &op, llvm::function_ref<BuiltOp()> build) {
  const KeyPrint print(key);
  OpFront &front = OpFront::own();
  if (CompiledOp *known = front.find(print, op); LLVM_LIKELY(known != nullptr)) {
    count(Count::CacheHits);
    return pinned(*known, front);
  }
  llvm::Expected<CompiledOpPtr> found = shards()[print.low >> 60].findOrBuild(print, op, build);
  if (!found)
    return found.takeError();
  front.insert(*found);
  return pinned(**found, front);
}

OpCacheStats opCacheStats() {
  OpCacheStats stats;
  for (Shard &shard : shards())
    shard.addTo(stats);
  stats.hits += counts()[unsigned(Count::CacheHits)];
  stats.limit = limitPerShard.load() * kShards;
  stats.bindingBytes = BindingBytes::held;
  stats.bindingLimit = BindingBytes::limit;
  return stats;
}

std::vector<std::string> cachedClasses() {
  std::vector<std::string> classes;
  for (Shard &shard : shards())
    shard.addTo(classes);
  llvm::sort(classes);
  return classes;
}

void setOpCacheLimit(uint64_t bytes) {
  limitPerShard = std::max<uint64_t>(1, bytes / kShards);
  BindingBytes::limit = bytes / 4;
  for (Shard &shard : shards())
    shard.trim();
}

void clearOpCache() {
  for (Shard &shard : shards())
    shard.clear();
  OpFront::own().forget();
}

} // namespace tess::eager
