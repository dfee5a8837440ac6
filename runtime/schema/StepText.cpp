//===- StepText.cpp - a step in words -------------------------------------===//
#include "runtime/schema/StepText.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

namespace tess::runtime {

namespace {

/// The node that defines each value; -1: none.
class Producers {
public:
  explicit Producers(const Executable &executable) : exe(executable), producers(executable.values.size(), -1) {
    for (auto [index, node] : llvm::enumerate(exe.nodes))
      for (ValueId result : node.results)
        producers[result] = int32_t(index);
  }

  /// The nodes between the operands of `step` and its results.
  std::vector<uint32_t> nodesOf(const Step &step) const {
    llvm::DenseSet<ValueId> operands(step.operands.begin(), step.operands.end());
    llvm::DenseSet<uint32_t> found;
    llvm::SmallVector<ValueId, 8> open(step.results.begin(), step.results.end());
    while (!open.empty()) {
      int32_t index = producers[open.pop_back_val()];
      if (index < 0 || !exe.nodes[index].op || !found.insert(uint32_t(index)).second)
        continue;
      llvm::copy_if(exe.nodes[index].operands, std::back_inserter(open),
                    [&](ValueId operand) { return !operands.contains(operand); });
    }
    std::vector<uint32_t> nodes(found.begin(), found.end());
    llvm::sort(nodes);
    return nodes;
  }

private:
  const Executable &exe;
  std::vector<int32_t> producers;
};

} // namespace

llvm::StringRef nameOf(StepKind kind) {
  switch (kind) {
  case StepKind::Kernel:
    return "kernel";
  case StepKind::Movement:
    return "movement";
  case StepKind::Library:
    return "library";
  case StepKind::Window:
    return "window";
  case StepKind::Loop:
    return "loop";
  }
  llvm_unreachable("every step has a kind");
}

size_t codeBytes(const Image &image, const KernelEntry &entry) {
  size_t end = image.code().size();
  for (const KernelEntry &other : image.entries)
    if (other.offset > entry.offset)
      end = std::min<size_t>(end, other.offset);
  return end - entry.offset;
}

std::string operatorNames(const Executable &executable, llvm::ArrayRef<uint32_t> nodes) {
  return llvm::join(llvm::map_range(nodes, [&](uint32_t node) { return executable.nodes[node].op.name().str(); }), " ");
}

std::string fusedOperators(const Executable &executable, const Step &step) {
  return operatorNames(executable, Producers(executable).nodesOf(step));
}

std::vector<std::vector<uint32_t>> nodesBySteps(const Executable &executable) {
  Producers producers(executable);
  std::vector<std::vector<uint32_t>> nodes;
  for (const Step &step : executable.steps)
    nodes.push_back(producers.nodesOf(step));
  return nodes;
}

} // namespace tess::runtime
