//===- Transfers.cpp - values that leave their device ---------------------===//
#include "eager/dispatch/Transfers.h"

#include "eager/dispatch/Contiguous.h"
#include "eager/eviction/Eviction.h"
#include "eager/stack/Apply.h"
#include "eager/stack/Tracer.h"
#include "eager/tensor/Placement.h"

#include <cstring>

namespace tess::eager {

static size_t bytesOf(const TensorImpl &tensor) { return size_t(tensor.numElements() * byteWidth(tensor.dtype())); }

/// Most bytes of a tensor without a value that are kept: numbers in the code of a function, not data.
static constexpr int64_t kMostKept = 4096;

TensorRef withoutValue(const TensorMeta &meta, runtime::Device &device, const void *bytes) {
  const int64_t size = meta.numElements() * byteWidth(meta.dtype);
  char *kept = bytes && size <= kMostKept ? new char[size_t(size)] : nullptr;
  if (kept)
    std::memcpy(kept, bytes, size_t(size));
  auto release = [](void *owner) { delete[] static_cast<char *>(owner); };
  StorageRef storage = Storage::wrap(kept, size, kept, release, device, /*isReadOnly=*/true);
  storage->poison(noValue(ErrorCode::Unimplemented,
                          "value: tensor must be on a device that computes to have one, got one on " + device.name()));
  return TensorImpl::create(meta.dtype, meta.shape, std::move(storage));
}

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
  if (!device.computes())
    return withoutValue(tensor.meta(), device);
  std::vector<char> bytes(bytesOf(tensor));
  if (llvm::Error e = copyOut(tensor, bytes.data())) // not through the stack: a recording knows of the copy
    return std::move(e);
  OnDevice there(device);
  return createTensor(tensor.meta(), bytes.data());
}

} // namespace tess::eager
