//===- MappedFile.cpp - a file in memory, which others may cut ------------===//
#include "runtime/schema/MappedFile.h"
#include "ops/vocabulary/Error.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tess::runtime {

/// The part of a file that the signal handler reads: it is never freed, and holds no addresses while no file uses it.
struct MappedFile::Range {
  std::atomic<uintptr_t> begin = 0, end = 0;
  std::atomic<bool> isDamaged = false;
  Range *next = nullptr;
};

struct MappedRanges {
  using Range = MappedFile::Range;
  static inline std::atomic<Range *> head = nullptr;

  static Range *take(llvm::StringRef bytes) {
    static std::mutex mutex;
    std::lock_guard<std::mutex> lock(mutex);
    Range *range = head;
    while (range && range->end != 0)
      range = range->next;
    bool isNew = !range;
    if (isNew)
      range = new Range;
    range->isDamaged = false;
    range->begin = reinterpret_cast<uintptr_t>(bytes.begin());
    range->end = reinterpret_cast<uintptr_t>(bytes.end());
    if (isNew) {
      range->next = head;
      head = range;
    }
    return range;
  }

  static Range *find(uintptr_t address) {
    for (Range *range = head; range; range = range->next)
      if (address >= range->begin && address < range->end)
        return range;
    return nullptr;
  }
};

static llvm::Error systemError(llvm::StringRef path, const char *doing) {
  int code = errno;
  return makeError(code == ENOENT ? ErrorCode::NotFound : ErrorCode::IoError,
                   path + ": must be able to " + doing + ", got " + std::strerror(code));
}

static int64_t timeOf(const struct stat &info) {
  return int64_t(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec;
}

MappedFile::MappedFile(llvm::StringRef mapped, std::string path, int fd, int64_t time)
    : mapped(mapped), path(std::move(path)), fd(fd), range(MappedRanges::take(mapped)), time(time) {}

MappedFile::~MappedFile() {
  range->begin = UINTPTR_MAX;
  range->end = 0;
  if (!mapped.empty())
    ::munmap(const_cast<char *>(mapped.data()), mapped.size());
  ::close(fd);
}

llvm::Expected<std::unique_ptr<MappedFile>> MappedFile::open(llvm::StringRef path) {
  int fd = ::open(path.str().c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return systemError(path, "open the file");
  struct stat info = {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd);
    return makeError(ErrorCode::IoError, path + ": must be a regular file, got another kind");
  }
  size_t size = size_t(info.st_size);
  void *data = size ? ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0) : nullptr;
  if (data == MAP_FAILED) {
    llvm::Error error = systemError(path, "map the file");
    ::close(fd);
    return std::move(error);
  }
  return std::unique_ptr<MappedFile>(
      new MappedFile({static_cast<const char *>(data), size}, path.str(), fd, timeOf(info)));
}

bool MappedFile::isDamaged() const { return range->isDamaged.load(std::memory_order_relaxed); }

llvm::Error MappedFile::check() const {
  struct stat info = {};
  if (::fstat(fd, &info) != 0)
    return systemError(path, "ask for the file's size");
  if (int64_t now = timeOf(info); time.exchange(now, std::memory_order_acq_rel) != now)
    written = true;
  bool isWhole = uint64_t(info.st_size) >= mapped.size();
  if (isWhole && !isDamaged())
    return llvm::Error::success();
  return makeError(ErrorCode::DataLoss, path + ": must keep its " + llvm::Twine(mapped.size()) +
                                            " bytes while it is loaded, got " +
                                            (isWhole ? "fewer for a time" : llvm::Twine(info.st_size).str()));
}

void MappedFile::giveBack(llvm::StringRef bytes) const {
  const auto page = uintptr_t(::sysconf(_SC_PAGESIZE));
  const uintptr_t first = (reinterpret_cast<uintptr_t>(bytes.begin()) + page - 1) & ~(page - 1),
                  last = reinterpret_cast<uintptr_t>(bytes.end()) & ~(page - 1);
  if (bytes.begin() >= mapped.begin() && bytes.end() <= mapped.end() && first < last)
    (void)::madvise(reinterpret_cast<void *>(first), last - first, MADV_DONTNEED);
}

//===----------------------------------------------------------------------===//
// The signal
//===----------------------------------------------------------------------===//

static struct sigaction previous;

static void callPrevious(int number, siginfo_t *info, void *context) {
  if (previous.sa_flags & SA_SIGINFO)
    return previous.sa_sigaction(number, info, context);
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN)
    return previous.sa_handler(number);
  struct sigaction byDefault = {};
  byDefault.sa_handler = SIG_DFL;
  ::sigaction(number, &byDefault, nullptr); // the instruction is tried again and then ends the process
}

/// Maps zeros where the file ended; a reader goes on with them and later finds the file marked as damaged.
static void onBusError(int number, siginfo_t *info, void *context) {
  int code = errno;
  uintptr_t address = reinterpret_cast<uintptr_t>(info->si_addr), page = uintptr_t(::sysconf(_SC_PAGESIZE));
  MappedFile::Range *range = MappedRanges::find(address);
  void *start = reinterpret_cast<void *>(address & ~(page - 1));
  if (!range || ::mmap(start, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
    return callPrevious(number, info, context);
  range->isDamaged = true;
  errno = code;
}

void guardMappedFiles() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction ours = {};
    ours.sa_sigaction = onBusError;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigaction(SIGBUS, &ours, &previous);
  });
}

} // namespace tess::runtime
