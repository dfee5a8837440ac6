//===- Measure.cpp - how long kernels take --------------------------------===//
#include "runtime/tuning/Measure.h"
#include "runtime/device/Buffer.h"
#include "runtime/threads/Worker.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>

namespace tess::runtime::tuning {

namespace {

constexpr double kSeconds = 0.1;
constexpr double kMostRounds = 20;
/// The byte of which operands consist: every float dtype has a normal number near 0.01 or 1 then.
constexpr int kByte = 0x3c;

uint64_t bytesOf(const TensorMeta &meta) { return uint64_t(meta.numElements()) * byteWidth(meta.dtype); }

/// Operands, results and workspace of runs that nobody reads.
class Operands {
public:
  explicit Operands(Device &device) : device(device) {}

  llvm::Error add(uint64_t bytes, llvm::SmallVectorImpl<void *> &list) {
    llvm::Expected<BufferRef> buffer = Buffer::allocate(device, std::max<uint64_t>(bytes, 1));
    if (!buffer)
      return buffer.takeError();
    std::memset((*buffer)->data(), kByte, bytes);
    list.push_back((*buffer)->data());
    buffers.push_back(std::move(*buffer));
    return llvm::Error::success();
  }

private:
  Device &device;
  std::vector<BufferRef> buffers;
};

/// Bytes of an input, which a constant's packing may make more.
llvm::Expected<uint64_t> inputBytes(Device &device, const PrepareRequest &request, size_t input) {
  const uint64_t bytes = bytesOf(request.inputs[input]);
  if (request.inputPackings.empty() || request.inputPackings[input].empty())
    return bytes;
  PrepareRequest rowMajor = request;
  rowMajor.inputPackings = {};
  rowMajor.outputPacking = {};
  rowMajor.form = {};
  llvm::Expected<PreparedRef> kernel = prepareKernel(device.kernels(), rowMajor);
  if (!kernel)
    return kernel.takeError();
  return std::max<uint64_t>(bytes, (*kernel)->inputPacking(input).constantBytes);
}

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

} // namespace

llvm::Expected<std::vector<double>> measure(Device &device, const PrepareRequest &request,
                                            llvm::ArrayRef<PreparedRef> kernels) {
  Operands operands(device);
  llvm::SmallVector<void *, 4> inputs, outputs, workspace;
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    llvm::Expected<uint64_t> bytes = inputBytes(device, request, i);
    if (!bytes)
      return bytes.takeError();
    if (llvm::Error error = operands.add(*bytes, inputs))
      return std::move(error);
  }
  for (const TensorMeta &meta : request.outputs)
    if (llvm::Error error = operands.add(bytesOf(meta), outputs))
      return std::move(error);
  size_t workspaceBytes = 0;
  for (const PreparedRef &kernel : kernels)
    workspaceBytes = std::max(workspaceBytes, kernel->workspaceBytes());
  if (llvm::Error error = operands.add(workspaceBytes, workspace))
    return std::move(error);
  std::vector<double> shortest(kernels.size(), std::numeric_limits<double>::infinity());
  auto round = [&](bool counts) -> llvm::Error {
    for (auto [kernel, best] : llvm::zip_equal(kernels, shortest)) {
      RunContext context;
      context.threads = kernel->threads();
      context.workspace = workspace[0];
      const auto start = std::chrono::steady_clock::now();
      if (llvm::Error error = kernel->run(context, inputs, outputs))
        return error;
      best = counts ? std::min(best, secondsSince(start) * 1e6) : best;
    }
    return llvm::Error::success();
  };
  llvm::Error error = Worker::global().call([&]() -> llvm::Error {
    const auto start = std::chrono::steady_clock::now();
    if (llvm::Error error = round(false))
      return error;
    const int rounds = int(std::clamp(kSeconds / secondsSince(start), 1.0, kMostRounds));
    for (int i = 0; i < rounds; ++i)
      if (llvm::Error error = round(true))
        return error;
    return llvm::Error::success();
  });
  if (error)
    return std::move(error);
  return shortest;
}

} // namespace tess::runtime::tuning
