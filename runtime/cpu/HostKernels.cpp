//===- HostKernels.cpp - the host's kernels on other devices --------------===//
#include "runtime/cpu/HostKernels.h"

#include "runtime/device/Buffer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"

namespace tess::runtime {

namespace {

/// Memory of the host for some operands of a call.
class HostCopies {
public:
  /// Of `sizes` bytes each, 64-byte aligned.
  llvm::Error allocate(llvm::ArrayRef<size_t> sizes) {
    for (size_t bytes : sizes)
      if (llvm::Error error = Buffer::allocate(hostDevice(), bytes).moveInto(buffers.emplace_back()))
        return error;
    return llvm::Error::success();
  }
  llvm::SmallVector<void *, 4> addresses() const {
    return llvm::map_to_vector<4>(buffers, [](const BufferRef &buffer) { return buffer->data(); });
  }
  /// Copies operand `index` from the device, or to it.
  llvm::Error fetch(Stream &stream, size_t index, const void *from) const {
    return stream.copyOut(buffers[index]->data(), from, buffers[index]->bytes());
  }
  llvm::Error store(Stream &stream, size_t index, void *to) const {
    return stream.copyIn(to, buffers[index]->data(), buffers[index]->bytes());
  }

private:
  llvm::SmallVector<BufferRef, 4> buffers;
};

/// A kernel of the host between copies.
class HostKernel : public PreparedKernel {
public:
  HostKernel(PreparedRef prepared, const PrepareRequest &request)
      : kernel(std::move(prepared)), inputBytes(sizesOf(request.inputs)), outputBytes(sizesOf(request.outputs)) {
    implementationName = kernel->implementation();
    isLibraryCall = kernel->callsLibrary();
    threadCount = kernel->threads();
    looksAtData = kernel->checksData();
    isUpdate = kernel->updatesOutput();
    heldBytes = kernel->footprint();
  }
  llvm::Error run(RunContext &context, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override;

private:
  static llvm::SmallVector<size_t, 4> sizesOf(llvm::ArrayRef<TensorMeta> metas) {
    return llvm::map_to_vector<4>(
        metas, [](const TensorMeta &meta) { return size_t(meta.numElements() * byteWidth(meta.dtype)); });
  }

  PreparedRef kernel;
  llvm::SmallVector<size_t, 4> inputBytes, outputBytes;
};

} // namespace

llvm::Error HostKernel::run(RunContext &context, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const {
  Stream &stream = *context.stream;
  HostCopies in, out, scratch;
  if (llvm::Error error = in.allocate(inputBytes))
    return error;
  if (llvm::Error error = out.allocate(outputBytes))
    return error;
  if (llvm::Error error = scratch.allocate(kernel->workspaceBytes()))
    return error;
  for (auto [index, input] : llvm::enumerate(inputs))
    if (llvm::Error error = in.fetch(stream, index, input))
      return error;
  if (kernel->updatesOutput())
    if (llvm::Error error = out.fetch(stream, 0, outputs[0]))
      return error;
  if (llvm::Error error = stream.synchronize())
    return error;
  RunContext own = context;
  own.workspace = scratch.addresses()[0];
  if (llvm::Error error = kernel->run(own, in.addresses(), out.addresses()))
    return error;
  context.unknownExtent = own.unknownExtent;
  for (auto [index, output] : llvm::enumerate(outputs))
    if (llvm::Error error = out.store(stream, index, output))
      return error;
  return stream.synchronize(); // the copies leave their memory
}

static llvm::Expected<PreparedRef> prepareOnHost(const PrepareRequest &request) {
  llvm::Expected<PreparedRef> kernel =
      prepareKernel(hostDevice().kernels(),
                    {request.op, request.inputs, request.outputs, request.threads, {}, {}, request.implementation});
  if (!kernel)
    return kernel.takeError();
  return std::make_shared<HostKernel>(std::move(*kernel), request);
}

llvm::ArrayRef<KernelDef> hostKernels() {
  static const std::vector<KernelDef> table = [] {
    std::vector<KernelDef> rows(hostDevice().kernels());
    for (KernelDef &row : rows)
      row = {row.name, row.kind, prepareOnHost};
    return rows;
  }();
  return table;
}

} // namespace tess::runtime
