//===- OpCache.cpp - compiled operators by class -------------------------===//
#include "eager/OpCache.h"

#include "eager/Counters.h"
#include "eager/Location.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <array>
#include <condition_variable>
#include <deque>

namespace tess::eager {

namespace {

constexpr unsigned kShards = 16;
constexpr unsigned kFrontSlots = 512;
constexpr uint64_t kDefaultLimit = uint64_t(256) << 20;

uint64_t hashOf(const OpKey &key) {
  uint64_t h = key.op * 0x9E3779B97F4A7C15ull;
  h = (h ^ key.operands ^ h >> 31) * 0xD6E8FEB86659FD93ull;
  return (h ^ key.space ^ h >> 29) * 0xD6E8FEB86659FD93ull;
}

struct KeyInfo {
  static OpKey getEmptyKey() { return {~0ull, ~0ull, ~0ull}; }
  static OpKey getTombstoneKey() { return {~0ull, ~0ull, ~1ull}; }
  static unsigned getHashValue(const OpKey &key) { return unsigned(hashOf(key) >> 7); }
  static bool isEqual(const OpKey &a, const OpKey &b) { return a == b; }
};

/// Equal operator and equal attributes, where the entry depends on them.
bool answers(const OpEntry &entry, const OpDef &op) {
  if (&entry.op.info() != &op.info())
    return false;
  for (unsigned i = 0; i < op.numAttrs(); ++i)
    if (isKeyAttr(op.info(), i, entry.direct != nullptr) && !(entry.op.attr(i) == op.attr(i)))
      return false;
  return true;
}

std::atomic<uint64_t> limitPerShard{kDefaultLimit / kShards};
std::atomic<uint64_t> epoch{0}; // of clearOpCache, for the fronts

class Shard {
public:
  llvm::Expected<OpEntryRef> get(const OpKey &key, const OpDef &op,
                                 llvm::function_ref<llvm::Expected<OpEntryRef>()> build);
  void addTo(OpCacheStats &stats);
  void addTo(std::vector<std::string> &classes);
  void trim();
  void clear();

private:
  OpEntryRef lookUp(const OpKey &key, const OpDef &op);
  void insert(OpEntryRef entry);
  void trimLocked();

  std::mutex mutex;
  std::condition_variable built;
  llvm::DenseMap<OpKey, OpEntryRef, KeyInfo> entries; // flat: with many entries a look-up waits for memory
  std::deque<OpKey> clock;                            // candidates for eviction, oldest first
  llvm::SmallVector<OpKey, 2> building;
  uint64_t bytes = 0, hits = 0, misses = 0, evictions = 0;
};

std::array<Shard, kShards> &shards() {
  static auto *instance = new std::array<Shard, kShards>; // never destroyed: threads may outlive main
  return *instance;
}

OpEntryRef Shard::lookUp(const OpKey &key, const OpDef &op) {
  auto it = entries.find(key);
  if (it == entries.end() || !answers(*it->second, op))
    return nullptr;
  it->second->used.store(true, std::memory_order_relaxed);
  return it->second;
}

llvm::Expected<OpEntryRef> Shard::get(const OpKey &key, const OpDef &op,
                                      llvm::function_ref<llvm::Expected<OpEntryRef>()> build) {
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) {
    if (OpEntryRef entry = lookUp(key, op)) {
      ++hits;
      return entry;
    }
    if (!llvm::is_contained(building, key))
      break;
    lock.unlock(); // never take the frontend's lock while holding this one
    {
      BlockingRegion region;
      lock.lock();
      built.wait(lock, [&] { return !llvm::is_contained(building, key); });
      lock.unlock();
    }
    lock.lock();
  }
  ++misses;
  building.push_back(key);
  lock.unlock();
  llvm::Expected<OpEntryRef> entry = build();
  lock.lock();
  building.erase(llvm::find(building, key));
  built.notify_all();
  if (entry)
    insert(*entry);
  return entry;
}

void Shard::insert(OpEntryRef entry) {
  auto [it, isNew] = entries.try_emplace(entry->key, entry);
  if (isNew) {
    clock.push_back(entry->key);
  } else { // the same hash for other attributes: the newer one stays
    bytes -= it->second->bytes;
    it->second = entry;
  }
  bytes += entry->bytes;
  trimLocked();
}

/// Second chance: an entry that was used since it was last looked at goes to the end once more.
void Shard::trimLocked() {
  uint64_t limit = limitPerShard.load(std::memory_order_relaxed);
  for (size_t looked = 0, most = 2 * clock.size(); bytes > limit && clock.size() > 1 && looked < most; ++looked) {
    OpKey key = clock.front();
    clock.pop_front();
    auto it = entries.find(key);
    if (it->second->used.exchange(false, std::memory_order_relaxed)) {
      clock.push_back(key);
      continue;
    }
    bytes -= it->second->bytes;
    entries.erase(it);
    ++evictions;
  }
}

void Shard::trim() {
  std::lock_guard<std::mutex> lock(mutex);
  trimLocked();
}

void Shard::clear() {
  std::lock_guard<std::mutex> lock(mutex);
  entries.clear();
  clock.clear();
  bytes = 0;
}

void Shard::addTo(OpCacheStats &stats) {
  std::lock_guard<std::mutex> lock(mutex);
  stats.hits += hits;
  stats.misses += misses;
  stats.evictions += evictions;
  stats.entries += entries.size();
  stats.bytes += bytes;
}

void Shard::addTo(std::vector<std::string> &classes) {
  std::lock_guard<std::mutex> lock(mutex);
  for (const auto &[key, entry] : entries)
    classes.push_back(entry->text);
}

/// The front of one thread. Its references keep at most kFrontSlots evicted entries alive.
struct Front {
  struct Slot {
    uint64_t hash = 0; // of the key, so that another's entry is not touched
    OpEntryRef entry = nullptr;
  };
  std::array<Slot, kFrontSlots> slots;
  uint64_t seenEpoch = 0;
  unsigned turns = 0;
};
thread_local Front front;

} // namespace

