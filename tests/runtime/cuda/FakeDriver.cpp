// A stand-in for libcuda that describes GPUs and does nothing else. The variable FAKE_GPUS says how many: 0 to 2. Where
// FAKE_STARTS is set, a device can be made, which then has no memory.
#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace {

// Numbers of cuda.h, which a build without the toolkit lacks.
enum { Success = 0, InvalidDevice = 101, NotSupported = 801 };
enum { Multiprocessors = 16, Major = 75, Minor = 76 };

struct Gpu {
  const char *name;
  size_t bytes;
  int major, minor;
};
constexpr Gpu kGpus[] = {{"Fake GPU 80", size_t(80) << 30, 9, 0}, {"Fake GPU 24", size_t(24) << 30, 8, 6}};

int numGpus() {
  const char *text = std::getenv("FAKE_GPUS");
  return text ? int(std::strtol(text, nullptr, 10)) : 2;
}

} // namespace

extern "C" {

int cuInit(unsigned) { return Success; }

int cuGetErrorName(int error, const char **name) {
  *name = error == NotSupported ? "FAKE_NOT_SUPPORTED" : "FAKE_ERROR";
  return Success;
}

int cuGetErrorString(int, const char **text) {
  *text = "the fake driver does not do it";
  return Success;
}

int cuDriverGetVersion(int *version) {
  *version = 12040;
  return Success;
}

int cuDeviceGet(int *device, int ordinal) {
  *device = ordinal;
  return ordinal >= 0 && ordinal < numGpus() ? Success : InvalidDevice;
}

int cuDeviceGetCount(int *count) {
  *count = numGpus();
  return Success;
}

int cuDeviceGetName(char *name, int size, int device) {
  std::snprintf(name, size_t(size), "%s", kGpus[device].name);
  return Success;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
  switch (attribute) {
  case Multiprocessors:
    *value = 1;
    return Success;
  case Major:
    *value = kGpus[device].major;
    return Success;
  case Minor:
    *value = kGpus[device].minor;
    return Success;
  default:
    return NotSupported;
  }
}

int cuDeviceTotalMem_v2(size_t *bytes, int device) { // NOLINT(readability-identifier-naming): the driver's name
  *bytes = kGpus[device].bytes;
  return Success;
}

static int startResult() { return std::getenv("FAKE_STARTS") ? Success : NotSupported; }

#define FAKE_START(name)                                                                                               \
  int name() { return startResult(); }
FAKE_START(cuDevicePrimaryCtxRetain)
FAKE_START(cuCtxSetCurrent)
FAKE_START(cuStreamCreate)

// The rest of the list in Driver.h.
#define FAKE_MISSING(name)                                                                                             \
  int name() { return NotSupported; }
FAKE_MISSING(cuDevicePrimaryCtxRelease_v2)
FAKE_MISSING(cuCtxSynchronize)
FAKE_MISSING(cuMemAlloc_v2)
FAKE_MISSING(cuMemFree_v2)
FAKE_MISSING(cuMemcpyHtoDAsync_v2)
FAKE_MISSING(cuMemcpyDtoHAsync_v2)
FAKE_MISSING(cuMemcpyDtoDAsync_v2)
FAKE_MISSING(cuMemsetD2D8Async)
FAKE_MISSING(cuStreamDestroy_v2)
FAKE_MISSING(cuStreamSynchronize)
FAKE_MISSING(cuStreamWaitEvent)
FAKE_MISSING(cuEventCreate)
FAKE_MISSING(cuEventDestroy_v2)
FAKE_MISSING(cuEventQuery)
FAKE_MISSING(cuEventRecord)
FAKE_MISSING(cuModuleLoadDataEx)
FAKE_MISSING(cuModuleUnload)
FAKE_MISSING(cuModuleGetFunction)
FAKE_MISSING(cuFuncGetParamInfo)
FAKE_MISSING(cuLaunchKernel)
}
