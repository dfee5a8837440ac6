//===- StagedLoop.cpp - a loop whose body is a program --------------------===//
//
// What is carried lies in the memory of the loop's results, in which each trip
// makes it anew. What is stacked is written to its element, whose size is known
// when a trip has made it; all trips must make the same.
//
//===----------------------------------------------------------------------===//
#include "runtime/run/StagedLoop.h"
#include "ops/vocabulary/Error.h"
#include "runtime/bind/LoopTrips.h"
#include "runtime/run/GrownMemory.h"
#include "runtime/run/LoopGuard.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::runtime {

namespace {

class TripRunner {
public:
  TripRunner(const StagedLoop &loop, llvm::MutableArrayRef<void *> pointers, const RunOptions &options,
             RunProgram runProgram)
      : call(loop), loop(*loop.stage.loop), pointers(pointers), options(options), runProgram(runProgram),
        device(loop.body.program().device()), stream(options.stream ? *options.stream : device.defaultStream()),
        inputs(loop.from.begin(), loop.from.end()), stacks(pointers.size()) {}
  llvm::Expected<std::vector<TensorMeta>> run();

private:
  /// A stacked result.
  struct Stack {
    bool isThere = false;      // it has memory
    TensorMeta element = {};   // once it is there
    int64_t capacity = 0;      // trips for which `grown` has room
    BufferRef grown = nullptr; // of a loop without a bound
  };

  llvm::Error begin();
  llvm::Error trip(int64_t at);
  llvm::Error enlarge(size_t result, int64_t needed, int64_t kept);
  llvm::Expected<void *> elementOf(size_t result, const TensorMeta &meta);
  llvm::Error checkOutputs();
  llvm::Error end();

  const StagedLoop &call;
  const StageLoop &loop;
  llvm::MutableArrayRef<void *> pointers; // of the results
  const RunOptions &options;
  RunProgram runProgram;
  Device &device;
  Stream &stream;
  llvm::SmallVector<void *, 8> inputs; // of the present trip
  std::vector<Stack> stacks;           // by result
  int64_t most = 0;                    // trips: as many as the results have elements
  int64_t at = 0, saved = 0, savedXs = control::kManyTrips;
};

} // namespace

/// Carried values begin in the memory of the results.
llvm::Error TripRunner::begin() {
  for (unsigned k = 0; k < loop.numCarried; ++k) {
    if (llvm::Error error = call.place(k, call.inputs[k]).moveInto(pointers[k]))
      return error;
    uint64_t bytes = bytesOf(call.inputs[k]);
    if (bytes && pointers[k] != call.from[k])
      if (llvm::Error error = stream.copy(pointers[k], call.from[k], bytes, /*parts=*/1))
        return error;
    inputs[k] = pointers[k];
  }
  if (control::hasNoBound(loop.isGuarded, loop.length))
    for (unsigned i = 0; i < loop.numXs; ++i)
      savedXs = std::min(savedXs, options.savedTrips(loop.numCarried + i));
  return tripsOf(loop.length, loop.isGuarded, call.inputs.slice(loop.numCarried, loop.numXs)).moveInto(most);
}

/// Gives a result that grows memory for so many trips; what it has of the first `kept` moves.
llvm::Error TripRunner::enlarge(size_t result, int64_t needed, int64_t kept) {
  Stack &stack = stacks[result];
  int64_t width = int64_t(bytesOf(stack.element)), most = control::grownTo(stack.capacity, needed);
  llvm::Expected<BufferRef> larger = grownMemory(device, stream, most, width, pointers[result], kept);
  if (!larger)
    return larger.takeError();
  pointers[result] = (*larger)->data();
  stack.grown = std::move(*larger);
  stack.capacity = most;
  return llvm::Error::success();
}

/// Where the present trip writes its element of a stacked result.
llvm::Expected<void *> TripRunner::elementOf(size_t result, const TensorMeta &meta) {
  Stack &stack = stacks[result];
  if (!stack.isThere) {
    stack.element = meta;
    if (!loop.isGrown(result))
      if (llvm::Error error = call.place(result, control::stacked(meta, most)).moveInto(pointers[result]))
        return std::move(error);
    stack.isThere = true;
  }
  if (!(stack.element == meta))
    return invalidArgument("scan: step must return each y with one dtype and shape, got " + toString(stack.element) +
                           " and " + toString(meta));
  if (loop.isGrown(result) && at >= stack.capacity)
    if (llvm::Error error = enlarge(result, at + 1, loop.reverse ? 0 : at))
      return std::move(error);
  return static_cast<char *>(pointers[result]) + at * int64_t(bytesOf(meta));
}

