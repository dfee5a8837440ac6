//===- Tracing.cpp - operators go to the recording -----------------------===//
#include "eager/Recording.h"
#include "eager/Transformations.h"

namespace tess::eager {

TensorRef valueless(const TensorMeta &meta) {
  static const FailureRef why = [] {
    FailureRef failure(new Failure);
    failure->code = ErrorCode::InvalidArgument;
    failure->message = "estimate: values must not be looked at before anything ran, got a read";
    failure->reported = true; // nothing failed: sync() has nothing to tell
    return failure;
  }();
  int64_t bytes = meta.numElements() * byteWidth(meta.dtype);
  StorageRef storage = Storage::wrap(nullptr, bytes, nullptr, [](void *) {});
  storage->poison(why);
  return TensorImpl::create(meta.dtype, meta.shape, std::move(storage));
}

/// The results of an operator that does not run.
static llvm::Expected<Tensors> infer(const Call &call) {
  Metas operands;
  for (const Operand &operand : call.operands)
    operands.push_back(operand.tensor->meta());
  llvm::Expected<Metas> metas = call.opDef().infer(operands, call.segments());
  if (!metas)
    return metas.takeError();
  Tensors results;
  for (const TensorMeta &meta : *metas) {
    if (!meta.isStatic())
      return invalidArgument("estimate: shapes must be known without data, got " + toString(meta) + " of " +
                             call.opDef().name());
    results.push_back(valueless(meta));
  }
  return results;
}

llvm::Expected<Tensors> applyTracing(Call &call) {
  Recorder &recorder = *Recorder::current();
  if (call.op.kind == OperatorKind::GetAttr && static_cast<const GetAttr &>(call.op).attr == GetAttr::Value)
    if (llvm::Error e = recorder.checkRead(*call.operands[0].tensor))
      return std::move(e);
  if (call.op.kind == OperatorKind::DupTensor)
    recorder.noteUse(*call.operands[0].tensor);
  llvm::Expected<Tensors> results = recorder.runsOperators() || !call.isOpDef() ? next(call) : infer(call);
  if (!results)
    return results;
  if (call.isOpDef())
    recorder.record(call.opDef(), call.segments(), call.operands, *results);
  else if (call.op.kind == OperatorKind::CreateTensor)
    recorder.recordConstant(*results->front());
  return results;
}

llvm::Error assign(TensorImpl &handle, const TensorImpl &value) {
  if (Recorder *recorder = Recorder::current()) {
    recorder->noteUse(const_cast<TensorImpl &>(value));
    recorder->noteUpdate(handle);
  }
  handle.rebind(value);
  return llvm::Error::success();
}

} // namespace tess::eager
