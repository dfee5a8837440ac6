//===- OpCache.cpp - compiled operators by class -------------------------===//
#include "eager/OpCache.h"

#include "eager/Counters.h"
#include "eager/Location.h"
#include "eager/OpEntries.h"
#include "ops/Hash.h"
#include "runtime/Fork.h"
#include "llvm/ADT/STLExtras.h"

#include <array>
#include <condition_variable>
#include <deque>
#include <utility>

namespace tess::eager {

namespace {

constexpr unsigned kShards = 16;
constexpr uint64_t kDefaultLimit = uint64_t(256) << 20;

/// What a look-up has.
struct Wanted {
  KeyPrint key;
  const OpDef &op;
};

std::atomic<uint64_t> limitPerShard{kDefaultLimit / kShards};
/// Of the bindings of all operators.
std::atomic<uint64_t> bindingBytes{0}, bindingLimit{kDefaultLimit / 4};

using Ops = std::vector<std::unique_ptr<CompiledOp>>;

/// Evicted operators that a thread was reading.
struct Retired {
  Retired() { runtime::holdAcrossFork(mutex); }
  std::mutex mutex;
  Ops ops;
};

/// Frees those that no thread reads; the others wait for the next call. Without a shard's mutex: the end of an operator
/// takes other locks.
void retire(Ops evicted) {
  static auto *retired = new Retired; // never destroyed: threads may outlive main
  if (evicted.empty())
    return;
  Ops all;
  {
    std::lock_guard<std::mutex> lock(retired->mutex);
    all.swap(retired->ops);
  }
  llvm::move(evicted, std::back_inserter(all));
  HazardPointer::Objects inUse;
  const bool isKnown = HazardPointer::findProtected(inUse);
  auto kept = llvm::partition(all, [&](const auto &op) { return isKnown && !llvm::is_contained(inUse, op.get()); });
  std::lock_guard<std::mutex> lock(retired->mutex);
  std::move(kept, all.end(), std::back_inserter(retired->ops));
}

class Shard {
public:
  Shard(EntryMemory &memory, unsigned number) : entries(memory, number) { runtime::holdAcrossFork(mutex); }
  /// Null: ask findOrBuild.
  CompiledOpRef find(const Wanted &wanted) const { return entries.findProtected(wanted.key, wanted.op); }
  LLVM_ATTRIBUTE_NOINLINE llvm::Expected<CompiledOpRef> findOrBuild(const Wanted &wanted,
                                                                    llvm::function_ref<BuiltOp()> build);
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
  Ops insert(std::unique_ptr<CompiledOp> op);
  Ops trimLocked();

