//===- Fuzz.cpp - checks of a fuzz target ---------------------------------===//
#include "tests/fuzz/Fuzz.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tess::fuzz::runBounded({reinterpret_cast<const char *>(data), size});
  return 0;
}

namespace tess::fuzz {

void runBounded(llvm::StringRef input) {
  peakGrowth(growthLimit(input.size()), [&] { fuzzOne(input); });
}

void require(bool ok, const llvm::Twine &what) {
  if (ok)
    return;
  std::fprintf(stderr, "fuzz: %s\n", what.str().c_str());
  std::abort();
}

void requireForm(llvm::StringRef message) {
  auto [tool, rest] = message.split(": ");
  require(!tool.empty() && rest.contains(", got "),
          "message must be `<op or tool>: <what must hold>, got <values>`, got '" + message + "'");
}

bool passed(llvm::Error error) {
  if (!error)
    return true;
  requireForm(takeError(std::move(error)).second);
  return false;
}

constexpr std::align_val_t kAlignment{64};

ExactBytes::ExactBytes(llvm::StringRef bytes)
    : size(bytes.size()), data(static_cast<char *>(::operator new(bytes.size(), kAlignment))) {
  if (size)
    std::memcpy(data.get(), bytes.data(), size);
}

void ExactBytes::Deleter::operator()(char *data) const { ::operator delete(data, kAlignment); }

MemoryFile::MemoryFile(llvm::StringRef bytes) : fd(::memfd_create("fuzz", MFD_CLOEXEC)) {
  require(fd >= 0 && ::write(fd, bytes.data(), bytes.size()) == ssize_t(bytes.size()), "memfd must hold the input");
}

MemoryFile::~MemoryFile() { ::close(fd); }

std::string MemoryFile::path() const { return "/proc/self/fd/" + std::to_string(fd); }

} // namespace tess::fuzz
