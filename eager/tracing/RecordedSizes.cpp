//===- RecordedSizes.cpp - sizes that tensors say, in a recording ---------===//
#include "eager/stack/Apply.h"
#include "eager/stack/Expressions.h"
#include "eager/tracing/Recorder.h"
#include "eager/tracing/SizeTensors.h"
#include "eager/tracing/SymbolicShapes.h"
#include "ops/inference/ShapeRules.h"
#include "ops/table/Builtin.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::eager {

void Recorder::noteDataRead() {
  if (!recording.dataShapes)
    recording.dataRead = Location::here().describe();
  recording.dataShapes = true;
}

void Recorder::noteComparison() {
  if (recording.comparedAt.empty())
    recording.comparedAt = Location::here().describe();
}

llvm::Expected<std::optional<SizeValues>> Recorder::knownSizes(TensorImpl &tensor) {
  if (!isInt(tensor.dtype()) || tensor.numElements() > kMostSizeValues)
    return invalidArgument("shape: sizes must be at most " + llvm::Twine(kMostSizeValues) + " integers, got " +
                           toString(tensor.meta()));
  if (!sizeTensors)
    sizeTensors = std::make_unique<SizeTensors>();
  return tensor.traceTag.owner == id ? sizeTensors->of(recording, tensor.traceTag.id) : std::nullopt;
}

/// Reads the elements without a word to the recording.
llvm::Expected<SizeValues> Recorder::peek(TensorImpl &tensor) {
  readsSizes = true;
  llvm::Expected<SizeValues> values = integersOf(tensor);
  readsSizes = false;
  return values;
}

llvm::Expected<SizeValues> Recorder::readSizes(TensorImpl &tensor) {
  llvm::Expected<std::optional<SizeValues>> known = knownSizes(tensor);
  if (!known || *known)
    return known ? llvm::Expected<SizeValues>(std::move(**known)) : known.takeError();
  if (mayInterrupt()) {
    if (llvm::Error e = interrupt([] { return llvm::Error::success(); }))
      return std::move(e);
    return integersOf(tensor);
  }
  noteDataRead();
  return peek(tensor);
}

/// Whether a program can find what the tensor says: no part of a function that is interrupted for it, nor a trip of a
/// loop. A bound may be negative, a size may not.
llvm::Expected<bool> Recorder::isFound(TensorImpl &tensor, bool isBound) {
  if (isBody || interruption)
    return false;
  if (!runsOperators() || isBound)
    return true;
  llvm::Expected<SizeValues> values = peek(tensor);
  if (!values)
    return values.takeError();
  return llvm::all_of(*values, [](int64_t value) { return 0 <= value && value <= shapes::kNoBound; });
}

/// The size that the program finds in a tensor of rank 0.
static llvm::Expected<TensorRef> extentOf(const TensorRef &number) {
  TensorRef index = number;
  if (DType dtype = index->dtype(); dtype != DType::Int32 && dtype != DType::Int64)
    if (llvm::Error e = applyOne(builtin::Cast(DType::Int64), {Operand(number)}).moveInto(index))
      return std::move(e);
  return applyOne(builtin::Extent(), {Operand(index)});
}

/// Element number `index` of a tensor, as one of rank 0.
static llvm::Expected<TensorRef> elementOf(TensorImpl &tensor, int64_t index) {
  if (tensor.rank() == 0)
    return TensorRef(&tensor);
  TensorRef row(&tensor);
  if (tensor.rank() > 1)
    if (llvm::Error e = applyOne(builtin::Flatten(), {Operand(row)}).moveInto(row))
      return std::move(e);
  llvm::Expected<TensorRef> one = applyOne(builtin::Slice(IntList{index}, IntList{index + 1}), {Operand(row)});
  return one ? applyOne(builtin::Squeeze(IntList{0}), {Operand(*one)}) : std::move(one);
}

/// A bound of a slice as what it is in an axis of `size`: negative ones count from the end.
static llvm::Expected<TensorRef> placeOf(TensorImpl &bound, Number size) {
  TensorRef given, isBelow, fromEnd, place;
  if (llvm::Error e = applyOne(builtin::Cast(DType::Int64), {Operand(&bound)}).moveInto(given))
    return std::move(e);
  if (llvm::Error e = applyOne(builtin::Less(), {Operand(given), Operand(Number::integer(0))}).moveInto(isBelow))
    return std::move(e);
  if (llvm::Error e = applyOne(builtin::Add(), {Operand(given), Operand(size)}).moveInto(fromEnd))
    return std::move(e);
  if (llvm::Error e = applyOne(builtin::Where(), {Operand(isBelow), Operand(fromEnd), Operand(given)}).moveInto(place))
    return std::move(e);
  if (llvm::Error e = applyOne(builtin::Maximum(), {Operand(place), Operand(Number::integer(0))}).moveInto(place))
    return std::move(e);
  return applyOne(builtin::Minimum(), {Operand(place), Operand(size)});
}

/// The size that `make` has the program find, once for each key.
llvm::Expected<int64_t> Recorder::findSize(const SizeKey &key, llvm::function_ref<llvm::Expected<TensorRef>()> make) {
  if (auto found = foundSizes.find(key); found != foundSizes.end())
    return found->second;
  llvm::Expected<TensorRef> number = make();
  llvm::Expected<TensorRef> extent = number ? extentOf(*number) : number.takeError();
  if (!extent)
    return extent.takeError();
  return foundSizes[key] = (*symbolicShape(**extent))[0];
}

llvm::Expected<SizeValues> Recorder::takeSizes(TensorImpl &tensor) {
  llvm::Expected<std::optional<SizeValues>> known = knownSizes(tensor);
  if (!known || *known)
    return known ? llvm::Expected<SizeValues>(std::move(**known)) : known.takeError();
  llvm::Expected<bool> found = isFound(tensor, /*isBound=*/false);
  if (!found || !*found)
    return found ? readSizes(tensor) : found.takeError();
  const uint32_t number = numberOf(tensor);
  SizeValues values;
  for (int64_t i = 0; i < tensor.numElements(); ++i) {
    llvm::Expected<int64_t> size = findSize({number, i, std::nullopt}, [&] { return elementOf(tensor, i); });
    if (!size)
      return size.takeError();
    values.push_back(*size);
  }
  return std::move(values);
}

llvm::Expected<int64_t> Recorder::takeBound(TensorImpl &tensor, int64_t size) {
  llvm::Expected<std::optional<SizeValues>> known = knownSizes(tensor);
  if (!known)
    return known.takeError();
  llvm::Expected<bool> found = *known ? llvm::Expected<bool>(false) : isFound(tensor, /*isBound=*/true);
  if (!found)
    return found.takeError();
  if (!*found) {
    llvm::Expected<SizeValues> values = *known ? llvm::Expected<SizeValues>(**known) : readSizes(tensor);
    return values ? llvm::Expected<int64_t>(values->front()) : values.takeError();
  }
  const int64_t now = sizes::substitute(size, [&](uint32_t symbol) { return sizeOf(symbol); });
  const Number whole = sizes::isSymbolic(size) ? Number::size(now, size) : Number::integer(now);
  return findSize({numberOf(tensor), 0, size}, [&] { return placeOf(tensor, whole); });
}

} // namespace tess::eager
