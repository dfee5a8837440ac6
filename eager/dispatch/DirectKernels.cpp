//===- DirectKernels.cpp - kernels launched from the cache ----------------===//
//
// The hit path of elementwise operators: the iteration space replaces
// inference, its class is the key, and the kernel gets sizes and strides as
// arguments. No program is bound, and only results are allocated.
//
//===----------------------------------------------------------------------===//
#include "eager/classes/MiniGraph.h"
#include "eager/dispatch/Dispatch.h"
#include "eager/dispatch/Outcome.h"
#include "eager/tensor/Counters.h"
#include "eager/tensor/Location.h"
#include "eager/tensor/Queue.h"
#include "runtime/bind/ExecutorCounters.h"
#include "runtime/device/Device.h"
#include "runtime/device/Profiler.h"
#include "runtime/threads/ParallelFor.h"
#include "runtime/threads/Worker.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::eager {

namespace {

constexpr unsigned kMaxScalars = 16;

/// Whether the work is so small that another thread, or the queue to the worker, would cost more than it gains.
bool isTinyWork(int64_t elements, int64_t picosecondsPerElement) {
  return elements * picosecondsPerElement < runtime::kWorkerPicoseconds;
}

/// A launch that can be queued; it holds no reference.
struct Launch {
  runtime::KernelFn fn;
  void *pointers[kMaxDirectOperands];
  int64_t dims[runtime::KernelDims(kMaxRank, kMaxDirectOperands).count(kMaxScalars)];
  int64_t outer = 1, inner = 1;
  int64_t picosecondsPerElement;
  bool tiled;

