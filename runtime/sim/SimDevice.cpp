//===- SimDevice.cpp - an accelerator that is emulated --------------------===//
#include "runtime/sim/SimDevice.h"

#include "ops/vocabulary/Error.h"
#include "runtime/device/Code.h"
#include "runtime/device/KernelTable.h"
#include "runtime/sim/SimKernel.h"
#include "runtime/threads/Cgroup.h"
#include "runtime/threads/Fork.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::runtime {

SimDevice::SimDevice(std::string name)
    : Device(std::move(name), {}), blocks(this->name(), memory, Allocator::Lists::None) {
  blocks.setLimit(availableMemory() / 2); // the host has the rest
  stream = std::make_unique<SimStream>(*this);
}

SimDevice::~SimDevice() { stream.reset(); }

llvm::Error SimDevice::checkPresent() const {
  if (lost.empty())
    return llvm::Error::success();
  return makeError(ErrorCode::Internal, name() + ": device must be there, got one that is lost (" + lost + ")");
}

llvm::Expected<Block> SimDevice::allocate(size_t bytes) {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  if (llvm::Error error = checkPresent())
    return std::move(error);
  llvm::Expected<Block> block = blocks.allocate(bytes);
  if (block || !pending())
    return block;
  llvm::consumeError(block.takeError()); // released blocks come back when the work before their release is done
  workUntil([&] { return !pending(); });
  return blocks.allocate(bytes);
}

void SimDevice::release(Block block) {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  if (!pending())
    return blocks.free(block);
  memory.retire(block.data);
  auto isBehindOthers = [this] {
    return llvm::all_of(streams, [&](SimStream *other) {
      return other == stream.get() || other->queue.empty() ||
             other->queue.front().number > stream->queue.front().number;
    });
  };
  stream->queue.push_back({[this, block] { blocks.free(block); }, isBehindOthers, workNumber++, /*isKept=*/true});
}

Allocator &SimDevice::allocator() {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  workUntil([&] { return !pending(); }); // so that what was released counts as free
  return blocks;
}

llvm::Expected<std::unique_ptr<Stream>> SimDevice::createStream() { return std::make_unique<SimStream>(*this); }
llvm::Expected<std::unique_ptr<Event>> SimDevice::createEvent() { return std::make_unique<SimEvent>(*this); }
llvm::ArrayRef<KernelDef> SimDevice::kernels() const { return hostDevice().kernels(); }

void SimDevice::setSeed(uint64_t value) {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  seed = value;
}

/// A number of a sequence that the seed decides (a linear congruence of Knuth's).
uint64_t SimDevice::draw() {
  seed = seed * 6364136223846793005ull + 1442695040888963407ull;
  return seed >> 33;
}

size_t SimDevice::pending() const {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  size_t count = 0;
  for (const SimStream *one : streams)
    count += one->queue.size();
  return count;
}

/// A stream whose first piece of work may be done: the one queued first of all, or any by the seed. Null when nothing
/// is queued.
SimStream *SimDevice::nextStream() {
  llvm::SmallVector<SimStream *, 4> ready;
  for (SimStream *one : streams)
    if (!one->queue.empty() && (!one->queue.front().isReady || one->queue.front().isReady()))
      ready.push_back(one);
  if (ready.empty())
    return nullptr;
  if (seed)
    return ready[draw() % ready.size()];
  return *llvm::min_element(
      ready, [](SimStream *a, SimStream *b) { return a->queue.front().number < b->queue.front().number; });
}

bool SimDevice::step() {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  SimStream *next = nextStream();
  if (!next)
    return false;
  SimStream::Work work = std::move(next->queue.front());
  next->queue.pop_front();
  if (lost.empty() || work.isKept)
    work.run();
  return true;
}

void SimDevice::workUntil(llvm::function_ref<bool()> isDone) {
  while (!isDone() && step())
    ;
}

void SimDevice::lose(std::string reason) {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  workUntil([&] { return !pending(); });
  lost = std::move(reason);
}

void SimDevice::failLaunch(unsigned skipped, std::string reason) {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  fault = Fault{skipped, std::move(reason)};
}

