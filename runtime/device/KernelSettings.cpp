//===- KernelSettings.cpp - settings that decide a kernel -----------------===//
#include "runtime/device/KernelSettings.h"

#include <atomic>
#include <cstdlib>

namespace tess::runtime {

static bool isWinogradOff() {
  const char *text = std::getenv("TESS_WINOGRAD");
  return text && llvm::StringRef(text) == "0";
}

/// The settings of a call are read without a lock: `winograd` and `strategy` are one word.
static std::atomic<uint16_t> choice{0}; // 0: not read from the environment yet
static std::atomic<uint64_t> limit{KernelSettings::kNoLimit};

static uint16_t wordOf(bool winograd, uint8_t strategy) { return uint16_t(0x8000 | winograd << 8 | strategy); }

KernelSettings kernelSettings() {
  uint16_t word = choice.load(std::memory_order_relaxed);
  if (!word) {
    const uint16_t initial = wordOf(!isWinogradOff(), Heuristic);
    word = choice.compare_exchange_strong(word, initial) ? initial : word;
  }
  return {bool(word >> 8 & 1), uint8_t(word), limit.load(std::memory_order_relaxed)};
}

void setKernelSettings(const KernelSettings &settings) {
  limit.store(settings.workspaceLimit, std::memory_order_relaxed);
  choice.store(wordOf(settings.winograd, settings.strategy), std::memory_order_relaxed);
}

} // namespace tess::runtime
