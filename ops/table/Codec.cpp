//===- Codec.cpp - operators as text, of this and of older versions ------===//
//
// An operator is written as `name{a=1, b=[1, 2]}`, from its second version on
// as `name@2{...}`. Every attribute that is set is written, even a default:
// defaults may change, a saved file may not. A body is no text: who writes the
// operator writes it beside. Upgrades.h says how an older text is read.
//
//===----------------------------------------------------------------------===//
#include "ops/operator/OpDef.h"
#include "ops/table/UpgradeStep.h"
#include "ops/table/Upgrades.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <list>

namespace tess {

/// The version of the library that an operator is of, before its attributes.
static constexpr llvm::StringLiteral kLibraryField = "library";

std::string OpDef::serialize() const {
  std::string text = opInfo->name;
  if (opInfo->version > 1)
    text += "@" + std::to_string(opInfo->version);
  text += "{";
  const char *separator = "";
  if (opInfo->origin) {
    text += kLibraryField.str() + "=" + AttrValue(opInfo->origin->version).toText();
    separator = ", ";
  }
  for (unsigned i = 0; i < attrs.size(); ++i) {
    if (attrs[i].kind() == AttrKind::None || attrs[i].kind() == AttrKind::Body)
      continue;
    text += std::string(separator) + opInfo->attrs[i].name + "=" + attrs[i].toText();
    separator = ", ";
  }
  return text + "}";
}

namespace {

/// Attributes by name, from the text that is read and from the record's upgrades.
struct Fields : llvm::SmallVector<std::pair<llvm::StringRef, llvm::StringRef>, 8> {
  std::list<std::string> made; // texts of values that upgrades changed