/// What a trip made must be what its memory was made for.
llvm::Error TripRunner::checkOutputs() {
  for (auto [result, meta] : llvm::zip_equal(loop.results, call.body.outputs())) {
    const TensorMeta &expected = result < loop.numCarried ? call.inputs[result] : stacks[result].element;
    if (!(meta == expected))
      return invalidArgument("scan: step must return values with the shapes that they have in all trips, got " +
                             toString(meta) + " for " + toString(expected));
  }
  return llvm::Error::success();
}

llvm::Error TripRunner::trip(int64_t index) {
  at = index;
  if (at >= savedXs)
    return control::notSaved(at, savedXs);
  for (unsigned i = loop.numCarried; i < loop.numCarried + loop.numXs; ++i)
    inputs[i] = static_cast<char *>(call.from[i]) + at * int64_t(bytesOf(control::elementOf(call.inputs[i])));
  llvm::SmallVector<void *, 8> outputs;
  for (auto [result, meta] : llvm::zip_equal(loop.results, call.body.mostOutputs())) {
    void *&place = outputs.emplace_back(nullptr); // carried values take over their inputs
    if (result >= loop.numCarried && meta.isStatic())
      if (llvm::Error error = elementOf(result, meta).moveInto(place))
        return error;
  }
  RunOptions own;
  own.stream = &stream;
  own.isCounted = options.isCounted;
  own.poll = options.poll;
  own.allocate = [&](size_t output, const TensorMeta &meta) { return elementOf(loop.results[output], meta); };
  if (llvm::Error error = runProgram(call.body, inputs, outputs, call.scalars, own))
    return error;
  saved = std::max(saved, at + 1);
  return checkOutputs();
}

/// Hands over what grew, and gives memory to what no trip stacked.
llvm::Error TripRunner::end() {
  for (auto [result, meta] : llvm::zip_equal(loop.results, call.body.mostOutputs())) {
    if (result < loop.numCarried)
      continue;
    if (!stacks[result].isThere && !meta.isStatic())
      return makeError(ErrorCode::Unimplemented, "scan: a result of no trips must have a shape that no data decides, "
                                                 "got " +
                                                     toString(meta));
    at = 0;
    if (!stacks[result].isThere)
      if (llvm::Error error = elementOf(result, meta).takeError())
        return error;
    if (loop.isGrown(result))
      options.takeGrown(result, std::move(stacks[result].grown), saved);
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<TensorMeta>> TripRunner::run() {
  if (llvm::Error error = begin())
    return std::move(error);
  control::Guard kind = control::guardOf(loop.isGuarded, loop.numCarried ? call.inputs[0].dtype : DType());
  LoopGuard guard(kind, loop.reverse, loop.numCarried ? pointers[0] : nullptr, stream, options.poll);
  llvm::Expected<int64_t> trips = guard.tripsOf(most);
  if (!trips)
    return trips.takeError();
  for (int64_t made = 0;; ++made) {
    llvm::Expected<bool> next = guard.goesOn(made, *trips);
    if (!next)
      return next.takeError();
    if (!*next)
      break;
    if (llvm::Error error = trip(loop.reverse ? *trips - 1 - made : made))
      return std::move(error);
  }
  if (llvm::Error error = end())
    return std::move(error);
  std::vector<TensorMeta> outputs;
  for (uint32_t result : loop.results)
    outputs.push_back(result < loop.numCarried ? call.inputs[result] : stacks[result].element);
  return loopResults(loop, call.inputs, outputs, pointers.size(), most);
}

llvm::Expected<std::vector<TensorMeta>> runLoop(const StagedLoop &loop, llvm::MutableArrayRef<void *> pointers,
                                                const RunOptions &options, RunProgram runProgram) {
  return TripRunner(loop, pointers, options, runProgram).run();
}

} // namespace tess::runtime
