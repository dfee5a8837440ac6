//===- GrownValues.cpp - what loops without a bound stack -----------------===//
#include "runtime/schema/GrownValues.h"
#include "ops/graphs/Control.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::runtime {

bool hasNoBound(const LoopDecl &loop) { return control::hasNoBound(loop.isGuarded, loop.length); }

/// The operands of a step that it takes for grown values.
static llvm::ArrayRef<ValueId> grownOperands(const Executable &exe, const Step &step) {
  if (step.loop < 0 || !hasNoBound(exe.loops[step.loop]))
    return {};
  return llvm::ArrayRef<ValueId>(step.operands).drop_front(exe.loops[step.loop].numCarried);
}

std::vector<bool> grownValues(const Executable &exe) {
  if (llvm::none_of(exe.loops, hasNoBound))
    return {};
  std::vector<bool> grown(exe.values.size());
  for (const Step &step : exe.steps) {
    for (ValueId x : grownOperands(exe, step))
      grown[x] = grown[x] || exe.values[x].kind == ValueKind::Input;
    if (step.loop >= 0 && hasNoBound(exe.loops[step.loop]))
      for (ValueId result : llvm::ArrayRef<ValueId>(step.results).drop_front(exe.loops[step.loop].numCarried))
        grown[result] = true;
  }
  return llvm::is_contained(grown, true) ? grown : std::vector<bool>();
}

std::optional<ValueId> misusedGrownValue(const Executable &exe) {
  if (llvm::none_of(exe.loops, hasNoBound))
    return std::nullopt;
  std::vector<bool> grown = grownValues(exe);
  grown.resize(exe.values.size());
  std::optional<ValueId> misused;
  auto isPlain = [&](ValueId value) {
    if (value >= 0 && grown[value])
      misused = value;
  };
  for (const ProgramNode &node : exe.nodes)
    if (node.loop < 0)
      llvm::for_each(node.operands, isPlain);
  for (const Step &step : exe.steps) {
    llvm::ArrayRef<ValueId> xs = grownOperands(exe, step);
    llvm::for_each(llvm::ArrayRef<ValueId>(step.operands).drop_back(xs.size()), isPlain);
    llvm::for_each(step.domain, isPlain);
    for (ValueId x : xs)
      if (!grown[x])
        misused = x;
  }
  for (const LoopDecl &loop : exe.loops)
    llvm::for_each(loop.yields, isPlain);
  for (const DataSize &size : exe.dataSizes)
    isPlain(size.value);
  for (const OutputDecl &output : exe.outputs)
    if (output.donates >= 0 || exe.values[output.value].kind == ValueKind::Input)
      isPlain(output.value);
  return misused;
}

} // namespace tess::runtime
