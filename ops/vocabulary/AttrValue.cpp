//===- AttrValue.cpp - equality, hash and text of attribute values -------===//
#include "ops/vocabulary/AttrValue.h"
#include "ops/vocabulary/Hash.h"
#include "ops/vocabulary/Quantization.h"
#include "ops/vocabulary/SizeExpr.h"

#include "ops/vocabulary/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/xxhash.h"

#include <charconv>
#include <cmath>

namespace tess {

HeldBody::HeldBody(const HeldBody &) = default;
HeldBody::HeldBody(HeldBody &&) noexcept = default;
HeldBody &HeldBody::operator=(const HeldBody &) = default;
HeldBody &HeldBody::operator=(HeldBody &&) noexcept = default;
HeldBody::~HeldBody() = default;

bool AttrValue::hasExpressions() const {
  return (kind() == AttrKind::I64 && sizes::isSymbolic(i64())) ||
         (kind() == AttrKind::I64List && sizes::isSymbolic(ints()));
}

/// Doubles are compared by their bits: -0.0 and 0.0 differ, and a NaN equals itself.
bool AttrValue::operator==(const AttrValue &other) const {
  if (kind() == AttrKind::F64 && other.kind() == AttrKind::F64)
    return llvm::bit_cast<uint64_t>(f64()) == llvm::bit_cast<uint64_t>(other.f64());
  if (kind() == AttrKind::Body && other.kind() == AttrKind::Body)
    return body() == other.body() || body()->isSame(*other.body());
  return value == other.value;
}

uint64_t AttrValue::hash() const {
  uint64_t h = mixHash(0x2545F4914F6CDD1Dull, uint64_t(kind()));
  switch (kind()) {
  case AttrKind::None:
    return h;
  case AttrKind::I64:
    return mixHash(h, uint64_t(i64()));
  case AttrKind::F64:
    return mixHash(h, llvm::bit_cast<uint64_t>(f64()));
  case AttrKind::Bool:
    return mixHash(h, boolean());
  case AttrKind::Str:
    return mixHash(h, llvm::xxh3_64bits(str()));
  case AttrKind::I64List:
    for (int64_t v : ints())
      h = mixHash(h, uint64_t(v));
    return mixHash(h, ints().size());
  case AttrKind::DType:
    return mixHash(h, uint64_t(kindOf(dtype()))); // all parameters of a quantized dtype share compiled code
  case AttrKind::Parameter:
    return mixHash(h, parameter().index);
  case AttrKind::Body:
    return mixHash(h, body()->hash());
  }
  return h;
}

/// As Python shows it: without an exponent from 1e-4 to below 1e16.
static std::string doubleText(double v) {
  if (std::isnan(v))
    return "nan";
  if (std::isinf(v))
    return v < 0 ? "-inf" : "inf";
  char buffer[40];
  bool isPlain = std::abs(v) >= 1e-4 && std::abs(v) < 1e16;
  char *end = (isPlain ? std::to_chars(buffer, buffer + sizeof(buffer), v, std::chars_format::fixed)
                       : std::to_chars(buffer, buffer + sizeof(buffer), v))
                  .ptr;
  std::string text(buffer, end);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

static std::string quoted(llvm::StringRef s) {
  std::string text = "\"";
  for (char c : s) {
    if (c == '"' || c == '\\')
      text += '\\';
    if (c == '\n')
      text += "\\n";
    else
      text += c;
  }
  return text + "\"";
}

static std::string intText(int64_t v) { return sizes::isSymbolic(v) ? sizes::toText(v) : std::to_string(v); }

std::string AttrValue::toText() const {
  switch (kind()) {
  case AttrKind::None:
    return "none";
  case AttrKind::I64:
    return intText(i64());
  case AttrKind::F64:
    return doubleText(f64());
  case AttrKind::Bool:
    return boolean() ? "true" : "false";
  case AttrKind::Str:
    return quoted(str());
  case AttrKind::I64List:
    return "[" + llvm::join(llvm::map_range(ints(), intText), ", ") + "]";
  case AttrKind::DType:
    return shortName(dtype()).str();
  case AttrKind::Parameter:
    return "$" + std::to_string(parameter().index);
  case AttrKind::Body:
    return body()->toText();
  }
  return "";
}

static llvm::Error mustBe(const char *what, llvm::StringRef text) {
  return invalidArgument(llvm::Twine("attribute: value must be ") + what + ", got '" + text + "'");
}

static llvm::Expected<AttrValue> parseString(llvm::StringRef text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"')
    return mustBe("a quoted string", text);
  std::string out;
  llvm::StringRef body = text.drop_front().drop_back();
  for (size_t i = 0; i < body.size(); ++i) {
    if (body[i] == '"')
      return mustBe("a quoted string", text);
    if (body[i] != '\\') {
      out += body[i];
      continue;
    }
    if (++i == body.size())
      return mustBe("a quoted string", text);
    out += body[i] == 'n' ? '\n' : body[i];
  }
  return AttrValue(std::move(out));
}

/// Reads a number, or an expression of sizes.
static bool parseInt(llvm::StringRef text, int64_t &v) {
  if (!text.getAsInteger(10, v))
    return true;
  llvm::Expected<int64_t> size = sizes::parse(text);
  if (!size) {
    llvm::consumeError(size.takeError());
    return false;
  }
  v = *size;
  return true;
}

/// Splits at the commas that are not within parentheses.
static llvm::SmallVector<llvm::StringRef> itemsOf(llvm::StringRef body) {
  llvm::SmallVector<llvm::StringRef> items;
  int depth = 0;
  size_t start = 0;
  for (auto [i, c] : llvm::enumerate(body)) {
    depth += (c == '(') - (c == ')');
    if (c != ',' || depth != 0)
      continue;
    items.push_back(body.slice(start, i));
    start = i + 1;
  }
  items.push_back(body.drop_front(start));
  return items;
}

static llvm::Expected<AttrValue> parseList(llvm::StringRef text) {
  llvm::StringRef body = text;
  if (!body.consume_front("[") || !body.consume_back("]"))
    return mustBe("a list of integers", text);
  IntList list;
  if (body.trim().empty())
    return AttrValue(std::move(list));
  for (llvm::StringRef item : itemsOf(body)) {
    int64_t v;
    if (!parseInt(item.trim(), v))
      return mustBe("a list of integers", text);
    list.push_back(v);
  }
  return AttrValue(std::move(list));
}

static llvm::Expected<AttrValue> parseDouble(llvm::StringRef text) {
  double v;
  auto [end, code] = std::from_chars(text.begin(), text.end(), v);
  if (code != std::errc() || end != text.end())
    return mustBe("a number", text);
  return AttrValue(v);
}

llvm::Expected<AttrValue> AttrValue::parse(AttrKind kind, llvm::StringRef text) {
  text = text.trim();
  if (text == "none")
    return AttrValue();
  switch (kind) {
  case AttrKind::None:
  case AttrKind::Parameter: // no user's value
  case AttrKind::Body:
    return mustBe("none", text);
  case AttrKind::I64: {
    int64_t v;
    if (!parseInt(text, v))
      return mustBe("an integer", text);
    return AttrValue(v);
  }
  case AttrKind::F64:
    return parseDouble(text);
  case AttrKind::Bool:
    if (text != "true" && text != "false")
      return mustBe("true or false", text);
    return AttrValue(text == "true");
  case AttrKind::Str:
    return parseString(text);
  case AttrKind::I64List:
    return parseList(text);
  case AttrKind::DType:
    if (std::optional<tess::DType> d = parseDType(text))
      return AttrValue(*d);
    return mustBe("a dtype", text);
  }
  return mustBe("of a known kind", text);
}

} // namespace tess
