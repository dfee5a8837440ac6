//===- Code.h - mapped kernels ----------------------------------*- C++ -*-===//
//
// Checks a code image and maps it read-execute, never writable at the same time.
// There is no second way to run generated code.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/device/Device.h"

namespace tess::runtime {

/// The code of one image, mapped here unless it is executable where it lies; unmapped with the last owner. With
/// TESS_PERF_MAP=1 its kernels are listed in /tmp/perf-<pid>.map.
class CodeImage : public LoadedCode {
public:
  /// DataLoss when the hash or an entry is wrong, Unimplemented when this machine lacks a feature, ResourceExhausted
  /// when there is no memory or the image is not of the wanted kind. For code that is mapped already, the caller must
  /// have checked hash and features.
  static llvm::Expected<std::shared_ptr<CodeImage>> map(const Image &image, ImageKind kind = ImageKind::Loops);
  ~CodeImage() override;
  CodeImage(const CodeImage &) = delete;
  CodeImage &operator=(const CodeImage &) = delete;

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
  llvm::SmallVector<uint32_t, 1> scratch;
};

/// Whether this machine and its operating system have `feature`, by LLVM's name for it ("avx512bw").
bool hostHasFeature(llvm::StringRef feature);
/// Whether this build calls kernels as those of `image` want to be called (KernelAbi.h).
bool hasKnownAbi(const Image &image);
/// The features of `image` that the host has not, sorted: none where it can run here.
std::vector<std::string> missingFeatures(const Image &image);

} // namespace tess::runtime
