//===- SizeTensors.cpp - recorded tensors that hold sizes -----------------===//
#include "eager/tracing/SizeTensors.h"

#include "eager/stack/Apply.h"
#include "eager/stack/Call.h"
#include "runtime/device/Elements.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::eager {

const Recording::Op *SizeTensors::maker(const Recording &recording, uint32_t number) {
  makers.resize(recording.values().size(), -1);
  for (; numOps < recording.ops().size(); ++numOps)
    for (uint32_t output : recording.ops()[numOps].outputs)
      makers[output] = int64_t(numOps);
  return makers[number] < 0 ? nullptr : &recording.ops()[makers[number]];
}

llvm::Expected<SizeValues> integersOf(TensorImpl &tensor) {
  std::vector<char> bytes(size_t(tensor.numElements() * byteWidth(tensor.dtype())));
  if (llvm::Error error = readValue(tensor, bytes.data()))
    return std::move(error);
  SizeValues values;
  runtime::withAnyType(tensor.dtype(), [&](auto tag) {
    using T = decltype(tag);
    if constexpr (std::is_integral_v<T>)
      for (size_t i = 0; i < bytes.size(); i += sizeof(T)) {
        T element;
        std::memcpy(&element, &bytes[i], sizeof(T));
        values.push_back(int64_t(element));
      }
  });
  return values;
}

std::optional<SizeValues> SizeTensors::compute(const Recording &recording, uint32_t number) {
  const Recording::Value &value = recording.values()[number];
  if (!isInt(value.meta.dtype) || value.meta.numElements() > kMostSizeValues)
    return std::nullopt;
  if (value.kind == Recording::ValueKind::Constant)
    return llvm::expectedToOptional(integersOf(*value.tensor)); // the function made it of numbers
  const Recording::Op *op = maker(recording, number);
  if (!op)
    return std::nullopt;
  llvm::SmallVector<TensorMeta, 4> metas;
  llvm::SmallVector<SizeValues, 4> values;
  for (uint32_t input : op->inputs) {
    std::optional<SizeValues> read = of(recording, input);
    if (!read)
      return std::nullopt;
    metas.push_back(recording.values()[input].meta);
    values.push_back(std::move(*read));
  }
  return sizeValues(op->op, metas, op->segments, values);
}

std::optional<SizeValues> SizeTensors::of(const Recording &recording, uint32_t number) {
  if (auto found = known.find(number); found != known.end())
    return found->second;
  std::optional<SizeValues> values = compute(recording, number);
  return known[number] = std::move(values);
}

} // namespace tess::eager
