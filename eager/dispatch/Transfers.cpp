//===- Transfers.cpp - values that leave their device ---------------------===//
#include "eager/dispatch/Transfers.h"

#include "eager/dispatch/Contiguous.h"
#include "eager/eviction/Eviction.h"
#include "eager/stack/Apply.h"
#include "eager/stack/Tracer.h"
#include "eager/tensor/Placement.h"

namespace tess::eager {

static size_t bytesOf(const TensorImpl &tensor) { return size_t(tensor.numElements() * byteWidth(tensor.dtype())); }

llvm::Error copyOut(TensorImpl &tensor, void *destination) {
  eviction::Use use;
  if (LLVM_UNLIKELY(eviction::isActive()))
    if (llvm::Error e = use.add(tensor))
      return e;
  llvm::Expected<TensorRef> plain = contiguousNow(tensor, "value");
  if (!plain)
    return plain.takeError();
  return copyToHost(**plain, destination, bytesOf(**plain));
}

llvm::Expected<TensorRef> toDevice(TensorImpl &tensor, runtime::Device &device) {
  if (&tensor.storage().device() == &device)
    return TensorRef(&tensor);
  if (Tracer *tracer = activeTracer())
    if (llvm::Error e = tracer->noteMove(tensor, device))
      return std::move(e);
  std::vector<char> bytes(bytesOf(tensor));
  if (llvm::Error e = copyOut(tensor, bytes.data())) // not through the stack: a recording knows of the copy
    return std::move(e);
  OnDevice there(device);
  llvm::Expected<TensorRef> copy = createTensor(tensor.meta(), bytes.data());
  if (!copy)
    return copy;
  if (!device.computes())
    (*copy)->storage().poison(
        noValue(ErrorCode::Unimplemented,
                "value: tensor must be on a device that computes to have one, got one on " + device.name()));
  return copy;
}

} // namespace tess::eager
