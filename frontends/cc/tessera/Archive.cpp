//===- Archive.cpp - zip files with stored members -----------------------===//
#include "tessera/Archive.h"

#include "ops/vocabulary/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <optional>

namespace tessera::detail {

namespace endian = llvm::support::endian;
using llvm::StringRef;

static constexpr uint32_t kLocalHeader = 0x04034b50, kDirectoryEntry = 0x02014b50, kEnd = 0x06054b50;
static constexpr uint32_t kEnd64 = 0x06064b50, kLocator64 = 0x07064b50;
static constexpr uint32_t kSee64 = 0xFFFFFFFF; // the value is in the 64-bit part
static constexpr uint16_t kVersion = 45;       // version of the format that has 64-bit sizes
static constexpr uint16_t kDate = 0x21;        // 1980-01-01: equal contents give equal files

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

template <typename T> static void put(std::string &out, T value) {
  char bytes[sizeof(T)];
  endian::write<T, llvm::endianness::little>(bytes, value);
  out.append(bytes, sizeof(T));
}

namespace {
struct Written {
  StringRef name;
  uint32_t crc;
  uint64_t size, offset;
};
} // namespace

/// Writes the fields from "version needed" to the length of the name, which are the same in local headers and in the
/// directory.
static void putCommon(std::string &out, const Written &member, uint16_t extraBytes) {
  put<uint16_t>(out, kVersion);
  put<uint16_t>(out, 0); // flags
  put<uint16_t>(out, 0); // stored
  put<uint16_t>(out, 0); // time
  put<uint16_t>(out, kDate);
  put<uint32_t>(out, member.crc);
  put<uint32_t>(out, kSee64);
  put<uint32_t>(out, kSee64);
  put<uint16_t>(out, uint16_t(member.name.size()));
  put<uint16_t>(out, extraBytes);
}

static void putSizes64(std::string &out, const Written &member, bool withOffset) {
  put<uint16_t>(out, 1);
  put<uint16_t>(out, withOffset ? 24 : 16);
  put<uint64_t>(out, member.size);
  put<uint64_t>(out, member.size);
  if (withOffset)
    put<uint64_t>(out, member.offset);
}

static void putDirectoryEntry(std::string &out, const Written &member) {
  put(out, kDirectoryEntry);
  put<uint16_t>(out, kVersion);
  putCommon(out, member, 28);
  put<uint16_t>(out, 0); // comment
  put<uint16_t>(out, 0); // disk
  put<uint16_t>(out, 0); // internal attributes
  put<uint32_t>(out, 0600u << 16);
  put<uint32_t>(out, kSee64); // offset
  out += member.name;
  putSizes64(out, member, true);
}

static void putEnd(std::string &out, uint64_t count, uint64_t directory) {
  uint64_t end = out.size();
  put(out, kEnd64);
  put<uint64_t>(out, 44); // bytes that follow
  put<uint16_t>(out, kVersion);
  put<uint16_t>(out, kVersion);
  put<uint32_t>(out, 0);
  put<uint32_t>(out, 0);
  put<uint64_t>(out, count);
  put<uint64_t>(out, count);
  put<uint64_t>(out, end - directory);
  put<uint64_t>(out, directory);
  put(out, kLocator64);
  put<uint32_t>(out, 0);
  put<uint64_t>(out, end);
  put<uint32_t>(out, 1); // disks
  put(out, kEnd);
  put<uint32_t>(out, 0);      // disks
  put<uint32_t>(out, kSee64); // counts, both
  put<uint32_t>(out, kSee64);
  put<uint32_t>(out, kSee64);
  put<uint16_t>(out, 0); // comment
}

std::string writeArchive(const std::vector<std::pair<std::string, std::string>> &members) {
  std::string out;
  std::vector<Written> written;
  for (const auto &[name, bytes] : members) {
    Written member{name, llvm::crc32(llvm::arrayRefFromStringRef(bytes)), bytes.size(), out.size()};
    put(out, kLocalHeader);
    putCommon(out, member, 20);
    out += name;
    putSizes64(out, member, false);
    out += bytes;
    written.push_back(member);
  }
  uint64_t directory = out.size();
  for (const Written &member : written)
    putDirectoryEntry(out, member);
  putEnd(out, written.size(), directory);
  return out;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

/// Reads little-endian numbers and remembers whether the bytes ended too early.
class Cursor {
public:
  Cursor(StringRef file, uint64_t offset) : rest(offset <= file.size() ? file.substr(offset) : StringRef()) {
    isGood = offset <= file.size();
  }
  template <typename T> T get() {
    StringRef bytes = take(sizeof(T));
    return bytes.empty() ? T(0) : endian::read<T, llvm::endianness::little>(bytes.data());
  }
  StringRef take(uint64_t count) {
    if (count > rest.size()) {
      isGood = false;
      rest = StringRef();
      return StringRef();
    }
    StringRef bytes = rest.take_front(count);
    rest = rest.drop_front(count);
    return bytes;
  }
  bool good() const { return isGood; }
  StringRef remaining() const { return rest; }

private:
  StringRef rest;
  bool isGood;
};

struct Member {
  StringRef name;
  uint16_t flags, method;
  uint32_t crc;
  uint64_t size, stored, offset;
};

class Reader {
public:
  Reader(StringRef file, StringRef path) : file(file), path(path) {}
  llvm::Expected<std::map<std::string, StringRef>> read();

private:
  llvm::Error bad(const llvm::Twine &what) const {
    return tess::makeError(tess::ErrorCode::DataLoss, "load: " + path + " must be a file that save wrote, got " + what);
  }
  bool findDirectory(uint64_t &offset, uint64_t &count) const;
  std::optional<Member> readEntry(Cursor &cursor) const;
  llvm::Expected<StringRef> dataOf(const Member &member) const;

  StringRef file, path;
};

bool Reader::findDirectory(uint64_t &offset, uint64_t &count) const {
  constexpr uint64_t kEndBytes = 22, kLocatorBytes = 20;
  size_t end = file.rfind(StringRef("PK\5\6", 4));
  if (end == StringRef::npos || file.size() - end < kEndBytes)
    return false;
  Cursor cursor(file, end + 10);
  count = cursor.get<uint16_t>();
  cursor.get<uint32_t>(); // size
  offset = cursor.get<uint32_t>();
  if (offset != kSee64 && count != 0xFFFF)
    return true;
  if (end < kLocatorBytes)
    return false;
  Cursor locator(file, end - kLocatorBytes);
  if (locator.get<uint32_t>() != kLocator64)
    return false;
  locator.get<uint32_t>();
  Cursor end64(file, locator.get<uint64_t>());
  if (end64.get<uint32_t>() != kEnd64)
    return false;
  end64.take(28);
  count = end64.get<uint64_t>();
  end64.get<uint64_t>(); // size
  offset = end64.get<uint64_t>();
  return end64.good();
}

/// Replaces the numbers of `member` that are marked so by those of its 64-bit part.
static void readSizes64(Member &member, StringRef extra) {
  Cursor cursor(extra, 0);
  while (cursor.remaining().size() >= 4) {
    uint16_t kind = cursor.get<uint16_t>();
    Cursor part(cursor.take(cursor.get<uint16_t>()), 0);
    if (kind != 1)
      continue;
    for (uint64_t *value : {&member.size, &member.stored, &member.offset})
      if (*value == kSee64)
        *value = part.get<uint64_t>();
  }
}

std::optional<Member> Reader::readEntry(Cursor &cursor) const {
  Member member;
  if (cursor.get<uint32_t>() != kDirectoryEntry)
    return std::nullopt;
  cursor.take(4); // versions
  member.flags = cursor.get<uint16_t>();
  member.method = cursor.get<uint16_t>();
  cursor.take(4); // time, date
  member.crc = cursor.get<uint32_t>();
  member.stored = cursor.get<uint32_t>();
  member.size = cursor.get<uint32_t>();
  uint16_t nameBytes = cursor.get<uint16_t>(), extraBytes = cursor.get<uint16_t>(),
           commentBytes = cursor.get<uint16_t>();
  cursor.take(8); // disk, attributes
  member.offset = cursor.get<uint32_t>();
  member.name = cursor.take(nameBytes);
  readSizes64(member, cursor.take(extraBytes));
  cursor.take(commentBytes);
  return cursor.good() ? std::optional(member) : std::nullopt;
}

llvm::Expected<StringRef> Reader::dataOf(const Member &member) const {
  constexpr uint16_t kEncrypted = 1;
  if (member.method != 0 || (member.flags & kEncrypted) || member.size != member.stored)
    return bad("member " + member.name + " compressed or encrypted");
  Cursor header(file, member.offset);
  if (header.get<uint32_t>() != kLocalHeader)
    return bad("no member " + member.name + " at " + llvm::Twine(member.offset));
  header.take(22);
  uint16_t nameBytes = header.get<uint16_t>(), extraBytes = header.get<uint16_t>();
  header.take(nameBytes + uint64_t(extraBytes));
  StringRef data = header.take(member.size);
  if (!header.good())
    return bad("member " + member.name + " cut off");
  if (llvm::crc32(llvm::arrayRefFromStringRef(data)) != member.crc)
    return bad("a wrong checksum of member " + member.name);
  return data;
}

llvm::Expected<std::map<std::string, StringRef>> Reader::read() {
  uint64_t offset = 0, count = 0;
  if (!findDirectory(offset, count))
    return bad("no directory of a zip archive");
  Cursor cursor(file, offset);
  std::map<std::string, StringRef> members;
  uint64_t left = file.size(); // members that do not overlap have no more bytes than the file
  for (uint64_t i = 0; i < count; ++i) {
    std::optional<Member> member = readEntry(cursor);
    if (!member)
      return bad("a damaged directory at entry " + llvm::Twine(i));
    if (member->size > left)
      return bad("member " + member->name + " over others");
    left -= member->size;
    llvm::Expected<StringRef> data = dataOf(*member);
    if (!data)
      return data.takeError();
    members[member->name.str()] = *data;
  }
  return members;
}

} // namespace

llvm::Expected<std::map<std::string, StringRef>> readArchive(StringRef file, StringRef path) {
  return Reader(file, path).read();
}

} // namespace tessera::detail
