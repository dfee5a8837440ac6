//===- Programs.cpp - operators through bound programs -------------------===//
//
// A program serves all shapes of its ranks and dtypes. Its bindings for
// concrete shapes are kept in the entry, the latest used first. Temporaries
// come from the caching allocator, so that bindings hold no memory.
//
//===----------------------------------------------------------------------===//
#include "eager/classes/BindingFront.h"
#include "eager/classes/GraphOp.h"
#include "eager/classes/MiniGraph.h"
#include "eager/dispatch/Contiguous.h"
#include "eager/dispatch/Dispatch.h"
#include "eager/dispatch/Outcome.h"
#include "eager/stack/Apply.h"
#include "eager/tensor/Counters.h"
#include "eager/tensor/Location.h"
#include "eager/tensor/MemoryHooks.h"
#include "eager/tensor/MemoryReport.h"
#include "eager/tensor/Queue.h"
#include "ops/vocabulary/Hash.h"
#include "runtime/run/Executor.h"
#include "runtime/threads/Worker.h"

namespace tess::eager {

namespace {

/// One run of a binding, with the arguments that it keeps until then.
struct BoundRun {
  BoundShapesRef shapes;
  const OpInfo *info;
  llvm::SmallVector<void *, 4> inputs, outputs;
  llvm::SmallVector<uint64_t, 4> scalars;
  StorageRef arena = nullptr; // null: the run takes one

  /// Takes the arena before the run is queued: on the worker, all that could be evicted for it may wait behind it.
  llvm::Error takeArena() {
    uint64_t bytes = shapes->bound->memory().arena;
    return bytes ? Storage::allocate(int64_t(bytes), shapes->bound->program().device()).moveInto(arena)
                 : llvm::Error::success();
  }

  /// Runs on any thread, and writes what the outputs are to `actual`, where that is given. The arena is allocated
  /// before the lock is taken: waiting for memory means waiting for the worker, which may want the lock.
  llvm::Error operator()(Metas *actual = nullptr) const {
    runtime::Bound &bound = *shapes->bound;
    runtime::RunOptions options;
    StorageRef memory = arena;
    if (uint64_t bytes = bound.memory().arena) {
      if (llvm::Error e = memory ? llvm::Error::success()
                                 : Storage::allocate(int64_t(bytes), bound.program().device()).moveInto(memory))
        return withOperator(std::move(e), [&] { return std::string(info->name); });
      options.arena = memory->data();
    }
    std::unique_lock<std::mutex> lock = lockInRegion(shapes->running); // another thread may run the same shapes
    std::optional<BlockingRegion> region;
    if (bound.needsWorker() && !runtime::Worker::onWorkerThread())
      region.emplace();
    llvm::Error error = runtime::run(bound, inputs, outputs, scalars, options);
    region.reset();
    if (!error && actual)
      *actual = Metas(bound.outputs());
    return error;
  }
};

class ProgramRun {
public:
  explicit ProgramRun(const DispatchCall &call) : call(call), donated(findDonated(call)) {}
  llvm::Error run(Tensors &results);

private:
  static int findDonated(const DispatchCall &call);
  llvm::Expected<BoundShapesRef> findBinding();
  llvm::Error infer() { return call.op.infer(metas, call.segments).moveInto(inferred); }
  llvm::Expected<CompiledOpRef> findEntry();
  llvm::Expected<CompiledOpRef> entryFor(const Metas &unknown);
  llvm::Expected<BoundShapesRef> bind(CompiledOp &compiled);
  llvm::Error readOperands();
  llvm::Error allocate(const BoundShapes &shapes, Tensors &results);
  llvm::Error runDataDependent(const BoundRun &task, Tensors &results);
  llvm::SmallVector<Operand, 4> operands() const { return {made.begin(), made.end()}; }
  llvm::Error shrink(const Metas &actual, Tensors &results);
  llvm::SmallVector<uint64_t, 4> scalars(size_t count) const;

