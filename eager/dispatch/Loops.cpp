//===- Loops.cpp - a scan, trip by trip -----------------------------------===//
//
// What runs while it is recorded runs like this; a program has a loop for it. A
// trip applies the operators of the body one by one, as a user's loop would: the
// same kernels, and so the same bits.
//
//===----------------------------------------------------------------------===//
#include "eager/dispatch/Loops.h"
#include "eager/dispatch/Contiguous.h"
#include "eager/dispatch/Dispatch.h"
#include "eager/tensor/Evaluate.h"
#include "eager/tensor/Location.h"
#include "eager/tensor/Queue.h"
#include "ops/graphs/Control.h"

namespace tess::eager {

namespace {

class Scan {
public:
  Scan(const DispatchCall &call, int64_t trips)
      : call(call), groups(call.op), order(control::orderOf(call.op)), trips(trips),
        hasBodySizes(call.op.hasExpressions()) {
    for (const Operand &operand : call.operands)
      operands.push_back(TensorRef(operand.tensor));
    if (order.isGuarded)
      guard = control::guardOf(true, operands[groups.constants]->dtype());
    if (!control::hasNoBound(call.op))
      return;
    capacity = 0;
    for (const TensorRef &x : llvm::ArrayRef(operands).drop_front(groups.firstX()))
      saved = std::min(saved, savedTripsOf(*x));
  }
  llvm::Error run(llvm::ArrayRef<TensorMeta> results, Tensors &out);

private:
  llvm::Error begin(llvm::ArrayRef<TensorMeta> results);
  llvm::Error makeRoom(int64_t needed, int64_t made);
  llvm::Error trip(int64_t index);
  llvm::Expected<int64_t> askGuard();
  llvm::Error limitTrips();
  llvm::Expected<bool> goesOn(int64_t done);

