//===- AvailableThreads.cpp - affinity and cgroup quota -------------------===//
#include "runtime/threads/Cgroup.h"
#include "runtime/threads/ParallelFor.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cmath>
#include <sched.h>
#include <thread>

namespace tess::runtime {

/// The number of CPUs, rounded up, that a quota of `max` in each `period` amounts to; 0: no limit.
static unsigned quotient(llvm::StringRef max, llvm::StringRef period) {
  int64_t quota = 0, length = 0;
  if (max.trim().getAsInteger(10, quota) || period.trim().getAsInteger(10, length) || quota <= 0 || length <= 0)
    return 0;
  return unsigned(std::min<int64_t>((quota + length - 1) / length, kMaxThreads));
}

static unsigned lower(unsigned limit, unsigned quota) { return quota ? std::min(limit, quota) : limit; }

static unsigned cgroupLimit(unsigned limit) {
  CgroupFiles files;
  forEachCgroup(files, "cpu.max", [&](llvm::StringRef text) {
    auto [max, period] = text.split(' ');
    limit = lower(limit, quotient(max, period));
  });
  for (const char *folder : {"cpu", "cpu,cpuacct"})
    limit = lower(limit, quotient(cgroupContent(files, std::string(folder) + "/cpu.cfs_quota_us"),
                                  cgroupContent(files, std::string(folder) + "/cpu.cfs_period_us")));
  return limit;
}

unsigned availableThreads() {
  unsigned count = std::max(1u, std::thread::hardware_concurrency());
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
    count = unsigned(CPU_COUNT(&set));
  return std::min(cgroupLimit(count), kMaxThreads);
}

} // namespace tess::runtime
