//===- OpCache.cpp - compiled operators by class -------------------------===//
#include "eager/OpCache.h"

#include "eager/Counters.h"
#include "eager/Location.h"
#include "eager/OpEntries.h"
#include "runtime/Fork.h"
#include "llvm/ADT/STLExtras.h"

#include <array>
#include <condition_variable>
#include <deque>

namespace tess::eager {

namespace {

constexpr unsigned kShards = 16;
constexpr unsigned kFrontSlots = 512;
constexpr uint64_t kDefaultLimit = uint64_t(256) << 20;

/// Equal operator, and attributes where the entry depends on them; the keys are known to be equal.
bool answers(const OpEntry &entry, const OpDef &op) {
  if (entry.op != op.info().id)
    return false;
  for (unsigned i = 0; i < op.numAttrs(); ++i)
    if (isKeyAttr(op.info(), i, entry.compiled->direct != nullptr) && !(entry.compiled->op.attr(i) == op.attr(i)))
      return false;
  return true;
}

/// What a look-up has.
struct Wanted {
  KeyPrint key;
  const OpDef &op;
};

std::atomic<uint64_t> limitPerShard{kDefaultLimit / kShards};
std::atomic<uint64_t> epoch{0}; // of clearOpCache, for the fronts

/// Let go of without a shard's mutex: an entry's end takes other locks.
using Evicted = std::vector<OpEntryRef>;

class Shard {
public:
  Shard() { runtime::holdAcrossFork(mutex); }
  llvm::Expected<OpEntryRef> get(const Wanted &wanted, llvm::function_ref<llvm::Expected<OpEntryRef>()> build);
  void addTo(OpCacheStats &stats);
  void addTo(std::vector<std::string> &classes);
  void trim();
  void clear();
  /// In a forked child, which has none of the threads that were building or waiting.
  void forgetBuilders() {
    building.clear();
    new (&built) std::condition_variable;
  }

private:
  OpEntryRef lookUp(const Wanted &wanted);
  Evicted insert(const OpEntryRef &entry);
  Evicted trimLocked();