  bool isTiny() const { return isTinyWork(outer * inner, picosecondsPerElement); }
};

/// Facts of a record that every call needs.
struct DirectFacts {
  bool broadcasts; // the results have the broadcast shape of the operands
  bool keepsAxes;
};

DirectFacts makeFacts(const OpInfo &op) {
  bool elementwise = op.lowering == Lowering::Elementwise;
  bool plain = op.signature && op.signature->elementwise && op.simple && !op.operands.empty();
  // The domain of all other operators is the shape of their results, axis by axis.
  return {plain, elementwise && (!plain || readsDimIndex(*op.scalar))};
}

DirectFacts factsOf(const OpInfo &info) {
  static const std::vector<DirectFacts> table = [] {
    std::vector<DirectFacts> facts;
    for (const OpInfo &op : allOps())
      facts.push_back(makeFacts(op));
    return facts;
  }();
  return LLVM_LIKELY(info.id < table.size()) ? table[info.id] : makeFacts(info); // of a row that was added later
}

/// Row-major strides of the results over the merged axes.
void resultStrides(const IterationSpace &space, int64_t *strides) {
  int64_t step = 1;
  for (unsigned i = space.numAxes; i-- > 0;) {
    strides[i] = step;
    step *= space.sizes[i];
  }
}

int64_t sizeOf(const runtime::AxisGroup &group, const IterationSpace &space) {
  int64_t size = 1;
  for (unsigned axis = group.first; axis < group.last; ++axis)
    size *= space.sizes[axis];
  return size;
}

/// The axis whose stride is the group's: the innermost one that is longer than 1, because a stride along an axis of
/// size 1 has no meaning; the first axis if all have size 1.
unsigned walkedAxis(const runtime::AxisGroup &group, const IterationSpace &space) {
  unsigned axis = group.last ? group.last - 1 : 0;
  while (axis > group.first && space.sizes[axis] == 1)
    --axis;
  return axis;
}

int64_t strideOf(const runtime::AxisGroup &group, const IterationSpace &space, const int64_t *strides) {
  return group.last ? strides[walkedAxis(group, space)] : 1;
}

/// The steps of the values along the groups.
void fillStrides(Launch &launch, const DirectKernel &kernel, const IterationSpace &space, unsigned numOperands,
                 bool isPlaced) {
  int64_t own[kMaxRank];
  resultStrides(space, own);
  unsigned numGroups = kernel.groups.size(), numValues = kernel.values.size();
  runtime::KernelDims places(numGroups, numValues);
  for (unsigned v = 0; v < numValues; ++v) {
    uint8_t value = kernel.values[v];
    const int64_t *strides = value < numOperands ? space.strides[value] : isPlaced ? space.strides[numOperands] : own;
    for (unsigned g = 0; g < numGroups; ++g)
      launch.dims[places.stride(v, g)] = strideOf(kernel.groups[g], space, strides);
  }
  launch.tiled = kernel.isStrided && runtime::wantsTiles(launch.dims, numGroups, numValues);
}

/// Always inlined into its one caller: left to the compiler, its cost depends on the code beside it.
LLVM_ATTRIBUTE_ALWAYS_INLINE void fill(Launch &launch, const DirectKernel &kernel, const IterationSpace &space,
                                       const OpDef &op, llvm::ArrayRef<Operand> operands,
                                       llvm::ArrayRef<TensorRef> results, bool isPlaced) {
  launch.fn = kernel.fn;
  launch.picosecondsPerElement = kernel.picosecondsPerElement;
  unsigned numGroups = kernel.groups.size(), numValues = kernel.values.size();
  runtime::KernelDims places(numGroups, numValues);
  for (unsigned g = 0; g < numGroups; ++g) {
    int64_t size = sizeOf(kernel.groups[g], space);
    launch.dims[places.size(g)] = size;
    launch.outer *= launch.inner;
    launch.inner = size;
  }
  if (LLVM_LIKELY(space.isPlain && !isPlaced)) {
    std::fill_n(launch.dims + places.stride(0, 0), numValues * numGroups, 1);
    launch.tiled = false;
  } else {
    fillStrides(launch, kernel, space, operands.size(), isPlaced);
  }
  for (unsigned v = 0; v < numValues; ++v) {
    uint8_t value = kernel.values[v];
    launch.pointers[v] =
        value < operands.size() ? operands[value].tensor->data() : results[value - operands.size()]->data();
  }
  for (auto [slot, scalar] : llvm::enumerate(kernel.scalars))
    launch.dims[places.attribute(unsigned(slot))] =
        int64_t(scalar.attr < 0 ? scalar.bits : bitsOf(op.attr(scalar.attr)));
}

/// Whether each element of the operand lies where the destination's element lies, or in other memory.
bool isInStep(const TensorImpl &operand, const TensorImpl &target) {
  if (&operand.storage() != &target.storage())
    return true;
  bool isAlike = (operand.isContiguous() && target.isContiguous()) || operand.strides() == target.strides();
  return isAlike && operand.offset() == target.offset() && operand.shape() == target.shape();
}

/// Whether the kernel may write into the destination while it reads the operands.
bool fitsInto(const DispatchCall &call, const DirectKernel &kernel, const IterationSpace &space) {
  const TensorImpl &target = call.into->target;
  if (kernel.resultDTypes.size() != 1 || kernel.resultDTypes[0] != kindOf(target.dtype()) ||
      target.shape() != space.resultShape())
    return false;
  bool mayMove = !call.into->isSeen && !call.into->isRequired;
  if (mayMove && isTinyWork(space.numElements, kernel.picosecondsPerElement) && target.storage().isHeld())
    return false; // memory of its own need not wait for the queue
  return llvm::all_of(call.operands, [&](const Operand &operand) { return isInStep(*operand.tensor, target); });
}

/// The destination is a view whose elements lie apart, and has the shape of the result.
bool needsPlaces(const DispatchCall &call, const IterationSpace &space) {
  const TensorImpl &target = call.into->target;
  return space.numElements && !target.isContiguous() && target.shape() == space.resultShape();
}

/// The dtype of result number `index`: a kernel serves all quantized dtypes of its kind.
llvm::Expected<DType> quantizedResult(const DispatchCall &call, size_t index) {
  llvm::Expected<Metas> results = call.infer();
  return results ? llvm::Expected<DType>((*results)[index].dtype) : results.takeError();
}

llvm::Error allocateResults(const DispatchCall &call, const DirectKernel &kernel, llvm::ArrayRef<int64_t> shape,
                            runtime::Device &device, Tensors &results) {
  for (DType dtype : kernel.resultDTypes) {
    if (LLVM_UNLIKELY(isQuantized(dtype)))
      if (llvm::Error e = quantizedResult(call, results.size()).moveInto(dtype))
        return e;
    llvm::Expected<TensorRef> result = TensorImpl::allocate(dtype, shape, device);
    if (!result)
      return result.takeError();
    results.push_back(std::move(*result));
  }
  return llvm::Error::success();
}

runtime::KernelLaunch wholeOf(const Launch &launch) {
  runtime::KernelLaunch whole{};
  whole.fn = launch.fn;
  whole.pointers = launch.pointers;
  whole.dims = launch.dims;
  whole.outer = launch.outer;
  whole.inner = launch.inner;
  whole.tiled = launch.tiled;
  return whole;
}

/// Runs the launch in parts; called on the worker thread.
void runParallel(const Launch &launch, runtime::Device &device, unsigned threads) {
  runtime::KernelLaunch whole = wholeOf(launch);
  whole.split(threads);
  llvm::cantFail(device.defaultStream().launch(whole));
}

} // namespace

