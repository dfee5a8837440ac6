//===- Checkpoint.cpp - what a file of tessera.save holds ----------------===//
#include "tessera/Checkpoint.h"

#include "ops/vocabulary/Error.h"
#include "tessera/Archive.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/Endian.h"

namespace tessera::detail {

namespace json = llvm::json;
using llvm::StringRef;

static constexpr const char *kTree = "tree.json";                                  // a member of an archive
static constexpr const char *kStructure = "tessera", *kChecksum = "tessera_crc32"; // keys of the metadata
static constexpr size_t kLengthBytes = 8;                                          // the header's length

llvm::Error damagedCheckpoint(const std::string &path, const llvm::Twine &got) {
  return tess::makeError(tess::ErrorCode::DataLoss,
                         "load: " + path + " must hold a dict of tensors that save wrote, got " + got);
}

/// Limits levels and values before the parser runs, which calls itself for each level and makes an object for every
/// value.
static llvm::Error checkNesting(StringRef text, const std::string &path) {
  constexpr size_t kMostDeep = 100, kSomeValues = 65536;
  size_t deep = 0, values = 0;
  bool inText = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '"')
      inText = !inText;
    else if (inText)
      i += c == '\\';
    else if (c == '[' || c == '{')
      ++deep;
    else if (c == ']' || c == '}')
      deep -= deep > 0;
    values += !inText && (c == ',' || c == '[' || c == '{');
    if (deep > kMostDeep || values > text.size() / 4 + kSomeValues)
      return damagedCheckpoint(path,
                               "a tree of " + llvm::Twine(values) + " values, " + llvm::Twine(deep) + " levels deep");
  }
  return llvm::Error::success();
}

static llvm::Expected<json::Value> parse(StringRef text, const std::string &path) {
  if (llvm::Error e = checkNesting(text, path))
    return std::move(e);
  llvm::Expected<json::Value> value = json::parse(text);
  if (!value)
    return damagedCheckpoint(path, "text that is not JSON: " + llvm::toString(value.takeError()));
  return value;
}

static llvm::Expected<Checkpoint> readVersion1(StringRef file, const std::string &path) {
  auto members = readArchive(file, path);
  if (!members)
    return members.takeError();
  auto text = members->find(kTree);
  if (text == members->end())
    return damagedCheckpoint(path, "no " + llvm::Twine(kTree));
  llvm::Expected<json::Value> tree = parse(text->second, path);
  if (!tree)
    return tree.takeError();
  Checkpoint checkpoint{std::move(*tree), 1, {}};
  for (auto &[name, bytes] : *members)
    if (StringRef(name).starts_with("arrays/"))
      checkpoint.members[name.substr(StringRef("arrays/").size())] = bytes;
  return checkpoint;
}

/// The structure in the metadata, whose checksum must fit.
static llvm::Expected<json::Value> structureOf(const json::Object &header, const std::string &path) {
  const json::Object *metadata = header.getObject("__metadata__");
  std::optional<StringRef> text, checksum;
  if (metadata) {
    text = metadata->getString(kStructure);
    checksum = metadata->getString(kChecksum);
  }
  if (!text || !checksum)
    return damagedCheckpoint(path, "another tool's tensors");
  if (*checksum != llvm::utostr(llvm::crc32(llvm::arrayRefFromStringRef(*text))))
    return damagedCheckpoint(path, "a structure that is not as its checksum says");
  return parse(*text, path);
}

/// Adds a tensor's bytes to `members`; false when its place is not in `data`.
static bool addMember(StringRef name, const json::Value &entry, StringRef data,
                      std::map<std::string, StringRef> &members) {
  const json::Object *object = entry.getAsObject();
  const json::Array *place = object ? object->getArray("data_offsets") : nullptr;
  if (!place || place->size() != 2)
    return false;
  int64_t begin = (*place)[0].getAsInteger().value_or(-1), end = (*place)[1].getAsInteger().value_or(-1);
  if (begin < 0 || end < begin || uint64_t(end) > data.size())
    return false;
  members[name.str()] = data.slice(begin, end);
  return true;
}

static llvm::Expected<Checkpoint> readSafetensors(StringRef file, const std::string &path) {
  uint64_t length = llvm::support::endian::read64le(file.data());
  if (length > file.size() - kLengthBytes)
    return damagedCheckpoint(path, llvm::Twine(file.size()) + " bytes, fewer than its header says");
  StringRef data = file.drop_front(kLengthBytes + length);
  llvm::Expected<json::Value> header = parse(file.substr(kLengthBytes, length), path);
  if (!header)
    return header.takeError();
  const json::Object *entries = header->getAsObject();
  if (!entries)
    return damagedCheckpoint(path, "a header that is no object");
  llvm::Expected<json::Value> tree = structureOf(*entries, path);
  if (!tree)
    return tree.takeError();
  Checkpoint checkpoint{std::move(*tree), 2, {}};
  uint64_t bytes = 0;
  for (const auto &[name, entry] : *entries)
    if (name != "__metadata__") {
      if (!addMember(name, entry, data, checkpoint.members))
        return damagedCheckpoint(path, "a damaged place of '" + name.str() + "'");
      bytes += checkpoint.members[name.str()].size();
    }
  if (bytes != data.size())
    return damagedCheckpoint(path, llvm::Twine(data.size()) + " bytes of numbers where its header says " +
                                       llvm::Twine(bytes));
  return checkpoint;
}

llvm::Expected<Checkpoint> readCheckpoint(StringRef file, const std::string &path) {
  if (file.size() > kLengthBytes && file[kLengthBytes] == '{')
    return readSafetensors(file, path);
  return readVersion1(file, path);
}

} // namespace tessera::detail
