//===- container.cpp - any bytes as a `.tess` file ------------------------===//
#include "runtime/schema/Container.h"
#include "runtime/schema/ContainerFormat.h"
#include "tests/fuzz/Fuzz.h"
#include "llvm/Support/Endian.h"

#include <xxhash.h>

using namespace tess;
using namespace tess::runtime;
namespace endian = llvm::support::endian;

static void read(llvm::StringRef bytes) {
  auto file = Container::fromMemory(bytes, "input.tess");
  if (!fuzz::passed(file))
    return;
  for (const Container::Section &section : (*file)->sections()) {
    auto data = (*file)->read(section.kind, section.name);
    fuzz::require(fuzz::passed(data) && data->size() == section.size && (*file)->has(section.kind, section.name),
                  "a section of a verified file must be readable");
  }
  fuzz::require(fuzz::passed((*file)->verify()), "small files must be verified at load");
}

/// Writes the size and every checksum that can be found, inside out, so that what they protect is seen.
static void mendChecksums(char *data, uint64_t size) {
  using namespace container;
  if (size < kHeaderBytes)
    return;
  std::memcpy(data, kMagic, sizeof kMagic);
  endian::write64le(data + 40, size);
  uint64_t at = endian::read64le(data + 16), bytes = endian::read64le(data + 24);
  if (at <= size && bytes <= size - at) {
    for (uint64_t entry = at; entry + kEntryBytes <= at + bytes;) {
      uint64_t offset = endian::read64le(data + entry + 8), length = endian::read64le(data + entry + 16);
      if (offset <= size && length <= size - offset)
        endian::write64le(data + entry + 24, XXH3_64bits(data + offset, length));
      entry += kEntryBytes + alignTo(endian::read32le(data + entry + 4), 8);
    }
    endian::write64le(data + 32, XXH3_64bits(data + at, bytes));
  }
  endian::write64le(data + 56, XXH3_64bits(data, kHashedHeaderBytes));
}

void fuzzOne(llvm::StringRef input) {
  read(fuzz::ExactBytes(input).ref());
  fuzz::ExactBytes mended(input);
  mendChecksums(mended.begin(), input.size());
  read(mended.ref());
}
