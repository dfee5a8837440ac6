//===- Outcome.cpp - how calls end: at once, later, or badly --------------===//
#include "eager/dispatch/Outcome.h"
#include "eager/tensor/Queue.h"

namespace tess::eager {

/// The operands in words, as in "x f32[2, 3], y f32[3]".
static std::string describeOperands(const OpInfo &info, llvm::ArrayRef<TensorMeta> operands,
                                    llvm::ArrayRef<unsigned> segments) {
  std::string text;
  unsigned group = 0, left = segments.empty() ? 1 : segments[0];
  for (const TensorMeta &operand : operands) {
    while (left == 0 && group + 1 < info.operands.size())
      left = segments.empty() ? (++group, 1) : segments[++group];
    text += (text.empty() ? "" : ", ") + std::string(info.operands[group].name) + " " + toString(operand);
    --left;
  }
  return text;
}

std::string describeOperands(const DispatchCall &call) {
  return describeOperands(call.info(), metasOf(call.operands), call.segments);
}

Readiness readinessOf(llvm::ArrayRef<Operand> operands) {
  Readiness readiness = Readiness::Ready;
  for (const Operand &operand : operands) {
    const Storage &storage = operand.tensor->storage();
    if (isPending(storage))
      return Readiness::Pending;
    if (storage.failure())
      readiness = Readiness::Poisoned;
  }
  return readiness;
}

static llvm::SmallVector<StorageRef, 2> storagesOf(llvm::ArrayRef<TensorRef> tensors) {
  llvm::SmallVector<StorageRef, 2> storages;
  for (const TensorRef &tensor : tensors)
    storages.push_back(tensor->storageRef());
  return storages;
}

static llvm::SmallVector<StorageRef, 4> storagesOf(llvm::ArrayRef<Operand> operands) {
  llvm::SmallVector<StorageRef, 4> storages;
  for (const Operand &operand : operands)
    storages.push_back(operand.tensor->storageRef());
  return storages;
}

void inheritFailure(llvm::ArrayRef<Operand> operands, llvm::ArrayRef<TensorRef> results) {
  if (FailureRef failure = inheritedFailure(storagesOf(operands)))
    poisonAll(storagesOf(results), failure);
}

llvm::Error settle(const DispatchCall &call, llvm::ArrayRef<TensorRef> results, llvm::Error error) {
  if (!error)
    return error;
  FailureRef failure = makeFailure(std::move(error), describeOperands(call), Location::here());
  if (asyncLevel() < 2)
    return errorOf(*failure);
  poisonAll(storagesOf(results), failure);
  return llvm::Error::success();
}

llvm::Error enqueueCall(const DispatchCall &call, llvm::ArrayRef<TensorRef> results,
                        std::function<llvm::Error()> body) {
  auto job = std::make_unique<Job>();
  job->inputs = storagesOf(call.operands);
  job->outputs = storagesOf(results);
  job->body = std::move(body);
  job->describe = [info = &call.info(), metas = metasOf(call.operands),
                   segments = llvm::SmallVector<unsigned, 4>(call.segments)] {
    return describeOperands(*info, metas, segments);
  };
  job->location = Location::here();
  return enqueue(std::move(job));
}

} // namespace tess::eager
