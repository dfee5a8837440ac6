//===- Driver.cpp - the CUDA driver, loaded at run time -------------------===//
#include "runtime/cuda/Driver.h"

#include "ops/vocabulary/Error.h"

namespace tess::runtime::cuda {

llvm::Expected<std::unique_ptr<Driver>> Driver::load(llvm::ArrayRef<std::string> names) {
  llvm::Expected<SharedLibrary> library = SharedLibrary::open("cuda", names);
  if (!library)
    return library.takeError();
  std::unique_ptr<Driver> driver(new Driver());
#define TESS_CUDA_RESOLVE(name)                                                                                        \
  if (llvm::Error error = library->resolve(#name, driver->name))                                                       \
    return error;
  TESS_CUDA_FUNCTIONS(TESS_CUDA_RESOLVE)
#undef TESS_CUDA_RESOLVE
  return driver;
}

namespace {

/// Result of this process's only attempt to load the driver.
struct Attempt {
  std::unique_ptr<Driver> driver;
  ErrorCode code = ErrorCode::Internal;
  std::string message;

  Attempt() {
    if (llvm::Error error = start())
      std::tie(code, message) = takeError(std::move(error));
  }

private:
  llvm::Error start() {
    llvm::Expected<std::unique_ptr<Driver>> loaded = Driver::load({"libcuda.so.1"});
    if (!loaded)
      return loaded.takeError();
    if (llvm::Error error = (*loaded)->check((*loaded)->cuInit(0), "cuInit"))
      return error;
    driver = std::move(*loaded);
    return llvm::Error::success();
  }
};

} // namespace

llvm::Expected<const Driver *> Driver::get() {
  static const Attempt attempt;
  if (!attempt.driver)
    return makeError(attempt.code, attempt.message);
  return attempt.driver.get();
}

llvm::Error Driver::check(CUresult result, const char *call) const {
  if (result == CUDA_SUCCESS)
    return llvm::Error::success();
  const char *name = nullptr, *text = nullptr;
  if (cuGetErrorName(result, &name) != CUDA_SUCCESS || cuGetErrorString(result, &text) != CUDA_SUCCESS)
    name = text = "unknown error";
  ErrorCode code = result == CUDA_ERROR_OUT_OF_MEMORY ? ErrorCode::ResourceExhausted : ErrorCode::Internal;
  return makeError(code, llvm::Twine("cuda: ") + call + " must succeed, got " + name + " (" + llvm::Twine(int(result)) +
                             ": " + text + ")");
}

llvm::Expected<int> Driver::deviceCount() const {
  int count = 0;
  if (llvm::Error error = check(cuDeviceGetCount(&count), "cuDeviceGetCount"))
    return error;
  return count;
}

llvm::Expected<GpuFacts> Driver::facts(int ordinal) const {
  CUdevice device = 0;
  if (llvm::Error error = check(cuDeviceGet(&device, ordinal), "cuDeviceGet"))
    return error;
  char text[256] = {};
  if (llvm::Error error = check(cuDeviceGetName(text, sizeof(text) - 1, device), "cuDeviceGetName"))
    return error;
  size_t bytes = 0;
  if (llvm::Error error = check(cuDeviceTotalMem_v2(&bytes, device), "cuDeviceTotalMem"))
    return error;
  int major = 0, minor = 0;
  for (auto [value, attribute] : {std::pair(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                                  std::pair(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)})
    if (llvm::Error error = check(cuDeviceGetAttribute(value, attribute, device), "cuDeviceGetAttribute"))
      return error;
  return GpuFacts{text, bytes, unsigned(major), unsigned(minor)};
}

llvm::Expected<GpuSystem> Driver::describe() const {
  GpuSystem system;
  system.toolkitVersion = CUDA_VERSION;
  if (llvm::Error error = check(cuDriverGetVersion(&system.driverVersion), "cuDriverGetVersion"))
    return error;
  llvm::Expected<int> count = deviceCount();
  if (!count)
    return count.takeError();
  if (*count == 0)
    return makeError(ErrorCode::NotFound, "cuda: the driver has no GPU (cuDeviceGetCount says 0)");
  for (int ordinal = 0; ordinal < *count; ++ordinal)
    if (llvm::Error error = facts(ordinal).moveInto(system.gpus.emplace_back()))
      return error;
  return system;
}

} // namespace tess::runtime::cuda
