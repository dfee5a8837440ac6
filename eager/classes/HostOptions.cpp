//===- HostOptions.cpp - the compiler's questions, answered --------------===//
#include "eager/classes/HostOptions.h"

#include "runtime/bind/BindSettings.h"
#include "runtime/device/KernelTable.h"
#include "runtime/device/Profiler.h"
#include "runtime/run/Executor.h"
#include "runtime/tuning/Pick.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::eager {
namespace {

/// Answers by preparing the kernel itself, which bind then finds in the cache of prepared kernels.
class LibraryChoice : public compiler::KernelChoice {
public:
  explicit LibraryChoice(runtime::Device &device) : device(device), settings(runtime::BindSettings::now()) {}

  unsigned threads() const override { return settings.threads; }
  bool withoutWinograd() const override { return !settings.kernels.winograd; }

  /// None when a size is unknown, the target is another machine, or preparing fails (bind reports why).
  std::optional<std::string> implementation(const compiler::LibraryCall &call, llvm::StringRef target) const override {
    auto isStatic = [](const TensorMeta &meta) { return meta.isStatic(); };
    if (target != device.target() || !llvm::all_of(call.operands, isStatic) || !llvm::all_of(call.results, isStatic))
      return std::nullopt;
    runtime::PrepareRequest request{call.op, call.operands, call.results};
    request.threads = settings.threads;
    request.settings = settings.kernels;
    request.mayMoveBits = call.mayMoveBits;
    llvm::Expected<runtime::tuning::Pick> pick = runtime::tuning::pickKernel(device, request);
    if (pick)
      return pick->kernel->implementation();
    llvm::consumeError(pick.takeError());
    return std::nullopt;
  }

private:
  runtime::Device &device;
  const runtime::BindSettings settings;
};

uint64_t bytesOf(const TensorMeta &meta) { return uint64_t(meta.numElements()) * byteWidth(meta.dtype); }

/// Runs a program without inputs and returns the bytes of its outputs.
llvm::Expected<std::vector<std::string>> evaluate(runtime::Executable executable) {
  auto program = runtime::Program::create(std::move(executable), {});
  if (!program)
    return program.takeError();
  auto bound = (*program)->bind({});
  if (!bound)
    return bound.takeError();
  std::vector<runtime::BufferRef> buffers;
  llvm::SmallVector<void *, 4> outputs;
  for (const TensorMeta &meta : (*bound)->outputs()) {
    if (llvm::Error e = runtime::Buffer::allocate((*program)->device(), bytesOf(meta)).moveInto(buffers.emplace_back()))
      return std::move(e);
    outputs.push_back(buffers.back()->data());
  }
  runtime::RunOptions options;
  options.isCounted = false;
  if (llvm::Error error = runtime::run(**bound, {}, outputs, {}, options))
    return std::move(error);
  std::vector<std::string> bytes;
  for (auto [meta, data] : llvm::zip((*bound)->outputs(), outputs))
    bytes.emplace_back(static_cast<const char *>(data), bytesOf(meta));
  return bytes;
}

} // namespace

compiler::CompileOptions optionsFor(runtime::Device &device) {
  compiler::CompileOptions options;
  options.target = device.target().str();
  options.kernels = std::make_shared<LibraryChoice>(device);
  options.evaluate = evaluate;
  if (runtime::profiler::on())
    options.timed = recordPart;
  return options;
}

void recordPart(const std::string &name, double seconds) {
  if (runtime::profiler::on())
    runtime::profiler::recordFinished(name, "compile", seconds);
}

compiler::CompileOptions hostOptions() { return optionsFor(runtime::hostDevice()); }

} // namespace tess::eager
