//===- Tracing.cpp - operators go to the recording -----------------------===//
#include "eager/Recording.h"
#include "eager/Transformations.h"

namespace tess::eager {

llvm::Expected<Tensors> applyTracing(Call &call) {
  Recorder &recorder = *Recorder::current();
  if (call.op.kind == OperatorKind::GetAttr && static_cast<const GetAttr &>(call.op).attr == GetAttr::Value)
    if (llvm::Error e = recorder.checkRead(*call.operands[0].tensor))
      return std::move(e);
  if (call.op.kind == OperatorKind::DupTensor)
    recorder.noteUse(*call.operands[0].tensor);
  llvm::Expected<Tensors> results = next(call);
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
