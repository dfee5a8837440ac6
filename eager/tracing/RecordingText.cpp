//===- RecordingText.cpp - recordings in words ---------------------------===//
#include "eager/tracing/RecordingText.h"
#include "eager/stack/Apply.h"
#include "eager/tracing/RecordingGraph.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <charconv>
#include <cstring>
#include <xxhash.h>

namespace tess::eager {

/// Constants with more elements are shown by a hash.
static constexpr int64_t kMaxShownElements = 4;

/// The shortest text that reads back as the same number.
template <typename T> static std::string shown(const char *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  if (value != value)
    return "nan"; // whatever its sign and payload
  char text[64];
  return std::string(text, std::to_chars(text, text + sizeof(text), value).ptr);
}

/// The text of an element; empty for a dtype whose elements are not shown.
static std::string showElement(DType dtype, const char *bytes) {
  switch (dtype) {
  case DType::Float32:
    return shown<float>(bytes);
  case DType::UInt32:
    return shown<uint32_t>(bytes);
  case DType::UInt64:
    return shown<uint64_t>(bytes);
  case DType::Float64:
    return shown<double>(bytes);
  case DType::Int32:
    return shown<int32_t>(bytes);
  case DType::Int64:
    return shown<int64_t>(bytes);
  case DType::Bool:
    return *bytes ? "true" : "false";
  default:
    return "";
  }
}

static std::string showConstant(const TensorMeta &meta, llvm::StringRef bytes) {
  unsigned width = byteWidth(meta.dtype);
  std::vector<std::string> elements;
  if (meta.numElements() <= kMaxShownElements)
    for (size_t at = 0; at < bytes.size(); at += width)
      elements.push_back(showElement(meta.dtype, bytes.data() + at));
  if (elements.empty() || elements.front().empty())
    return "constant " + llvm::utohexstr(XXH3_64bits(bytes.data(), bytes.size()), true) + " " + toString(meta);
  std::string list = llvm::join(elements, ", ");
  return meta.rank() ? "[" + list + "] " + toString(meta) : list + " " + toString(meta);
}

std::string RecordingWriter::nameOf(const TensorImpl &variable) {
  unsigned index = variables.try_emplace(&variable, variables.size()).first->second;
  return (variable.name().empty() ? "outside" : variable.name().str()) + "#" + std::to_string(index);
}

llvm::Expected<std::string> RecordingWriter::nameOf(const Recording &recording, uint32_t number) {
  const Recording::Value &value = recording.values()[number];
  switch (value.kind) {
  case Recording::ValueKind::Captured:
    return nameOf(*value.tensor);
  case Recording::ValueKind::Constant: {
    llvm::Expected<std::string> bytes = bytesOfConstant(*value.tensor);
    if (!bytes)
      return bytes.takeError();
    return showConstant(value.meta, *bytes);
  }
  case Recording::ValueKind::Argument:
  case Recording::ValueKind::Computed:
    break;
  }
  return makeError(ErrorCode::Internal, "trace: values must come from an operator, got one that does not");
}

llvm::Error RecordingWriter::append(const Recording &recording, llvm::ArrayRef<uint32_t> numbers, std::string &text) {
  for (auto [i, number] : llvm::enumerate(numbers)) {
    if (names[number].empty())
      if (llvm::Error e = nameOf(recording, number).moveInto(names[number]))
        return e;
    text += (i ? ", " : "") + names[number];
  }
  return llvm::Error::success();
}

/// `op` with the sizes that the arguments of `recording` have.
static OpDef withSizesOf(const Recording &recording, const OpDef &op) {
  return op.withSymbols([&](uint32_t symbol) { return recording.sizeOf(symbol); });
}

llvm::Expected<std::string> RecordingWriter::describe(const Recording &recording, const Recording::Op &op,
                                                      const Recording *at) {
  std::string results, operands, metas;
  for (uint32_t output : op.outputs) {
    results += (results.empty() ? "" : ", ") + names[output];
    metas += (metas.empty() ? "" : ", ") + toString(recording.values()[output].meta);
  }
  if (llvm::Error e = append(recording, op.inputs, operands))
    return std::move(e);
  for (unsigned segment : op.segments)
    operands += "|" + std::to_string(segment);
  OpDef shown = at && op.op.hasExpressions() ? withSizesOf(*at, op.op) : op.op;
  std::string name = shown.numAttrs() ? shown.toString() : shown.name().str();
  return results + " = " + name + "(" + operands + ")" + (shapes ? " -> " + metas : "");
}

/// Writes the results, and the values that variables have at the end.
llvm::Error RecordingWriter::writeEnds(const Recording &recording, std::vector<RecordingLine> &lines) {
  std::string results = "results: ";
  if (llvm::Error e = append(recording, recording.results(), results))
    return e;
  lines.push_back({std::move(results), nullptr});
  for (const Recording::Update &update : recording.updates()) {
    bool isArgument = update.argument >= 0;
    std::string text = isArgument ? "arg" + std::to_string(update.argument) : nameOf(*update.variable);
    text += " becomes ";
    if (llvm::Error e = append(recording, {update.value}, text))
      return e;
    lines.push_back({std::move(text), nullptr});
  }
  return llvm::Error::success();
}

/// The text of the constant that an operator stands for, which makes a tensor of one number; "": it is another one.
static std::string knownNumber(const Recording::Op &recorded, const OpDef &op, const TensorMeta &meta) {
  bool isNumber = recorded.inputs.empty() && meta.rank() == 0 && op.info().hasSizes() && op.numAttrs() > 0 &&
                  op.attr(0).kind() == AttrKind::I64;
  if (!isNumber || op.hasExpressions())
    return "";
  int64_t value = op.attr(0).i64();
  auto shown = [&](auto number) {
    return showConstant(meta, llvm::StringRef(reinterpret_cast<const char *>(&number), sizeof(number)));
  };
  switch (meta.dtype) {
  case DType::Float32:
    return shown(float(value));
  case DType::Float64:
    return shown(double(value));
  case DType::Int32:
    return shown(int32_t(value));
  case DType::Int64:
    return shown(value);
  default:
    return "";
  }
}

llvm::Expected<std::vector<RecordingLine>> RecordingWriter::write(const Recording &recording, const Recording *at) {
  std::vector<RecordingLine> lines;
  unsigned computed = 0;
  names.assign(recording.values().size(), "");
  for (auto [i, number] : llvm::enumerate(recording.arguments())) // of a gradient: values of its function, too
    names[number] = "arg" + std::to_string(i);
  for (const Recording::Op &op : recording.ops()) {
    if (at) { // a size is a tensor where it is an expression, and a constant where it is a number
      OpDef known = op.op.hasExpressions() ? withSizesOf(*at, op.op) : op.op;
      uint32_t output = op.outputs.front();
      names[output] = knownNumber(op, known, recording.values()[output].meta);
      if (!names[output].empty())
        continue;
    }
    for (uint32_t output : op.outputs)
      names[output] = "%" + std::to_string(computed++);
    if (llvm::Error e = describe(recording, op, at).moveInto(lines.emplace_back("", &op.location).text))
      return std::move(e);
  }
  if (llvm::Error e = writeEnds(recording, lines))
    return std::move(e);
  return lines;
}

} // namespace tess::eager
