//===- Device.h - what the executor needs of a device -----------*- C++ -*-===//
//
// Memory, streams, events, copies, loaded code, launches. cpu/ is the host's own
// processor, sim/ an accelerator that is emulated, cuda/ GPUs; null/ records the
// calls and is the template for a new device. Devices.h finds one by its name.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/schema/Image.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>

namespace tess::runtime {

class Allocator;
class PreparedKernel;
struct KernelDef;
struct RunContext;

/// Device memory; `size`: the bytes that the device gave, at least those asked for.
struct Block {
  void *data = nullptr;
  size_t size = 0;
};

/// Whether some operand's neighbours along the last group lie farther apart than along one before it: lines of its
/// memory are then used up along that one. Of a kernel without reduced groups; `dims` as KernelDims has them.
inline bool wantsTiles(const int64_t *dims, unsigned numGroups, unsigned numOperands) {
  const KernelDims places(numGroups, numOperands);
  for (unsigned operand = 0; operand < numOperands; ++operand)
    for (unsigned group = 0; group + 1 < numGroups; ++group) {
      int64_t across = std::abs(dims[places.stride(operand, group)]);
      if (dims[places.size(group)] > 1 && across && across < std::abs(dims[places.stride(operand, numGroups - 1)]))
        return true;
    }
  return false;
}

/// One call of a generated kernel; see KernelFn for the ranges.
struct KernelLaunch {
  KernelFn fn;
  void *const *pointers;
  const int64_t *dims;
  char *scratch;        // for part 0
  size_t scratchStride; // bytes from one part's scratch to the next
  int64_t outer, inner;
  int64_t picoseconds; // estimated time of one thread for all of it, capped at kWorkerPicoseconds
  /// What the parts of a launch have of the domain: rows, lanes of all rows in multiples of kLanes, or chunks of what
  /// is reduced, the results of which lie in the scratch that all parts share.
  enum class Split : uint8_t { Outer, Inner, Chunks };

  /// Parts that the domain is split into; 1: serially on the calling thread.
  unsigned parts;
  Split by;
  unsigned owner = 0; // of a batch with parts == 1: the part that runs it
  bool tiled = false; // wantsTiles()
  /// Bytes by which pointer 0 lies before the memory that the kernel reads there: the padding of a window.
  int64_t lead = 0;
  /// The operator, and the user's line where it is known, for an error that comes out later; null: nobody knows.
  const char *what = nullptr, *where = nullptr;

  /// Runs a range of the domain, by tiles where that is wanted: rows of pages that stay in the processor's tables, by
  /// the lanes of a tile. (2048 x 2048 float32 transposed: 15 ms without tiles, 4 with.)
  TESS_CALLS_KERNELS void run(void *partScratch, int64_t outerLo, int64_t outerHi, int64_t innerLo,
                              int64_t innerHi) const {
    constexpr int64_t kTileRows = 64;
    if (!tiled)
      return fn(pointers, dims, partScratch, outerLo, outerHi, innerLo, innerHi);
    for (int64_t row = outerLo; row < outerHi; row += kTileRows)
      for (int64_t lane = innerLo; lane < innerHi; lane += kTileLanes)
        fn(pointers, dims, partScratch, row, std::min(row + kTileRows, outerHi), lane,
           std::min<int64_t>(lane + kTileLanes, innerHi));
  }