bool isKeyAttr(const OpInfo &info, unsigned attr, bool direct) {
  if (info.lowering == Lowering::Elementwise && info.attrs[attr].isRuntime)
    return false; // an operand of the kernel
  return !(direct && info.attrs[attr].shapeOnly);
}

static OpEntry *lookInFront(const Front::Slot &slot, uint64_t hash, const OpKey &key, const OpDef &op) {
  OpEntry *entry = slot.entry.get();
  if (slot.hash != hash || !entry || !(entry->key == key) || !answers(*entry, op))
    return nullptr;
  if (!entry->used.load(std::memory_order_relaxed))
    entry->used.store(true, std::memory_order_relaxed);
  count(Count::CacheHits);
  return entry;
}

/// One in eight takes another's slot: who needs more classes than there are slots would otherwise pay for letting go of
/// a cold entry at each look-up.
static void putInFront(uint64_t hash, const OpEntryRef &entry) {
  constexpr unsigned patience = 8;
  Front::Slot &slot = front.slots[hash % kFrontSlots];
  if (!slot.entry || slot.hash == hash || ++front.turns % patience == 0)
    slot = {hash, entry};
}

const OpEntry *findInFront(const OpKey &key, const OpDef &op) {
  Front &mine = front;
  if (LLVM_UNLIKELY(mine.seenEpoch != epoch.load(std::memory_order_acquire)))
    return nullptr;
  uint64_t hash = hashOf(key);
  return lookInFront(mine.slots[hash % kFrontSlots], hash, key, op);
}

llvm::Expected<OpEntryRef> findOrBuild(const OpKey &key, const OpDef &op,
                                       llvm::function_ref<llvm::Expected<OpEntryRef>()> build) {
  uint64_t hash = hashOf(key);
  if (front.seenEpoch != epoch.load(std::memory_order_acquire)) {
    front.slots.fill({});
    front.seenEpoch = epoch.load();
  }
  if (OpEntry *known = lookInFront(front.slots[hash % kFrontSlots], hash, key, op))
    return OpEntryRef(known);
  llvm::Expected<OpEntryRef> entry = shards()[hash >> 60].get(key, op, build);
  if (entry)
    putInFront(hash, *entry); // looks at the slot anew: a build may run other operators on this thread
  return entry;
}

OpCacheStats opCacheStats() {
  OpCacheStats stats;
  for (Shard &shard : shards())
    shard.addTo(stats);
  stats.hits += counts()[unsigned(Count::CacheHits)];
  stats.limit = limitPerShard.load() * kShards;
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
  for (Shard &shard : shards())
    shard.trim();
}

void clearOpCache() {
  ++epoch;
  for (Shard &shard : shards())
    shard.clear();
}

BoundShapesRef OpEntry::findBound(llvm::ArrayRef<TensorMeta> inputs, bool isTrain, unsigned threads) {
  std::lock_guard<std::mutex> lock(mutex);
  for (auto it = bindings.begin(); it != bindings.end(); ++it) {
    BoundShapes &b = **it;
    if (b.isTrain != isTrain || b.threads != threads || llvm::ArrayRef<TensorMeta>(b.inputs) != inputs)
      continue;
    bindings.splice(bindings.begin(), bindings, it);
    return bindings.front();
  }
  return nullptr;
}

void OpEntry::addBound(BoundShapesRef bound) {
  std::lock_guard<std::mutex> lock(mutex);
  bindings.push_front(std::move(bound));
  if (bindings.size() > kMaxBound)
    bindings.pop_back();
}

} // namespace tess::eager
