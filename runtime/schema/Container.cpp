//===- Container.cpp - reading a `.tess` file -----------------------------===//
//
// The reader trusts nothing: every offset and size is compared with the size of
// the file before it is used, and sums are written so that they cannot
// overflow.
//
//===----------------------------------------------------------------------===//
#include "runtime/schema/Container.h"
#include "ops/vocabulary/Error.h"
#include "runtime/schema/ContainerFormat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

namespace tess::runtime {

using namespace container;

static uint32_t get32(const char *at) { return llvm::support::endian::read32le(at); }
static uint64_t get64(const char *at) { return llvm::support::endian::read64le(at); }

static llvm::SmallString<256> keyOf(SectionKind kind, llvm::StringRef name) {
  llvm::SmallString<256> key;
  llvm::raw_svector_ostream(key) << uint32_t(kind) << ':' << name;
  return key;
}

static llvm::StringRef kindName(SectionKind kind) {
  switch (kind) {
  case SectionKind::Graph:
    return "graph";
  case SectionKind::Executable:
    return "exec";
  case SectionKind::Tensor:
    return "tensor";
  case SectionKind::Meta:
    return "meta";
  case SectionKind::Code:
    return "code";
  case SectionKind::FlatExecutable:
    return "flat exec";
  case SectionKind::Test:
    return "test";
  }
  return "unknown";
}

static std::string title(const Container::Section &section) {
  return section.name.empty() ? kindName(section.kind).str() : (kindName(section.kind) + ":" + section.name).str();
}

static llvm::Error damaged(llvm::StringRef file, const llvm::Twine &message) {
  return makeError(ErrorCode::DataLoss, file + ": " + message);
}

llvm::Expected<std::shared_ptr<Container>> Container::open(llvm::StringRef path, bool verifyAll) {
  llvm::Expected<std::unique_ptr<MappedFile>> file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  llvm::StringRef bytes = (*file)->bytes();
  std::shared_ptr<Container> container(new Container(bytes, path, std::move(*file)));
  if (llvm::Error e = container->parse(verifyAll))
    return container->causeOf(std::move(e));
  if (llvm::Error e = container->checkFile())
    return std::move(e);
  return container;
}

llvm::Expected<std::shared_ptr<Container>> Container::fromMemory(llvm::StringRef bytes, llvm::StringRef name,
                                                                 bool verifyAll) {
  std::shared_ptr<Container> container(new Container(bytes, name));
  if (llvm::Error e = container->parse(verifyAll))
    return std::move(e);
  return container;
}

llvm::Error Container::checkFile() const {
  if (!file)
    return llvm::Error::success();
  if (llvm::Error cut = file->check())
    return cut;
  if (!file->wasWritten())
    return llvm::Error::success();
  for (size_t i = 0; i < table.size(); ++i)
    if (verified[i].load(std::memory_order_acquire))
      if (llvm::Error other = compareSum(i))
        return other;
  file->acceptBytes();
  return llvm::Error::success();
}

llvm::Error Container::causeOf(llvm::Error error) const {
  llvm::Error cut = checkFile();
  if (!cut)
    return error;
  llvm::consumeError(std::move(error));
  return cut;
}

llvm::Error Container::parseHeader(uint64_t &tableOffset, uint64_t &tableBytes, uint32_t &count) const {
  if (bytes.size() < kHeaderBytes || std::memcmp(bytes.data(), kMagic, sizeof kMagic) != 0)
    return damaged(name, "must be a .tess file, got " + (bytes.size() < kHeaderBytes
                                                             ? llvm::Twine(bytes.size()) + " bytes"
                                                             : llvm::Twine("a file of another kind")));
  const char *at = bytes.data();
  // The version is read before the checksum, because a newer format may have that elsewhere.
  if (get32(at + 8) > kContainerVersion)
    return makeError(ErrorCode::Unimplemented,
                     name + ": format version must be at most " + llvm::Twine(kContainerVersion) + ", got " +
                         llvm::Twine(get32(at + 8)) + ", written by a newer Tessera or damaged");
  if (XXH3_64bits(at, kHashedHeaderBytes) != get64(at + 56))
    return damaged(name, "header must have its checksum, got another: the file is damaged");
  if (get32(at + 8) == 0)
    return damaged(name, "format version must be at least 1, got 0");
  if (get64(at + 40) != bytes.size())
    return damaged(name, "must have " + llvm::Twine(get64(at + 40)) + " bytes, got " + llvm::Twine(bytes.size()) +
                             ": the file is cut or extended");
  count = get32(at + 12);
  tableOffset = get64(at + 16);
  tableBytes = get64(at + 24);
  if (tableOffset < kHeaderBytes || tableOffset > bytes.size() || tableBytes > bytes.size() - tableOffset ||
      count > tableBytes / kEntryBytes)
    return damaged(name, "section table must lie inside the file, got " + llvm::Twine(count) + " sections in " +
                             llvm::Twine(tableBytes) + " bytes at " + llvm::Twine(tableOffset));
  if (XXH3_64bits(at + tableOffset, tableBytes) != get64(at + 32))
    return damaged(name, "section table must have its checksum, got another: the file is damaged");
  return llvm::Error::success();
}

llvm::Error Container::checkBounds(const Section &section, uint64_t tableOffset) {
  if (section.offset < kHeaderBytes || section.offset > tableOffset || section.size > tableOffset - section.offset ||
      section.offset % kAlignment)
    return damaged(name, "section " + title(section) + " must lie inside the file, got " + llvm::Twine(section.size) +
                             " bytes at " + llvm::Twine(section.offset));
  if (!indexByKey.try_emplace(keyOf(section.kind, section.name), table.size()).second)
    return damaged(name, "section names must differ, got " + title(section) + " twice");
  return llvm::Error::success();
}

llvm::Error Container::parseTable(llvm::StringRef text, uint32_t count) {
  uint64_t tableOffset = uint64_t(text.data() - bytes.data());
  table.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    if (text.size() < kEntryBytes)
      return damaged(name, "section table must have " + llvm::Twine(count) + " entries, got " + llvm::Twine(i));
    const char *at = text.data();
    uint64_t nameBytes = get32(at + 4);
    Section section{SectionKind(get32(at)), "", get64(at + 8), get64(at + 16), get64(at + 24)};
    text = text.drop_front(kEntryBytes);
    if (nameBytes > kMaxName || alignTo(nameBytes, 8) > text.size())
      return damaged(name, "name of section " + llvm::Twine(i) + " must fit the table, got " + llvm::Twine(nameBytes) +
                               " bytes");
    section.name = text.take_front(nameBytes).str();
    text = text.drop_front(alignTo(nameBytes, 8));
    if (llvm::Error e = checkBounds(section, tableOffset))
      return e;
    table.push_back(std::move(section));
  }
  if (!text.empty())
    return damaged(name, "section table must end after " + llvm::Twine(count) + " entries, got " +
                             llvm::Twine(text.size()) + " more bytes");
  return llvm::Error::success();
}