  EntryTable entries;
  std::mutex mutex;
  std::condition_variable built;
  std::deque<std::unique_ptr<CompiledOp>> clock; // all of them, candidates for eviction, oldest first
  llvm::SmallVector<uint64_t, 2> building;
  uint64_t bytes = 0, hits = 0, misses = 0, evictions = 0;
};

template <size_t... I> std::array<Shard, kShards> *makeShards(std::index_sequence<I...>) {
  auto *memory = new EntryMemory(kShards);
  return new std::array<Shard, kShards>{{Shard(*memory, I)...}};
}

std::array<Shard, kShards> &shards() {
  static auto *instance = [] { // never destroyed: threads may outlive main
    auto nothing = [] {};
    runtime::callAcrossFork(nothing, nothing, [] { llvm::for_each(shards(), [](Shard &s) { s.forgetBuilders(); }); });
    return makeShards(std::make_index_sequence<kShards>());
  }();
  return *instance;
}

llvm::Expected<CompiledOpRef> Shard::findOrBuild(const Wanted &wanted, llvm::function_ref<BuiltOp()> build) {
  HazardPointer hazard = HazardPointer::make();
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) {
    if (CompiledOp *known = entries.find(wanted.key, wanted.op)) {
      ++hits;
      hazard.protect(known);
      return CompiledOpRef(known, std::move(hazard));
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
  BuiltOp op = build();
  lock.lock();
  building.erase(llvm::find(building, wanted.key.low));
  built.notify_all();
  if (!op)
    return op.takeError();
  CompiledOp *made = op->get();
  hazard.protect(made);
  Ops evicted = insert(std::move(*op));
  lock.unlock();
  retire(std::move(evicted));
  return CompiledOpRef(made, std::move(hazard));
}

Ops Shard::insert(std::unique_ptr<CompiledOp> op) {
  entries.insert(op.get());
  bytes += op->bytes;
  clock.push_back(std::move(op));
  return trimLocked();
}

/// Second chance: an operator that was used since it was last looked at goes to the end once more.
Ops Shard::trimLocked() {
  Ops evicted;
  uint64_t limit = limitPerShard.load(std::memory_order_relaxed);
  for (size_t looked = 0, most = 2 * clock.size(); bytes > limit && clock.size() > 1 && looked < most; ++looked) {
    std::unique_ptr<CompiledOp> op = std::move(clock.front());
    clock.pop_front();
    if (entries.exchangeUsed(op.get())) {
      clock.push_back(std::move(op));
      continue;
    }
    bytes -= op->bytes;
    entries.erase(op.get());
    ++evictions;
    evicted.push_back(std::move(op));
  }
  return evicted;
}

void Shard::trim() {
  std::unique_lock<std::mutex> lock(mutex);
  Ops evicted = trimLocked();
  lock.unlock();
  retire(std::move(evicted));
}

void Shard::clear() {
  std::unique_lock<std::mutex> lock(mutex);
  entries.clear();
  Ops gone(std::move_iterator(clock.begin()), std::move_iterator(clock.end()));
  clock.clear();
  bytes = 0;
  lock.unlock();
  retire(std::move(gone));
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
  for (const auto &op : clock)
    classes.push_back(op->text);
}

} // namespace

llvm::Expected<CompiledOpRef> findOrBuild(const OpKey &key, const OpDef &op, llvm::function_ref<BuiltOp()> build) {
  const Wanted wanted{KeyPrint(key), op};
  Shard &shard = shards()[wanted.key.low >> 60];
  if (CompiledOpRef known = shard.find(wanted); LLVM_LIKELY(bool(known))) {
    count(Count::CacheHits);
    return known;
  }
  return shard.findOrBuild(wanted, build);
}

OpCacheStats opCacheStats() {
  OpCacheStats stats;
  for (Shard &shard : shards())
    shard.addTo(stats);
  stats.hits += counts()[unsigned(Count::CacheHits)];
  stats.limit = limitPerShard.load() * kShards;
  stats.bindingBytes = bindingBytes;
  stats.bindingLimit = bindingLimit;
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
  bindingLimit = bytes / 4;
  for (Shard &shard : shards())
    shard.trim();
}

void clearOpCache() {
  for (Shard &shard : shards())
    shard.clear();
}

/// Not inline: a look-up of an operator without attributes would pay for its registers.
LLVM_ATTRIBUTE_NOINLINE bool CompiledOp::hasAttrs(const OpDef &other) const {
  for (unsigned i = 0; i < other.numAttrs(); ++i)
    if (isKeyAttr(other.info(), i, direct || bindsAttrs) && !(op.attr(i) == other.attr(i)))
      return false;
  return true;
}

static uint64_t hashOfBinding(llvm::ArrayRef<TensorMeta> inputs, const OpDef &call, unsigned threads) {
  uint64_t hash = mixHash(call.hash(), threads);
  for (const TensorMeta &meta : inputs)
    for (int64_t size : meta.shape)
      hash = mixHash(hash, uint64_t(size));
  return hash;
}

bool CompiledOp::isFor(const BoundShapes &bound, llvm::ArrayRef<TensorMeta> inputs, const OpDef &call,
                       unsigned threads) const {
  return bound.threads == threads && llvm::ArrayRef(bound.inputs) == inputs && (!bindsAttrs || bound.op.isSame(call));
}

BoundShapesRef CompiledOp::findBound(llvm::ArrayRef<TensorMeta> inputs, const OpDef &call, unsigned threads) {
  std::lock_guard<std::mutex> lock(mutex);
  if (bindings.empty() || isFor(*bindings.front(), inputs, call, threads))
    return bindings.empty() ? nullptr : bindings.front();
  auto found = index.find(hashOfBinding(inputs, bindsAttrs ? call : op, threads));
  if (found == index.end() || !isFor(**found->second, inputs, call, threads))
    return nullptr;
  bindings.splice(bindings.begin(), bindings, found->second);
  return bindings.front();
}

CompiledOp::~CompiledOp() {
  while (!bindings.empty())
    dropOldest();
}

void CompiledOp::dropOldest() {
  bindingBytes.fetch_sub(bindings.back()->bytes, std::memory_order_relaxed);
  auto entry = index.find(bindings.back()->hash);
  if (entry != index.end() && entry->second == std::prev(bindings.end()))
    index.erase(entry);
  bindings.pop_back();
}

void CompiledOp::addBound(BoundShapesRef bound) {
  constexpr uint64_t kNodeBytes = 96; // of the list and of the index
  bound->bytes = kNodeBytes + sizeof(BoundShapes) + bound->inputs.capacity() * sizeof(TensorMeta) +
                 bound->op.heldBytes() + bound->bound->heldBytes();
  const size_t most = bindsAttrs ? kMostAttrs : kMostShapes;
  std::lock_guard<std::mutex> lock(mutex);
  uint64_t all = bindingBytes.fetch_add(bound->bytes, std::memory_order_relaxed) + bound->bytes;
  bound->hash = hashOfBinding(bound->inputs, bindsAttrs ? bound->op : op, bound->threads);
  bindings.push_front(std::move(bound));
  index[bindings.front()->hash] = bindings.begin();
  while (bindings.size() > 1 && (bindings.size() > most || all > bindingLimit)) {
    dropOldest();
    all = bindingBytes.load(std::memory_order_relaxed);
  }
}

} // namespace tess::eager
