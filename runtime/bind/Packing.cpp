//===- Packing.cpp - values that stay in a library's layout ---------------===//
#include "runtime/bind/Packing.h"
#include "llvm/ADT/STLExtras.h"

#include <numeric>
#include <optional>

namespace tess::runtime {

namespace {

class Packings {
public:
  Packings(const Executable &exe, llvm::ArrayRef<TensorMeta> metas, llvm::ArrayRef<Layout> layouts,
           llvm::ArrayRef<Place> places)
      : exe(exe), metas(metas), layouts(layouts), parent(exe.values.size()), wanted(exe.values.size()),
        definedBy(exe.values.size()) {
    std::iota(parent.begin(), parent.end(), 0);
    for (auto [value, decl] : llvm::enumerate(exe.values)) {
      if (decl.kind == ValueKind::View) { // the strides of a view have no meaning in another layout of its root
        want(rootOf(exe, ValueId(value)), "");
        want(ValueId(value), "");
      } else if (decl.kind != ValueKind::Fused && places[value].kind != Place::Arena)
        want(ValueId(value), "");
    }
    for (const OutputDecl &output : exe.outputs) // an output in the arena is copied as it is
      want(rootOf(exe, output.value), "");
    for (const ProgramNode &node : exe.nodes)
      for (ValueId result : node.results)
        definedBy[result] = &node;
  }

  void visit(const Step &step, const PreparedKernel *kernel) {
    if (takesAnyOrder(step))
      return join(step);
    for (auto [index, operand] : llvm::enumerate(step.operands))
      want(operand, kernel ? kernel->inputPacking(index) : "");
    for (auto [index, result] : llvm::enumerate(step.results))
      want(result, kernel && index == 0 ? kernel->outputPacking() : "");
  }

  std::vector<std::string> result() {
    std::vector<std::string> out(exe.values.size());
    for (size_t value = 0; value < out.size(); ++value)
      out[value] = wanted[find(ValueId(value))].value_or("");
    return out;
  }

private:
  ValueId find(ValueId value) {
    while (parent[value] != value)
      value = parent[value] = parent[parent[value]];
    return value;
  }

  /// Notes that a step prefers `value` in `packing`. A value with two different wishes stays row-major.
  void want(ValueId value, llvm::StringRef packing) {
    std::optional<std::string> &now = wanted[find(value)];
    now = !now || *now == packing ? packing.str() : "";
  }

  bool isWhole(ValueId value, const TensorMeta &domain) const {
    return metas[value].shape == domain.shape && metas[value].dtype == domain.dtype && layouts[value].isContiguous();
  }

  /// Whether the step is an elementwise kernel that walks all operands alike in one piece, and reads no index.
  bool takesAnyOrder(const Step &step) const {
    if (step.kind != StepKind::Kernel || !step.reduced.empty() || step.parallel.size() != 1)
      return false;
    const TensorMeta &domain = metas[step.results[0]];
    return llvm::all_of(step.results, [&](ValueId v) { return isWhole(v, domain) && !readsIndex(v); }) &&
           llvm::all_of(step.operands, [&](ValueId v) { return isWhole(v, domain) || metas[v].numElements() == 1; });
  }

  /// Whether `value` is computed with an operator that reads its element's index.
  bool readsIndex(ValueId value) const {
    const ProgramNode *node = definedBy[value];
    if (!node || !node->op.info().scalar)
      return true;
    return tess::readsIndex(*node->op.info().scalar) || llvm::any_of(node->operands, [&](ValueId operand) {
             return exe.values[operand].kind == ValueKind::Fused && readsIndex(operand);
           });
  }

  void join(const Step &step) {
    ValueId first = step.results[0];
    for (const ValueIds *list : {&step.operands, &step.results})
      for (ValueId value : *list)
        if (isWhole(value, metas[first]))
          unite(first, value);
  }

  void unite(ValueId a, ValueId b) {
    a = find(a), b = find(b);
    if (a == b)
      return;
    parent[b] = a;
    if (wanted[b])
      want(a, *wanted[b]);
  }

  const Executable &exe;
  llvm::ArrayRef<TensorMeta> metas;
  llvm::ArrayRef<Layout> layouts;
  std::vector<ValueId> parent;
  std::vector<std::optional<std::string>> wanted; // by the representative of the joined values
  std::vector<const ProgramNode *> definedBy;
};

} // namespace

std::vector<std::string> planPackings(const Executable &exe, llvm::ArrayRef<TensorMeta> metas,
                                      llvm::ArrayRef<Layout> layouts, llvm::ArrayRef<Place> places,
                                      llvm::ArrayRef<PreparedRef> kernels) {
  bool any =
      llvm::any_of(kernels, [](const PreparedRef &kernel) { return kernel && !kernel->outputPacking().empty(); });
  if (!any)
    return std::vector<std::string>(exe.values.size());
  Packings packings(exe, metas, layouts, places);
  for (auto [step, kernel] : llvm::zip(exe.steps, kernels))
    packings.visit(step, kernel.get());
  return packings.result();
}

} // namespace tess::runtime
