//===- UpgradeStep.cpp - a line of a record's upgrades --------------------===//
#include "ops/table/UpgradeStep.h"
#include "ops/vocabulary/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

namespace tess {

static AttrKind kindNamed(llvm::StringRef name) {
  return llvm::StringSwitch<AttrKind>(name)
      .Case("int", AttrKind::I64)
      .Case("float", AttrKind::F64)
      .Case("bool", AttrKind::Bool)
      .Case("str", AttrKind::Str)
      .Case("ints", AttrKind::I64List)
      .Case("dtype", AttrKind::DType)
      .Default(AttrKind::None);
}

/// Whether every value of kind `from` that is one of kind `to` can be said without a table.
static bool isConvertible(AttrKind from, AttrKind to) {
  using Pair = std::pair<AttrKind, AttrKind>;
  static constexpr Pair kPairs[] = {{AttrKind::Bool, AttrKind::I64},    {AttrKind::I64, AttrKind::Bool},
                                    {AttrKind::I64, AttrKind::F64},     {AttrKind::F64, AttrKind::I64},
                                    {AttrKind::I64, AttrKind::I64List}, {AttrKind::I64List, AttrKind::I64}};
  return llvm::is_contained(kPairs, Pair(from, to));
}

static llvm::Error wrong(llvm::StringRef line) {
  return invalidArgument("upgrades: a line must be 'VERSION: rename|default|drop|retype NAME ...', got '" + line + "'");
}

/// Reads "int ints" or "bool str false="low" true="high"".
static bool readRetype(llvm::StringRef rest, UpgradeStep &step) {
  llvm::SmallVector<llvm::StringRef, 4> words;
  rest.split(words, ' ', -1, /*KeepEmpty=*/false);
  if (words.size() < 2)
    return false;
  step.from = kindNamed(words[0]);
  step.to = kindNamed(words[1]);
  if (step.from == AttrKind::None || step.to == AttrKind::None || step.from == step.to)
    return false;
  for (llvm::StringRef word : llvm::ArrayRef(words).drop_front(2)) {
    auto [before, now] = word.split('=');
    for (auto [kind, text] : {std::pair(step.from, before), std::pair(step.to, now)})
      if (llvm::Expected<AttrValue> value = AttrValue::parse(kind, text); !value) {
        llvm::consumeError(value.takeError());
        return false;
      }
    step.values.emplace_back(before, now);
  }
  return !step.values.empty() || isConvertible(step.from, step.to);
}

llvm::Expected<UpgradeStep> parseUpgradeStep(llvm::StringRef line) {
  UpgradeStep step;
  auto [version, rest] = line.split(": ");
  auto [verb, arguments] = rest.split(' ');
  std::tie(step.name, step.text) = arguments.split(' ');
  if (version.getAsInteger(10, step.version) || step.name.empty())
    return wrong(line);
  bool isRight = true;
  if (verb == "rename" || verb == "default") {
    step.verb = verb == "rename" ? UpgradeStep::Rename : UpgradeStep::Default;
    isRight = !step.text.empty();
  } else if (verb == "drop") {
    step.verb = UpgradeStep::Drop;
    isRight = step.text.empty();
  } else {
    step.verb = UpgradeStep::Retype;
    isRight = verb == "retype" && readRetype(step.text, step);
  }
  if (!isRight)
    return wrong(line);
  return step;
}

/// The value of kind `to` that says what `value` did; none: there is none.
static AttrValue converted(const AttrValue &value, AttrKind to) {
  switch (value.kind()) {
  case AttrKind::Bool:
    return AttrValue(int64_t(value.boolean()));
  case AttrKind::I64:
    if (to == AttrKind::F64) // beyond 2^53 a float64 may be another number
      return std::abs(value.i64()) <= int64_t(1) << 53 ? AttrValue(double(value.i64())) : AttrValue();
    if (to == AttrKind::Bool)
      return value.i64() == 0 || value.i64() == 1 ? AttrValue(value.i64() == 1) : AttrValue();
    return AttrValue(IntList{value.i64()});
  case AttrKind::F64:
    return std::trunc(value.f64()) == value.f64() && std::abs(value.f64()) < 0x1p63 ? AttrValue(int64_t(value.f64()))
                                                                                    : AttrValue();
  case AttrKind::I64List:
    return value.ints().size() == 1 ? AttrValue(value.ints()[0]) : AttrValue();
  default:
    return AttrValue();
  }
}

llvm::Expected<std::string> retyped(const UpgradeStep &step, llvm::StringRef text) {
  if (text == "none")
    return text.str();
  llvm::Expected<AttrValue> value = AttrValue::parse(step.from, text);
  if (!value)
    return value.takeError();
  AttrValue result;
  if (step.values.empty())
    result = converted(*value, step.to);
  for (auto [before, now] : step.values)
    if (llvm::cantFail(AttrValue::parse(step.from, before)) == *value)
      result = llvm::cantFail(AttrValue::parse(step.to, now));
  if (result.kind() == AttrKind::None)
    return invalidArgument("attribute: value must be one that version " + llvm::Twine(step.version + 1) +
                           " has, too, got " + text);
  return result.toText();
}

} // namespace tess
