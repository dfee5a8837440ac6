//===- Fuzz.h - what every fuzz target shares -------------------*- C++ -*-===//
//
// A target is one file that defines `fuzzOne`. libFuzzer calls it (`tools/dev
// fuzz`), and so does a plain main that reads a corpus (an ordinary test).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/vocabulary/Error.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

/// Each target defines it. Whatever the bytes are, it returns.
void fuzzOne(llvm::StringRef input);

namespace tess::fuzz {

/// Calls fuzzOne and ends the process when the live heap grows, at any moment, by more than 16 times the input and
/// 64 MiB.
void runBounded(llvm::StringRef input);
/// The largest growth of the live heap while `work` runs; beyond `limit` the process ends.
size_t peakGrowth(size_t limit, llvm::function_ref<void()> work);
/// What an input of `bytes` may cost.
constexpr size_t growthLimit(size_t bytes) { return 16 * bytes + (size_t(64) << 20); }

/// Ends the process, which is what a fuzzer looks for, unless `ok`.
void require(bool ok, const llvm::Twine &what);
/// Requires the known form of a message: `<op or tool>: <what must hold>, got <values>`.
void requireForm(llvm::StringRef message);
/// True without an error; the message of one must have the known form.
bool passed(llvm::Error error);
template <typename T> bool passed(llvm::Expected<T> &value) { return bool(value) || passed(value.takeError()); }

/// Requires that what `write` makes of a value that was read is read as the same again.
template <typename T, typename Write, typename Read> void requireRoundTrip(const T &value, Write write, Read read) {
  std::string bytes = write(value);
  auto again = read(bytes);
  require(passed(again) && write(*again) == bytes, "what was read must survive its encoding");
}

/// A copy without a byte to spare, aligned as a mapped file is: a read beyond it is seen.
class ExactBytes {
public:
  explicit ExactBytes(llvm::StringRef bytes);
  llvm::StringRef ref() const { return {data.get(), size}; }
  char *begin() { return data.get(); }

private:
  struct Deleter {
    void operator()(char *data) const;
  };
  size_t size;
  std::unique_ptr<char[], Deleter> data;
};

/// A file in memory, for readers that take a path.
class MemoryFile {
public:
  explicit MemoryFile(llvm::StringRef bytes);
  ~MemoryFile();
  MemoryFile(const MemoryFile &) = delete;
  std::string path() const;

private:
  int fd;
};

} // namespace tess::fuzz
