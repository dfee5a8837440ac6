//===- GradientProgram.cpp - the operators of a gradient as one ----------===//
#include "eager/gradients/GradientProgram.h"

#include "eager/stack/Apply.h"
#include "eager/tensor/Placement.h"
#include "llvm/ADT/STLExtras.h"

#include <memory>

namespace tess::eager {

static bool mayBeProgram(const OpDef &op, const Subgraph &graph) {
  bool hasFixedSizes = !op.info().boundRule; // those of its results follow from its operands
  return hasFixedSizes && mayBeProgram(graph) && hasFewGraphs(op);
}

/// Whether an axis has the same elements everywhere.
static bool repeats(const TensorImpl &x) {
  return llvm::any_of(llvm::zip_equal(x.shape(), x.strides()),
                      [](auto axis) { return std::get<0>(axis) > 1 && std::get<1>(axis) == 0; });
}

struct GradientPrograms::Made {
  std::optional<GraphProgram> whole;
  std::optional<GraphProgram> repeated; // for a gradient that repeats; none: no input has its shape
};

/// Which input of the graph of `call` is the gradient of the only result that has one; -1: there are several.
static int onlyGrad(const DifferentiatedCall &call) {
  const auto *arrives = llvm::find(call.hasOutputGrad, true);
  if (llvm::count(call.hasOutputGrad, true) != 1)
    return -1;
  return int(call.operands.size() + call.hasOutputGrad.size() + (arrives - call.hasOutputGrad.begin()));
}

GradientPrograms::GradientPrograms(const DifferentiatedCall &call)
    : mayRun(mayBeProgram(call.op, *call.graph)), grad(onlyGrad(call)) {}
GradientPrograms::~GradientPrograms() { delete made.load(); }

/// The gradient `grad` and an input of `graph` that has its shape; none: there is no other one.
static std::optional<Repeated> repeatedOf(const Subgraph &graph, llvm::ArrayRef<Operand> inputs, int grad) {
  if (grad < 0 || !graph.inputUsed[grad])
    return std::nullopt;
  for (int i = 0; i < int(inputs.size()); ++i)
    if (i != grad && graph.inputUsed[i] && inputs[i].tensor->shape() == inputs[grad].tensor->shape())
      return Repeated{grad, i};
  return std::nullopt;
}

const GradientPrograms::Made &GradientPrograms::programs(const DifferentiatedCall &call,
                                                         llvm::ArrayRef<Operand> inputs) const {
  if (const Made *known = made.load(std::memory_order_acquire))
    return *known;
  auto own = std::make_unique<Made>();
  SizeSymbols symbols(call.operands);
  auto make = [&](llvm::ArrayRef<TensorMeta> operands) {
    return call.op.makeBackwardGraph(operands, call.needed, call.hasOutputGrad, call.segments, call.hasSum);
  };
  if (std::optional<Subgraph> bySymbols = symbols.in(*call.graph, call.operands, make)) {
    own->whole = writeProgram(*call.graph, *bySymbols, symbols, inputs, std::nullopt);
    if (std::optional<Repeated> repeated = repeatedOf(*call.graph, inputs, grad))
      own->repeated = writeProgram(*call.graph, *bySymbols, symbols, inputs, repeated);
  }
  if (!own->whole) { // for these sizes alone
    GraphProgram sized = writeSizedProgram(*call.graph, inputs);
    if (mayHaveProgram(call.op.info(), sized.op, call.operands))
      own->whole = std::move(sized);
  }
  const Made *none = nullptr;
  return made.compare_exchange_strong(none, own.get(), std::memory_order_acq_rel) ? *own.release() : *none;
}

/// Whether the operators of a program may run as one: nothing watches them, and their operands are on one device.
static bool mayRunAsOne(const GraphProgram &program, llvm::ArrayRef<Operand> inputs) {
  llvm::SmallVector<Operand, 8> operands = operandsOf(program, inputs);
  const runtime::Device &device = deviceOf(operands);
  return device.computes() && neededLayers(program.op, operands) == bitOf(Layer::Interpreter) &&
         llvm::all_of(operands, [&](const Operand &each) { return &each.tensor->storage().device() == &device; });
}

const GraphProgram *GradientPrograms::find(const DifferentiatedCall &call, llvm::ArrayRef<Operand> inputs) const {
  if (!mayRun ||
      (runs.load(std::memory_order_relaxed) < kFewRuns && runs.fetch_add(1, std::memory_order_relaxed) < kFewRuns))
    return nullptr;
  const Made &known = programs(call, inputs);
  const std::optional<GraphProgram> &program =
      known.repeated && repeats(*inputs[grad].tensor) ? known.repeated : known.whole;
  return program && mayRunAsOne(*program, inputs) ? &*program : nullptr;
}

} // namespace tess::eager
