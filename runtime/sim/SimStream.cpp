//===- SimStream.cpp - work that is done when somebody waits --------------===//
#include "ops/vocabulary/Error.h"
#include "runtime/device/KernelTable.h"
#include "runtime/sim/SimDevice.h"
#include "runtime/sim/SimKernel.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"

#include <cstring>

namespace tess::runtime {

/// Pieces of work that a stream holds before a call does the oldest ones.
static constexpr size_t kMostQueued = 256;

bool SimEvent::done() const {
  if (state->reached < state->queued)
    device.step();
  return state->reached >= state->queued;
}

SimStream::SimStream(SimDevice &device) : device(device) {
  std::lock_guard<std::recursive_mutex> lock(device.mutex);
  device.streams.push_back(this);
}

SimStream::~SimStream() {
  std::lock_guard<std::recursive_mutex> lock(device.mutex);
  device.workUntil([&] { return queue.empty(); });
  llvm::erase(device.streams, this);
}

llvm::Error SimStream::push(std::function<void()> run, std::function<bool()> isReady, bool isKept) {
  std::lock_guard<std::recursive_mutex> lock(device.mutex);
  if (llvm::Error error = device.checkPresent())
    return error;
  queue.push_back({std::move(run), std::move(isReady), device.workNumber++, isKept});
  if (queue.size() > kMostQueued)
    device.workUntil([&] { return queue.size() <= kMostQueued / 2; });
  return llvm::Error::success();
}

llvm::Error SimStream::launch(const KernelLaunch &launch) {
  std::lock_guard<std::recursive_mutex> lock(device.mutex);
  auto found = device.loadedKernels.find(reinterpret_cast<const void *>(launch.fn));
  if (found == device.loadedKernels.end())
    return invalidArgument(device.name() + ": a launched kernel must be of code that the device has loaded, got "
                                           "another function");
  const SimKernel &kernel = *found->second;
  int64_t count = launch.outer * launch.inner;
  if (count <= 0)
    return llvm::Error::success();
  std::vector<void *> pointers(launch.pointers, launch.pointers + kernel.grid.numPointers);
  for (auto [index, pointer] : llvm::enumerate(pointers)) {
    if (!device.memory.isLive(pointer, index == 0 ? launch.lead : 0))
      return invalidArgument(device.name() + ": pointer " + llvm::Twine(index) + " of " + kernel.name +
                             " must lie in an allocation of the device, got another address");
    pointer = device.memory.hostAddress(pointer);
  }
  if (std::optional<std::string> why = device.takeFault(launch.what ? launch.what : kernel.name.c_str(), launch.where))
    return push([&device = device, why = std::move(*why)] { device.lost = why; });
  std::vector<int64_t> dims(launch.dims, launch.dims + kernel.grid.numDims);
  return push([&device = device, &kernel, pointers = std::move(pointers), dims = std::move(dims), count] {
    device.runBlocks(kernel, pointers.data(), dims.data(), count);
  });
}

llvm::Error SimStream::call(const PreparedKernel &kernel, RunContext &context, llvm::ArrayRef<void *> inputs,
                            llvm::ArrayRef<void *> outputs) {
  if (llvm::Error error = synchronize())
    return error;
  if (device.diesOf(context.what ? context.what : kernel.implementation().c_str(), context.where))
    return llvm::Error::success(); // whoever waits is told
  auto translate = [&](llvm::ArrayRef<void *> given) {
    return llvm::map_to_vector<4>(given, [&](void *data) -> void * { return device.memory.hostAddress(data); });
  };
  for (void *data : llvm::concat<void *const>(inputs, outputs))
    if (!device.memory.isLive(data))
      return invalidArgument(device.name() + ": operands of " + kernel.implementation() +
                             " must lie in allocations of the device, got another address");
  RunContext own = context;
  if (context.workspace)
    own.workspace = device.memory.hostAddress(context.workspace);
  llvm::Error error = kernel.run(own, translate(inputs), translate(outputs));
  context.unknownExtent = own.unknownExtent;
  return error;
}

llvm::Error SimStream::checkBytes(const char *what, const void *data, size_t bytes) {
  if (device.memory.holds(data, bytes))
    return llvm::Error::success();
  return invalidArgument(device.name() + ": " + what + " must lie in an allocation of the device, got " +
                         llvm::Twine(bytes) + " bytes elsewhere");
}

llvm::Error SimStream::copy(void *destination, const void *source, size_t bytes, unsigned) {
  if (!bytes || destination == source)
    return llvm::Error::success();
  if (llvm::Error error = checkBytes("the source of a copy", source, bytes))
    return error;
  if (llvm::Error error = checkBytes("the destination of a copy", destination, bytes))
    return error;
  return push([to = device.memory.hostAddress(destination), from = device.memory.hostAddress(source), bytes] {
    std::memcpy(to, from, bytes);
  });
}

llvm::Error SimStream::copyIn(void *destination, const void *host, size_t bytes) {
  if (!bytes)
    return llvm::Error::success();
  if (llvm::Error error = checkBytes("the destination of a copy", destination, bytes))
    return error;
  return push([to = device.memory.hostAddress(destination), host, bytes] { std::memcpy(to, host, bytes); });
}

llvm::Error SimStream::copyOut(void *host, const void *source, size_t bytes) {
  if (!bytes)
    return llvm::Error::success();
  if (llvm::Error error = checkBytes("the source of a copy", source, bytes))
    return error;
  return push([from = device.memory.hostAddress(source), host, bytes] { std::memcpy(host, from, bytes); });
}

llvm::Error SimStream::record(Event &event) {
  std::shared_ptr<SimEvent::State> state = static_cast<SimEvent &>(event).state;
  uint64_t number = ++state->queued;
  auto reach = [state, number] { state->reached = std::max(state->reached, number); };
  return push(reach, {}, /*isKept=*/true);
}

llvm::Error SimStream::wait(Event &event) {
  std::shared_ptr<SimEvent::State> state = static_cast<SimEvent &>(event).state;
  return push([] {}, [state, number = state->queued] { return state->reached >= number; });
}

llvm::Error SimStream::synchronize() {
  std::lock_guard<std::recursive_mutex> lock(device.mutex);
  device.workUntil([&] { return queue.empty(); });
  return device.checkPresent();
}

} // namespace tess::runtime