  std::mutex mutex;
  std::condition_variable built;
  EntryTable entries;
  std::deque<OpEntryRef> clock; // all of them, candidates for eviction, oldest first
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

OpEntryRef Shard::lookUp(const Wanted &wanted) {
  OpEntry *entry = entries.find(wanted.key, [&](const OpEntry &found) { return answers(found, wanted.op); });
  if (entry)
    entry->used.store(true, std::memory_order_relaxed);
  return entry;
}

llvm::Expected<OpEntryRef> Shard::get(const Wanted &wanted, llvm::function_ref<llvm::Expected<OpEntryRef>()> build) {
  Evicted evicted;
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) {
    if (OpEntryRef entry = lookUp(wanted)) {
      ++hits;
      return entry;
    }
    if (!llvm::is_contained(building, wanted.key.low))
      break;
    lock.unlock(); // never take the frontend's lock while holding this one
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
  llvm::Expected<OpEntryRef> entry = build();
  lock.lock();
  building.erase(llvm::find(building, wanted.key.low));
  built.notify_all();
  if (entry)
    evicted = insert(*entry);
  return entry;
}

Evicted Shard::insert(const OpEntryRef &entry) {
  entries.insert(entry.get());
  clock.push_back(entry);
  bytes += entry->compiled->bytes;
  return trimLocked();
}

/// Second chance: an entry that was used since it was last looked at goes to the end once more.
Evicted Shard::trimLocked() {
  Evicted evicted;
  uint64_t limit = limitPerShard.load(std::memory_order_relaxed);
  for (size_t looked = 0, most = 2 * clock.size(); bytes > limit && clock.size() > 1 && looked < most; ++looked) {
    OpEntryRef entry = std::move(clock.front());
    clock.pop_front();
    if (entry->used.exchange(false, std::memory_order_relaxed)) {
      clock.push_back(std::move(entry));
      continue;
    }
    bytes -= entry->compiled->bytes;
    entries.erase(entry.get());
    ++evictions;
    evicted.push_back(std::move(entry));
  }
  return evicted;
}

void Shard::trim() {
  Evicted evicted;
  std::lock_guard<std::mutex> lock(mutex);
  evicted = trimLocked();
}

void Shard::clear() {
  std::deque<OpEntryRef> gone;
  std::lock_guard<std::mutex> lock(mutex);
  entries.clear();
  gone.swap(clock);
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
  for (const OpEntryRef &entry : clock)
    classes.push_back(entry->compiled->text);
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

KeyPrint::KeyPrint(const OpKey &key) {
  constexpr uint64_t a = 0x9E3779B97F4A7C15ull, b = 0xD6E8FEB86659FD93ull;
  low = key.op * a;
  low = (low ^ key.operands ^ low >> 31) * b;
  low = (low ^ key.space ^ low >> 29) * b;
  high = (key.space ^ b) * a;
  high = (high ^ key.op ^ high >> 32) * b;
  high = (high ^ key.operands ^ high >> 30) * a;
}

OpEntry::OpEntry(const OpKey &key, OpDef op) : op(uint16_t(op.info().id)), key(key), compiled(new CompiledOp) {
  static_assert(sizeof(OpEntry) == 32, "two entries must fit a line");
  compiled->op = std::move(op);
}

bool isKeyAttr(const OpInfo &info, unsigned attr, bool direct) {
  if (info.lowering == Lowering::Elementwise && info.attrs[attr].isRuntime)
    return false; // an operand of the kernel
  return !(direct && info.attrs[attr].shapeOnly);
}

static OpEntry *lookInFront(const Front::Slot &slot, const KeyPrint &key, const OpDef &op) {
  OpEntry *entry = slot.entry.get();
  if (slot.hash != key.low || !entry || !(entry->key == key) || !answers(*entry, op))
    return nullptr;
  if (!entry->used.load(std::memory_order_relaxed))
    entry->used.store(true, std::memory_order_relaxed);
  count(Count::CacheHits);
  return entry;
}

/// One in 32 takes another's slot: who needs more classes than there are slots would otherwise pay for letting go of
/// a cold entry at each look-up.
static void putInFront(uint64_t hash, const OpEntryRef &entry) {
  constexpr unsigned patience = 32;
  Front::Slot &slot = front.slots[hash % kFrontSlots];
  if (!slot.entry || slot.hash == hash || ++front.turns % patience == 0)
    slot = {hash, entry};
}

const OpEntry *findInFront(const OpKey &key, const OpDef &op) {
  Front &mine = front;
  if (LLVM_UNLIKELY(mine.seenEpoch != epoch.load(std::memory_order_acquire)))
    return nullptr;
  KeyPrint print(key);
  return lookInFront(mine.slots[print.low % kFrontSlots], print, op);
}

llvm::Expected<OpEntryRef> findOrBuild(const OpKey &key, const OpDef &op,
                                       llvm::function_ref<llvm::Expected<OpEntryRef>()> build) {
  KeyPrint print(key);
  if (front.seenEpoch != epoch.load(std::memory_order_acquire)) {
    front.slots.fill({});
    front.seenEpoch = epoch.load();
  }
  if (OpEntry *known = lookInFront(front.slots[print.low % kFrontSlots], print, op))
    return OpEntryRef(known);
  llvm::Expected<OpEntryRef> entry = shards()[print.low >> 60].get({print, op}, build);
  if (entry)
    putInFront(print.low, *entry); // looks at the slot anew: a build may run other operators on this thread
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

BoundShapesRef CompiledOp::findBound(llvm::ArrayRef<TensorMeta> inputs, bool isTrain, unsigned threads) {
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

void CompiledOp::addBound(BoundShapesRef bound) {
  std::lock_guard<std::mutex> lock(mutex);
  bindings.push_front(std::move(bound));
  if (bindings.size() > kMaxBound)
    bindings.pop_back();
}

} // namespace tess::eager
