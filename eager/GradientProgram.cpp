//===- GradientProgram.cpp - the operators of a gradient as one ----------===//
#include "eager/GradientProgram.h"

#include "eager/BackwardPlan.h"
#include "eager/CompiledOp.h"
#include "eager/Counters.h"
#include "eager/Dispatch.h"
#include "eager/GradientOp.h"
#include "eager/Transformations.h"
#include "ops/SizeExpr.h"
#include "llvm/ADT/STLExtras.h"

#include <memory>
#include <optional>

namespace tess::eager {

//===----------------------------------------------------------------------===//
// Which graphs have one
//===----------------------------------------------------------------------===//

/// Whether an operator may be one of a program: the compiler makes its kernels, for all sizes.
static bool mayBePart(const Subgraph::Node &node) {
  const OpInfo &info = node.op.info();
  switch (info.lowering) {
  case Lowering::Elementwise:
  case Lowering::Reduction:
  case Lowering::View:
  case Lowering::Movement:
  case Lowering::Lookup:
  case Lowering::Scatter:
  case Lowering::Composite:
    return !info.stochastic && !info.boundRule;
  default:
    return false;
  }
}

/// Whether an operator alone would read and write memory.
static bool isKernel(const Subgraph::Node &node) {
  return node.op.info().lowering != Lowering::View && !node.inputs.empty();
}

/// Whether no attribute of the operator puts one of many numbers into the graph of its gradient, as a slice does.
static bool hasFewGraphs(const OpDef &op) {
  for (auto [i, attr] : llvm::enumerate(op.info().attrs)) {
    bool isGiven = op.attr(unsigned(i)).kind() != AttrKind::None;
    if (isGiven && !attr.isRuntime && attr.axisOf < 0 &&
        (attr.isSize || (attr.isBindTime && attr.kind == AttrKind::I64List)))
      return false;
  }
  return true;
}

static bool mayBeProgram(const OpDef &op, const Subgraph &graph) {
  constexpr size_t kMostOperators = 64;
  bool hasFixedSizes = !op.info().boundRule; // those of its results follow from its operands
  return hasFixedSizes && graph.nodes.size() <= kMostOperators && llvm::is_contained(graph.inputUsed, true) &&
         llvm::count_if(graph.nodes, isKernel) >= 2 && llvm::all_of(graph.nodes, mayBePart) && hasFewGraphs(op);
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// `symbolic`, which is `op` with symbols for sizes, with neutral numbers; adds those of `op` to `scalars`.
static OpDef withoutNumbers(const OpDef &op, OpDef symbolic, llvm::SmallVectorImpl<uint64_t> &scalars) {
  for (const AttrInfo &attr : op.info().attrs) {
    if (!attr.isRuntime || !op.has(attr.name))
      continue;
    scalars.push_back(bitsOf(op.attr(attr.name)));
    symbolic.set(attr.name, neutralNumber(attr));
  }
  return symbolic;
}

namespace {

/// An input that the program reads without the axes along which it repeats, and one of its true shape.
struct Repeated {
  int input, like;
};

/// Symbols for the sizes of a plan's operands, equal ones the same. 0 and 1 have none: their graphs are others.
struct SizeSymbols {
  llvm::SmallVector<int64_t, 8> sizes; // by symbol

  explicit SizeSymbols(const BackwardPlan &plan) {
    for (const TensorMeta &operand : plan.operands)
      for (int64_t size : operand.shape)
        if (size > 1 && !llvm::is_contained(sizes, size))
          sizes.push_back(size);
  }
  /// The symbol of a size; -1: it has none.
  int64_t find(int64_t size) const {
    const auto *known = llvm::find(sizes, size);
    return known == sizes.end() ? -1 : known - sizes.begin();
  }
};

/// The graph of `plan` with symbols for the sizes in it; none: it is another one for other sizes.
std::optional<Subgraph> graphBySymbols(const BackwardPlan &plan, const SizeSymbols &symbols) {
  Metas operands = plan.operands;
  for (TensorMeta &operand : operands)
    for (int64_t &size : operand.shape)
      if (int64_t symbol = symbols.find(size); symbol >= 0)
        size = sizes::symbol(uint32_t(symbol));
  llvm::Expected<Subgraph> graph =
      plan.op.makeBackwardGraph(operands, plan.needed, plan.hasOutputGrad, plan.segments, plan.hasSum);
  if (!graph) {
    llvm::consumeError(graph.takeError()); // a rule wants to know a size
    return std::nullopt;
  }
  bool isSame = isSameAt(*plan.graph, *graph, [&](uint32_t symbol) { return symbols.sizes[symbol]; });
  return isSame ? std::optional(std::move(*graph)) : std::nullopt;
}

/// Makes a program of a graph, whose sizes are symbols in `bySymbols`, for calls with these inputs.
class ProgramWriter {
public:
  ProgramWriter(const Subgraph &graph, const Subgraph &bySymbols, const SizeSymbols &symbols,
                llvm::ArrayRef<Operand> given)
      : graph(graph), bySymbols(bySymbols), symbols(symbols), given(given) {}
  /// None: an operator wants a size that no operand has.
  std::optional<GradientProgram> write(std::optional<Repeated> repeated);

private:
  void addInputs();
  void repeat(const Repeated &repeated);
  void addOutput(int id);
  std::optional<IntList> symbolsOfInputs() const;

  const Subgraph &graph, &bySymbols;
  const SizeSymbols &symbols;
  llvm::ArrayRef<Operand> given;
  Subgraph body;
  GradientProgram program;
};

void ProgramWriter::addInputs() {
  for (auto [i, id] : llvm::enumerate(graph.inputs))
    if (graph.inputUsed[i]) {
      program.inputs.push_back(unsigned(i));
      body.inputs.push_back(id);
    }
}

/// The value of the graph becomes the repetition of an input of the body.
void ProgramWriter::repeat(const Repeated &repeated) {
  program.repeated = repeated.input;
  int small = body.numValues++, whole = graph.inputs[repeated.input];
  *llvm::find(body.inputs, whole) = small;
  body.nodes.push_back({OpDef::get("broadcast_like"), {small, graph.inputs[repeated.like]}, {whole}, {}, ""});
}

void ProgramWriter::addOutput(int id) {
  GradientProgram::Output &output = program.outputs.emplace_back();
  if (id < 0)
    return;
  if (const auto *input = llvm::find(graph.inputs, id); input != graph.inputs.end()) {
    output.input = int(input - graph.inputs.begin());
    return;
  }
  output.result = int(llvm::find(body.outputs, id) - body.outputs.begin());
  if (output.result == int(body.outputs.size()))
    body.outputs.push_back(id);
}

/// What gradientOp() takes: the symbols that operators read; none where an axis of no operand has one of them.
std::optional<IntList> ProgramWriter::symbolsOfInputs() const {
  llvm::SmallVector<bool, 8> isRead(symbols.sizes.size()), isKnown(symbols.sizes.size());
  for (const Subgraph::Node &node : body.nodes)
    node.op.forEachSymbol([&](uint32_t symbol) { isRead[symbol] = true; });
  IntList list;
  for (unsigned input : program.inputs)
    for (int64_t size : given[input].tensor->shape()) {
      int64_t symbol = int(input) == program.repeated ? -1 : symbols.find(size);
      bool isNeeded = symbol >= 0 && isRead[symbol];
      list.push_back(isNeeded ? symbol + 1 : 0);
      if (isNeeded)
        isKnown[symbol] = true;
    }
  return isKnown == isRead ? std::optional(std::move(list)) : std::nullopt;
}

std::optional<GradientProgram> ProgramWriter::write(std::optional<Repeated> repeated) {
  body.numValues = graph.numValues;
  addInputs();
  if (repeated)
    repeat(*repeated);
  for (auto [node, symbolic] : llvm::zip_equal(graph.nodes, bySymbols.nodes))
    body.nodes.push_back(
        {withoutNumbers(node.op, symbolic.op, program.scalars), node.inputs, node.outputs, node.segments, ""});
  for (int id : graph.outputs)
    addOutput(id);
  std::optional<IntList> symbolsOfAxes = symbolsOfInputs();
  if (!symbolsOfAxes)
    return std::nullopt;
  program.op = gradientOp(std::move(body), std::move(*symbolsOfAxes));
  return std::move(program);
}

/// Whether an axis has the same elements everywhere.
bool repeats(const TensorImpl &x) {
  return llvm::any_of(llvm::zip_equal(x.shape(), x.strides()),
                      [](auto axis) { return std::get<0>(axis) > 1 && std::get<1>(axis) == 0; });
}

/// `x` with size 1 where it repeats.
TensorRef onceEach(const TensorImpl &x) {
  Layout layout = x.layout();
  for (auto [size, stride] : llvm::zip_equal(layout.shape, layout.strides))
    size = stride == 0 ? std::min<int64_t>(size, 1) : size;
  return TensorImpl::create(x.dtype(), layout, x.storageRef());
}

} // namespace

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// What `program` reads of the inputs of its graph.
static llvm::SmallVector<Operand, 8> operandsOf(const GradientProgram &program, llvm::ArrayRef<Operand> inputs) {
  llvm::SmallVector<Operand, 8> operands;
  for (unsigned input : program.inputs)
    operands.push_back(inputs[input]);
  return operands;
}

llvm::Expected<Tensors> run(const GradientProgram &program, llvm::ArrayRef<Operand> inputs) {
  llvm::SmallVector<Operand, 8> operands = operandsOf(program, inputs);
  TensorRef once = program.repeated >= 0 ? onceEach(*inputs[program.repeated].tensor) : TensorRef();
  if (once.get())
    operands[llvm::find(program.inputs, unsigned(program.repeated)) - program.inputs.begin()] = once;
  Tensors results;
  if (llvm::Error e = dispatchProgram({program.op, operands, {}, nullptr, false, program.scalars}, results))
    return std::move(e);
  count(Count::Results, results.size());
  Tensors outputs;
  for (const GradientProgram::Output &output : program.outputs)
    outputs.push_back(output.input >= 0    ? TensorRef(inputs[output.input].tensor)
                      : output.result >= 0 ? results[output.result]
                                           : TensorRef());
  return outputs;
}

struct GradientPrograms::Made {
  std::optional<GradientProgram> whole;
  std::optional<GradientProgram> repeated; // for a gradient that repeats; none: no input has its shape
};

/// Which input of the graph of `plan` is the gradient of the only result that has one; -1: there are several.
static int onlyGrad(const BackwardPlan &plan) {
  const auto *arrives = llvm::find(plan.hasOutputGrad, true);
  if (llvm::count(plan.hasOutputGrad, true) != 1)
    return -1;
  return int(plan.operands.size() + plan.hasOutputGrad.size() + (arrives - plan.hasOutputGrad.begin()));
}

GradientPrograms::GradientPrograms(const BackwardPlan &plan)
    : mayRun(mayBeProgram(plan.op, *plan.graph)), grad(onlyGrad(plan)) {}
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

const GradientPrograms::Made &GradientPrograms::programs(const BackwardPlan &plan,
                                                         llvm::ArrayRef<Operand> inputs) const {
  if (const Made *known = made.load(std::memory_order_acquire))
    return *known;
  auto own = std::make_unique<Made>();
  SizeSymbols symbols(plan);
  if (std::optional<Subgraph> bySymbols = graphBySymbols(plan, symbols)) {
    own->whole = ProgramWriter(*plan.graph, *bySymbols, symbols, inputs).write(std::nullopt);
    if (std::optional<Repeated> repeated = repeatedOf(*plan.graph, inputs, grad))
      own->repeated = ProgramWriter(*plan.graph, *bySymbols, symbols, inputs).write(repeated);
  }
  const Made *none = nullptr;
  return made.compare_exchange_strong(none, own.get(), std::memory_order_acq_rel) ? *own.release() : *none;
}

/// Whether the operators of a program may run as one: nothing watches them, and their operands are on one device.
static bool mayRunAsOne(const GradientProgram &program, llvm::ArrayRef<Operand> inputs) {
  llvm::SmallVector<Operand, 8> operands = operandsOf(program, inputs);
  const runtime::Device &device = deviceOf(operands);
  return device.computes() && neededLayers(program.op, operands) == bitOf(Layer::Interpreter) &&
         llvm::all_of(operands, [&](const Operand &each) { return &each.tensor->storage().device() == &device; });
}

const GradientProgram *GradientPrograms::find(const BackwardPlan &plan, llvm::ArrayRef<Operand> inputs) const {
  constexpr unsigned kFewRuns = 8; // fewer steps of a training should compile nothing
  if (!mayRun ||
      (runs.load(std::memory_order_relaxed) < kFewRuns && runs.fetch_add(1, std::memory_order_relaxed) < kFewRuns))
    return nullptr;
  const Made &known = programs(plan, inputs);
  const std::optional<GradientProgram> &program =
      known.repeated && repeats(*inputs[grad].tensor) ? known.repeated : known.whole;
  return program && mayRunAsOne(*program, inputs) ? &*program : nullptr;
}

} // namespace tess::eager
