//===- Quantization.cpp - what stored integers stand for ------------------===//
#include "ops/vocabulary/Quantization.h"

#include "ops/vocabulary/Error.h"
#include "ops/vocabulary/SizeHandles.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <charconv>
#include <cmath>
#include <deque>
#include <mutex>

namespace tess {

namespace {

/// A dtype's parameters and texts.
struct Known {
  Quantization parameters;
  std::string name, mlirName;
};

/// All of the process. Entries are never moved and never dropped.
class Table {
public:
  const Known &operator[](uint32_t number) {
    std::lock_guard<std::mutex> lock(mutex);
    return entries[number - 1];
  }
  /// The number of the parameters whose text is `name`; 0 when there is no room for them.
  uint32_t numberOf(const std::string &name, Quantization parameters) {
    std::lock_guard<std::mutex> lock(mutex);
    if (auto found = numbers.find(name); found != numbers.end())
      return found->second;
    uint64_t size = sizeof(Known) + 3 * name.size() + parameters.scales.size() * (sizeof(float) + sizeof(int32_t));
    if (entries.size() == kMostQuantized || bytes + size > kMostQuantizedBytes)
      return 0;
    bytes += size;
    std::string mlirName = "!tess.quantized<\"" + name + "\">";
    entries.push_back({std::move(parameters), name, std::move(mlirName)});
    return numbers[name] = uint32_t(entries.size());
  }

private:
  std::mutex mutex;
  std::deque<Known> entries;
  llvm::StringMap<uint32_t> numbers;
  uint64_t bytes = 0;
};

/// It outlives every thread.
Table &table() {
  static Table &all = *new Table;
  return all;
}

std::string numberText(float value) {
  char buffer[40];
  return {buffer, std::to_chars(buffer, buffer + sizeof(buffer), value).ptr};
}

std::string textOf(DType kind, const Quantization &parameters) {
  std::string text = shortName(kind).str();
  if (parameters.isPerChannel())
    text += "@" + std::to_string(parameters.axis);
  const char *separator = "<";
  for (size_t i = 0; i < parameters.scales.size(); ++i) {
    text += separator + numberText(parameters.scales[i]);
    if (quantizedKind(kind).hasZeroPoint)
      text += ":" + std::to_string(parameters.zeroPoints[i]);
    separator = "|";
  }
  return text + ">";
}

llvm::Error checkZeroPoint(const QuantizedKind &kind, int64_t zeroPoint) {
  if (!kind.hasZeroPoint && zeroPoint)
    return invalidArgument(llvm::Twine(shortName(kind.kind)) + ": zero_point must not be given, got " +
                           llvm::Twine(zeroPoint));
  if (zeroPoint < kind.min || zeroPoint > kind.max)
    return invalidArgument(llvm::Twine(shortName(kind.kind)) + ": zero_point must be in [" + llvm::Twine(kind.min) +
                           ", " + llvm::Twine(kind.max) + "], got " + llvm::Twine(zeroPoint));
  return llvm::Error::success();
}

llvm::Error checkParameters(DType kind, const Quantization &parameters) {
  llvm::StringRef name = shortName(kind);
  size_t count = parameters.scales.size();
  if (parameters.axis >= int(kMaxRank))
    return invalidArgument(name + ": axis must be in [0, " + llvm::Twine(kMaxRank - 1) + "], got " +
                           llvm::Twine(parameters.axis));
  if (parameters.isPerChannel() ? count == 0 : count != 1)
    return invalidArgument(name + ": scale must be one number, or one for each channel along an axis, got " +
                           llvm::Twine(count) + (parameters.isPerChannel() ? " along one" : " without one"));
  if (parameters.zeroPoints.size() != count)
    return invalidArgument(name + ": zero_point must have as many numbers as scale, got " +
                           llvm::Twine(parameters.zeroPoints.size()) + " and " + llvm::Twine(count));
  for (float scale : parameters.scales)
    if (!std::isfinite(scale) || scale <= 0)
      return invalidArgument(name + ": scale must be a finite number above 0, got " + numberText(scale));
  for (int32_t zeroPoint : parameters.zeroPoints)
    if (llvm::Error error = checkZeroPoint(quantizedKind(kind), zeroPoint))
      return error;
  return llvm::Error::success();
}

/// Reads one "0.1" or "0.1:128".
bool readChannel(llvm::StringRef text, bool hasZeroPoint, Quantization &parameters) {
  auto [scaleText, zeroText] = text.split(':');
  float scale = 0;
  int32_t zeroPoint = 0;
  auto [end, code] = std::from_chars(scaleText.begin(), scaleText.end(), scale);
  if (code != std::errc() || end != scaleText.end() || text.contains(':') != hasZeroPoint ||
      (hasZeroPoint && zeroText.getAsInteger(10, zeroPoint)))
    return false;
  parameters.scales.push_back(scale);
  parameters.zeroPoints.push_back(zeroPoint);
  return true;
}

} // namespace

llvm::StringRef quantizedName(DType d) { return table()[parametersOf(d)].name; }
llvm::StringRef quantizedMlirName(DType d) { return table()[parametersOf(d)].mlirName; }

const Quantization *quantizationOf(DType dtype) {
  return parametersOf(dtype) ? &table()[parametersOf(dtype)].parameters : nullptr;
}

llvm::Expected<DType> quantizedDType(DType kind, Quantization parameters) {
  if (llvm::Error error = checkParameters(kind, parameters))
    return std::move(error);
  std::string name = textOf(kind, parameters);
  if (uint32_t number = table().numberOf(name, std::move(parameters)))
    return DType(uint32_t(kind) | number << kKindBits);
  return makeError(ErrorCode::ResourceExhausted, llvm::Twine(shortName(kind)) + ": a process must have at most " +
                                                     llvm::Twine(kMostQuantized) + " quantized dtypes in " +
                                                     llvm::Twine(kMostQuantizedBytes >> 20) + " MiB, got one more");
}

llvm::Expected<DType> withChannelAxis(DType dtype, int axis) {
  Quantization moved = *quantizationOf(dtype);
  moved.axis = axis;
  return quantizedDType(kindOf(dtype), std::move(moved));
}

static std::optional<DType> parseQuantized(llvm::StringRef text) {
  auto [head, body] = text.split('<');
  auto [name, axisText] = head.split('@');
  Quantization parameters;
  for (const QuantizedKind &kind : kQuantizedKinds) {
    if (name != shortName(kind.kind))
      continue;
    if (!body.consume_back(">") ||
        (head.contains('@') && (axisText.getAsInteger(10, parameters.axis) || parameters.axis < 0)))
      return std::nullopt;
    for (llvm::StringRef channel : llvm::split(body, '|'))
      if (!readChannel(channel, kind.hasZeroPoint, parameters))
        return std::nullopt;
    llvm::Expected<DType> dtype = quantizedDType(kind.kind, std::move(parameters));
    if (dtype)
      return *dtype;
    llvm::consumeError(dtype.takeError());
    return std::nullopt;
  }
  return std::nullopt;
}

std::optional<DType> parseDType(llvm::StringRef name) {
  for (unsigned i = 0; i < kNumDTypes; ++i)
    if (name == kDTypes[i].shortName || name == kDTypes[i].numpyName)
      return DType(i);
  return parseQuantized(name);
}

} // namespace tess
