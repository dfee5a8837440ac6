//===- CudaStream.cpp - streams and events of a GPU -----------------------===//
#include "ops/vocabulary/Error.h"
#include "runtime/cuda/CudaDevice.h"
#include "runtime/device/KernelTable.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace tess::runtime::cuda {

// A multiprocessor holds 8 blocks of 256 threads at once; twice as many even out its load.
static constexpr unsigned kBlockThreads = 256, kBlocksPerMultiprocessor = 16;

static CUdeviceptr address(const void *data) { return reinterpret_cast<CUdeviceptr>(data); }

CudaEvent::~CudaEvent() {
  if (device.tryActivate())
    device.driver().cuEventDestroy_v2(event);
}

bool CudaEvent::done() const {
  return !device.tryActivate() || device.driver().cuEventQuery(event) != CUDA_ERROR_NOT_READY;
}

CudaStream::~CudaStream() {
  if (device.tryActivate())
    device.driver().cuStreamDestroy_v2(stream); // its work still runs to the end
}

llvm::Error CudaStream::launch(const KernelLaunch &launch) {
  const unsigned team = device.teamOf(launch.fn);
  if (!team)
    return invalidArgument("cuda: a launched kernel must be one of a module loaded on " + device.name() +
                           ", got another function");
  int64_t count = launch.outer * launch.inner;
  if (count <= 0)
    return llvm::Error::success();
  if (llvm::Error error = device.activate())
    return error;
  int64_t blocks = std::min<int64_t>(llvm::divideCeil(count * team, kBlockThreads),
                                     int64_t(device.multiprocessors()) * kBlocksPerMultiprocessor);
  void *parameters[kNumGpuParameters]; // what they point to is copied before the call returns
  parameters[unsigned(GpuParameter::Pointers)] = static_cast<void *>(const_cast<void **>(launch.pointers));
  parameters[unsigned(GpuParameter::Dims)] = const_cast<int64_t *>(launch.dims);
  parameters[unsigned(GpuParameter::Count)] = &count;
  const Driver &d = device.driver();
  auto *function = reinterpret_cast<CUfunction>(launch.fn);
  return d.check(
      d.cuLaunchKernel(function, unsigned(blocks), 1, 1, kBlockThreads, 1, 1, 0, stream, parameters, nullptr),
      "cuLaunchKernel");
}

llvm::Error CudaStream::call(const PreparedKernel &kernel, RunContext &context, llvm::ArrayRef<void *> inputs,
                             llvm::ArrayRef<void *> outputs) {
  context.stream = this;
  return kernel.run(context, inputs, outputs);
}

llvm::Error CudaStream::copy(void *destination, const void *source, size_t bytes, unsigned) {
  if (!bytes || destination == source)
    return llvm::Error::success();
  if (llvm::Error error = device.activate())
    return error;
  const Driver &d = device.driver();
  return d.check(d.cuMemcpyDtoDAsync_v2(address(destination), address(source), bytes, stream), "cuMemcpyDtoDAsync");
}

llvm::Error CudaStream::copyIn(void *destination, const void *host, size_t bytes) {
  if (!bytes)
    return llvm::Error::success();
  if (llvm::Error error = device.activate())
    return error;
  const Driver &d = device.driver();
  return d.check(d.cuMemcpyHtoDAsync_v2(address(destination), host, bytes, stream), "cuMemcpyHtoDAsync");
}

llvm::Error CudaStream::copyOut(void *host, const void *source, size_t bytes) {
  if (!bytes)
    return llvm::Error::success();
  if (llvm::Error error = device.activate())
    return error;
  const Driver &d = device.driver();
  return d.check(d.cuMemcpyDtoHAsync_v2(host, address(source), bytes, stream), "cuMemcpyDtoHAsync");
}

llvm::Error CudaStream::record(Event &event) {
  if (llvm::Error error = device.activate())
    return error;
  const Driver &d = device.driver();
  return d.check(d.cuEventRecord(static_cast<CudaEvent &>(event).handle(), stream), "cuEventRecord");
}

llvm::Error CudaStream::wait(Event &event) {
  if (llvm::Error error = device.activate())
    return error;
  const Driver &d = device.driver();
  return d.check(d.cuStreamWaitEvent(stream, static_cast<CudaEvent &>(event).handle(), 0), "cuStreamWaitEvent");
}

llvm::Error CudaStream::synchronize() {
  if (llvm::Error error = device.activate())
    return error;
  const Driver &d = device.driver();
  return d.check(d.cuStreamSynchronize(stream), "cuStreamSynchronize");
}

} // namespace tess::runtime::cuda