  const DispatchCall &call;
  const int donated; // the operand whose memory the result takes over; -1: none
  Metas metas;
  llvm::SmallVector<TensorRef, 4> made;
  llvm::SmallVector<void *, 4> inputs;
  Metas inferred; // the results, once the operator was asked for them
};

/// The operand that is the destination, if the program may write there: nothing else that it reads lies there, and the
/// result has its shape, which that of an elementwise operator need not have. An error that a call of async level 1
/// tells would leave the memory without a value.
int ProgramRun::findDonated(const DispatchCall &call) {
  if (LLVM_LIKELY(!call.into) || asyncLevel() == 1 || call.info().lowering == Lowering::Elementwise)
    return -1;
  int number = call.info().inPlaceOperand();
  if (number < 0)
    return -1;
  const TensorImpl &target = call.into->target, &operand = *call.operands[number].tensor;
  auto isThere = [&](const Operand &each) { return &each.tensor->storage() == &target.storage(); };
  bool isTarget = isThere(call.operands[number]) && operand.offset() == target.offset() &&
                  operand.shape() == target.shape() && operand.isContiguous() && target.isContiguous();
  return isTarget && llvm::count_if(call.operands, isThere) == 1 ? number : -1;
}

/// The program for operands of these metas; `unknown` is the same with the sizes left open that the program may leave
/// open.
llvm::Expected<CompiledOpRef> ProgramRun::entryFor(const Metas &unknown) {
  uint64_t space = keyOfRanks(call.operands);
  for (const TensorMeta &meta : unknown)
    for (int64_t size : meta.shape)
      space = mixHash(space, uint64_t(size));
  space += uint64_t(donated + 1);
  OpKey key{keyOfOp(call.op, false), keyOfOperands(call.operands, call.segments), space ^ call.device().keySalt()};
  return findOrBuild(key, call.op, [&]() -> BuiltOp {
    if (llvm::Error e = infer())
      return std::move(e); // it names the user's shapes
    return buildOp(key, {call.op, unknown, {}, llvm::SmallVector<unsigned, 4>(call.segments), donated}, false,
                   call.device());
  });
}

llvm::Expected<CompiledOpRef> ProgramRun::findEntry() {
  if (isSized(call.op))
    return entryFor(metas);
  Metas unknown = metas;
  const bool keeps = keepsOnes(call.info());
  for (TensorMeta &meta : unknown)
    for (int64_t &size : meta.shape)
      size = size == 1 && keeps ? 1 : kUnknown;
  return entryFor(unknown);
}

/// Counts `results` of a program that makes `calls`: for the library and for our own loops where it calls both.
static void countOrigin(const runtime::Bound::TableCalls &calls, uint64_t results) {
  if (calls.library)
    count(Count::FromLibrary, results);
  if (calls.loops)
    count(Count::FromLoops, results);
  if (!calls.library && !calls.loops)
    count(Count::FromKernels, results);
}

llvm::Expected<BoundShapesRef> ProgramRun::bind(CompiledOp &compiled) {
  const auto settings = runtime::BindSettings::now();
  if (BoundShapesRef known = compiled.findBound(metas, call.op, settings))
    return known;
  if (inferred.empty())
    if (llvm::Error e = infer())
      return std::move(e);
  runtime::BindOptions options;
  options.set(settings);
  options.op = compiled.bindsAttrs ? &call.op : nullptr;
  options.outputs = inferred;
  auto shapes = std::make_shared<BoundShapes>();
  if (llvm::Error e = compiled.program->bind(metas, options).moveInto(shapes->bound))
    return std::move(e);
  shapes->inputs.assign(metas.begin(), metas.end());
  if (compiled.bindsAttrs)
    shapes->op = call.op;
  shapes->settings = settings;
  shapes->isInPlace = donated >= 0;
  shapes->calls = shapes->bound->tableCalls();
  compiled.addBound(shapes);
  return shapes;
}

llvm::Error ProgramRun::readOperands() {
  for (const Operand &operand : call.operands) {
    llvm::Expected<TensorRef> plain = contiguous(*operand.tensor, call.op.name());
    if (!plain)
      return plain.takeError();
    inputs.push_back((*plain)->data());
    made.push_back(std::move(*plain));
  }
  return llvm::Error::success();
}

/// The first `count` of the runtime attributes that the call has.
llvm::SmallVector<uint64_t, 4> ProgramRun::scalars(size_t count) const {
  if (!call.scalars.empty())
    return llvm::SmallVector<uint64_t, 4>(call.scalars.take_front(count));
  llvm::SmallVector<uint64_t, 4> bits;
  for (unsigned i = 0; i < call.op.numAttrs() && bits.size() < count; ++i)
    if (call.info().attrs[i].isRuntime && call.op.attr(i).kind() != AttrKind::None)
      bits.push_back(bitsOf(call.op.attr(i)));
  return bits;
}

llvm::Error ProgramRun::allocate(const BoundShapes &shapes, Tensors &results) {
  if (donated >= 0) {
    takeOver(call, results);
    return llvm::Error::success();
  }
  for (const TensorMeta &meta : shapes.bound->mostOutputs()) {
    llvm::Expected<TensorRef> result = TensorImpl::allocate(meta.dtype, meta.shape, call.device());
    if (!result)
      return result.takeError();
    results.push_back(std::move(*result));
  }
  countOrigin(shapes.calls, results.size());
  return llvm::Error::success();
}

/// Moves results whose size the data decided to memory of that size.
llvm::Error ProgramRun::shrink(const Metas &actual, Tensors &results) {
  for (unsigned i = 0; i < results.size(); ++i) {
    if (llvm::ArrayRef<int64_t>(actual[i].shape) == results[i]->shape())
      continue;
    llvm::Expected<TensorRef> exact = TensorImpl::allocate(actual[i].dtype, actual[i].shape, call.device());
    if (!exact)
      return exact.takeError();
    if (llvm::Error e = call.device().defaultStream().copy((*exact)->data(), results[i]->data(),
                                                           size_t((*exact)->storage().bytes()), 1))
      return e;
    results[i] = std::move(*exact);
  }
  return llvm::Error::success();
}

/// Runs in the calling thread, because the caller needs the sizes as well as the data.
llvm::Error ProgramRun::runDataDependent(const BoundRun &task, Tensors &results) {
  for (const TensorRef &operand : made)
    if (llvm::Error e = awaitWritten(operand->storage()))
      return e;
  if (readinessOf(operands()) == Readiness::Poisoned) {
    inheritFailure(operands(), results);
    return llvm::Error::success();
  }
  Metas actual;
  if (llvm::Error e = task(&actual))
    return settle(call, results, std::move(e));
  return shrink(actual, results);
}

/// The binding for the call: of operands without groups, which the thread's front does not tell apart, from there; else
/// from the class.
llvm::Expected<BoundShapesRef> ProgramRun::findBinding() {
  BindingFront &front = BindingFront::own();
  bool isPlain = call.segments.empty();
  if (isPlain)
    if (BoundShapesRef known =
            front.find(call.op, call.operands, call.device(), runtime::BindSettings::now(), donated >= 0)) {
      count(Count::CacheHits);
      return known;
    }
  metas = metasOf(call.operands);
  llvm::Expected<CompiledOpRef> entry = findEntry();
  if (!entry)
    return entry.takeError();
  llvm::Expected<BoundShapesRef> found = bind(**entry);
  if (found && isPlain)
    front.insert(call.op, call.operands, *found);
  return found;
}

llvm::Error ProgramRun::run(Tensors &results) {
  llvm::Expected<BoundShapesRef> shapes = findBinding();
  if (!shapes)
    return shapes.takeError();
  runtime::Bound &bound = *(*shapes)->bound;
  bool isHeld = donated >= 0 && call.into->target.storage().isHeld(); // a queued operator may still read or write it
  if (isHeld && !call.into->isSeen && !bound.needsWorker())
    return ProgramRun({call.op, call.operands, call.segments}).run(results); // memory of its own need not wait
  if (llvm::Error e = readOperands())
    return e;
  if (llvm::Error e = allocate(**shapes, results))
    return e;
  BoundRun task{std::move(*shapes), &call.info(), std::move(inputs), {}, scalars(bound.numScalars())};
  if (LLVM_UNLIKELY(eviction::isActive()))
    if (llvm::Error e = task.takeArena())
      return e;
  for (const TensorRef &result : results)
    task.outputs.push_back(result->data());
  if (bound.dependsOnData())
    return runDataDependent(task, results);
  Readiness readiness = isHeld ? Readiness::Pending : readinessOf(operands());
  if (readiness == Readiness::Poisoned) {
    inheritFailure(operands(), results);
    return llvm::Error::success();
  }
  bool isTiny = !bound.needsWorker() && readiness == Readiness::Ready;
  if (isTiny || asyncLevel() == 0 || !call.device().hostAccessible())
    return settle(call, results, task());
  llvm::SmallVector<Operand, 4> read = operands();
  if (llvm::Error e = enqueueCall({call.op, read, call.segments}, results, std::move(task)))
    return e;
  return asyncLevel() == 1 && bound.checksData() ? awaitValue(results.front()->storage()) : llvm::Error::success();
}

} // namespace

llvm::Error dispatchProgram(const DispatchCall &call, Tensors &results) { return ProgramRun(call).run(results); }

} // namespace tess::eager
