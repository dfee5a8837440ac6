//===- Serialization.cpp - tensors in files ------------------------------===//
#include "tessera/Serialization.h"

#include "runtime/schema/AtomicFile.h"
#include "tessera/Archive.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera {

namespace json = llvm::json;

static constexpr const char *kFormat = "tessera-save";
static constexpr int64_t kVersion = 1;
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
  TreeReader(const std::string &path, std::map<std::string, llvm::StringRef> members)
      : path(path), members(std::move(members)) {}
  StateDict read();

private:
  [[noreturn]] void bad(const llvm::Twine &what) const {
    throw Error(ErrorCode::DataLoss,
                ("load: " + path + " must hold a dict of tensors that save wrote, got " + what).str());
  }
  void checkNesting(llvm::StringRef text) const;
  const json::Array &pairsOf(const json::Value &root) const;
  Tensor tensorOf(llvm::StringRef name, const json::Value &node);

  const std::string &path;
  std::map<std::string, llvm::StringRef> members; // members that no tensor has taken yet
};

/// Limits levels and values before the parser runs, which calls itself for each level and makes an object for every
/// value.
void TreeReader::checkNesting(llvm::StringRef text) const {
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
      bad("a tree of " + llvm::Twine(values) + " values, " + llvm::Twine(deep) + " levels deep");
  }
}

const json::Array &TreeReader::pairsOf(const json::Value &root) const {
  const json::Object *object = root.getAsObject();
  if (!object || object->getString("format") != llvm::StringRef(kFormat))
    bad("another format");
  if (object->getInteger("version") != std::optional(kVersion))
    bad("a version other than " + llvm::Twine(kVersion));
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
  std::optional<DType> dtype = tess::parseDType(body->getString("dtype").value_or(""));
  const json::Array *sizes = body->getArray("shape");
  auto member = members.find("arrays/" + std::to_string(body->getInteger("member").value_or(-1)));
  if (!dtype || !sizes || sizes->size() > tess::kMaxRank || member == members.end())
    bad("a damaged entry for '" + name + "'");
  uint64_t bytes = byteWidth(*dtype);
  Shape shape;
  for (const json::Value &size : *sizes) {
    shape.push_back(size.getAsInteger().value_or(-1));
    if (shape.back() < 0 || __builtin_mul_overflow(bytes, uint64_t(shape.back()), &bytes))
      bad("a damaged shape of '" + name + "'");
  }
  if (bytes != member->second.size())
    bad(llvm::Twine(member->second.size()) + " bytes for '" + name + "' where its shape says " + llvm::Twine(bytes));
  Tensor value = fromBytes(member->second.data(), *dtype, shape);
  members.erase(member); // so that a tree that names it twice cannot copy it twice
  return value;
}

StateDict TreeReader::read() {
  auto text = members.find(kTree);
  if (text == members.end())
    bad("no " + llvm::Twine(kTree));
  checkNesting(text->second);
  llvm::Expected<json::Value> root = json::parse(text->second);
  if (!root)
    bad("text that is not JSON: " + llvm::toString(root.takeError()));
  StateDict state;
  for (const json::Value &pair : pairsOf(*root)) {
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
  auto members = valueOrThrow(detail::readArchive((*file)->getBuffer(), path));
  return TreeReader(path, std::move(members)).read();
}

} // namespace tessera
