//===- Placement.cpp - the device that values are made on -----------------===//
#include "eager/tensor/Placement.h"

#include "runtime/Devices.h"

#include <cstring>

namespace tess::eager {

static thread_local runtime::Device *chosen = nullptr; // null: the default one

runtime::Device &creationDevice() { return chosen ? *chosen : runtime::defaultDevice(); }

OnDevice::OnDevice(runtime::Device &device) : before(chosen) { chosen = &device; }

OnDevice::OnDevice(llvm::ArrayRef<Operand> operands) : before(chosen) {
  for (const Operand &operand : operands)
    if (operand.tensor) {
      chosen = &operand.tensor->storage().device();
      return;
    }
}

OnDevice::~OnDevice() { chosen = before; }

llvm::Error copyFromHost(TensorImpl &tensor, const void *bytes, size_t size) {
  runtime::Device &device = tensor.storage().device();
  if (device.hostAccessible()) {
    if (size) // an empty tensor has no memory
      std::memcpy(tensor.data(), bytes, size);
    return llvm::Error::success();
  }
  runtime::Stream &stream = device.defaultStream();
  if (llvm::Error e = stream.copyIn(tensor.data(), bytes, size))
    return e;
  return stream.synchronize();
}

llvm::Error copyToHost(const TensorImpl &tensor, void *bytes, size_t size) {
  runtime::Device &device = tensor.storage().device();
  if (device.hostAccessible()) {
    if (size)
      std::memcpy(bytes, tensor.data(), size);
    return llvm::Error::success();
  }
  runtime::Stream &stream = device.defaultStream();
  if (llvm::Error e = stream.copyOut(bytes, tensor.data(), size))
    return e;
  return stream.synchronize();
}

} // namespace tess::eager
