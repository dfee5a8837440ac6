//===- Kept.cpp - calls while values may be evicted ------------------------===//
//
// A value is made again by the program, or the kernel, that made it first, on the
// same operands: the bits are the same. Random operators take their seed and
// offset as operands, so they repeat, too.
//
//===----------------------------------------------------------------------===//
#include "eager/dispatch/Kept.h"

#include "eager/dispatch/Contiguous.h"
#include "eager/eviction/Eviction.h"
#include "eager/tensor/Queue.h"
#include "ops/inference/Work.h"
#include "runtime/threads/ParallelFor.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::eager {

namespace {

/// The way of a call: by what its operator has, or as the program of a graph, which has no other.
enum class Way : uint8_t { Own, Program };

/// While it lives, calls of this thread are parts of one that is kept, or that runs again.
class Within {
public:
  Within() : before(isWithin) { isWithin = true; }
  ~Within() { isWithin = before; }
  Within(const Within &) = delete;
  static constinit thread_local bool isWithin;

private:
  bool before;
};
constinit thread_local bool Within::isWithin = false;

/// While it lives, settings of the process are those of a recorded call.
class WithSettings {
public:
  explicit WithSettings(const CallSettings &wanted) : before(CallSettings::now()), changes(!(before == wanted)) {
    if (changes)
      apply(wanted);
  }
  ~WithSettings() {
    if (changes)
      apply(before);
  }
  WithSettings(const WithSettings &) = delete;

private:
  static void apply(const CallSettings &settings) {
    llvm::cantFail(runtime::setNumThreads(settings.threads));
    runtime::setKernelSettings(settings.kernels);
  }
  CallSettings before;
  bool changes;
};

/// Bytes of all elements.
int64_t bytesOf(const TensorImpl &tensor) { return tensor.numElements() * byteWidth(tensor.dtype()); }

/// Estimated picoseconds of a call on a core.
double costOf(const DispatchCall &call, llvm::ArrayRef<TensorRef> results) {
  Metas operands, metas;
  for (const Operand &operand : call.operands)
    operands.push_back(operand.tensor->meta());
  for (const TensorRef &result : results)
    metas.push_back(result->meta());
  return picosecondsOf(call.op, operands, metas);
}

llvm::Error runBy(const DispatchCall &call, Way way, Tensors &results) {
  return way == Way::Program ? dispatchProgram(call, results) : dispatchPinned(call, results);
}

/// Whether the tensor is all of a storage that nothing else shows.
bool isAlone(const TensorRef &result, llvm::ArrayRef<TensorRef> operands, llvm::ArrayRef<TensorRef> results) {
  auto shares = [&](const TensorRef &other) { return other != result && other->storageRef() == result->storageRef(); };
  return result->isContiguous() && !result->offset() && int64_t(result->storage().bytes()) == bytesOf(*result) &&
         llvm::none_of(operands, shares) && llvm::none_of(results, shares);
}

/// Has a result of a call that ran again written, row-major, in a storage of its own.
llvm::Error settleAgain(const Recipe &recipe, const TensorMeta &meta, TensorRef &result, bool isAlone) {
  if (!(result->meta() == meta))
    return makeError(ErrorCode::Internal, recipe.op.name() + ": a call that runs again must give " + toString(meta) +
                                              ", got " + toString(result->meta()));
  if (!isAlone) {
    Tensors copy;
    if (llvm::Error e = dispatchPinned({OpDef::get("copy"), {Operand(result)}, {}, nullptr, true}, copy))
      return e;
    result = std::move(copy.front());
  }
  return awaitValue(result->storage());
}

llvm::Expected<Tensors> rerun(const Recipe &recipe, llvm::ArrayRef<TensorRef> given) {
  OnDevice there(*recipe.device);
  WithSettings asBefore(recipe.settings);
  Within parts;
  llvm::SmallVector<Operand, 4> operands(given.begin(), given.end());
  Tensors results;
  DispatchCall call{recipe.op, operands, recipe.segments, nullptr, /*isPart=*/true, recipe.scalars};
  if (llvm::Error e = runBy(call, recipe.isProgram ? Way::Program : Way::Own, results))
    return std::move(e);
  for (auto [result, known] : llvm::zip_equal(results, recipe.results))
    if (known.cell)
      if (llvm::Error e = settleAgain(recipe, known.meta, result, isAlone(result, given, results)))
        return std::move(e);
  return results;
}

void keep(const DispatchCall &call, Way way, llvm::ArrayRef<TensorRef> results) {
  if (call.info().custom || call.info().lowering == Lowering::View)
    return; // functions of users may give something else the next time
  Recipe recipe;
  recipe.op = call.op;
  recipe.segments.assign(call.segments.begin(), call.segments.end());
  recipe.scalars.assign(call.scalars.begin(), call.scalars.end());
  recipe.isProgram = way == Way::Program;
  recipe.device = &call.device();
  recipe.settings = CallSettings::now();
  recipe.cost = costOf(call, results);
  llvm::SmallVector<TensorImpl *, 4> operands;
  for (const Operand &operand : call.operands)
    operands.push_back(operand.tensor);
  eviction::record(recipe, operands, results);
}

} // namespace

/// Runs a call while its operands stay in memory, and keeps it.
static llvm::Error dispatchKept(const DispatchCall &call, Way way, Tensors &results) {
  if (Within::isWithin)
    return runBy(call, way, results);
  eviction::Use use;
  bool readsData = call.info().lowering != Lowering::View;
  for (const Operand &operand : call.operands)
    if (readsData)
      if (llvm::Error e = use.add(*operand.tensor))
        return e;
  if (call.into)
    if (llvm::Error e = use.addWritten(call.into->target.storage()))
      return e;
  Within parts;
  if (llvm::Error e = runBy(call, way, results))
    return e;
  bool isInPlace = call.into && results.front()->storageRef() == call.into->target.storageRef();
  if (!isInPlace)
    keep(call, way, results);
  return llvm::Error::success();
}

llvm::Error dispatchKeptProgram(const DispatchCall &call, Tensors &results) {
  return dispatchKept(call, Way::Program, results);
}

void startEviction() {
  setKeptDispatch([](const DispatchCall &call, Tensors &results) { return dispatchKept(call, Way::Own, results); });
  eviction::start(rerun);
}

} // namespace tess::eager
