//===- KernelTable.cpp - look-up and the cache of prepared kernels --------===//
#include "runtime/KernelTable.h"
#include "ops/Error.h"
#include "runtime/AddingKernel.h"
#include "runtime/Fork.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

#include <chrono>
#include <list>
#include <mutex>

namespace tess::runtime {

const KernelDef *findKernel(llvm::ArrayRef<KernelDef> table, llvm::StringRef name) {
  const KernelDef *it = llvm::find_if(table, [&](const KernelDef &def) { return name == def.name; });
  return it == table.end() ? nullptr : it;
}

namespace {

/// Least recently used first out, bounded in bytes. Entries in use stay alive through their references.
class PreparedCache {
public:
  PreparedCache() { holdAcrossFork(mutex); }

  /// Of the entries under `keys`, the first that is of `implementation`; any is where that is empty.
  PreparedRef find(llvm::ArrayRef<std::string> keys, llvm::StringRef implementation) {
    std::lock_guard<std::mutex> lock(mutex);
    for (const std::string &key : keys) {
      auto found = index.find(key);
      if (found == index.end() ||
          (!implementation.empty() && implementation != found->second->kernel->implementation()))
        continue;
      ++counters.hits;
      order.splice(order.begin(), order, found->second);
      return found->second->kernel;
    }
    ++counters.misses;
    return nullptr;
  }

  /// `seconds`: what preparing took.
  void insert(llvm::StringRef key, PreparedRef kernel, double seconds) {
    std::lock_guard<std::mutex> lock(mutex);
    counters.seconds += seconds;
    auto [entry, fresh] = index.try_emplace(key);
    if (!fresh) // another thread was quicker
      return;
    size_t bytes = kernel->footprint() + 2 * key.size() + sizeof(Entry);
    order.push_front({std::move(kernel), entry->first(), bytes});
    entry->second = order.begin();
    held += bytes;
    evict();
  }

  void setLimit(uint64_t bytes) {
    std::lock_guard<std::mutex> lock(mutex);
    limit = bytes;
    evict();
  }

  void noteFallback() {
    std::lock_guard<std::mutex> lock(mutex);
    ++counters.fallbacks;
  }

  PreparedCacheStats stats() {
    std::lock_guard<std::mutex> lock(mutex);
    PreparedCacheStats out = counters;
    out.entries = order.size();
    out.bytes = held;
    out.limit = limit;
    return out;
  }

private:
  struct Entry {
    PreparedRef kernel;
    llvm::StringRef key; // owned by the map
    size_t bytes;
  };

  void evict() {
    while (held > limit && !order.empty()) {
      held -= order.back().bytes;
      index.erase(order.back().key);
      order.pop_back();
      ++counters.evictions;
    }
  }

  std::mutex mutex;
  std::list<Entry> order;
  llvm::StringMap<std::list<Entry>::iterator> index;
  uint64_t held = 0, limit = uint64_t(64) << 20;
  PreparedCacheStats counters;
};

} // namespace

static PreparedCache &preparedCache() {
  static PreparedCache *cache = new PreparedCache; // never destroyed: the library's own statics may go first
  return *cache;
}

PreparedCacheStats preparedCacheStats() { return preparedCache().stats(); }
void setPreparedCacheLimit(uint64_t bytes) { preparedCache().setLimit(bytes); }
void noteFallback() { preparedCache().noteFallback(); }

static void append(std::string &key, llvm::ArrayRef<int64_t> numbers) {
  key.append(reinterpret_cast<const char *>(numbers.data()), numbers.size() * sizeof(int64_t));
  key += ';';
}

/// Everything that decides what `prepare` makes where no implementation is asked for, as bytes.
static std::string keyOf(const void *table, const PrepareRequest &request) {
  std::string key = request.op.serialize();
  append(key, {int64_t(request.threads), int64_t(request.isTrain), int64_t(reinterpret_cast<intptr_t>(table)),
               int64_t(request.inputs.size())});
  for (auto [meta, layout] : llvm::zip(request.inputs, request.layouts)) {
    key += char('a' + unsigned(meta.dtype));
    append(key, meta.shape);
    append(key, layout.strides);
  }
  for (const TensorMeta &meta : request.outputs) {
    key += char('a' + unsigned(meta.dtype));
    append(key, meta.shape);
  }
  for (Req req : request.reqs)
    key += char('0' + unsigned(req));
  for (const std::string &text : request.epilogue)
    key += '|' + text;
  for (llvm::StringRef packing : request.inputPackings) {
    append(key, int64_t(packing.size()));
    key += packing;
  }
  key += request.outputPacking;
  return key;
}

static llvm::Expected<PreparedRef> prepareUncached(const KernelDef &def, const PrepareRequest &request) {
  if (!llvm::is_contained(request.reqs, Req::Add))
    return def.prepare(request);
  PrepareRequest plain = request;
  llvm::SmallVector<Req, 4> reqs(request.reqs.begin(), request.reqs.end());
  llvm::replace(reqs, Req::Add, Req::Write);
  plain.reqs = reqs;
  llvm::Expected<PreparedRef> inner = def.prepare(plain);
  if (!inner)
    return inner.takeError();
  return makeAddingKernel(std::move(*inner), request.outputs, request.reqs);
}

llvm::Expected<PreparedRef> prepareKernel(llvm::ArrayRef<KernelDef> table, const PrepareRequest &request) {
  const char *name = request.op.info().kernel;
  const KernelDef *def = name ? findKernel(table, name) : nullptr;
  if (!def)
    return makeError(ErrorCode::Unimplemented, request.op.name() + ": must have a kernel on this device, got none");
  // A kernel that was picked freely serves those who ask for its implementation, too.
  llvm::SmallVector<std::string, 2> keys = {keyOf(table.data(), request)};
  if (!request.implementation.empty())
    keys.push_back(keys[0] + "=" + request.implementation.str());
  if (PreparedRef kernel = preparedCache().find(keys, request.implementation))
    return kernel;
  auto start = std::chrono::steady_clock::now();
  llvm::Expected<PreparedRef> kernel = prepareUncached(*def, request);
  if (!kernel)
    return kernel.takeError();
  if (!request.implementation.empty() && request.implementation != (*kernel)->implementation())
    return makeError(ErrorCode::Unimplemented, request.op.name() + ": implementation must be " +
                                                   request.implementation + ", got " + (*kernel)->implementation() +
                                                   " from this processor and library: compile the program for it");
  preparedCache().insert(keys.back(), *kernel,
                         std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return *kernel;
}

} // namespace tess::runtime
