//===- CudaModule.cpp - PTX or machine code, loaded on a GPU --------------===//
#include "runtime/cuda/CudaModule.h"

#include "ops/vocabulary/Error.h"

namespace tess::runtime::cuda {

llvm::Expected<std::unique_ptr<CudaModule>> CudaModule::load(CudaDevice &device, llvm::StringRef code) {
  if (llvm::Error error = device.activate())
    return error;
  std::string terminated = code.str(); // PTX must end with a null
  char log[4096] = {};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log) - 1)};
  const Driver &d = device.driver();
  CUmodule module = nullptr;
  CUresult result = d.cuModuleLoadDataEx(&module, terminated.c_str(), 2, options, values);
  if (llvm::Error error = d.check(result, "cuModuleLoadDataEx")) {
    std::string reason = takeError(std::move(error)).second;
    return invalidArgument(reason + (log[0] ? std::string(": ") + log : ""));
  }
  return std::unique_ptr<CudaModule>(new CudaModule(device, module));
}

CudaModule::~CudaModule() {
  for (KernelFn handle : handles)
    device.removeKernel(handle);
  if (device.tryActivate())
    device.driver().cuModuleUnload(module);
}

/// Bytes of the kernel's parameter `index`; 0 when the kernel has fewer parameters.
static size_t parameterBytes(const Driver &driver, CUfunction function, size_t index) {
  size_t offset = 0, bytes = 0;
  return driver.cuFuncGetParamInfo(function, index, &offset, &bytes) == CUDA_SUCCESS ? bytes : 0;
}

llvm::Expected<KernelFn> CudaModule::kernel(const std::string &name, unsigned team) {
  if (llvm::Error error = device.activate())
    return error;
  const Driver &d = device.driver();
  CUfunction function = nullptr;
  CUresult result = d.cuModuleGetFunction(&function, module, name.c_str());
  if (result == CUDA_ERROR_NOT_FOUND)
    return makeError(ErrorCode::NotFound, "cuda: a kernel must be in its module, got " + name);
  if (llvm::Error error = d.check(result, "cuModuleGetFunction"))
    return error;
  auto bytesOf = [&](GpuParameter parameter) { return parameterBytes(d, function, unsigned(parameter)); };
  size_t pointers = bytesOf(GpuParameter::Pointers), dims = bytesOf(GpuParameter::Dims),
         count = bytesOf(GpuParameter::Count), more = parameterBytes(d, function, kNumGpuParameters);
  if (!pointers || !dims || pointers % 8 || dims % 8 || count != 8 || more)
    return invalidArgument(
        "cuda: a kernel's parameters must be an array of pointers, an array of dims and a count, got " + name +
        " with " + llvm::Twine(pointers) + ", " + llvm::Twine(dims) + ", " + llvm::Twine(count) + " and " +
        llvm::Twine(more) + " bytes");
  auto handle = reinterpret_cast<KernelFn>(function);
  device.addKernel(handle, team);
  handles.push_back(handle);
  return handle;
}

namespace {
/// An image as a module.
class CudaCode : public LoadedCode {
public:
  explicit CudaCode(std::unique_ptr<CudaModule> module) : module(std::move(module)) {}
  llvm::Error add(const KernelEntry &entry) {
    return module->kernel(entry.name, entry.grid.team).moveInto(functions.emplace_back());
  }

private:
  std::unique_ptr<CudaModule> module;
};
} // namespace

llvm::Expected<LoadedCodeRef> CudaDevice::load(const Image &image) {
  if (image.kind != imageKind())
    return makeError(ErrorCode::Unimplemented, name() + ": an image must be PTX, got machine code of the host");
  llvm::Expected<std::unique_ptr<CudaModule>> module = CudaModule::load(*this, image.code());
  if (!module)
    return module.takeError();
  auto code = std::make_shared<CudaCode>(std::move(*module));
  for (const KernelEntry &entry : image.entries)
    if (llvm::Error error = code->add(entry))
      return std::move(error);
  return code;
}

} // namespace tess::runtime::cuda
