//===- Code.h - mapped kernels ----------------------------------*- C++ -*-===//
//
// Checks a code image and maps it read-execute, never writable at the same time.
// There is no second way to run generated code.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/schema/Image.h"
#include "llvm/Support/Error.h"

#include <memory>

namespace tess::runtime {

/// The code of one image, mapped here unless it is executable where it lies; unmapped with the last owner. With
/// TESS_PERF_MAP=1 its kernels are listed in /tmp/perf-<pid>.map.
class CodeImage {
public:
  /// DataLoss when the hash or an entry is wrong, Unimplemented when this machine lacks a feature, ResourceExhausted
  /// when there is no memory. For code that is mapped already, the caller must have checked hash and features.
  static llvm::Expected<std::shared_ptr<CodeImage>> map(const Image &image);
  ~CodeImage();
  CodeImage(const CodeImage &) = delete;
  CodeImage &operator=(const CodeImage &) = delete;

  /// Kernel number `index` of the image; lives as long as this object.
  KernelFn entry(unsigned index) const { return functions[index]; }
  unsigned numEntries() const { return functions.size(); }
  uint32_t scratchBytesPerElement(unsigned index) const { return scratch[index]; }
  /// Bytes mapped: what a cache with a limit counts.
  uint64_t size() const { return mappedBytes; }

private:
  CodeImage() = default;
  void writePerfMap(const Image &image) const;

  llvm::Error mapCopy(const Image &image);

  const char *base = nullptr;
  std::shared_ptr<const std::string_view> lender; // of the memory; null: our own
  uint64_t mappedBytes = 0;
  std::vector<KernelFn> functions;
  std::vector<uint32_t> scratch;
};

/// Whether this machine and its operating system have `feature`, by LLVM's name for it ("avx512bw").
bool hostHasFeature(llvm::StringRef feature);

} // namespace tess::runtime
