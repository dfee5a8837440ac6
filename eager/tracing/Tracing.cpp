//===- Tracing.cpp - operators go to the recording -----------------------===//
#include "eager/stack/Call.h"
#include "eager/stack/GraphValue.h"
#include "eager/tensor/Placement.h"
#include "eager/tracing/Recorder.h"
#include "ops/inference/ShapeRules.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace tess::eager {

static const FailureRef &onlyRecorded() {
  static const FailureRef why =
      noValue(ErrorCode::InvalidArgument,
              "value: a tensor must come from a call that ran to have one, got one of a call that was recorded only "
              "(by estimate, or a trace's check) and is not among its results");
  return why;
}

bool isValueless(const TensorImpl &tensor) { return tensor.storage().failure() == onlyRecorded().get(); }

TensorRef valueless(const TensorMeta &meta, const FailureRef &why) {
  int64_t bytes = meta.numElements() * byteWidth(meta.dtype);
  StorageRef storage = Storage::wrap(nullptr, bytes, nullptr, [](void *) {}, creationDevice());
  storage->poison(why ? why : onlyRecorded());
  return TensorImpl::create(meta.dtype, meta.shape, std::move(storage));
}

/// Gives unknown sizes those of the next operator of `dataSizes.like` whose sizes data decided.
void Recorder::takeDataSizes(Metas &metas, llvm::ArrayRef<TensorMeta> bounds) {
  llvm::ArrayRef<Recording::Op> ops = dataSizes.like->ops();
  while (nextLike < ops.size() && !ops[nextLike].op.info().boundRule)
    ++nextLike;
  if (nextLike == ops.size())
    return;
  for (auto [meta, bound, like] : llvm::zip(metas, bounds, ops[nextLike].outputs)) {
    llvm::ArrayRef<int64_t> sizes = dataSizes.like->values()[like].meta.shape;
    for (auto [size, most, known] : llvm::zip(meta.shape, bound.shape, sizes)) {
      if (size == kUnknown)
        size = movedSize(known, most);
    }
  }
  ++nextLike;
}

/// Gives unknown sizes their bounds, moved, where there are any.
void Recorder::takeBounds(Metas &metas, llvm::ArrayRef<TensorMeta> bounds) {
  for (auto [meta, bound] : llvm::zip_equal(metas, bounds))
    for (auto [size, most] : llvm::zip_equal(meta.shape, bound.shape))
      if (size == kUnknown && most < shapes::kNoBound)
        size = movedSize(most, most);
}

/// The next size that data decides: `known`, moved, at most `most`.
int64_t Recorder::movedSize(int64_t known, int64_t most) {
  int64_t step = dataSizes.stepOf(numMoved++);
  return step == kToOne ? std::min<int64_t>(1, most) : std::clamp<int64_t>(known + step, 0, most);
}

llvm::Expected<Metas> Recorder::inferMetas(const Call &call) {
  Metas operands = metasOf(call.operands);
  llvm::Expected<Metas> metas = call.opDef().infer(operands, call.segments());
  bool isKnown = !metas || llvm::all_of(*metas, [](const TensorMeta &meta) { return meta.isStatic(); });
  if (isKnown || !call.opDef().info().boundRule)
    return metas;
  llvm::Expected<Metas> bounds = call.opDef().info().boundRule(call.opDef(), operands, call.segments());
  if (!bounds)
    return bounds;
  if (mode == Mode::InferBounds)
    takeBounds(*metas, *bounds);
  if (dataSizes.like)
    takeDataSizes(*metas, *bounds);
  return metas;
}

/// Infers the results of an operator that does not run.
llvm::Error Recorder::infer(const Call &call, Tensors &results) {
  OnDevice here(call.operands);
  llvm::Expected<Metas> metas = inferMetas(call);
  if (!metas)
    return metas.takeError();
  for (const TensorMeta &meta : *metas) {
    if (!meta.isStatic()) {
      recording.dataShapes = true;
      return invalidArgument(llvm::Twine(isBody ? "scan" : "estimate") + ": shapes must be known without data, got " +
                             toString(meta) + " of " + call.opDef().name());
    }
    results.push_back(valueless(meta));
  }
  return llvm::Error::success();
}

/// Infers the results of an operator that does not run. One whose sizes only data knows runs where the recording may be
/// interrupted, and is no part of it.
llvm::Error Recorder::inferOrInterrupt(Call &call, Tensors &results, bool &isRecorded) {
  bool neededData = recording.dataShapes;
  llvm::Error error = infer(call, results);
  if (!error || !mayInterrupt() || neededData || !recording.dataShapes)
    return error;
  llvm::consumeError(std::move(error));
  recording.dataShapes = isRecorded = false;
  results.clear();
  return interrupt([&] { return next(call, results); });
}

llvm::Error Recorder::apply(Call &call, Tensors &results) {
  if (call.op.kind == OperatorKind::GetAttr && static_cast<const GetAttr &>(call.op).attr == GetAttr::Value)
    if (llvm::Error e = noteValueRead(*call.operands[0].tensor))
      return e;
  if (call.op.kind == OperatorKind::DupTensor) {
    noteUse(*call.operands[0].tensor);
    gradientsLeft |= static_cast<const DupTensor &>(call.op).detach;
  }
  if (!isBody && call.isOpDef() && isOfGraph(static_cast<const OpDefOperator &>(call.op), call.operands))
    return invalidArgument("trace: a traced function must use no variable of a network, got one in " +
                           call.opDef().name());
  bool runs = runsOperators() || !call.isOpDef(), isRecorded = true;
  if (llvm::Error e = runs ? next(call, results) : inferOrInterrupt(call, results, isRecorded))
    return e;
  if (!isRecorded)
    return llvm::Error::success(); // this recording has ended
  if (call.isOpDef())
    record(call, results);
  else if (call.op.kind == OperatorKind::CreateTensor)
    recordConstant(*results.front());
  else if (call.op.kind == OperatorKind::RenameValue)
    if (const TensorImpl &tensor = *call.operands[0].tensor; tensor.traceTag.owner == id)
      if (Recording::Value &value = recording.valueList[tensor.traceTag.id];
          value.kind == Recording::ValueKind::Computed)
        value.name = tensor.name().str();
  return llvm::Error::success();
}

} // namespace tess::eager
