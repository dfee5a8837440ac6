//===- SimMemory.cpp - memory that only a device addresses ----------------===//
#include "runtime/sim/SimMemory.h"

#include "llvm/Support/MathExtras.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tess::runtime {

namespace {

constexpr size_t kPage = 4096, kReserved = size_t(64) << 30, kAlignment = 64;
/// Each guarded block is two mappings, of which Linux gives a process 65 530 (vm.max_map_count). While more blocks
/// live, pages stay readable: their guards, and those that were freed.
constexpr size_t kMostGuarded = 8192;

size_t pagesOf(size_t bytes) { return std::max<size_t>(llvm::divideCeil(bytes, kPage), 1); }

/// The first page of a block.
size_t firstPage(const void *data, const char *base) { return size_t(static_cast<const char *>(data) - base) / kPage; }

} // namespace

SimMemory::SimMemory() {
  file = memfd_create("sim0", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, off_t(kReserved)))
    return; // obtain() has nothing to give then
  void *device = mmap(nullptr, kReserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  void *host = mmap(nullptr, kReserved, PROT_NONE, MAP_SHARED | MAP_NORESERVE, file, 0);
  if (device == MAP_FAILED || host == MAP_FAILED)
    return;
  base = static_cast<char *>(device);
  shift = static_cast<char *>(host) - base;
  freeRanges[0] = kReserved / kPage;
}

SimMemory::~SimMemory() {
  if (base) {
    munmap(base + shift, kReserved);
    munmap(base, kReserved);
  }
  if (file >= 0)
    close(file);
}

void *SimMemory::obtain(size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  const size_t pages = pagesOf(bytes), wanted = pages + 1; // and the guard
  auto range = freeRanges.begin();
  while (range != freeRanges.end() && range->second < wanted)
    ++range;
  if (range == freeRanges.end())
    return nullptr;
  const auto [first, free] = *range;
  const bool isGuarded = live.size() < kMostGuarded;
  char *pagesOfHost = base + shift + first * kPage;
  if (mprotect(pagesOfHost, (isGuarded ? pages : wanted) * kPage, PROT_READ | PROT_WRITE))
    return nullptr;
  if (isGuarded && mprotect(pagesOfHost + pages * kPage, kPage, PROT_NONE))
    return nullptr;
  freeRanges.erase(range);
  if (free > wanted)
    freeRanges[first + wanted] = free - wanted;
  char *end = base + (first + pages) * kPage, *data = end - llvm::alignTo(std::max<size_t>(bytes, 1), kAlignment);
  live[uintptr_t(data)] = {bytes};
  return data;
}

void SimMemory::giveBack(void *data, size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  size_t first = firstPage(data, base), count = pagesOf(bytes) + 1;
  if (live.size() < kMostGuarded)
    mprotect(base + shift + first * kPage, count * kPage, PROT_NONE);
  if (file >= 0)
    fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, off_t(first * kPage), off_t(count * kPage));
  live.erase(uintptr_t(data));
  auto next = freeRanges.lower_bound(first);
  if (next != freeRanges.end() && next->first == first + count) {
    count += next->second;
    next = freeRanges.erase(next);
  }
  if (next != freeRanges.begin())
    if (auto before = std::prev(next); before->first + before->second == first) {
      before->second += count;
      return;
    }
  freeRanges[first] = count;
}

void SimMemory::leaveToParent() {
  std::lock_guard<std::mutex> lock(mutex);
  close(file);
  file = -1;
}

void SimMemory::retire(void *data) {
  std::lock_guard<std::mutex> lock(mutex);
  if (auto block = live.find(uintptr_t(data)); block != live.end())
    block->second.isRetired = true;
}

/// The block that has `address`, or ends there; null when there is none.
const std::pair<const uintptr_t, SimMemory::LiveBlock> *SimMemory::blockOf(uintptr_t address) const {
  auto after = live.upper_bound(address);
  if (after == live.begin())
    return nullptr;
  auto block = std::prev(after);
  return !block->second.isRetired && address <= block->first + block->second.bytes ? &*block : nullptr;
}

bool SimMemory::isLive(const void *data, int64_t lead) const {
  std::lock_guard<std::mutex> lock(mutex);
  return !data || blockOf(uintptr_t(data) + uintptr_t(lead));
}

bool SimMemory::holds(const void *data, size_t bytes) const {
  std::lock_guard<std::mutex> lock(mutex);
  const auto *block = blockOf(uintptr_t(data));
  return block && uintptr_t(data) + bytes <= block->first + block->second.bytes;
}

} // namespace tess::runtime
