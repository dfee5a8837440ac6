//===- StepText.cpp - a step in words -------------------------------------===//
#include "runtime/schema/StepText.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <vector>

namespace tess::runtime {

std::string fusedOperators(const Executable &executable, const Step &step) {
  llvm::DenseSet<ValueId> wanted(step.results.begin(), step.results.end());
  std::vector<std::string> names;
  for (const ProgramNode &node : llvm::reverse(executable.nodes)) {
    if (!node.op || llvm::none_of(node.results, [&](ValueId result) { return wanted.contains(result); }))
      continue;
    names.push_back(node.op.name().str());
    for (ValueId operand : node.operands)
      if (!llvm::is_contained(step.operands, operand))
        wanted.insert(operand);
  }
  std::reverse(names.begin(), names.end());
  return llvm::join(names, " ");
}

} // namespace tess::runtime
