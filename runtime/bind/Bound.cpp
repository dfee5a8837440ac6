//===- Bound.cpp - facts about a bound program ----------------------------===//
#include "runtime/bind/Commands.h"
#include "runtime/bind/Stages.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace tess::runtime {

Bound::Bound(std::unique_ptr<Commands> data) : impl(std::move(data)) {}
Bound::~Bound() = default;
llvm::ArrayRef<TensorMeta> Bound::outputs() const { return impl->outputs; }
llvm::ArrayRef<TensorMeta> Bound::mostOutputs() const {
  return impl->dependsOnData ? impl->mostOutputs : impl->outputs;
}
bool Bound::dependsOnData() const { return impl->dependsOnData; }
bool Bound::isOutputGrown(size_t index) const {
  return index < impl->isOutputGrown.size() && impl->isOutputGrown[index];
}
bool Bound::checksData() const { return impl->checksData; }
const MemoryEstimate &Bound::memory() const { return impl->memory; }
uint64_t Bound::shapesHash() const { return impl->shapesHash; }
llvm::ArrayRef<PlannedMemory> Bound::plan() const { return impl->plan; }
uint64_t Bound::launches() const { return impl->staged ? impl->staged->launches() : impl->commands.size(); }

template <typename T> static uint64_t bytesOf(const std::vector<T> &list) { return list.capacity() * sizeof(T); }

uint64_t Bound::heldBytes() const {
  const Commands &b = *impl;
  llvm::SmallPtrSet<const PreparedKernel *, 16> kernels; // counted: their cache may evict them while they are bound
  uint64_t kernelBytes = 0;
  for (const Command &command : b.commands)
    if (command.kernel && kernels.insert(command.kernel.get()).second)
      kernelBytes += command.kernel->footprint();
  return sizeof(Bound) + sizeof(Commands) + bytesOf(b.outputs) + bytesOf(b.mostOutputs) + bytesOf(b.unknownAxes) +
         bytesOf(b.plan) + bytesOf(b.commands) + bytesOf(b.picks) + bytesOf(b.batched) + bytesOf(b.copies) +
         bytesOf(b.pointers) + bytesOf(b.dims) + bytesOf(b.moves) + bytesOf(b.inputPatches) + bytesOf(b.outputPatches) +
         bytesOf(b.arenaPatches) + bytesOf(b.grownPatches) + bytesOf(b.grown) + bytesOf(b.scalarPatches) +
         (b.arena ? b.memory.arena : 0) + kernelBytes + (b.staged ? b.staged->heldBytes() : 0);
}
unsigned Bound::packedValues() const { return impl->packedValues; }
bool Bound::needsWorker() const { return impl->needsWorker; }
const Program &Bound::program() const { return *impl->program; }

std::vector<std::string> Bound::implementations() const {
  std::vector<std::string> names;
  for (const Command &command : impl->commands)
    if (command.kind == Command::Library)
      names.push_back(command.kernel->implementation());
  return names;
}

std::vector<std::string> Bound::kernelChoices() const {
  std::vector<std::string> lines;
  for (const auto &[step, pick] : impl->picks)
    lines.push_back(std::string(step->op.name()) + ": " + tuning::describe(pick));
  return lines;
}

unsigned Bound::numScalars() const { return impl->program->executable().numScalars; }

Bound::TableCalls Bound::tableCalls() const {
  TableCalls calls;
  for (const Command &command : impl->commands)
    if (command.kind == Command::Library)
      ++(command.kernel->callsLibrary() ? calls.library : calls.loops);
  return calls;
}

} // namespace tess::runtime