TESS_CALLS_KERNELS static void launchNow(const Launch &launch, runtime::Device &device) {
  runtime::bump(&runtime::ExecutorCounters::launches);
  unsigned threads = launch.isTiny() ? 1 : runtime::numThreads();
  if (threads == 1) {
    if (LLVM_UNLIKELY(launch.tiled))
      return wholeOf(launch).run(nullptr, 0, launch.outer, 0, launch.inner);
    return launch.fn(launch.pointers, launch.dims, nullptr, 0, launch.outer, 0, launch.inner);
  }
  if (runtime::Worker::onWorkerThread())
    return runParallel(launch, device, threads);
  BlockingRegion region;
  llvm::cantFail(runtime::Worker::global().call([&] {
    runParallel(launch, device, threads);
    return llvm::Error::success();
  }));
}

/// Launches the kernel of `info`, which a profile names.
static void launchNamed(const Launch &launch, const OpInfo &info, runtime::Device &device) {
  if (LLVM_LIKELY(!runtime::profiler::on()))
    return launchNow(launch, device);
  runtime::profiler::Moment begin = runtime::profiler::now();
  launchNow(launch, device);
  runtime::profiler::record(info.name, "kernel", begin, runtime::profiler::now(), {});
}

/// Infers the shape of the results where the operands do not tell it.
static llvm::Error inferSpace(const DispatchCall &call, IterationSpace &space) {
  llvm::Expected<Metas> results = call.infer();
  if (!results)
    return results.takeError();
  const Shape &shape = results->front().shape;
  space.rank = shape.size();
  llvm::copy(shape, space.shape);
  return llvm::Error::success();
}

/// The error of inference about operands that do not fit.
static llvm::Error whyNot(const DispatchCall &call) {
  llvm::Expected<Metas> results = call.infer();
  if (!results)
    return results.takeError();
  return makeError(ErrorCode::Internal, call.op.name() + ": operands must broadcast to the results, got others");
}

static llvm::Expected<CompiledOpRef> compiledFor(const DispatchCall &call, const IterationSpace &space,
                                                 runtime::Device &device) {
  bool shapeGiven = !factsOf(call.info()).broadcasts;
  OpKey key{keyOfOp(call.op, true), keyOfOperands(call.operands, call.segments),
            classOf(space, call.operands.size()) ^ device.keySalt()};
  if (shapeGiven)
    key.op += keyOfRanks(call.operands);
  return findOrBuild(key, call.op, [&]() -> BuiltOp {
    if (!shapeGiven) // else inferSpace() has asked
      if (llvm::Expected<Metas> results = call.infer(); !results)
        return results.takeError(); // in the user's shapes
    return buildOp(key,
                   {call.op, metasOfClass(call.operands, space, shapeGiven),
                    layoutsOfClass(space, call.operands.size()), llvm::SmallVector<unsigned, 4>(call.segments)},
                   true, device);
  });
}

