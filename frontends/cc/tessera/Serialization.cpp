//===- Serialization.cpp - tensors in files ------------------------------===//
#include "tessera/Serialization.h"
#include "ops/vocabulary/Quantization.h"

#include "runtime/schema/AtomicFile.h"
#include "tessera/Archive.h"
#include "tessera/Checkpoint.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera {

namespace json = llvm::json;

static constexpr const char *kFormat = "tessera-save";
static constexpr int64_t kVersion = 1; // that save() writes, which every version reads
static constexpr const char *kTree = "tree.json";

static json::Object describe(const Tensor &x, size_t member) {
  json::Object entry{{"dtype", numpyName(x.dtype())}, {"shape", json::Array(x.shape())}, {"member", int64_t(member)}};
  return json::Object{{"tensor", std::move(entry)}};
}

void save(const StateDict &state, const std::string &path) {
  std::vector<std::pair<std::string, std::string>> members = {{kTree, ""}};
  json::Array pairs;
  for (const auto &[name, value] : state) {
    pairs.push_back(json::Array{name, describe(value, members.size() - 1)});
    std::vector<char> bytes = value.toBytes();
    members.push_back({"arrays/" + std::to_string(members.size() - 1), std::string(bytes.begin(), bytes.end())});
  }
  json::Object tree{{"format", kFormat}, {"version", kVersion}, {"tree", json::Object{{"dict", std::move(pairs)}}}};
  llvm::raw_string_ostream(members[0].second) << json::Value(std::move(tree));
  checkOrThrow(tess::runtime::replaceFile(path, detail::writeArchive(members)));
}

namespace {

class TreeReader {
public:
  TreeReader(const std::string &path, detail::Checkpoint checkpoint) : path(path), file(std::move(checkpoint)) {}
  StateDict read();

private:
  [[noreturn]] void bad(const llvm::Twine &what) const { throwError(detail::damagedCheckpoint(path, what)); }
  const json::Array &pairsOf(const json::Value &root) const;
  Tensor tensorOf(llvm::StringRef name, const json::Value &node);
  Tensor readTensor(llvm::StringRef name, const json::Object &body, llvm::StringRef bytes);

  const std::string &path;
  detail::Checkpoint file;
  std::map<std::string, Tensor> made; // by member, so that one that is named often is copied once
};

const json::Array &TreeReader::pairsOf(const json::Value &root) const {
  const json::Object *object = root.getAsObject();
  if (!object || object->getString("format") != llvm::StringRef(kFormat))
    bad("another format");
  if (object->getInteger("version") != std::optional(file.version))
    bad("a version other than " + llvm::Twine(file.version));
  const json::Object *tree = object->getObject("tree");
  const json::Array *pairs = tree ? tree->getArray("dict") : nullptr;
  if (tree && !pairs)
    pairs = tree->getArray("ordered");
  if (!pairs)
    bad("something else");
  return *pairs;
}

Tensor TreeReader::tensorOf(llvm::StringRef name, const json::Value &node) {
  const json::Object *object = node.getAsObject(), *body = nullptr;
  for (const char *kind : {"tensor", "parameter", "array", "scalar"})
    if (object && !body)
      body = object->getObject(kind);
  if (!body)
    bad("no tensor for '" + name + "'");
  std::string member = body->getString("member").value_or("").str();
  if (std::optional<int64_t> number = body->getInteger("member"))
    member = llvm::itostr(*number);
  auto bytes = file.members.find(member);
  if (bytes == file.members.end())
    bad("a damaged entry for '" + name + "'");
  auto [found, isNew] = made.try_emplace(member);
  if (isNew)
    found->second = readTensor(name, *body, bytes->second);
  return found->second;
}

Tensor TreeReader::readTensor(llvm::StringRef name, const json::Object &body, llvm::StringRef data) {
  std::optional<DType> dtype = tess::parseDType(body.getString("dtype").value_or(""));
  const json::Array *sizes = body.getArray("shape");
  if (!dtype || !sizes || sizes->size() > tess::kMaxRank)
    bad("a damaged entry for '" + name + "'");
  uint64_t bytes = byteWidth(*dtype);
  Shape shape;
  for (const json::Value &size : *sizes) {
    shape.push_back(size.getAsInteger().value_or(-1));
    if (shape.back() < 0 || __builtin_mul_overflow(bytes, uint64_t(shape.back()), &bytes))
      bad("a damaged shape of '" + name + "'");
  }
  if (bytes != data.size())
    bad(llvm::Twine(data.size()) + " bytes for '" + name + "' where its shape says " + llvm::Twine(bytes));
  if (file.version > 1 && body.getInteger("crc32") != int64_t(llvm::crc32(llvm::arrayRefFromStringRef(data))))
    bad("bytes of '" + name + "' that are not as their checksum says");
  return fromBytes(data.data(), *dtype, shape);
}

StateDict TreeReader::read() {
  StateDict state;
  for (const json::Value &pair : pairsOf(file.tree)) {
    const json::Array *items = pair.getAsArray();
    std::optional<llvm::StringRef> name = items && items->size() == 2 ? (*items)[0].getAsString() : std::nullopt;
    if (!name)
      bad("a name that is not text");
    state[name->str()] = tensorOf(*name, (*items)[1]);
  }
  return state;
}

} // namespace

StateDict load(const std::string &path) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    throw Error(file.getError() == std::errc::no_such_file_or_directory ? ErrorCode::NotFound : ErrorCode::IoError,
                "load: " + path + " must be readable, got " + file.getError().message());
  return TreeReader(path, valueOrThrow(detail::readCheckpoint((*file)->getBuffer(), path))).read();
}

} // namespace tessera
