//===- InPlace.cpp - results in the memory of an operand ------------------===//
//
// A kernel that can do so writes its result where it reads the operand. Any
// other operator makes its result elsewhere, and a copy moves it there, in the
// order of the queue. Variables that only share a value keep it: copy on write.
//
//===----------------------------------------------------------------------===//
#include "eager/dispatch/InPlace.h"
#include "eager/dispatch/Contiguous.h"
#include "eager/stack/Apply.h"
#include "eager/stack/Autocast.h"
#include "eager/stack/Watcher.h"
#include "eager/tensor/Queue.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::eager {

/// Whether two indices may name one element.
static bool overlaps(const TensorImpl &tensor) {
  if (tensor.isContiguous())
    return false;
  llvm::SmallVector<std::pair<int64_t, int64_t>, kMaxRank> axes; // distance of the elements, and their number
  for (auto [step, size] : llvm::zip(tensor.strides(), tensor.shape())) {
    if (size == 0)
      return false;
    if (size > 1)
      axes.emplace_back(std::abs(step), size);
  }
  llvm::sort(axes);
  int64_t extent = 0; // distance from the first to the last element over the axes so far
  for (auto [step, size] : axes) {
    if (step <= extent)
      return true;
    extent += step * (size - 1);
  }
  return false;
}

static llvm::Error checkTarget(const OpDef &op, const char *name, const TensorImpl *target) {
  if (!target)
    return makeError(ErrorCode::TypeMismatch,
                     op.name() + ": " + name + " must be a Tensor to be written in place, got a number");
  if (activeLayers & bitOf(Layer::Tracing))
    return invalidArgument(op.name() +
                           ": inplace must be False while a trace records, whose program decides what shares "
                           "memory, got True");
  if (overlaps(*target))
    return invalidArgument(op.name() + ": " + name +
                           " must have an element of its own for each index to be written in place, got " +
                           toString(target->meta()) + " with strides " + toString(target->strides()));
  return llvm::Error::success();
}

/// Whether the write needs memory of its own: copies share the memory and must not see it.
static llvm::Expected<bool> copiesOnWrite(const OpDef &op, const char *name, const TensorImpl &target) {
  const Storage &storage = target.storage();
  if (!storage.hasCopies() || storage.isExclusive())
    return false;
  if (!storage.hasViews())
    return true;
  return invalidArgument(op.name() + ": " + name +
                         " must not share its memory with copies of its value and with views alike to be written in "
                         "place, got " +
                         toString(target.meta()));
}

static llvm::Error write(TensorImpl &target, TensorImpl &value, const OpInfo &by) {
  if (target.numElements() == 0)
    return llvm::Error::success();
  target.storage().forgetPrint();
  if (asyncLevel() == 0)
    if (llvm::Error e = awaitAll()) // other threads may have queued operators
      return e;
  return copyInto(target, value, by.name);
}

bool ownsMemory(const TensorImpl &tensor) {
  const Storage &storage = tensor.storage();
  return storage.isExclusive() && !storage.isForeign() && !overlaps(tensor) && !(activeLayers & bitOf(Layer::Tracing));
}

/// Whether an update may write in place. A tape must not record, because it may save the values that the call reads.
static bool mayUpdate(const TensorImpl &variable) {
  return ownsMemory(variable) && !(activeLayers & bitOf(Layer::Grad));
}

llvm::Expected<TensorRef> updated(TensorImpl &variable, const OpDef &op, llvm::ArrayRef<Operand> operands,
                                  llvm::ArrayRef<unsigned> segments) {
  bool isFree = op.info().inPlaceOperand() >= 0 && mayUpdate(variable);
  Destination into(variable, /*isSeen=*/false);
  Tensors results;
  if (llvm::Error e = apply(op, operands, segments, results, isFree ? &into : nullptr))
    return std::move(e);
  return std::move(results.front());
}

llvm::Error update(const OpDef &op, llvm::ArrayRef<Operand> operands) {
  NoAutocast asGiven; // the variable keeps its dtype
  TensorImpl &variable = *operands[0].tensor;
  llvm::Expected<TensorRef> result = updated(variable, op, operands);
  if (!result)
    return result.takeError();
  assign(variable, **result);
  return llvm::Error::success();
}

llvm::Expected<bool> updateRegion(TensorImpl &variable, const OpDef &region, TensorImpl &value, const OpInfo &by) {
  if (!mayUpdate(variable) || &value.storage() == &variable.storage())
    return false;
  if (&value.storage().device() != &variable.storage().device())
    return false; // the operator itself reports the error
  std::optional<Metas> metas = llvm::expectedToOptional(region.infer({variable.meta()}));
  if (!metas)
    return false; // the operator itself reports the error
  Layout whole = variable.layout();
  whole.offset = 0;
  std::optional<Layout> layout = llvm::expectedToOptional(region.info().viewRule(region, whole, metas->front().shape));
  if (!layout)
    return false;
  TensorRef target = TensorImpl::create(variable.dtype(), *layout, variable.storageRef(), variable.offset());
  if (!(target->meta() == value.meta()))
    return false;
  if (llvm::Error e = write(*target, value, by))
    return std::move(e);
  variable.clearGradIds(); // it has a new value
  variable.setGrid(nullptr);
  return true;
}

llvm::Error applyInPlace(const OpDef &op, llvm::ArrayRef<Operand> operands, llvm::ArrayRef<unsigned> segments) {
  int operand = op.info().inPlaceOperand();
  if (operand < 0)
    return makeError(ErrorCode::TypeMismatch, op.name() + ": the record must say that the result may share memory for "
                                                          "inplace, got one that does not");
  const char *name = op.info().operands[operand].name;
  TensorImpl *target = operands[operand].tensor;
  if (llvm::Error e = checkTarget(op, name, target))
    return e;
  noteUpdate(*target);
  NoAutocast asGiven; // the memory keeps its dtype
  llvm::Expected<bool> copies = copiesOnWrite(op, name, *target);
  if (!copies)
    return copies.takeError();
  if (!*copies && target->storage().isReadOnly())
    return invalidArgument(op.name() + ": " + name + " must not be in read-only memory to be written in place, got " +
                           toString(target->meta()) + " over memory that another library shares as read-only");
  Destination into(*target, /*isSeen=*/true);
  Tensors results;
  if (llvm::Error e = apply(op, operands, segments, results, *copies ? nullptr : &into))
    return e;
  TensorImpl &result = *results.front();
  if (!(result.meta() == target->meta()))
    return invalidArgument(op.name() + ": " + name +
                           " must have the shape and dtype of the result to be written in place, got " +
                           toString(target->meta()) + " for " + toString(result.meta()));
  if (*copies || &result.storage() == &target->storage()) {
    target->rebind(result);
    return llvm::Error::success();
  }
  target->storage().noteWrite(writeByHere(op.name()));
  if (llvm::Error e = write(*target, result, op.info()))
    return e;
  target->takeTags(result);
  return llvm::Error::success();
}

} // namespace tess::eager
