//===- GrownMemory.cpp - memory that grows while loops run ----------------===//
#include "runtime/run/GrownMemory.h"
#include "ops/vocabulary/Error.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::runtime {

/// Where the pointers of a value begin; they keep their distance from it.
static void rebase(Commands &bound, uint32_t index, void *base) {
  GrownValue &value = bound.grown[index];
  uintptr_t shift = uintptr_t(base) - uintptr_t(value.base);
  for (const PointerPatch &patch : bound.grownPatches)
    if (patch.index == index)
      bound.pointers[patch.slot] = reinterpret_cast<void *>(uintptr_t(bound.pointers[patch.slot]) + shift);
  value.base = base;
}

void takeGrownInputs(Commands &bound, llvm::ArrayRef<void *> inputs, const RunOptions &options) {
  for (auto [index, value] : llvm::enumerate(bound.grown)) {
    value.saved = 0;
    if (value.input < 0)
      continue;
    rebase(bound, uint32_t(index), inputs[value.input]);
    value.saved = options.savedTrips ? options.savedTrips(size_t(value.input)) : 1;
  }
}

llvm::Expected<BufferRef> grownMemory(Device &device, Stream &stream, int64_t trips, int64_t width, const void *old,
                                      int64_t kept) {
  llvm::Expected<int64_t> bytes = control::grownBytes(trips, width);
  if (!bytes)
    return bytes.takeError();
  llvm::Expected<BufferRef> larger = Buffer::allocate(device, size_t(std::max<int64_t>(*bytes, 1)));
  if (!larger)
    return control::noMemory(larger.takeError(), trips, width);
  if (kept && width) {
    if (llvm::Error error = stream.copy((*larger)->data(), old, size_t(kept * width), /*parts=*/1))
      return std::move(error);
    if (!device.hostAccessible()) // the old memory goes back now
      if (llvm::Error error = stream.synchronize())
        return std::move(error);
  }
  return larger;
}

/// Gives a value memory for `trips`, into which what it has of the first `kept` moves.
static llvm::Error enlarge(Commands &bound, uint32_t index, Stream &stream, int64_t trips, int64_t kept) {
  GrownValue &value = bound.grown[index];
  llvm::Expected<BufferRef> larger = grownMemory(bound.program->device(), stream, trips, value.bytes, value.base, kept);
  if (!larger)
    return larger.takeError();
  rebase(bound, index, (*larger)->data());
  value.buffer = std::move(*larger);
  value.capacity = trips;
  return llvm::Error::success();
}

static llvm::ArrayRef<uint32_t> writtenBy(const Commands &bound, const Command &loop) {
  return llvm::ArrayRef(bound.grownOfLoops).slice(loop.firstGrown, loop.numGrownResults);
}

static llvm::ArrayRef<uint32_t> readBy(const Commands &bound, const Command &loop) {
  return llvm::ArrayRef(bound.grownOfLoops).slice(loop.firstGrown + loop.numGrownResults, loop.numGrownXs);
}

llvm::Error beginGrown(Commands &bound, const Command &loop, Stream &stream, int64_t trips) {
  if (loop.reverse)
    for (uint32_t index : readBy(bound, loop))
      if (trips > bound.grown[index].saved)
        return control::notSaved(trips - 1, bound.grown[index].saved);
  for (uint32_t index : writtenBy(bound, loop)) {
    GrownValue &value = bound.grown[index];
    int64_t needed = std::max<int64_t>(loop.reverse ? trips : value.expected, 1);
    value.saved = loop.reverse ? trips : 0;
    if (needed > value.capacity)
      if (llvm::Error error = enlarge(bound, index, stream, needed, /*kept=*/0))
        return error;
  }
  return llvm::Error::success();
}

llvm::Error growFor(Commands &bound, const Command &loop, Stream &stream, int64_t at) {
  for (uint32_t index : readBy(bound, loop))
    if (at >= bound.grown[index].saved)
      return control::notSaved(at, bound.grown[index].saved);
  for (uint32_t index : writtenBy(bound, loop)) {
    GrownValue &value = bound.grown[index];
    if (at >= value.capacity)
      if (llvm::Error error = enlarge(bound, index, stream, control::grownTo(value.capacity, at + 1), at))
        return error;
    value.saved = std::max(value.saved, at + 1);
  }
  return llvm::Error::success();
}

llvm::Error nobodyTakes(const Program &program, size_t output) {
  return invalidArgument(program.name() + ": memory of output " + program.executable().outputs[output].name +
                         ", which grew, must be taken over, got nobody who does");
}

/// Hands the memory of an output over.
static llvm::Error handOver(const Commands &bound, GrownValue &value, const RunOptions &options) {
  if (!options.takeGrown)
    return nobodyTakes(*bound.program, size_t(value.output));
  if (!value.buffer) // its loop lies within one that made no trips
    return control::notSaved(0, 0);
  options.takeGrown(size_t(value.output), std::move(value.buffer), value.saved);
  return llvm::Error::success();
}

llvm::Error releaseGrown(Commands &bound, bool ended, const RunOptions &options) {
  llvm::Error error = llvm::Error::success();
  for (auto [index, value] : llvm::enumerate(bound.grown)) {
    if (ended && value.output >= 0)
      error = llvm::joinErrors(std::move(error), handOver(bound, value, options));
    value.expected = ended ? value.saved : 0;
    value.buffer = nullptr;
    value.capacity = 0;
    rebase(bound, uint32_t(index), nullptr);
  }
  return error;
}

} // namespace tess::runtime
