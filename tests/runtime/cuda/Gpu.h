//===- Gpu.h - GPU 0, or why it is not there --------------------*- C++ -*-===//
#pragma once

#include "runtime/cuda/CudaDevice.h"
#include "tests/runtime/Expect.h"
#include "tools/bazel/catch2/Skip.h"

#include <vector>

namespace tess::test {

/// GPU 0; null with the reason where the machine has none.
inline runtime::cuda::CudaDevice *findGpu(std::string &reason) {
  auto device = runtime::cuda::cudaDevice(0);
  if (device)
    return *device;
  reason = takeError(device.takeError()).second;
  return nullptr;
}

/// Declares `name`, GPU 0; skips the test case where there is none.
#define TESS_GPU(name)                                                                                                 \
  std::string name##Reason;                                                                                            \
  tess::runtime::cuda::CudaDevice *name##Pointer = tess::test::findGpu(name##Reason);                                  \
  if (!name##Pointer)                                                                                                  \
    TESS_SKIP("no GPU: " << name##Reason);                                                                             \
  tess::runtime::cuda::CudaDevice &name = *name##Pointer

/// Values in the GPU's memory; given back at the end.
template <typename T> class OnGpu {
public:
  OnGpu(runtime::cuda::CudaDevice &device, const std::vector<T> &values)
      : device(device), count(values.size()), block(get(device.allocate(count * sizeof(T)))) {
    ok(device.defaultStream().copyIn(block.data, values.data(), count * sizeof(T)));
    ok(device.defaultStream().synchronize());
  }
  ~OnGpu() { device.release(block); }
  OnGpu(const OnGpu &) = delete;

  T *data() const { return static_cast<T *>(block.data); }
  std::vector<T> values() const {
    std::vector<T> result(count);
    ok(device.defaultStream().copyOut(result.data(), block.data, count * sizeof(T)));
    ok(device.defaultStream().synchronize());
    return result;
  }

private:
  runtime::cuda::CudaDevice &device;
  size_t count;
  runtime::Block block;
};

} // namespace tess::test