/// Puts the launch into the stream of a device that the host does not call, where it waits for what is before it.
static llvm::Error launchApart(const Launch &launch, const OpInfo &info, runtime::Device &device) {
  runtime::bump(&runtime::ExecutorCounters::launches);
  runtime::Stream &stream = device.defaultStream();
  const bool isProfiled = runtime::profiler::on();
  runtime::profiler::Moment begin = isProfiled ? runtime::profiler::now() : runtime::profiler::Moment();
  runtime::KernelLaunch whole = wholeOf(launch);
  whole.what = info.name;
  llvm::Error error = stream.launch(whole);
  if (!error && (asyncLevel() == 0 || isProfiled))
    error = stream.synchronize();
  if (isProfiled)
    runtime::profiler::record(info.name, "kernel", begin, runtime::profiler::now(), {});
  return error;
}

/// Launches tiny work at once if its operands are ready, and queues all other work.
static llvm::Error start(const DispatchCall &call, const Launch &launch, const DirectKernel &kernel,
                         Readiness readiness, runtime::Device &device, llvm::ArrayRef<TensorRef> results) {
  if (LLVM_UNLIKELY(!device.hostAccessible()))
    return settle(call, results, launchApart(launch, call.info(), device));
  bool isInline = launch.isTiny() && readiness == Readiness::Ready;
  if (!isInline && asyncLevel() != 0)
    return enqueueCall(call, results, [launch, image = kernel.image, &info = call.info(), &device]() -> llvm::Error {
      launchNamed(launch, info, device);
      return llvm::Error::success();
    });
  launchNamed(launch, call.info(), device);
  return llvm::Error::success();
}

llvm::Expected<bool> dispatchDirect(const DispatchCall &call, Tensors &results) {
  const DirectFacts &facts = factsOf(call.info());
  IterationSpace space;
  if (call.operands.size() != call.info().operands.size() && call.info().simple)
    return whyNot(call);
  if (!facts.broadcasts)
    if (llvm::Error e = inferSpace(call, space))
      return std::move(e);
  if (!planIteration(call.operands, space, !facts.broadcasts, facts.keepsAxes))
    return whyNot(call);
  bool isPlaced = LLVM_UNLIKELY(call.into) && needsPlaces(call, space);
  if (LLVM_UNLIKELY(isPlaced))
    planDestination(call.operands, call.into->target, space, facts.keepsAxes);
  runtime::Device &device = call.device();
  llvm::Expected<CompiledOpRef> compiled = compiledFor(call, space, device);
  if (!compiled)
    return compiled.takeError();
  const DirectKernel *kernel = (*compiled)->direct.get();
  bool isInPlace = kernel && call.into && space.numElements && fitsInto(call, *kernel, space);
  if (LLVM_UNLIKELY(isPlaced && !isInPlace))
    return dispatchDirect({call.op, call.operands, call.segments}, results);
  if (!kernel)
    return false;
  if (LLVM_UNLIKELY(isInPlace))
    takeOver(call, results);
  else if (llvm::Error e = allocateResults(call, *kernel, space.resultShape(), device, results))
    return std::move(e);
  Readiness readiness = readinessOf(call.operands);
  if (isInPlace && call.into->target.storage().isHeld())
    readiness = Readiness::Pending; // a queued operator may still read or write what is to be written
  if (readiness == Readiness::Poisoned) {
    inheritFailure(call.operands, results);
    return true;
  }
  if (space.numElements == 0) { // nothing is computed, but the results must still inherit a failure of the operands
    if (readiness == Readiness::Pending)
      if (llvm::Error e = enqueueCall(call, results, [] { return llvm::Error::success(); }))
        return std::move(e);
    return true;
  }
  Launch launch;
  fill(launch, *kernel, space, call.op, call.operands, results, isPlaced);
  if (llvm::Error e = start(call, launch, *kernel, readiness, device, results))
    return std::move(e);
  return true;
}

} // namespace tess::eager