/// Why the device dies of this launch; none: it does not.
std::optional<std::string> SimDevice::takeFault(const char *what, const char *where) {
  if (!fault || fault->skipped--)
    return std::nullopt;
  std::string why = fault->reason + ", in " + what + (where && *where ? std::string(" at ") + where : "");
  fault.reset();
  return why;
}

/// Whether this call, which runs at once, kills the device.
bool SimDevice::diesOf(const char *what, const char *where) {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  std::optional<std::string> why = takeFault(what, where);
  if (why)
    lost = std::move(*why);
  return why.has_value();
}

void SimDevice::restore() {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  workUntil([&] { return !pending(); });
  lost.clear();
  fault.reset();
}

/// Kernel number `index` of code whose kernels have the form of a grid.
static GridKernelFn gridKernel(const CodeImage &code, unsigned index) {
  return reinterpret_cast<GridKernelFn>(reinterpret_cast<uintptr_t>(code.entry(index)));
}

/// The kernels of an image; the device forgets them when it goes, which waits for their work.
class SimCode : public LoadedCode {
public:
  SimCode(SimDevice &device, std::shared_ptr<CodeImage> given, const Image &image)
      : device(device), code(std::move(given)) {
    std::lock_guard<std::recursive_mutex> lock(device.mutex);
    for (auto [index, entry] : llvm::enumerate(image.entries)) {
      auto kernel = std::make_unique<SimKernel>(SimKernel{gridKernel(*code, unsigned(index)), entry.grid, entry.name});
      functions.push_back(reinterpret_cast<KernelFn>(kernel.get()));
      device.loadedKernels[kernel.get()] = std::move(kernel);
    }
  }
  ~SimCode() override {
    std::lock_guard<std::recursive_mutex> lock(device.mutex);
    device.workUntil([&] { return !device.pending(); });
    for (KernelFn handle : functions)
      device.loadedKernels.erase(reinterpret_cast<const void *>(handle));
  }

private:
  SimDevice &device;
  std::shared_ptr<CodeImage> code;
};

llvm::Expected<LoadedCodeRef> SimDevice::load(const Image &image) {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  if (llvm::Error error = checkPresent())
    return std::move(error);
  llvm::Expected<std::shared_ptr<CodeImage>> code = CodeImage::map(image, imageKind());
  if (!code)
    return code.takeError();
  for (const KernelEntry &entry : image.entries)
    if (entry.grid.team != 1 && entry.grid.team != kLanes)
      return makeError(ErrorCode::DataLoss, name() + ": teams of a kernel must have 1 or " + llvm::Twine(kLanes) +
                                                " threads, got " + llvm::Twine(entry.grid.team) + " in " + entry.name);
  return std::make_shared<SimCode>(*this, std::move(*code), image);
}

void SimDevice::runBlocks(const SimKernel &kernel, void *const *pointers, const int64_t *dims, int64_t count) {
  // Few blocks, so that tests go through the steps of a whole grid; enough that their order can matter.
  constexpr int64_t kBlockThreads = 64, kMostBlocks = 6;
  const int64_t team = kernel.grid.team, blocksWanted = (count * team + kBlockThreads - 1) / kBlockThreads;
  const int64_t numBlocks = std::min(blocksWanted, kMostBlocks), first = seed ? int64_t(draw() % numBlocks) : 0;
  for (int64_t i = 0; i < numBlocks; ++i)
    for (int64_t thread = 0; thread < kBlockThreads; thread += team)
      kernel.call(pointers, dims, count, (first + i) % numBlocks, numBlocks, thread, kBlockThreads);
}

void SimDevice::afterForkInChild() {
  new (&mutex) std::recursive_mutex; // the one before is held by a thread of the parent, which cannot let it go here
  for (SimStream *one : streams)
    one->queue.clear();
  memory.leaveToParent();
  lost = "in a fork, whose parent has it";
}

SimDevice &simDevice() {
  static SimDevice *device = new SimDevice; // never destroyed: tensors may outlive static objects
  static const bool isWatched = [] {
    callAcrossFork([] { device->beforeFork(); }, [] { device->afterForkInParent(); },
                   [] { device->afterForkInChild(); });
    return true;
  }();
  (void)isWatched;
  return *device;
}

} // namespace tess::runtime