  /// Splits the outer range, or the inner one, into `threads` parts where it has as many.
  void split(unsigned threads) {
    by = outer < int64_t(threads) && inner >= 2 * kLanes ? Split::Inner : Split::Outer;
    splitInto(threads, by == Split::Inner ? (inner + kLanes - 1) / kLanes : outer);
  }
  /// The same for a kernel whose inner range is one of chunks.
  void splitChunks(unsigned threads) {
    by = Split::Chunks;
    splitInto(threads, inner);
  }

private:
  void splitInto(unsigned threads, int64_t pieces) { parts = unsigned(std::clamp<int64_t>(pieces, 1, threads)); }
};

/// Code that a device has loaded. It must live until the work of its kernels is done.
class LoadedCode {
public:
  virtual ~LoadedCode() = default;
  /// What kernel number `index` of the image is launched by (KernelLaunch::fn). The host may call it where it addresses
  /// the device's memory; elsewhere it is the device's own handle.
  KernelFn entry(unsigned index) const { return functions[index]; }

protected:
  llvm::SmallVector<KernelFn, 1> functions;
};
using LoadedCodeRef = std::shared_ptr<LoadedCode>;

/// A point in a stream's work.
class Event {
public:
  virtual ~Event() = default;
  /// True when the work before it is done.
  virtual bool done() const = 0;
};

/// Work in order. Calls return when the work is queued; their operands stay alive and unchanged until it is done.
class Stream {
public:
  virtual ~Stream() = default;
  /// Runs a generated kernel.
  virtual llvm::Error launch(const KernelLaunch &launch) = 0;
  /// Runs kernels that touch no memory of each other, over at most `parts` threads.
  virtual llvm::Error launchAll(llvm::ArrayRef<KernelLaunch> launches, unsigned parts) {
    for (const KernelLaunch &one : launches)
      if (llvm::Error error = launch(one))
        return error;
    return llvm::Error::success();
  }
  /// Runs a kernel of the table (KernelTable.h).
  virtual llvm::Error call(const PreparedKernel &kernel, RunContext &context, llvm::ArrayRef<void *> inputs,
                           llvm::ArrayRef<void *> outputs) = 0;
  /// Copies within the device, over at most `parts` threads; the ranges must be the same, or not overlap.
  virtual llvm::Error copy(void *destination, const void *source, size_t bytes, unsigned parts) = 0;
  /// Copies from and to host memory.
  virtual llvm::Error copyIn(void *destination, const void *host, size_t bytes) = 0;
  virtual llvm::Error copyOut(void *host, const void *source, size_t bytes) = 0;
  /// Makes `event` stand for the work queued so far; wait() lets later work begin only after that of `event`.
  virtual llvm::Error record(Event &event) = 0;
  virtual llvm::Error wait(Event &event) = 0;
  /// Waits on the calling thread until all work is done; errors of kernels come out here at the latest.
  virtual llvm::Error synchronize() = 0;
};

/// What callers may take for granted of a device.
struct DeviceTraits {
  /// The host reads and writes its memory and calls its kernels, which have run when a call returns.
  bool hostAccessible = false;
  /// Values on it can be computed and read.
  bool computes = true;
};

/// Memory, streams and kernels of one processor. Thread-safe.
class Device {
public:
  Device(std::string name, DeviceTraits traits)
      : deviceName(std::move(name)), traits(traits), salt(traits.hostAccessible ? 0 : llvm::xxh3_64bits(deviceName)) {}
  virtual ~Device() = default;
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  /// "cpu0".
  const std::string &name() const { return deviceName; }
  bool hostAccessible() const { return traits.hostAccessible; }
  bool computes() const { return traits.computes; }
  /// Keeps keys of what was made for one device from those of another; 0 for the host's.
  uint64_t keySalt() const { return salt; }
  /// The compiler's name for what its code is made for ("host", "sim", "sm_90").
  virtual llvm::StringRef target() const = 0;
  /// The target of code for it that a file may keep: target(), less the checks that are good in one process only.
  virtual llvm::StringRef fileTarget() const { return target(); }
  /// The kind of code that it loads.
  virtual ImageKind imageKind() const = 0;

  /// At least `bytes`, 64-byte aligned, not cleared. ResourceExhausted with a breakdown when there is no room.
  virtual llvm::Expected<Block> allocate(size_t bytes) = 0;
  /// Takes back a block; work that uses it must be done, or queued on the default stream.
  virtual void release(Block block) = 0;
  /// Its memory's allocator, for statistics and the byte limit.
  virtual Allocator &allocator() = 0;
  /// Makes the kernels of an image ready for launches. Unimplemented when the image is of another kind of code than the
  /// device runs, DataLoss when it is damaged.
  virtual llvm::Expected<LoadedCodeRef> load(const Image &image) = 0;
  /// The stream that programs use unless told otherwise.
  virtual Stream &defaultStream() = 0;
  /// Streams and events are for this device, and must be gone before it.
  virtual llvm::Expected<std::unique_ptr<Stream>> createStream() = 0;
  virtual llvm::Expected<std::unique_ptr<Event>> createEvent() = 0;
  /// Its library and sequential kernels (KernelTable.h).
  virtual llvm::ArrayRef<KernelDef> kernels() const = 0;

private:
  std::string deviceName;
  DeviceTraits traits;
  uint64_t salt;
};

/// The host's own processor; lives for ever.
Device &hostDevice();

} // namespace tess::runtime