  auto *find(llvm::StringRef name) {
    return llvm::find_if(*this, [&](const auto &field) { return field.first == name; });
  }
};

/// "name@2{...}", taken apart.
struct OpText {
  const OpInfo *info;
  unsigned version;
  llvm::StringRef body; // between the braces
};

} // namespace

static llvm::Error malformed(llvm::StringRef text) {
  return makeError(ErrorCode::DataLoss, "operator: text must be name{attribute=value, ...}, got '" + text + "'");
}

/// Splits the text at the commas outside of brackets and quotes.
static llvm::Error splitFields(llvm::StringRef body, llvm::StringRef whole, Fields &fields) {
  size_t start = 0;
  int depth = 0;
  bool inString = false;
  for (size_t i = 0; i <= body.size(); ++i) {
    char c = i < body.size() ? body[i] : ',';
    if (inString && c == '\\') {
      ++i;
      continue;
    }
    if (c == '"' && i < body.size())
      inString = !inString;
    if (!inString)
      depth += (c == '[' || c == '(') - (c == ']' || c == ')');
    bool ends = i == body.size() || (c == ',' && !inString && depth == 0);
    if (!ends)
      continue;
    llvm::StringRef field = body.slice(start, std::min(i, body.size())).trim();
    start = i + 1;
    if (field.empty() && fields.empty() && i >= body.size())
      break;
    auto [key, value] = field.split('=');
    if (key.empty() || key.size() == field.size())
      return malformed(whole);
    fields.emplace_back(key.trim(), value.trim());
  }
  return inString || depth ? malformed(whole) : llvm::Error::success();
}

static llvm::Error applyStep(const UpgradeStep &step, Fields &fields) {
  auto *it = fields.find(step.name);
  bool isThere = it != fields.end();
  switch (step.verb) {
  case UpgradeStep::Rename:
    if (isThere)
      it->first = step.text;
    break;
  case UpgradeStep::Default:
    if (!isThere)
      fields.emplace_back(step.name, step.text);
    break;
  case UpgradeStep::Drop:
    if (isThere)
      fields.erase(it);
    break;
  case UpgradeStep::Retype:
    if (!isThere)
      break;
    llvm::Expected<std::string> text = retyped(step, it->second);
    if (!text)
      return text.takeError();
    it->second = fields.made.emplace_back(std::move(*text));
  }
  return llvm::Error::success();
}

/// The split of `version` that the fields of this version have; null: there is none.
static const Split *splitFor(const OpHistory &history, unsigned version, Fields &fields) {
  for (const Split &split : history.splits) {
    auto [name, text] = llvm::StringRef(split.when).split('=');
    auto *it = fields.find(name);
    if (split.version == version && (name.empty() || (it != fields.end() && it->second == text)))
      return &split;
  }
  return nullptr;
}

/// Brings the fields of `version` to the present one. What that was, if it has become several operators.
static llvm::Expected<const Split *> upgrade(const OpText &text, const OpHistory &history, Fields &fields) {
  const Split *split = nullptr;
  for (unsigned version = text.version; version < history.version; ++version) {
    split = split ? split : splitFor(history, version, fields);
    for (llvm::StringRef line : history.upgrades) {
      UpgradeStep step = llvm::cantFail(parseUpgradeStep(line)); // the generator has seen that it can be read
      if (step.version != version)
        continue;
      llvm::StringRef name = step.name;
      if (llvm::Error e = applyStep(step, fields))
        return makeError(ErrorCode::DataLoss,
                         llvm::StringRef(text.info->name) + "." + name + ": " + takeError(std::move(e)).second);
    }
  }
  return split;
}

/// The error of an operator whose name nobody knows.
static llvm::Error unknown(llvm::StringRef name, llvm::StringRef body) {
  auto [library, rest] = name.split('.');
  if (rest.empty())
    return makeError(ErrorCode::Unimplemented,
                     "operator: name must be known, got '" + name + "', written by a newer Tessera or damaged");
  llvm::StringRef version = body.trim();
  version = version.consume_front(kLibraryField) ? version.ltrim("= ").split(',').first.split('}').first : "";
  return makeError(ErrorCode::Unimplemented, "operator: library " + library +
                                                 (version.empty() ? "" : " (written with version " + version + ")") +
                                                 " must be loaded, got none for '" + name + "'");
}

static llvm::Expected<OpText> readName(llvm::StringRef text) {
  llvm::StringRef body = text.trim();
  size_t brace = body.find('{');
  if (brace == llvm::StringRef::npos || !body.consume_back("}"))
    return malformed(text);
  auto [name, versionText] = body.take_front(brace).split('@');
  unsigned version = 1;
  if (!versionText.empty() && versionText.getAsInteger(10, version))
    return malformed(text);
  const OpInfo *info = findOp(name);
  if (!info)
    return unknown(name, body.drop_front(brace + 1));
  unsigned newest = historyOf(*info).version;
  if (version < 1 || version > newest)
    return makeError(ErrorCode::Unimplemented, name + ": version must be in [1, " + llvm::Twine(newest) + "], got " +
                                                   llvm::Twine(version) + ", written by a newer Tessera");
  return OpText{info, version, body.drop_front(brace + 1)};
}

llvm::Expected<StoredOp> parseStored(llvm::StringRef text) {
  llvm::Expected<OpText> read = readName(text);
  if (!read)
    return read.takeError();
  const OpInfo &info = *read->info;
  Fields fields;
  if (llvm::Error e = splitFields(read->body, text, fields))
    return std::move(e);
  StoredOp stored;
  if (llvm::Error e = upgrade(*read, historyOf(info), fields).moveInto(stored.split))
    return std::move(e);
  llvm::SmallVector<std::pair<llvm::StringRef, AttrValue>, 8> values;
  for (auto [key, value] : fields) {
    if (info.origin && key == kLibraryField)
      continue;
    const auto *attr = llvm::find_if(info.attrs, [k = key](const AttrInfo &a) { return k == a.name; });
    if (attr == info.attrs.end()) { // make reports the names that there are
      values.emplace_back(key, AttrValue());
      continue;
    }
    llvm::Expected<AttrValue> parsed = AttrValue::parse(attr->kind, value);
    if (!parsed)
      return makeError(ErrorCode::DataLoss,
                       llvm::StringRef(info.name) + "." + key + ": " + takeError(parsed.takeError()).second);
    values.emplace_back(key, std::move(*parsed));
  }
  if (llvm::Error e = OpDef::make(info.name, values).moveInto(stored.op))
    return std::move(e);
  return stored;
}

llvm::Expected<OpDef> OpDef::parse(llvm::StringRef text) {
  llvm::Expected<StoredOp> stored = parseStored(text);
  if (!stored)
    return stored.takeError();
  if (stored->split)
    return makeError(ErrorCode::Unimplemented, stored->op.name() + ": an operator must be one here, got version " +
                                                   llvm::Twine(stored->split->version) +
                                                   ", which is several by now: compile the file's graph again");
  return std::move(stored->op);
}

} // namespace tess
