//===- HardwareCounters.cpp - counters of the processor -------------------===//
#include "runtime/device/HardwareCounters.h"

#include "ops/vocabulary/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cerrno>
#include <cstring>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tess::runtime {

namespace {

struct KnownCounter {
  const char *name;
  uint32_t type;
  uint64_t config;
};
constexpr KnownCounter kKnown[] = {
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
    {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
};

int openByKernel(perf_event_attr *event, int thread) {
  return int(::syscall(SYS_perf_event_open, event, thread, /*cpu=*/-1, /*group_fd=*/-1, PERF_FLAG_FD_CLOEXEC));
}

std::vector<int> threadsOfProcess() {
  std::vector<int> threads;
  std::error_code code;
  for (llvm::sys::fs::directory_iterator entry("/proc/self/task", code), end; entry != end && !code;
       entry.increment(code))
    if (int thread = 0; !llvm::StringRef(entry->path()).rsplit('/').second.getAsInteger(10, thread))
      threads.push_back(thread);
  return threads;
}

/// The reason for an errno of perf_event_open(2), with the setting that decides.
std::string whyNot(const std::string &name, int error) {
  std::string text = name + ": " + std::strerror(error);
  if (error == ENOENT || error == ENODEV || error == EOPNOTSUPP)
    return text + " (the processor, or the virtual machine, does not count them)";
  if (error != EACCES && error != EPERM)
    return text;
  auto level = llvm::MemoryBuffer::getFileAsStream("/proc/sys/kernel/perf_event_paranoid");
  return text + (level ? " (kernel.perf_event_paranoid is " + (*level)->getBuffer().trim().str() + ")" : "");
}

} // namespace

std::vector<std::string> hardwareCounterNames() {
  std::vector<std::string> names;
  for (const KnownCounter &each : kKnown)
    names.push_back(each.name);
  return names;
}

llvm::Expected<std::shared_ptr<const HardwareCounters>> HardwareCounters::open(llvm::ArrayRef<std::string> names) {
  return open(names, openByKernel);
}

llvm::Expected<std::shared_ptr<const HardwareCounters>> HardwareCounters::open(llvm::ArrayRef<std::string> names,
                                                                               Opener opener) {
  if (names.size() > kMost)
    return invalidArgument("Profiler: counters must be at most " + llvm::Twine(kMost) + ", got " +
                           llvm::Twine(names.size()));
  std::shared_ptr<HardwareCounters> counters(new HardwareCounters);
  for (auto [index, name] : llvm::enumerate(names)) {
    const auto *known = llvm::find_if(kKnown, [&](const KnownCounter &each) { return each.name == name; });
    if (known == std::end(kKnown))
      return invalidArgument("Profiler: counters must be of [" + llvm::join(hardwareCounterNames(), ", ") + "], got " +
                             name);
    perf_event_attr event = {};
    event.size = sizeof(event);
    event.type = known->type;
    event.config = known->config;
    event.inherit = 1;
    event.exclude_kernel = event.exclude_hv = known->type == PERF_TYPE_HARDWARE; // what a user may count
    for (int thread : threadsOfProcess()) {
      int file = opener(&event, thread);
      if (file < 0 && errno != ESRCH) // a thread that has ended meanwhile
        return makeError(ErrorCode::Unimplemented, whyNot(name, errno));
      if (file >= 0)
        counters->files[index].push_back(file);
    }
  }
  return counters;
}

HardwareCounters::~HardwareCounters() {
  for (int file : llvm::concat<int>(files[0], files[1], files[2], files[3]))
    ::close(file);
}

HardwareCounters::Counts HardwareCounters::read() const {
  Counts counts = {};
  for (auto [count, opened] : llvm::zip_equal(counts, files))
    for (int file : opened)
      if (uint64_t value = 0; ::read(file, &value, sizeof(value)) == sizeof(value))
        count += value;
  return counts;
}

} // namespace tess::runtime
