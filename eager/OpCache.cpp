//===- OpCache.cpp - compiled operators by class -------------------------===//
#include "eager/OpCache.h"

#include "eager/Counters.h"
#include "eager/Location.h"
#include "runtime/Fork.h"
#include "llvm/ADT/STLExtras.h"

#include <array>
#include <condition_variable>

namespace tess::eager {

namespace {

constexpr unsigned kShards = 16;

/// The key of a look-up, and the operator with its attributes.
struct Wanted {
  KeyPrint key;
  const OpDef &op;
};

std::atomic<uint64_t> limitPerShard{kDefaultOpCacheLimit / kShards};

/// Operators that were evicted, to be freed without a shard's mutex: their end takes other locks.
using Evicted = std::vector<CompiledOpPtr>;

class Shard {
public:
  Shard() { runtime::holdAcrossFork(mutex); }
  llvm::Expected<CompiledOpPtr> findOrBuild(const Wanted &wanted, llvm::function_ref<BuiltOp()> build);
  void addTo(OpCacheStats &stats);
  void addTo(std::vector<std::string> &classes);
  void trim();
  void clear();
  /// Called in a forked child, which has no thread that was building or waiting.
  void forgetBuilders() {
    building.clear();
    new (&built) std::condition_variable;
  }

private:
  using Order = std::list<CompiledOpPtr>;
  CompiledOpPtr find(const Wanted &wanted);
  Evicted insert(const CompiledOpPtr &op);
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

/// With the mutex, as all that follows and is not public.
CompiledOpPtr Shard::find(const Wanted &wanted) {
  auto [first, last] = index.equal_range(wanted.key.low);
  for (auto it = first; it != last; ++it)
    if (CompiledOp &op = **it->second; op.key == wanted.key && op.answers(wanted.op)) {
      order.splice(order.begin(), order, it->second);
      return order.front();
    }
  return nullptr;
}

llvm::Expected<CompiledOpPtr> Shard::findOrBuild(const Wanted &wanted, llvm::function_ref<BuiltOp()> build) {
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) {
    if (CompiledOpPtr known = find(wanted)) {
      ++hits;
      return known;
    }
    if (!llvm::is_contained(building, wanted.key.low))
      break;
    lock.unlock(); // never wait for the frontend's lock with this one held
    {
      BlockingRegion region;
      lock.lock();
      built.wait(lock, [&] { return !llvm::is_contained(building, wanted.key.low); });
      lock.unlock();
    }
    lock.lock();
  }
  ++misses;
  building.push_back(wanted.key.low);
  lock.unlock();
  BuiltOp op = build();
  lock.lock();
  building.erase(llvm::find(building, wanted.key.low));
  built.notify_all();
  if (!op)
    return op.takeError();
  CompiledOpPtr made(op->release());
  Evicted evicted = insert(made);
  lock.unlock();
  return made;
}

Evicted Shard::insert(const CompiledOpPtr &op) {
  bytes += op->bytes;
  index.emplace(op->key.low, order.insert(order.begin(), op));
  return trimLocked();
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

void Shard::trim() {
  std::unique_lock<std::mutex> lock(mutex);
  Evicted evicted = trimLocked();
  lock.unlock();
}

void Shard::clear() {
  std::unique_lock<std::mutex> lock(mutex);
  Order gone = std::move(order);
  order.clear();
  index = {}; // with the memory of its buckets, which a clear() would write
  bytes = 0;
  OpFront::noteEviction();
  lock.unlock();
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
    classes.push_back(op->text);
}

} // namespace

llvm::Expected<CompiledOpRef> findOrBuild(const OpKey &key, const OpDef &op, llvm::function_ref<BuiltOp()> build) {
  const Wanted wanted{KeyPrint(key), op};
  OpFront &front = OpFront::own();
  if (CompiledOp *known = front.find(wanted.key, op); LLVM_LIKELY(known != nullptr)) {
    count(Count::CacheHits);
    return CompiledOpRef(known, front);
  }
  llvm::Expected<CompiledOpPtr> found = shards()[wanted.key.low >> 60].findOrBuild(wanted, build);
  if (!found)
    return found.takeError();
  front.insert(*found);
  return CompiledOpRef(found->get(), front);
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
