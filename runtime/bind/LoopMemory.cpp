//===- LoopMemory.cpp - how a loop's values share memory ------------------===//
#include "runtime/bind/LoopMemory.h"
#include "runtime/bind/Roots.h"

namespace tess::runtime {

void LoopMemory::findLoops() {
  llvm::SmallVector<int32_t, 8> open;
  for (int32_t index = 0; index < int32_t(exe->steps.size()); ++index) {
    while (!open.empty() && endOf(open.back()) < index)
      open.pop_back();
    loops[index] = open.empty() ? -1 : open.back();
    const Step &step = exe->steps[index];
    for (ValueId result : step.results) {
      homes[result] = loops[index];
      written[result] = index;
    }
    if (step.loop < 0)
      continue;
    for (ValueId argument : exe->loops[step.loop].arguments)
      homes[argument] = index;
    open.push_back(index);
  }
}

int32_t LoopMemory::lastRead(int32_t step, int32_t home) const {
  int32_t last = step;
  for (int32_t loop = loopOf(step); loop >= 0 && loop != home; loop = loops[loop])
    last = endOf(loop);
  return last;
}

ValueId LoopMemory::ownerOf(ValueId value) const {
  for (value = rootOf(*exe, value); isShared(value);)
    value = rootOf(*exe, sharedWith[value]);
  return value;
}

llvm::SmallVector<TripMove, 2> LoopMemory::movesOf(ValueId value) const {
  llvm::SmallVector<TripMove, 2> all;
  for (value = rootOf(*exe, value); isShared(value); value = rootOf(*exe, sharedWith[value]))
    if (moves[value].loop >= 0)
      all.push_back(moves[value]);
  return all;
}

/// The last step of the loop's body that reads the argument, an inner loop's end where that reads it.
int32_t LoopMemory::lastReadIn(int32_t loop, ValueId argument) const {
  int32_t last = -1;
  for (int32_t index = loop + 1; index <= endOf(loop); ++index)
    for (ValueId operand : exe->steps[index].operands)
      if (rootOf(*exe, operand) == argument)
        last = std::max(last, lastRead(index, loop));
  return last;
}

/// Makes what a trip yields in the memory of what it was given, where nothing reads that later.
void LoopMemory::shareCarried(int32_t loop, unsigned number,
                              llvm::function_ref<bool(const Step &, ValueId, ValueId)> mayOverwrite) {
  const Step &step = exe->steps[loop];
  const LoopDecl &decl = exe->loops[step.loop];
  ValueId argument = decl.arguments[number], made = decl.yields[number];
  sharedWith[argument] = step.results[number];
  if (made == argument || homes[made] != loop)
    return;
  int32_t last = lastReadIn(loop, argument);
  if (last < written[made] || (last == written[made] && mayOverwrite(exe->steps[last], made, argument)))
    sharedWith[made] = step.results[number];
}

LoopMemory::LoopMemory(const Executable &exe, llvm::function_ref<int64_t(ValueId)> bytesOf,
                       llvm::function_ref<bool(const Step &step, ValueId made, ValueId argument)> mayOverwrite)
    : exe(&exe) {
  if (exe.loops.empty())
    return;
  loops.assign(exe.steps.size(), -1);
  homes.assign(exe.values.size(), -1);
  written = sharedWith = homes;
  moves.resize(exe.values.size());
  findLoops();
  for (int32_t index = 0; index < int32_t(exe.steps.size()); ++index) {
    const Step &step = exe.steps[index];
    if (step.loop < 0)
      continue;
    const LoopDecl &decl = exe.loops[step.loop];
    auto shareElement = [&](ValueId element, ValueId whole) {
      sharedWith[element] = whole;
      moves[element] = {index, bytesOf(element)};
    };
    for (unsigned number = 0; number < decl.numCarried; ++number)
      shareCarried(index, number, mayOverwrite);
    for (unsigned number = decl.numCarried; number < decl.arguments.size(); ++number)
      shareElement(decl.arguments[number], step.operands[number]);
    for (unsigned number = decl.numCarried; number < decl.yields.size(); ++number)
      shareElement(decl.yields[number], step.results[number]);
  }
}

} // namespace tess::runtime