  const DispatchCall &call;
  control::ScanGroups groups;
  control::ScanOrder order;
  control::Guard guard = control::Guard::None;
  int64_t trips;
  bool hasBodySizes;
  Tensors operands; // carried ones as they are now
  Metas stackedMetas;
  Tensors stacked;
  // Without a bound: the trips for which stacked results have memory, and of which grown xs have elements.
  int64_t capacity = control::kManyTrips, saved = control::kManyTrips;
};

} // namespace

/// A view of element `index` along axis 0.
static TensorRef elementOf(const TensorImpl &whole, int64_t index) {
  Layout layout = whole.layout();
  int64_t offset = layout.offset + index * layout.strides.front();
  layout.shape.erase(layout.shape.begin());
  layout.strides.erase(layout.strides.begin());
  layout.offset = 0;
  return TensorImpl::create(control::elementOf(whole.meta()).dtype, layout, whole.storageRef(), offset);
}

/// Gives the stacked results memory for so many trips, and has them keep what the first `made` trips gave.
llvm::Error Scan::makeRoom(int64_t needed, int64_t made) {
  if (needed <= capacity)
    return llvm::Error::success();
  int64_t most = control::grownTo(capacity, needed);
  for (auto [number, meta] : llvm::enumerate(stackedMetas)) {
    Shape shape = meta.shape;
    int64_t bytes = meta.numElements() * byteWidth(meta.dtype);
    if (llvm::Error error = control::grownBytes(most, bytes).takeError())
      return error;
    shape[0] = most;
    llvm::Expected<TensorRef> larger = TensorImpl::allocate(meta.dtype, shape, call.device());
    if (!larger)
      return control::noMemory(larger.takeError(), most, bytes);
    if (number == stacked.size()) {
      stacked.push_back(std::move(*larger));
      continue;
    }
    shape[0] = made;
    auto first = [&](const TensorImpl &all) { return TensorImpl::create(meta.dtype, shape, all.storageRef()); };
    if (made && bytes)
      if (llvm::Error error = copyInto(*first(**larger), *first(*stacked[number]), "scan"))
        return error;
    stacked[number] = std::move(*larger);
  }
  capacity = most;
  return llvm::Error::success();
}

llvm::Error Scan::trip(int64_t index) {
  if (index >= saved)
    return control::notSaved(index, saved);
  Tensors elements;
  llvm::SmallVector<Operand, 8> inputs;
  for (auto [number, operand] : llvm::enumerate(operands))
    inputs.push_back(number < groups.firstX() ? operand : elements.emplace_back(elementOf(*operand, index)));
  auto applyNode = [](const Subgraph::Node &node, llvm::ArrayRef<Operand> read, Tensors &made) -> llvm::Error {
    if (llvm::Error error = dispatch({node.op, read, node.segments, nullptr, /*isPart=*/true}, made))
      return at(std::move(error), node.location);
    return llvm::Error::success();
  };
  llvm::Expected<Tensors> outputs = evaluate(control::bodyOf(call.op), inputs, applyNode, hasBodySizes);
  if (!outputs)
    return outputs.takeError();
  for (auto [number, output] : llvm::enumerate(*outputs)) {
    if (number < groups.carried)
      operands[groups.constants + number] = output;
    else if (output->numElements())
      if (llvm::Error error = copyInto(*elementOf(*stacked[number - groups.carried], index), *output, "scan"))
        return error;
  }
  return llvm::Error::success();
}

llvm::Expected<int64_t> Scan::askGuard() {
  const TensorImpl &tensor = *operands[groups.constants];
  if (llvm::Error error = awaitValue(tensor.storage()))
    return std::move(error);
  bool answer = false;
  int64_t count = 0;
  bool isBool = guard == control::Guard::Bool;
  if (llvm::Error error =
          isBool ? copyToHost(tensor, &answer, sizeof(answer)) : copyToHost(tensor, &count, sizeof(count)))
    return std::move(error);
  return isBool ? answer : count;
}

/// A guard that is asked once limits the trips before the first.
llvm::Error Scan::limitTrips() {
  if (!isAskedOnce(guard, order.reverse))
    return llvm::Error::success();
  llvm::Expected<int64_t> count = askGuard();
  if (!count)
    return count.takeError();
  trips = std::clamp<int64_t>(*count, 0, trips);
  return llvm::Error::success();
}

/// Whether there is a trip after the first `done`: a guarded loop asks the data.
llvm::Expected<bool> Scan::goesOn(int64_t done) {
  constexpr int64_t kPolled = control::kTripsBetweenPolls;
  if (guard == control::Guard::None || isAskedOnce(guard, order.reverse))
    return true;
  if (done % kPolled == kPolled - 1)
    if (llvm::Error error = BlockingRegion().poll())
      return std::move(error);
  llvm::Expected<int64_t> value = askGuard();
  if (!value)
    return value.takeError();
  return control::goesOn(guard, *value, done);
}

/// Memory for the stacked results: for all trips, or for as many as are known.
llvm::Error Scan::begin(llvm::ArrayRef<TensorMeta> results) {
  stackedMetas.assign(results.begin() + groups.carried, results.end());
  if (!capacity)
    return makeRoom(std::max<int64_t>(isAskedOnce(guard, order.reverse) ? trips : 1, 1), 0);
  for (const TensorMeta &meta : stackedMetas)
    if (llvm::Error error =
            TensorImpl::allocate(meta.dtype, meta.shape, call.device()).moveInto(stacked.emplace_back()))
      return error;
  return llvm::Error::success();
}

llvm::Error Scan::run(llvm::ArrayRef<TensorMeta> results, Tensors &out) {
  if (llvm::Error error = limitTrips())
    return error;
  if (llvm::Error error = begin(results))
    return error;
  for (int64_t each = 0; each < trips; ++each) {
    llvm::Expected<bool> next = goesOn(each);
    if (!next)
      return next.takeError();
    if (!*next)
      break;
    if (llvm::Error error = makeRoom(each + 1, each))
      return error;
    if (llvm::Error error = trip(order.reverse ? trips - 1 - each : each))
      return error;
  }
  for (unsigned number = 0; number < groups.carried; ++number) {
    TensorRef last = operands[groups.constants + number]->dup(); // an operand may come out as it went in
    last->storage().noteCopy();
    last->clearGradIds();
    out.push_back(std::move(last));
  }
  for (auto [tensor, meta] : llvm::zip_equal(stacked, stackedMetas))
    out.push_back(meta.shape == tensor->shape() ? tensor
                                                : TensorImpl::create(meta.dtype, meta.shape, tensor->storageRef()));
  return llvm::Error::success();
}

llvm::Expected<TensorRef> stackElements(llvm::ArrayRef<TensorRef> elements) {
  for (const TensorRef &element : elements)
    if (!element->hasMeta(elements.front()->meta()))
      return invalidArgument("scan: step must return each y with one dtype and shape, got " +
                             toString(elements.front()->meta()) + " and " + toString(element->meta()));
  TensorMeta meta = control::stacked(elements.front()->meta(), int64_t(elements.size()));
  llvm::Expected<TensorRef> whole = TensorImpl::allocate(meta.dtype, meta.shape, elements.front()->storage().device());
  if (!whole || !(*whole)->numElements())
    return whole;
  for (auto [index, element] : llvm::enumerate(elements))
    if (llvm::Error error = copyInto(*elementOf(**whole, int64_t(index)), *element, "scan"))
      return std::move(error);
  return whole;
}

llvm::Error dispatchScan(const DispatchCall &call, Tensors &results) {
  Metas operands = metasOf(call.operands);
  llvm::Expected<Metas> metas = call.infer();
  if (!metas)
    return metas.takeError();
  llvm::Expected<int64_t> trips = control::numTrips(call.op, operands);
  if (!trips)
    return trips.takeError();
  return Scan(call, *trips).run(*metas, results);
}

} // namespace tess::eager
