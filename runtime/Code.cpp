//===- Code.cpp - mapped kernels -----------------------------------------===//
#include "runtime/Code.h"

#include "ops/Error.h"
#include "runtime/schema/ImageHash.h"
#include "llvm/Support/MathExtras.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace tess::runtime {

static llvm::Error damaged(const llvm::Twine &must, const llvm::Twine &got) {
  return makeError(ErrorCode::DataLoss, "code image: " + must + ", got " + got);
}

static llvm::Error check(const Image &image) {
  std::string hash = imageHash(image.bytes);
  if (hash != image.hash)
    return damaged("hash must be " + image.hash, hash);
  for (const KernelEntry &entry : image.entries)
    if (entry.offset >= image.bytes.size())
      return damaged("entries must lie in the code",
                     entry.name + " at " + llvm::Twine(entry.offset) + " of " + llvm::Twine(image.bytes.size()));
  llvm::SmallVector<llvm::StringRef> features;
  llvm::StringRef(image.features).split(features, ',', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef feature : features)
    if (!feature.consume_front("+") || !hostHasFeature(feature))
      return makeError(ErrorCode::Unimplemented,
                       "code image: the machine must have what the code needs, got one without " + feature);
  return llvm::Error::success();
}

llvm::Expected<std::shared_ptr<CodeImage>> CodeImage::map(const Image &image) {
  if (llvm::Error error = check(image))
    return error;
  std::shared_ptr<CodeImage> code(new CodeImage());
  uint64_t bytes = llvm::alignTo(std::max<uint64_t>(image.bytes.size(), 1), uint64_t(sysconf(_SC_PAGESIZE)));
  void *base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED)
    return makeError(ErrorCode::ResourceExhausted,
                     "code image: " + llvm::Twine(bytes) + " bytes must be mappable, got " + std::strerror(errno));
  code->base = base;
  code->mappedBytes = bytes;
  std::memcpy(base, image.bytes.data(), image.bytes.size());
  if (mprotect(base, bytes, PROT_READ | PROT_EXEC))
    return makeError(ErrorCode::Internal,
                     llvm::Twine("code image: memory must become executable, got ") + std::strerror(errno));
  for (const KernelEntry &entry : image.entries) {
    code->functions.push_back(reinterpret_cast<KernelFn>(static_cast<char *>(base) + entry.offset));
    code->scratch.push_back(entry.scratchBytesPerElement);
  }
  const char *wanted = std::getenv("TESS_PERF_MAP");
  if (wanted && std::strcmp(wanted, "1") == 0)
    code->writePerfMap(image);
  return code;
}

CodeImage::~CodeImage() {
  if (base)
    munmap(base, mappedBytes);
}

void CodeImage::writePerfMap(const Image &image) const {
  std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  std::FILE *file = std::fopen(path.c_str(), "a");
  if (!file)
    return; // a profile without names is better than no run
  for (const KernelEntry &entry : image.entries) {
    uint64_t end = image.bytes.size();
    for (const KernelEntry &other : image.entries)
      if (other.offset > entry.offset && other.offset < end)
        end = other.offset;
    std::fprintf(file, "%llx %llx %s\n", (unsigned long long)(reinterpret_cast<uintptr_t>(base) + entry.offset),
                 (unsigned long long)(end - entry.offset), entry.name.c_str());
  }
  std::fclose(file);
}

} // namespace tess::runtime
