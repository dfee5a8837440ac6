//===- TripValues.cpp - values of a loop that runs trip by trip -----------===//
#include "eager/tracing/TripValues.h"

#include "eager/dispatch/Loops.h"
#include "eager/gradients/Recomputation.h"
#include "eager/stack/Apply.h"
#include "eager/stack/Expressions.h"
#include "eager/stack/GraphValue.h"
#include "eager/tensor/Placement.h"
#include "eager/tracing/Recorder.h"
#include "ops/table/Builtin.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::eager {

static llvm::Expected<TensorRef> detached(const TensorRef &value) { return dupTensor(*value, /*detach=*/true); }

static llvm::Expected<Tensors> detachedAll(llvm::ArrayRef<TensorRef> values) {
  Tensors plain;
  for (const TensorRef &value : values)
    if (llvm::Error error = detached(value).moveInto(plain.emplace_back()))
      return std::move(error);
  return plain;
}

/// The view of the element `index`, as an index of the user's; a key (eager/subscript) would cost a tenth of a trip.
static llvm::Expected<TensorRef> elementAt(const TensorRef &whole, int64_t index) {
  bool isRecorded = isWrittenDown(*whole);
  IntList starts(whole->rank(), 0), stops(whole->rank(), INT64_MAX), steps(whole->rank(), 1);
  if (!isRecorded) // a recording holds at other sizes
    stops.assign(whole->shape().begin(), whole->shape().end());
  starts[0] = index;
  stops[0] = index + 1;
  IntList inBounds = isRecorded ? IntList{0} : IntList();
  llvm::Expected<TensorRef> slice = applyOne(builtin::Slice(starts, stops, steps, inBounds), {Operand(whole)});
  if (!slice)
    return slice;
  return applyOne(builtin::Squeeze(IntList{0}), {Operand(*slice)});
}

namespace {

/// What a tensor of one value needs, at another time: expressions of sizes mean something in their recording.
class Filling {
public:
  explicit Filling(const TensorImpl &like)
      : dtype(like.dtype()), numbers(like.shape()), sizes(recordedShape(like)), device(&like.storage().device()),
        recording(Recorder::current() ? Recorder::current()->number() : 0) {}

  llvm::Expected<TensorRef> filled(double value) const {
    OnDevice here(*device);
    return applyExpressions(builtin::Full(shapeNow(), value, dtype));
  }

private:
  IntList shapeNow() const {
    Recorder *recorder = Recorder::current();
    IntList shape;
    for (auto [number, size] : llvm::zip_equal(numbers, sizes)) {
      bool isOfRecording = number != size && recording;
      std::optional<int64_t> here = isOfRecording && recorder ? recorder->sizeHere(size, recording) : std::nullopt;
      shape.push_back(isOfRecording ? here.value_or(number) : size);
    }
    return shape;
  }

  DType dtype;
  Shape numbers, sizes;
  runtime::Device *device;
  uint32_t recording;
};

} // namespace

llvm::Expected<Tensors> apart(llvm::ArrayRef<TensorRef> values) {
  if (!numTapes())
    return detachedAll(values);
  Tensors own;
  for (const TensorRef &value : values) {
    IntList shape(recordedShape(*value).begin(), recordedShape(*value).end());
    llvm::Expected<TensorRef> copy =
        isTracked(*value) ? applyExpressions(builtin::Reshape(shape), {Operand(value)}) : detached(value);
    if (llvm::Error error = std::move(copy).moveInto(own.emplace_back()))
      return std::move(error);
  }
  return own;
}

/// The gradients of elements as one of the whole; null where none arrives.
static llvm::Expected<Tensors> sideBySide(llvm::ArrayRef<TensorRef> grads) {
  const auto *some = llvm::find_if(grads, [](const TensorRef &grad) { return grad != nullptr; });
  if (some == grads.end())
    return Tensors{TensorRef()};
  Tensors whole;
  for (const TensorRef &grad : grads)
    if (llvm::Error error =
            (grad ? llvm::Expected<TensorRef>(grad) : Filling(**some).filled(0.0)).moveInto(whole.emplace_back()))
      return std::move(error);
  llvm::Expected<TensorRef> stack = stackTrips(whole);
  if (!stack)
    return stack.takeError();
  return Tensors{std::move(*stack)};
}

/// All elements of `x`, as results of a function whose gradient puts theirs side by side.
static llvm::Expected<Tensors> trackedElements(const TensorRef &x) {
  llvm::Expected<TensorRef> whole = detached(x);
  if (!whole)
    return whole.takeError();
  Tensors values;
  for (int64_t index = 0; index < x->shape()[0]; ++index)
    if (llvm::Error error = elementAt(*whole, index).moveInto(values.emplace_back()))
      return std::move(error);
  if (!values.empty())
    recordCustomFunction({x}, values, sideBySide);
  return values;
}

