//===- GraphProgram.cpp - the operators of a graph as one -----------------===//
#include "eager/dispatch/GraphProgram.h"

#include "eager/classes/CompiledOp.h"
#include "eager/classes/GraphOp.h"
#include "eager/dispatch/Dispatch.h"
#include "eager/dispatch/Kept.h"
#include "eager/eviction/Eviction.h"
#include "eager/stack/Call.h"
#include "ops/vocabulary/Hash.h"
#include "ops/vocabulary/SizeExpr.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

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

bool hasFewGraphs(const OpDef &op) {
  for (auto [i, attr] : llvm::enumerate(op.info().attrs)) {
    bool isGiven = op.attr(unsigned(i)).kind() != AttrKind::None;
    if (isGiven && !attr.isRuntime && attr.axisOf < 0 &&
        (attr.isSize || (attr.isBindTime && attr.kind == AttrKind::I64List)))
      return false;
  }
  return true;
}

bool mayBeProgram(const Subgraph &graph) {
  constexpr size_t kMostOperators = 64;
  return graph.nodes.size() <= kMostOperators && llvm::is_contained(graph.inputUsed, true) &&
         llvm::count_if(graph.nodes, isKernel) >= 2 && llvm::all_of(graph.nodes, mayBePart);
}

bool mayHaveProgram(const OpInfo &info, const OpDef &program, llvm::ArrayRef<TensorMeta> operands) {
  constexpr unsigned kMostPrograms = 16;
  thread_local llvm::DenseMap<const OpInfo *, llvm::SmallDenseSet<uint64_t, 4>> made;
  llvm::SmallDenseSet<uint64_t, 4> &own = made[&info];
  uint64_t hash = program.hash();
  for (const TensorMeta &meta : operands)
    for (int64_t size : meta.shape)
      hash = isSized(program) ? mixHash(hash, uint64_t(size)) : hash;
  hash >>= 2; // a set has no place for the last two numbers
  return own.contains(hash) || (own.size() < kMostPrograms && own.insert(hash).second);
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

SizeSymbols::SizeSymbols(llvm::ArrayRef<TensorMeta> operands) {
  for (const TensorMeta &operand : operands)
    for (int64_t size : operand.shape)
      if (size > 1 && !llvm::is_contained(sizes, size))
        sizes.push_back(size);
}

int64_t SizeSymbols::find(int64_t size) const {
  const auto *known = llvm::find(sizes, size);
  return known == sizes.end() ? -1 : known - sizes.begin();
}

bool isSameAt(const Subgraph &graph, const Subgraph &symbolic, llvm::function_ref<int64_t(uint32_t)> sizeOf) {
  return llvm::equal(graph.nodes, symbolic.nodes, [&](const Subgraph::Node &own, const Subgraph::Node &other) {
    return own.inputs == other.inputs && own.outputs == other.outputs && own.segments == other.segments &&
           own.op.isSame(other.op.hasExpressions() ? other.op.withSymbols(sizeOf) : other.op);
  });
}

std::optional<Subgraph> SizeSymbols::in(const Subgraph &graph, llvm::ArrayRef<TensorMeta> operands,
                                        MakeGraph make) const {
  Metas symbolic(operands);
  for (TensorMeta &meta : symbolic)
    for (int64_t &size : meta.shape)
      if (int64_t symbol = find(size); symbol >= 0)
        size = sizes::symbol(uint32_t(symbol));
  llvm::Expected<Subgraph> made = make(symbolic);
  if (!made) {
    llvm::consumeError(made.takeError()); // a rule wants to know a size
    return std::nullopt;
  }
  bool isSame = isSameAt(graph, *made, [&](uint32_t symbol) { return sizes[symbol]; });
  return isSame ? std::optional(std::move(*made)) : std::nullopt;
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

/// Carries out writeProgram().
class ProgramWriter {
public:
  ProgramWriter(const Subgraph &graph, const Subgraph &bySymbols, const SizeSymbols &symbols,
                llvm::ArrayRef<Operand> given, bool isSized = false)
      : graph(graph), bySymbols(bySymbols), symbols(symbols), given(given), isSized(isSized) {}
  std::optional<GraphProgram> write(std::optional<Repeated> repeated);

private:
  void addInputs();
  void repeat(const Repeated &repeated);
  void addOutput(int id);
  std::optional<IntList> symbolsOfInputs() const;

  const Subgraph &graph, &bySymbols;
  const SizeSymbols &symbols;
  llvm::ArrayRef<Operand> given;
  const bool isSized;
  Subgraph body;
  GraphProgram program;
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
  GraphProgram::Output &output = program.outputs.emplace_back();
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

/// What graphOp() takes: the symbols that operators read; none where an axis of no operand has one of them.
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

std::optional<GraphProgram> ProgramWriter::write(std::optional<Repeated> repeated) {
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
  program.op = graphOp(std::move(body), std::move(*symbolsOfAxes), isSized);
  return std::move(program);
}

} // namespace

std::optional<GraphProgram> writeProgram(const Subgraph &graph, const Subgraph &bySymbols, const SizeSymbols &symbols,
                                         llvm::ArrayRef<Operand> inputs, std::optional<Repeated> repeated) {
  return ProgramWriter(graph, bySymbols, symbols, inputs).write(repeated);
}

GraphProgram writeSizedProgram(const Subgraph &graph, llvm::ArrayRef<Operand> inputs) {
  return *ProgramWriter(graph, graph, SizeSymbols({}), inputs, /*isSized=*/true).write(std::nullopt);
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// `x` with size 1 where it repeats.
static TensorRef onceEach(const TensorImpl &x) {
  Layout layout = x.layout();
  for (auto [size, stride] : llvm::zip_equal(layout.shape, layout.strides))
    size = stride == 0 ? std::min<int64_t>(size, 1) : size;
  return TensorImpl::create(x.dtype(), layout, x.storageRef());
}

llvm::SmallVector<Operand, 8> operandsOf(const GraphProgram &program, llvm::ArrayRef<Operand> inputs) {
  llvm::SmallVector<Operand, 8> operands;
  for (unsigned input : program.inputs)
    operands.push_back(inputs[input]);
  return operands;
}

llvm::Expected<Tensors> run(const GraphProgram &program, llvm::ArrayRef<Operand> inputs) {
  llvm::SmallVector<Operand, 8> operands = operandsOf(program, inputs);
  TensorRef once = program.repeated >= 0 ? onceEach(*inputs[program.repeated].tensor) : TensorRef();
  if (once.get())
    operands[llvm::find(program.inputs, unsigned(program.repeated)) - program.inputs.begin()] = once;
  Tensors results;
  DispatchCall call{program.op, operands, {}, nullptr, false, program.scalars};
  bool isKept = LLVM_UNLIKELY(eviction::isActive());
  if (llvm::Error e = isKept ? dispatchKeptProgram(call, results) : dispatchProgram(call, results))
    return std::move(e);
  Tensors outputs;
  for (const GraphProgram::Output &output : program.outputs)
    outputs.push_back(output.input >= 0    ? TensorRef(inputs[output.input].tensor)
                      : output.result >= 0 ? results[output.result]
                                           : TensorRef());
  return outputs;
}

} // namespace tess::eager
