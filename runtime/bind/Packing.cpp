//===- Packing.cpp - values that stay in a library's layout ---------------===//
#include "runtime/bind/Packing.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/STLExtras.h"

#include <optional>

namespace tess::runtime {

namespace {

class Packings {
public:
  Packings(const Executable &exe, llvm::ArrayRef<TensorMeta> metas, llvm::ArrayRef<Layout> layouts,
           llvm::ArrayRef<Place> places)
      : exe(exe), metas(metas), layouts(layouts), joined(unsigned(exe.values.size())), wanted(exe.values.size()),
        byChannel(exe.values.size()), readsIndex(exe.values.size(), true) {
    for (auto [value, decl] : llvm::enumerate(exe.values)) {
      if (decl.kind == ValueKind::View) { // the strides of a view have no meaning in another layout of its root
        want(rootOf(exe, ValueId(value)), {});
        want(ValueId(value), {});
      } else if (decl.kind != ValueKind::Fused && places[value].kind != Place::Arena)
        want(ValueId(value), {});
    }
    for (const OutputDecl &output : exe.outputs) // an output in the arena is copied as it is
      want(rootOf(exe, output.value), {});
    for (const LoopDecl &loop : exe.loops) // and so is what trips hand on
      for (const ValueIds *list : {&loop.arguments, &loop.yields})
        for (ValueId value : *list)
          want(value, {});
    for (const ProgramNode &node : exe.nodes)
      for (ValueId result : node.results)
        readsIndex[result] = node.loop >= 0 || dependsOnIndex(node);
  }

  void visit(const Step &step, const PreparedKernel *kernel) {
    if (takesAnyOrder(step))
      return join(step);
    for (auto [index, operand] : llvm::enumerate(step.operands)) {
      const Packing packing = kernel ? kernel->inputPacking(index) : Packing();
      want(operand, packing.constantBytes ? Packing() : packing); // of a constant alone
    }
    for (auto [index, result] : llvm::enumerate(step.results))
      want(result, kernel && index == 0 ? kernel->outputPacking() : Packing());
  }

  std::vector<Packing> result() {
    std::vector<Packing> out(exe.values.size());
    for (size_t value = 0; value < out.size(); ++value)
      if (unsigned first = joined.findLeader(unsigned(value));
          wanted[first] && (wanted[first]->order || !byChannel[first]))
        out[value] = *wanted[first];
    return out;
  }

private:
  /// Notes that a step prefers `value` in `packing`. A value with two different wishes stays row-major.
  void want(ValueId value, const Packing &packing) {
    std::optional<Packing> &now = wanted[joined.findLeader(unsigned(value))];
    now = !now || now->text == packing.text ? packing : Packing();
  }

  bool isWhole(ValueId value, const TensorMeta &domain) const {
    return metas[value].shape == domain.shape && metas[value].dtype == domain.dtype && layouts[value].isContiguous();
  }

  /// Whether the step is an elementwise kernel that reads no index and walks whole operands alike: in one piece, or by
  /// channel.
  bool takesAnyOrder(const Step &step) const {
    const bool channels = goesByChannel(step);
    if (step.kind != StepKind::Kernel || !step.reduced.empty() || step.parallel.size() != (channels ? 3 : 1))
      return false;
    const TensorMeta &domain = metas[step.results[0]];
    auto fits = [&](auto operand) {
      ValueId v = operand.value();
      if (channels && step.innerClasses[operand.index()] == InnerClass::Repeated)
        return domain.rank() > 1 && metas[v].numElements() == domain.shape[1] && layouts[v].isContiguous();
      return isWhole(v, domain) || metas[v].numElements() == 1;
    };
    return llvm::all_of(step.results, [&](ValueId v) { return isWhole(v, domain) && !readsIndex[v]; }) &&
           llvm::all_of(llvm::enumerate(step.operands), fits);
  }

  /// Whether an operator that reads its element's index takes part in what `node` computes in a kernel.
  bool dependsOnIndex(const ProgramNode &node) const {
    auto isPart = [&](ValueId operand) { return exe.values[operand].kind == ValueKind::Fused && readsIndex[operand]; };
    return !node.op.info().scalar || tess::readsIndex(*node.op.info().scalar) || llvm::any_of(node.operands, isPart);
  }

  void join(const Step &step) {
    ValueId first = step.results[0];
    for (const ValueIds *list : {&step.operands, &step.results})
      for (ValueId value : *list)
        isWhole(value, metas[first]) ? unite(first, value) : want(value, {});
    if (goesByChannel(step))
      byChannel[joined.findLeader(unsigned(first))] = true;
  }

  void unite(ValueId a, ValueId b) {
    unsigned kept = joined.findLeader(unsigned(a)), other = joined.findLeader(unsigned(b));
    if (kept == other)
      return;
    if (joined.join(kept, other) != kept)
      std::swap(kept, other);
    byChannel[kept] = byChannel[kept] || byChannel[other];
    if (wanted[other])
      want(ValueId(kept), *wanted[other]);
  }

  const Executable &exe;
  llvm::ArrayRef<TensorMeta> metas;
  llvm::ArrayRef<Layout> layouts;
  llvm::IntEqClasses joined; // values that have one packing
  // By the leader of the joined values: what the steps prefer, and whether a kernel tells channels apart.
  std::vector<std::optional<Packing>> wanted;
  std::vector<bool> byChannel;
  std::vector<bool> readsIndex; // by value, of those that are elementwise
};

} // namespace

std::vector<Packing> planPackings(const Executable &exe, llvm::ArrayRef<TensorMeta> metas,
                                  llvm::ArrayRef<Layout> layouts, llvm::ArrayRef<Place> places,
                                  llvm::ArrayRef<PreparedRef> kernels) {
  bool any =
      llvm::any_of(kernels, [](const PreparedRef &kernel) { return kernel && !kernel->outputPacking().text.empty(); });
  if (!any)
    return std::vector<Packing>(exe.values.size());
  Packings packings(exe, metas, layouts, places);
  for (auto [step, kernel] : llvm::zip(exe.steps, kernels))
    packings.visit(step, kernel.get());
  return packings.result();
}

} // namespace tess::runtime
