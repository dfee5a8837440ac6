//===- KernelTable.cpp - look-up and the cache of prepared kernels --------===//
#include "runtime/device/KernelTable.h"
#include "ops/vocabulary/Error.h"
#include "ops/vocabulary/LruCache.h"
#include "runtime/threads/Fork.h"
#include "llvm/ADT/STLExtras.h"

#include <chrono>
#include <mutex>

namespace tess::runtime {

Layout ChannelOrder::layoutOf(const Layout &rowMajor, InnerClass inner) const {
  if (inner == InnerClass::Repeated)
    return {shape, {0, block, block - 1, 0}, rowMajor.offset};
  bool isNumber = llvm::all_of(rowMajor.shape, [](int64_t size) { return size == 1; });
  return isNumber ? rowMajor : Layout{shape, contiguousStrides(shape), rowMajor.offset};
}

const KernelDef *findKernel(llvm::ArrayRef<KernelDef> table, llvm::StringRef name) {
  const KernelDef *it = llvm::find_if(table, [&](const KernelDef &def) { return name == def.name; });
  return it == table.end() ? nullptr : it;
}

namespace {

/// The cache of prepared kernels. An evicted kernel stays alive as long as it is referenced.
class PreparedCache {
public:
  PreparedCache() { holdAcrossFork(mutex); }

  /// The first kernel under `keys` that is of `implementation`; empty: of any.
  PreparedRef find(llvm::ArrayRef<std::string> keys, llvm::StringRef implementation) {
    std::lock_guard<std::mutex> lock(mutex);
    for (const std::string &key : keys) {
      PreparedRef *kernel = kernels.find(key);
      if (!kernel || (!implementation.empty() && implementation != (*kernel)->implementation()))
        continue;
      ++counters.hits;
      return *kernel;
    }
    ++counters.misses;
    return nullptr;
  }

  /// `seconds`: the time that preparing took.
  void insert(llvm::StringRef key, PreparedRef kernel, double seconds) {
    std::lock_guard<std::mutex> lock(mutex);
    counters.seconds += seconds;
    uint64_t bytes = kernel->footprint();
    kernels.insert(key.str(), std::move(kernel), bytes);
  }

  void setLimit(uint64_t bytes) {
    std::lock_guard<std::mutex> lock(mutex);
    kernels.setLimit(bytes);
  }

  void noteFallback() {
    std::lock_guard<std::mutex> lock(mutex);
    ++counters.fallbacks;
  }

  PreparedCacheStats stats() {
    std::lock_guard<std::mutex> lock(mutex);
    PreparedCacheStats out = counters;
    out.entries = kernels.size();
    out.bytes = kernels.bytes();
    out.limit = kernels.limit();
    out.evictions = kernels.evictions();
    return out;
  }

private:
  std::mutex mutex;
  LruCache<PreparedRef> kernels{uint64_t(64) << 20};
  PreparedCacheStats counters; // except those that `kernels` counts
};

} // namespace

static PreparedCache &preparedCache() {
  static PreparedCache *cache = new PreparedCache; // never destroyed: the library's own statics may go first
  return *cache;
}
static const MadeAtLoad<preparedCache> kMade;

PreparedCacheStats preparedCacheStats() { return preparedCache().stats(); }
void setPreparedCacheLimit(uint64_t bytes) { preparedCache().setLimit(bytes); }
void noteFallback() { preparedCache().noteFallback(); }

static void append(std::string &key, llvm::ArrayRef<int64_t> numbers) {
  key.append(reinterpret_cast<const char *>(numbers.data()), numbers.size() * sizeof(int64_t));
  key += ';';
}

/// The bytes of everything that decides what `prepare` makes when no implementation is asked for.
static std::string keyOf(const void *table, const PrepareRequest &request) {
  std::string key = request.op.serialize();
  append(key, {int64_t(request.threads), int64_t(reinterpret_cast<intptr_t>(table)), int64_t(request.inputs.size()),
               int64_t(request.settings.winograd)});
  for (llvm::ArrayRef<TensorMeta> metas : {request.inputs, request.outputs})
    for (const TensorMeta &meta : metas) {
      key += char('a' + unsigned(kindOf(meta.dtype)));
      append(key, meta.shape);
    }
  for (llvm::StringRef packing : request.inputPackings) {
    append(key, int64_t(packing.size()));
    key += packing;
  }
  key += request.outputPacking;
  key += ';';
  key += request.form;
  return key;
}

llvm::Expected<PreparedRef> prepareKernel(llvm::ArrayRef<KernelDef> table, const PrepareRequest &request) {
  const char *name = request.op.info().kernel;
  const KernelDef *def = name ? findKernel(table, name) : nullptr;
  if (!def)
    return makeError(ErrorCode::Unimplemented, request.op.name() + ": must have a kernel on this device, got none");
  // A kernel that was chosen freely also serves requests for its implementation.
  llvm::SmallVector<std::string, 2> keys = {keyOf(table.data(), request)};
  if (!request.implementation.empty())
    keys.push_back(keys[0] + "=" + request.implementation.str());
  if (PreparedRef kernel = preparedCache().find(keys, request.implementation))
    return kernel;
  auto start = std::chrono::steady_clock::now();
  llvm::Expected<PreparedRef> kernel = def->prepare(request);
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
