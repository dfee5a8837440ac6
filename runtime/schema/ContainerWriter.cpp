//===- ContainerWriter.cpp - writing a `.tess` file -----------------------===//
#include "ops/vocabulary/Error.h"
#include "runtime/schema/AtomicFile.h"
#include "runtime/schema/Container.h"
#include "runtime/schema/ContainerFormat.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Endian.h"

#include <xxhash.h>

namespace tess::runtime {

using namespace container;

template <typename T> static void put(std::string &out, T value) {
  char raw[sizeof(T)];
  llvm::support::endian::write<T, 1>(raw, value, llvm::endianness::little);
  out.append(raw, sizeof(T));
}

static llvm::Error checkNames(llvm::StringRef path, llvm::ArrayRef<SectionData> sections) {
  llvm::StringSet<> seen;
  for (const SectionData &section : sections) {
    if (section.name.size() > kMaxName)
      return invalidArgument(path + ": a section name must have at most " + llvm::Twine(kMaxName) + " bytes, got " +
                             llvm::Twine(section.name.size()));
    if (!seen.insert(std::to_string(uint32_t(section.kind)) + ":" + section.name).second)
      return invalidArgument(path + ": section names must differ, got " + section.name + " twice");
  }
  return llvm::Error::success();
}

static std::string header(uint32_t count, uint64_t tableOffset, llvm::StringRef table, uint64_t hash) {
  std::string out(kMagic, sizeof kMagic);
  put<uint32_t>(out, kContainerVersion);
  put<uint32_t>(out, count);
  put<uint64_t>(out, tableOffset);
  put<uint64_t>(out, table.size());
  put<uint64_t>(out, hash);
  put<uint64_t>(out, tableOffset + table.size());
  put<uint64_t>(out, 0);
  put<uint64_t>(out, XXH3_64bits(out.data(), out.size()));
  return out;
}

static void putEntry(std::string &table, const SectionData &section, uint64_t offset) {
  put<uint32_t>(table, uint32_t(section.kind));
  put<uint32_t>(table, uint32_t(section.name.size()));
  put<uint64_t>(table, offset);
  put<uint64_t>(table, section.bytes.size());
  put<uint64_t>(table, XXH3_64bits(section.bytes.data(), section.bytes.size()));
  table += section.name;
  table.resize(alignTo(table.size(), 8), '\0');
}

static llvm::StringRef paddingAfter(const AtomicFile &file) {
  static const char zeros[kAlignment] = {};
  return {zeros, alignTo(file.position(), kAlignment) - file.position()};
}

llvm::Error writeContainer(llvm::StringRef path, llvm::ArrayRef<SectionData> sections, WrittenFile *written) {
  if (llvm::Error e = checkNames(path, sections))
    return e;
  AtomicFile file(path);
  if (llvm::Error e = file.create())
    return e;
  if (llvm::Error e = file.append(std::string(kHeaderBytes, '\0')))
    return e;
  std::string table;
  for (const SectionData &section : sections) {
    if (llvm::Error e = file.append(paddingAfter(file)))
      return e;
    putEntry(table, section, file.position());
    if (llvm::Error e = file.append(section.bytes))
      return e;
  }
  if (llvm::Error e = file.append(paddingAfter(file)))
    return e;
  uint64_t tableOffset = file.position();
  if (llvm::Error e = file.append(table))
    return e;
  uint64_t hash = XXH3_64bits(table.data(), table.size());
  if (llvm::Error e = file.writeAt(0, header(uint32_t(sections.size()), tableOffset, table, hash)))
    return e;
  if (written)
    *written = {tableOffset + table.size(), hash};
  return file.commit();
}

} // namespace tess::runtime
