//===- TimingTable.cpp - fastest kernels that were measured ---------------===//
#include "runtime/tuning/TimingTable.h"
#include "ops/vocabulary/Error.h"
#include "runtime/schema/BitsVersion.h"
#include "runtime/threads/Fork.h"

#include <cmath>
#include <cstring>

namespace tess::runtime::tuning {

TimingTable &TimingTable::global() {
  static TimingTable *table = [] {
    auto *made = new TimingTable; // never destroyed: threads may bind while the process ends
    holdAcrossFork(made->mutex);
    return made;
  }();
  return *table;
}
static const MadeAtLoad<TimingTable::global> kMade;

std::optional<Timing> TimingTable::find(llvm::StringRef call) {
  std::lock_guard<std::mutex> lock(mutex);
  Timing *known = timings.find(call);
  return known ? std::optional(*known) : std::nullopt;
}

void TimingTable::insert(llvm::StringRef call, Timing timing) {
  std::lock_guard<std::mutex> lock(mutex);
  ++measured;
  add(call, std::move(timing));
}

void TimingTable::add(llvm::StringRef call, Timing timing) {
  if (Timing *known = timings.find(call)) {
    *known = std::move(timing);
    return;
  }
  const uint64_t bytes = sizeof(Timing) + timing.kernel.size();
  timings.insert(call.str(), std::move(timing), bytes);
}

void TimingTable::clear() {
  std::lock_guard<std::mutex> lock(mutex);
  const uint64_t limit = timings.limit();
  timings.setLimit(0);
  timings.setLimit(limit);
}

void TimingTable::setLimit(uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  timings.setLimit(bytes);
}

TimingStats TimingTable::stats() {
  std::lock_guard<std::mutex> lock(mutex);
  return {timings.size(), timings.bytes(), timings.limit(), timings.evictions(), measured};
}

//===----------------------------------------------------------------------===//
// Bytes: a header, timings from the least recently used one on, a hash of all
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral kMagic = "tessera timings 1\n";

template <typename T> static void append(std::string &bytes, T number) {
  bytes.append(reinterpret_cast<const char *>(&number), sizeof number);
}

static void append(std::string &bytes, llvm::StringRef text) {
  append(bytes, uint32_t(text.size()));
  bytes += text;
}

std::string TimingTable::store() {
  std::string bytes = kMagic.str();
  append(bytes, uint32_t(bitsVersion()));
  std::lock_guard<std::mutex> lock(mutex);
  timings.visit([&](const std::string &call, const Timing &timing) {
    append(bytes, llvm::StringRef(call));
    append(bytes, llvm::StringRef(timing.kernel));
    append(bytes, timing.microseconds);
  });
  append(bytes, llvm::xxh3_64bits(bytes));
  return bytes;
}

namespace {

/// Reads from the front of bytes; false where they end before.
class Reader {
public:
  explicit Reader(llvm::StringRef bytes) : rest(bytes) {}

  template <typename T> bool number(T &to) {
    if (rest.size() < sizeof to)
      return false;
    std::memcpy(&to, rest.data(), sizeof to);
    rest = rest.drop_front(sizeof to);
    return true;
  }

  bool text(llvm::StringRef &to) {
    uint32_t size;
    if (!number(size) || rest.size() < size)
      return false;
    to = rest.take_front(size);
    rest = rest.drop_front(size);
    return true;
  }

  bool atEnd() const { return rest.empty(); }

private:
  llvm::StringRef rest;
};

} // namespace

llvm::Expected<size_t> TimingTable::load(llvm::StringRef bytes) {
  auto damaged = [&] {
    return makeError(ErrorCode::DataLoss,
                     "load_timings: bytes must be whole, got " + llvm::Twine(bytes.size()) + " that nothing stored");
  };
  uint64_t hash;
  llvm::StringRef content = bytes.drop_back(std::min(bytes.size(), sizeof hash));
  if (!Reader(bytes.take_back(sizeof hash)).number(hash) || llvm::xxh3_64bits(content) != hash ||
      !content.consume_front(kMagic))
    return damaged();
  Reader reader(content);
  uint32_t version;
  if (!reader.number(version))
    return damaged();
  if (version != bitsVersion())
    return 0;
  std::lock_guard<std::mutex> lock(mutex);
  size_t count = 0;
  for (; !reader.atEnd(); ++count) {
    llvm::StringRef call, kernel;
    double microseconds;
    if (!reader.text(call) || !reader.text(kernel) || !reader.number(microseconds) || !std::isfinite(microseconds))
      return damaged();
    if (!timings.find(call)) // one that was measured here is the later one
      add(call, {kernel.str(), microseconds});
  }
  return count;
}

} // namespace tess::runtime::tuning
