//===- Code.cpp - mapped kernels -----------------------------------------===//
#include "runtime/device/Code.h"

#include "ops/vocabulary/Error.h"
#include "runtime/schema/ImageHash.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/TargetParser/Host.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace tess::runtime {

bool hostHasFeature(llvm::StringRef feature) {
  static const llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  return features.lookup(feature);
}

std::vector<std::string> missingFeatures(const Image &image) {
  llvm::SmallVector<llvm::StringRef> features;
  llvm::StringRef(image.features).split(features, ',', -1, /*KeepEmpty=*/false);
  std::vector<std::string> missing;
  for (llvm::StringRef feature : features)
    if (!feature.consume_front("+") || !hostHasFeature(feature))
      missing.push_back(feature.str());
  llvm::sort(missing);
  return missing;
}

bool hasKnownAbi(const Image &image) { return image.abi >= 1 && image.abi <= kKernelAbi; }

static llvm::Error damaged(const llvm::Twine &must, const llvm::Twine &got) {
  return makeError(ErrorCode::DataLoss, "code image: " + must + ", got " + got);
}

static llvm::Error checkAbi(const Image &image, ImageKind kind) {
  static constexpr const char *kKinds[] = {"loops of the host", "a grid of the host", "PTX"};
  if (image.kind != kind)
    return makeError(ErrorCode::Unimplemented, llvm::Twine("code image: kernels must be ") + kKinds[unsigned(kind)] +
                                                   " on this device, got " + kKinds[unsigned(image.kind)]);
  if (hasKnownAbi(image))
    return llvm::Error::success();
  return makeError(ErrorCode::Unimplemented, "code image: kernels must have the interface of version 1 to " +
                                                 llvm::Twine(kKernelAbi) + ", got " + llvm::Twine(image.abi));
}

static llvm::Error checkEntries(const Image &image) {
  for (const KernelEntry &entry : image.entries)
    if (entry.offset >= image.code().size())
      return damaged("entries must lie in the code",
                     entry.name + " at " + llvm::Twine(entry.offset) + " of " + llvm::Twine(image.code().size()));
  return llvm::Error::success();
}

static llvm::Error checkBytes(const Image &image) {
  std::string hash = imageHash(image.bytes);
  if (hash != image.hash)
    return damaged("hash must be " + image.hash, hash);
  if (std::vector<std::string> missing = missingFeatures(image); !missing.empty())
    return makeError(ErrorCode::Unimplemented,
                     "code image: the machine must have what the code needs, got one without " + missing.front());
  return llvm::Error::success();
}

llvm::Error CodeImage::mapCopy(const Image &image) {
  uint64_t bytes = llvm::alignTo(std::max<uint64_t>(image.bytes.size(), 1), uint64_t(sysconf(_SC_PAGESIZE)));
  void *copy = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED)
    return makeError(ErrorCode::ResourceExhausted,
                     "code image: " + llvm::Twine(bytes) + " bytes must be mappable, got " + std::strerror(errno));
  base = static_cast<const char *>(copy);
  mappedBytes = bytes;
  std::memcpy(copy, image.bytes.data(), image.bytes.size());
  if (mprotect(copy, bytes, PROT_READ | PROT_EXEC))
    return makeError(ErrorCode::Internal,
                     llvm::Twine("code image: memory must become executable, got ") + std::strerror(errno));
  return llvm::Error::success();
}

/// What the environment says when the first image is mapped.
static bool wantsPerfMap() {
  static const bool wanted = [] {
    const char *value = std::getenv("TESS_PERF_MAP");
    return value && llvm::StringRef(value) == "1";
  }();
  return wanted;
}

llvm::Expected<std::shared_ptr<CodeImage>> CodeImage::map(const Image &image, ImageKind kind) {
  std::shared_ptr<CodeImage> code(new CodeImage());
  code->lender = image.mapped;
  if (llvm::Error error = checkAbi(image, kind))
    return std::move(error);
  if (llvm::Error error = checkEntries(image))
    return std::move(error);
  if (code->lender) {
    code->base = code->lender->data();
  } else {
    if (llvm::Error error = checkBytes(image))
      return std::move(error);
    if (llvm::Error error = code->mapCopy(image))
      return std::move(error);
  }
  for (const KernelEntry &entry : image.entries) {
    code->functions.push_back(reinterpret_cast<KernelFn>(uintptr_t(code->base) + entry.offset));
    code->scratch.push_back(entry.scratchBytesPerElement);
  }
  if (wantsPerfMap())
    code->writePerfMap(image);
  return code;
}

CodeImage::~CodeImage() {
  if (mappedBytes)
    munmap(const_cast<char *>(base), mappedBytes);
}

void CodeImage::writePerfMap(const Image &image) const {
  std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  std::FILE *file = std::fopen(path.c_str(), "a");
  if (!file)
    return; // a run without names in its profile is better than no run
  for (const KernelEntry &entry : image.entries) {
    uint64_t end = image.code().size();
    for (const KernelEntry &other : image.entries)
      if (other.offset > entry.offset && other.offset < end)
        end = other.offset;
    std::fprintf(file, "%" PRIx64 " %" PRIx64 " %s\n", reinterpret_cast<uintptr_t>(base) + entry.offset,
                 end - entry.offset, entry.name.c_str());
  }
  std::fclose(file);
}

} // namespace tess::runtime
