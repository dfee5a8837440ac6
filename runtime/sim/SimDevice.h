//===- SimDevice.h - an accelerator that is emulated ------------*- C++ -*-===//
//
// What a GPU asks of the code above Device.h, on any machine: memory that the
// host cannot address, work that is done later, kernels in the form of a GPU's.
// The results are those of the host's kernels, bit for bit.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/sim/SimMemory.h"

#include <deque>
#include <functional>
#include <optional>

namespace tess::runtime {

class SimDevice;
struct SimKernel;

/// An event of the emulated accelerator: done when the work of its last record() is.
class SimEvent : public Event {
public:
  explicit SimEvent(SimDevice &device) : device(device) {}
  /// Has the device do a piece of its work where it is not done, as time would: a caller may ask again and again.
  bool done() const override;

private:
  friend class SimStream;
  SimDevice &device;
  /// Numbers of the record that was queued last and of the one that was reached last; shared with queued work.
  struct State {
    uint64_t queued = 0, reached = 0;
  };
  std::shared_ptr<State> state = std::make_shared<State>();
};

/// A queue of work that is done when somebody waits for it. Calls check their operands at once.
class SimStream : public Stream {
public:
  explicit SimStream(SimDevice &device);
  /// Does what is queued.
  ~SimStream() override;
  /// `launch.fn` is a handle of code that the device has loaded. InvalidArgument when it is not, and when a pointer is
  /// none into a live allocation of the device.
  llvm::Error launch(const KernelLaunch &launch) override;
  /// Does what is queued before, then runs the host's kernel where the bytes lie, in the call.
  llvm::Error call(const PreparedKernel &kernel, RunContext &context, llvm::ArrayRef<void *> inputs,
                   llvm::ArrayRef<void *> outputs) override;
  llvm::Error copy(void *destination, const void *source, size_t bytes, unsigned parts) override;
  llvm::Error copyIn(void *destination, const void *host, size_t bytes) override;
  llvm::Error copyOut(void *host, const void *source, size_t bytes) override;
  /// Events must be of this device.
  llvm::Error record(Event &event) override;
  llvm::Error wait(Event &event) override;
  llvm::Error synchronize() override;

private:
  friend class SimDevice;
  struct Work {
    std::function<void()> run;
    std::function<bool()> isReady; // empty: always
    uint64_t number;               // in the order of the calls to all streams
    bool isKept = false;           // also on a device that has died
  };
  llvm::Error push(std::function<void()> run, std::function<bool()> isReady = {}, bool isKept = false);
  llvm::Error checkBytes(const char *what, const void *data, size_t bytes);

  SimDevice &device;
  std::deque<Work> queue; // guarded by the device
};

/// The emulated accelerator. Thread-safe. Like a GPU it does not outlive a fork.
class SimDevice : public Device {
public:
  explicit SimDevice(std::string name = "sim0");
  ~SimDevice() override;

  llvm::StringRef target() const override { return "sim"; }
  ImageKind imageKind() const override { return ImageKind::Grid; }
  llvm::Expected<Block> allocate(size_t bytes) override;
  void release(Block block) override;
  Allocator &allocator() override;
  llvm::Expected<LoadedCodeRef> load(const Image &image) override;
  Stream &defaultStream() override { return *stream; }
  llvm::Expected<std::unique_ptr<Stream>> createStream() override;
  llvm::Expected<std::unique_ptr<Event>> createEvent() override;
  /// The host's, which run on its memory.
  llvm::ArrayRef<KernelDef> kernels() const override;

  /// From now on, picks the next stream to work, and the order of a launch's blocks, by this number; 0: the work that
  /// was queued first, and blocks in their order.
  void setSeed(uint64_t seed);
  /// Does one piece of the queued work; false when there is none.
  bool step();
  /// Pieces of work that are queued.
  size_t pending() const;
  /// Does what is queued. From then on every call is an error that gives `reason`, as of a device that has died, until
  /// restore() brings it back.
  void lose(std::string reason);
  /// The launch or call after the next `skipped` ones kills the device when its turn comes: what is queued behind it is
  /// not done, and whoever waits is told the reason and the operator.
  void failLaunch(unsigned skipped, std::string reason);
  void restore();

  /// Around a fork. The child's device is a lost one: work and memory are the parent's.
  void beforeFork() { mutex.lock(); }
  void afterForkInParent() { mutex.unlock(); }
  void afterForkInChild();

private:
  friend class SimStream;
  friend class SimCode;

  struct Fault {
    unsigned skipped;
    std::string reason;
  };
  llvm::Error checkPresent() const;
  std::optional<std::string> takeFault(const char *what, const char *where);
  bool diesOf(const char *what, const char *where);
  SimStream *nextStream();
  /// Works until `isDone`, which only work changes.
  void workUntil(llvm::function_ref<bool()> isDone);
  void runBlocks(const SimKernel &kernel, void *const *pointers, const int64_t *dims, int64_t count);
  uint64_t draw();

  mutable std::recursive_mutex mutex; // held while work is done
  SimMemory memory;
  Allocator blocks;
  std::vector<SimStream *> streams;
  std::map<const void *, std::unique_ptr<SimKernel>> loadedKernels; // by handle
  uint64_t workNumber = 0, seed = 0;
  std::string lost; // why; empty: it is not
  std::optional<Fault> fault;
  std::unique_ptr<SimStream> stream;
};

/// The device that users name "sim0"; lives for ever.
SimDevice &simDevice();

} // namespace tess::runtime
