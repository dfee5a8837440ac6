//===- TimingTable.h - fastest kernels that were measured -------*- C++ -*-===//
#pragma once

#include "ops/vocabulary/LruCache.h"
#include "llvm/Support/Error.h"

#include <mutex>
#include <optional>

namespace tess::runtime::tuning {

/// The fastest kernel of a call, by its name, and the time that it took.
struct Timing {
  std::string kernel;
  double microseconds = 0;
};

/// Counts since the process began; what is held now and the limit, in bytes.
struct TimingStats {
  uint64_t entries = 0, bytes = 0, limit = 0, evictions = 0, measured = 0;
};

/// Timings by the text of a call, bounded in bytes; those used least recently go first. Thread-safe.
class TimingTable {
public:
  static constexpr uint64_t kDefaultLimit = uint64_t(1) << 20;

  explicit TimingTable(uint64_t limit = kDefaultLimit) : timings(limit) {}
  /// The table of this process.
  static TimingTable &global();

  std::optional<Timing> find(llvm::StringRef call);
  /// Keeps a timing in the place of another one of the call.
  void insert(llvm::StringRef call, Timing timing);
  /// Forgets all timings.
  void clear();
  void setLimit(uint64_t bytes);
  TimingStats stats();

  /// All timings as bytes, which load() reads in other processes.
  std::string store();
  /// Adds the timings of such bytes for calls that have none here, and returns how many there were: none where a build
  /// with other bits stored them. DataLoss for bytes that store() did not write.
  llvm::Expected<size_t> load(llvm::StringRef bytes);

private:
  void add(llvm::StringRef call, Timing timing);

  std::mutex mutex;
  LruCache<Timing> timings;
  uint64_t measured = 0;
};

} // namespace tess::runtime::tuning