llvm::Error Container::compareSum(size_t index) const {
  const Section &section = table[index];
  if (XXH3_64bits(bytes.data() + section.offset, section.size) != section.checksum)
    return damaged(name, "section " + title(section) + " must have its checksum, got another: the file is damaged");
  return llvm::Error::success();
}

llvm::Error Container::checkSum(size_t index) const {
  if (verified[index].load(std::memory_order_acquire))
    return llvm::Error::success();
  if (llvm::Error other = compareSum(index))
    return other;
  verified[index].store(true, std::memory_order_release);
  return llvm::Error::success();
}

llvm::Error Container::parse(bool verifyAll) {
  uint64_t tableOffset = 0, tableBytes = 0;
  uint32_t count = 0;
  if (llvm::Error e = parseHeader(tableOffset, tableBytes, count))
    return e;
  if (llvm::Error e = parseTable(bytes.substr(tableOffset, tableBytes), count))
    return e;
  verified.reset(new std::atomic<bool>[table.size()]());
  uint64_t tensorBytes = 0;
  for (const Section &section : table)
    tensorBytes += section.kind == SectionKind::Tensor ? section.size : 0;
  bool tensorsToo = verifyAll || tensorBytes <= kVerifyAtLoad;
  for (size_t i = 0; i < table.size(); ++i)
    if (tensorsToo || table[i].kind != SectionKind::Tensor)
      if (llvm::Error e = checkSum(i))
        return e;
  return llvm::Error::success();
}

bool Container::has(SectionKind kind, llvm::StringRef sectionName) const {
  return indexByKey.contains(keyOf(kind, sectionName));
}

llvm::Expected<llvm::StringRef> Container::read(SectionKind kind, llvm::StringRef sectionName) const {
  auto found = indexByKey.find(keyOf(kind, sectionName));
  if (found == indexByKey.end())
    return makeError(ErrorCode::NotFound, name + ": must have a section " + kindName(kind) +
                                              (sectionName.empty() ? "" : ":") + sectionName + ", got none");
  if (llvm::Error e = checkSum(found->second))
    return std::move(e);
  const Section &section = table[found->second];
  return bytes.substr(section.offset, section.size);
}

bool Container::makeCodeExecutable() {
  uint64_t first = bytes.size(), last = 0;
  for (const Section &section : table)
    if (section.kind == SectionKind::Code) {
      first = std::min(first, section.offset);
      last = std::max(last, section.offset + section.size);
    }
  if (!file || first >= last)
    return false;
  uint64_t page = uint64_t(::sysconf(_SC_PAGESIZE));
  first -= first % page;
  return ::mprotect(const_cast<char *>(bytes.data()) + first, last - first, PROT_READ | PROT_EXEC) == 0;
}

llvm::Error Container::verify() const {
  for (size_t i = 0; i < table.size(); ++i)
    if (llvm::Error e = checkSum(i))
      return e;
  return llvm::Error::success();
}

} // namespace tess::runtime
