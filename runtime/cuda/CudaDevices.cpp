//===- CudaDevices.cpp - the GPUs among the devices of the process ------------===//
#include "runtime/cuda/CudaDevices.h"

#include "runtime/Devices.h"
#include "runtime/cuda/CudaDevice.h"

namespace tess::runtime::cuda {

/// Of this machine; 0 where the driver is missing or does not start.
static unsigned countGpus() {
  llvm::Expected<const Driver *> driver = Driver::get();
  llvm::Expected<int> count = driver ? (*driver)->deviceCount() : driver.takeError();
  if (count)
    return unsigned(*count);
  llvm::consumeError(count.takeError());
  return 0;
}

static llvm::Expected<Device *> gpu(unsigned number) {
  llvm::Expected<CudaDevice *> device = cudaDevice(int(number));
  if (!device)
    return device.takeError();
  return *device;
}

llvm::Expected<GpuSystem> gpuSystem() {
  llvm::Expected<const Driver *> driver = Driver::get();
  return driver ? (*driver)->describe() : driver.takeError();
}

void registerGpus() { registerDevices({"gpu", countGpus, gpu}); }

} // namespace tess::runtime::cuda
