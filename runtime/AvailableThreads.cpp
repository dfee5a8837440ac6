//===- AvailableThreads.cpp - affinity and cgroup quota -------------------===//
#include "runtime/ParallelFor.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <cmath>
#include <sched.h>
#include <thread>

namespace tess::runtime {

static std::string content(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFileAsStream(path);
  return buffer ? (*buffer)->getBuffer().trim().str() : std::string();
}

/// CPUs that a quota in `max` of each `period` is worth, rounded up; 0: no limit.
static unsigned quotient(llvm::StringRef max, llvm::StringRef period) {
  int64_t quota = 0, length = 0;
  if (max.trim().getAsInteger(10, quota) || period.trim().getAsInteger(10, length) || quota <= 0 || length <= 0)
    return 0;
  return unsigned(std::min<int64_t>((quota + length - 1) / length, kMaxThreads));
}

static unsigned lower(unsigned limit, unsigned quota) { return quota ? std::min(limit, quota) : limit; }

/// Version 2: the group of this process and every one above it may set a quota.
static unsigned unifiedQuota(llvm::StringRef group, unsigned limit) {
  for (std::string path = group.str();; path.resize(path.rfind('/'))) {
    std::string text = content("/sys/fs/cgroup" + path + "/cpu.max");
    auto [max, period] = llvm::StringRef(text).split(' ');
    limit = lower(limit, quotient(max, period));
    if (path.empty() || path.rfind('/') == std::string::npos)
      return limit;
  }
}

static unsigned cgroupLimit(unsigned limit) {
  std::string groups = content("/proc/self/cgroup");
  llvm::SmallVector<llvm::StringRef, 16> lines;
  llvm::StringRef(groups).split(lines, '\n');
  for (llvm::StringRef line : lines)
    if (line.consume_front("0::"))
      limit = unifiedQuota(line.rtrim('/'), limit);
  for (const char *folder : {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"})
    limit = lower(limit, quotient(content(std::string(folder) + "/cpu.cfs_quota_us"),
                                  content(std::string(folder) + "/cpu.cfs_period_us")));
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
