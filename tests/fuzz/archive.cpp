//===- archive.cpp - any bytes as a checkpoint ----------------------------===//
#include "tessera/Checkpoint.h"
#include "tessera/Serialization.h"
#include "tests/fuzz/Fuzz.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/Endian.h"

using namespace tess;
namespace endian = llvm::support::endian;

/// Gives every directory entry with 64-bit sizes, as save writes them, the checksum of its member.
static void mendChecksums(char *data, size_t size) {
  constexpr size_t kEntry = 46, kLocal = 30, kPart = 28;
  llvm::StringRef file(data, size);
  for (size_t at = file.find("PK\1\2"); at != llvm::StringRef::npos; at = file.find("PK\1\2", at + 1)) {
    if (at + kEntry > size)
      return;
    size_t name = endian::read16le(data + at + 28), part = at + kEntry + name;
    if (part + kPart > size)
      continue;
    uint64_t bytes = endian::read64le(data + part + 4), offset = endian::read64le(data + part + 20);
    if (offset > size - kLocal)
      continue;
    size_t begin = offset + kLocal + endian::read16le(data + offset + 26) + endian::read16le(data + offset + 28);
    if (begin <= size && bytes <= size - begin)
      endian::write32le(data + at + 16, llvm::crc32(llvm::arrayRefFromStringRef(file.substr(begin, bytes))));
  }
}

static void load(llvm::StringRef bytes) {
  auto checkpoint = tessera::detail::readCheckpoint(bytes, "input");
  if (!fuzz::passed(checkpoint))
    return;
  fuzz::MemoryFile file(bytes);
  try {
    tessera::load(file.path());
  } catch (const tessera::Error &error) {
    fuzz::requireForm(error.what());
  }
}

void fuzzOne(llvm::StringRef input) {
  load(fuzz::ExactBytes(input).ref());
  fuzz::ExactBytes mended(input);
  mendChecksums(mended.begin(), input.size());
  load(mended.ref());
}