llvm::Expected<TripElements> TripElements::of(const TensorRef &x) {
  TripElements elements(x);
  if (!numTapes() || !isTracked(*x))
    return elements;
  if (llvm::Error error = trackedElements(x).moveInto(elements.elements))
    return std::move(error);
  return elements;
}

llvm::Expected<TensorRef> TripElements::operator[](int64_t index) const {
  return elements.empty() ? elementAt(whole, index) : llvm::Expected<TensorRef>(elements[index]);
}

static llvm::Expected<TensorRef> stackRecorded(llvm::ArrayRef<TensorRef> values) {
  llvm::Expected<Tensors> plain = detachedAll(values);
  if (!plain)
    return plain.takeError();
  llvm::SmallVector<Operand, 8> operands(plain->begin(), plain->end());
  Tensors results;
  if (llvm::Error error = apply(builtin::Stack(0), operands, {unsigned(operands.size())}, results))
    return std::move(error);
  return std::move(results.front());
}

llvm::Expected<TensorRef> stackTrips(llvm::ArrayRef<TensorRef> values) {
  Tensors results;
  llvm::Expected<TensorRef> stack = isWrittenDown(values) ? stackRecorded(values) : stackElements(values);
  if (llvm::Error error = std::move(stack).moveInto(results.emplace_back()))
    return std::move(error);
  Tensors tracked;
  llvm::SmallVector<int64_t, 8> places;
  for (auto [index, value] : llvm::enumerate(values))
    if (numTapes() && isTracked(*value)) {
      tracked.push_back(value);
      places.push_back(int64_t(index));
    }
  auto takenApart = [places](llvm::ArrayRef<TensorRef> grads) -> llvm::Expected<Tensors> {
    llvm::Expected<TripElements> elements = TripElements::of(grads.front());
    if (!elements)
      return elements.takeError();
    Tensors own;
    for (int64_t place : places)
      if (llvm::Error error = (*elements)[place].moveInto(own.emplace_back()))
        return std::move(error);
    return own;
  };
  if (!tracked.empty())
    recordCustomFunction(tracked, results, takenApart);
  return std::move(results.front());
}

Trips::Trips() {
  enter();
  for (const TapeRef &tape : activeTapes())
    known.push_back({tape, tape->lastNumber()});
}

Trips::~Trips() { leave(); }

void Trips::noteRead(TensorImpl &tensor) {
  bool isNew = false;
  for (auto [index, each] : llvm::enumerate(known)) {
    uint32_t number = each.tape->numberOf(tensor);
    isNew |= number && number <= each.last && numbers.insert({unsigned(index), number}).second;
  }
  if (isNew)
    reads.push_back(TensorRef(&tensor));
}

llvm::Expected<Tensors> Trips::begin(llvm::ArrayRef<TensorRef> carried) const {
  llvm::Expected<Tensors> own = detachedAll(carried);
  if (!own || !numTapes())
    return own;
  Tensors tracked, results;
  for (auto [value, copy] : llvm::zip_equal(carried, *own))
    if (isTracked(*value)) {
      tracked.push_back(value);
      results.push_back(copy);
    }
  if (!tracked.empty())
    recordCustomFunction(tracked, results, [](llvm::ArrayRef<TensorRef> grads) { return Tensors(grads); });
  return own;
}

/// Fills in the gradients that are null. Fillings behind the gradients give further ones.
static llvm::Expected<Tensors> filledUp(llvm::ArrayRef<TensorRef> grads,
                                        llvm::ArrayRef<std::optional<Filling>> fillings, size_t numCarried) {
  Tensors all(grads);
  all.resize(fillings.size());
  for (size_t i = 0; i < all.size(); ++i)
    if (!all[i] && fillings[i])
      if (llvm::Error error = fillings[i]->filled(i < numCarried ? -0.0 : 0.0).moveInto(all[i]))
        return std::move(error);
  return all;
}

llvm::Expected<TripValues> Trips::end(TripValues values) {
  size_t numCarried = values.carried.size();
  Tensors inputs = values.carried;
  llvm::append_range(inputs, values.stacked);
  llvm::Expected<Tensors> own = detachedAll(inputs);
  if (!own)
    return own.takeError();
  TripValues results{Tensors(llvm::ArrayRef(*own).take_front(numCarried)),
                     Tensors(llvm::ArrayRef(*own).drop_front(numCarried))};
  if (!numTapes())
    return results;
  std::vector<std::optional<Filling>> fillings(inputs.size()); // by input
  for (size_t i = 0; i < numCarried; ++i)
    if (isTracked(*inputs[i]))
      fillings[i].emplace(*inputs[i]);
  for (const TensorRef &value : reads) {
    inputs.push_back(value);
    fillings.emplace_back(std::in_place, *value);
  }
  auto backward = [fillings, numCarried](llvm::ArrayRef<TensorRef> grads) {
    return filledUp(grads, fillings, numCarried);
  };
  if (llvm::any_of(inputs, [](const TensorRef &input) { return isTracked(*input); }))
    recordCustomFunction(inputs, *own, backward);
  return results;
}

} // namespace tess::eager
