//===- Growth.cpp - how far the heap grows during one input ---------------===//
//
// Every allocation is seen: by a sanitizer's hooks where there is one, else by
// functions of libc's names that stand before libc's.
//
//===----------------------------------------------------------------------===//
#include "tests/fuzz/Fuzz.h"

#include <atomic>
#include <cerrno>
#include <malloc.h>
#include <sanitizer/allocator_interface.h>

namespace {

// Of all threads: what a target starts works for it.
std::atomic<bool> isCounting = false;
std::atomic<int64_t> live = 0, peak = 0, limit = 0;

void onAllocate(size_t bytes) {
  if (!isCounting.load(std::memory_order_relaxed))
    return;
  int64_t now = live.fetch_add(int64_t(bytes), std::memory_order_relaxed) + int64_t(bytes);
  int64_t before = peak.load(std::memory_order_relaxed);
  while (now > before && !peak.compare_exchange_weak(before, now, std::memory_order_relaxed)) {
  }
  if (now <= limit.load(std::memory_order_relaxed))
    return;
  isCounting = false; // what the message allocates does not count
  tess::fuzz::require(false, "heap must grow by at most " + llvm::Twine(limit.load()) + " bytes, got " +
                                 llvm::Twine(now) + " with the last " + llvm::Twine(bytes));
}

void onFree(size_t bytes) {
  if (isCounting.load(std::memory_order_relaxed))
    live.fetch_sub(int64_t(bytes), std::memory_order_relaxed);
}

} // namespace

size_t tess::fuzz::peakGrowth(size_t most, llvm::function_ref<void()> work) {
  live = peak = 0;
  limit = int64_t(most);
  isCounting = true;
  work();
  isCounting = false;
  return size_t(peak);
}

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)

[[maybe_unused]] static const int installed = __sanitizer_install_malloc_and_free_hooks(
    [](const volatile void *, size_t bytes) { onAllocate(bytes); },
    [](const volatile void *data) { onFree(data ? __sanitizer_get_allocated_size(data) : 0); });

#else

extern "C" {

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

static void *counted(void *data) {
  onAllocate(::malloc_usable_size(data));
  return data;
}

void *malloc(size_t bytes) { return counted(__libc_malloc(bytes)); }

void *calloc(size_t count, size_t bytes) { return counted(__libc_calloc(count, bytes)); }

void *realloc(void *old, size_t bytes) {
  size_t before = ::malloc_usable_size(old);
  void *data = __libc_realloc(old, bytes);
  if (data || bytes == 0)
    onFree(before);
  return counted(data);
}

void *memalign(size_t alignment, size_t bytes) { return counted(__libc_memalign(alignment, bytes)); }

void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }

int posix_memalign(void **out, size_t alignment, size_t bytes) {
  void *data = memalign(alignment, bytes);
  if (data)
    *out = data;
  return data ? 0 : ENOMEM;
}

void free(void *data) {
  onFree(::malloc_usable_size(data));
  __libc_free(data);
}

} // extern "C"

#endif
