//===- Codec.cpp - operators as text, of this and of older versions ------===//
//
// An operator is written as `name{a=1, b=[1, 2]}`, from its second version on
// as `name@2{...}`. Every attribute that is set is written, even a default:
// defaults may change, a saved file may not. A body is no text: who writes the
// operator writes it beside. A record's `upgrades` say how an
// older text is read, version by version:
//   "1: rename dim axis"        version 1 had `dim` for `axis`
//   "1: default keepdims false" version 1 had no `keepdims` and meant false
//   "1: drop mode"              version 1 had a `mode` that is ignored now
//
//===----------------------------------------------------------------------===//
#include "ops/OpDef.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace tess {

std::string OpDef::serialize() const {
  std::string text = opInfo->name;
  if (opInfo->version > 1)
    text += "@" + std::to_string(opInfo->version);
  text += "{";
  const char *separator = "";
  for (unsigned i = 0; i < attrs.size(); ++i) {
    if (attrs[i].kind() == AttrKind::None || attrs[i].kind() == AttrKind::Body)
      continue;
    text += std::string(separator) + opInfo->attrs[i].name + "=" + attrs[i].toText();
    separator = ", ";
  }
  return text + "}";
}

/// Attributes by name, from the text that is read and from the record's upgrades.
using Fields = llvm::SmallVector<std::pair<llvm::StringRef, llvm::StringRef>, 8>;

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

static void applyStep(llvm::StringRef step, Fields &fields) {
  auto [verb, rest] = step.split(' ');
  auto [name, argument] = rest.split(' ');
  auto *it = llvm::find_if(fields, [&, n = name](const auto &f) { return f.first == n; });
  if (verb == "rename" && it != fields.end())
    it->first = argument;
  else if (verb == "default" && it == fields.end())
    fields.emplace_back(name, argument);
  else if (verb == "drop" && it != fields.end())
    fields.erase(it);
}

static void upgrade(const OpInfo &info, unsigned version, Fields &fields) {
  for (; version < info.version; ++version)
    for (llvm::StringRef line : info.upgrades) {
      auto [from, step] = line.split(':');
      unsigned number;
      if (!from.trim().getAsInteger(10, number) && number == version)
        applyStep(step.trim(), fields);
    }
}

llvm::Expected<OpDef> OpDef::parse(llvm::StringRef text) {
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
    return makeError(ErrorCode::Unimplemented,
                     "operator: name must be known, got '" + name + "', written by a newer Tessera or damaged");
  if (version < 1 || version > info->version)
    return makeError(ErrorCode::Unimplemented, name + ": version must be in [1, " + llvm::Twine(info->version) +
                                                   "], got " + llvm::Twine(version) + ", written by a newer Tessera");
  Fields fields;
  if (llvm::Error e = splitFields(body.drop_front(brace + 1), text, fields))
    return std::move(e);
  upgrade(*info, version, fields);
  llvm::SmallVector<std::pair<llvm::StringRef, AttrValue>, 8> values;
  for (auto [key, value] : fields) {
    const auto *attr = llvm::find_if(info->attrs, [k = key](const AttrInfo &a) { return k == a.name; });
    if (attr == info->attrs.end()) { // make reports the names that there are
      values.emplace_back(key, AttrValue());
      continue;
    }
    llvm::Expected<AttrValue> parsed = AttrValue::parse(attr->kind, value);
    if (!parsed)
      return makeError(ErrorCode::DataLoss, name + "." + key + ": " + takeError(parsed.takeError()).second);
    values.emplace_back(key, std::move(*parsed));
  }
  return make(name, values);
}

} // namespace tess
