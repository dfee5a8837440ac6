//===- Validate.cpp - checks that bind relies on --------------------------===//
//
// One walk in execution order: nodes define shapes, steps define memory. After
// it every index in an executable is in range, every value is defined once and
// before its use, and a step with an operator computes what a node says.
//
//===----------------------------------------------------------------------===//
#include "ops/inference/WindowRules.h"
#include "ops/vocabulary/Error.h"
#include "runtime/schema/ExecutableCodec.h"
#include "runtime/schema/GrownValues.h"
#include "runtime/schema/ValidateLoops.h"
#include "runtime/schema/ValidateSizes.h"
#include "llvm/ADT/STLExtras.h"

#include <numeric>

namespace tess::runtime {
namespace {

class Validator {
public:
  Validator(const Executable &exe, llvm::StringRef what)
      : exe(exe), what(what), hasShape(exe.values.size()), hasMemory(exe.values.size()), roots(exe.values.size()),
        known(exe), nodeOf(exe.values.size()) {
    std::iota(roots.begin(), roots.end(), 0);
  }
  llvm::Error run();

private:
  llvm::Error bad(const llvm::Twine &message) { return makeError(ErrorCode::DataLoss, what + ": " + message); }
  llvm::Error symbols();
  llvm::Error constants();
  llvm::Error values();
  llvm::Error inputs();
  llvm::Error initialValue(const InputDecl &input);
  llvm::Error node(const ProgramNode &node, size_t index);
  llvm::Error sizes(const ProgramNode &node, size_t index);
  llvm::Error nodeResult(const ProgramNode &node, ValueId result, size_t index);
  llvm::Error loops() { return validateLoops(exe, what); }
  llvm::Error nodes();
  llvm::Error steps();
  llvm::Error segments(const ProgramNode &node, const llvm::Twine &where);
  llvm::Error views();
  llvm::Error viewResult(const ProgramNode &node, ValueId result, size_t index);
  llvm::Error step(const Step &step, size_t index);
  llvm::Error operands(const Step &step, const llvm::Twine &where);
  llvm::Error results(const Step &step, const llvm::Twine &where);
  llvm::Error kernelStep(const Step &step, const llvm::Twine &where);
  llvm::Error innerClasses(const Step &step, size_t numOperands, const llvm::Twine &where);
  llvm::Error windowStep(const Step &step, const llvm::Twine &where);
  llvm::Error movementStep(const Step &step, const llvm::Twine &where);
  llvm::Error operatorStep(const Step &step, const llvm::Twine &where);
  llvm::Error operatorOfNode(const Step &step, const llvm::Twine &where);
  llvm::Error groups(const Step &step, const llvm::Twine &where);
  llvm::Error code(const Step &step, int32_t entry, const llvm::Twine &where);
  llvm::Error outputs();
  llvm::Error grown();
  llvm::Error updates(llvm::ArrayRef<bool> donated);
  llvm::Error valueId(ValueId id, const llvm::Twine &where);

  const Executable &exe;
  llvm::StringRef what;
  template <typename T> using ByValue = llvm::SmallVector<T, 16>; // of which small programs have few
  ByValue<bool> hasShape, hasMemory;
  ByValue<ValueId> roots; // owner of its memory, set when its node is met, so that chains of views are walked once
  KnownSizes known;
  ByValue<const ProgramNode *> nodeOf; // by result
};

} // namespace

llvm::Error Validator::valueId(ValueId id, const llvm::Twine &where) {
  if (id >= 0 && size_t(id) < exe.values.size())
    return llvm::Error::success();
  return bad(where + " must name one of " + llvm::Twine(exe.values.size()) + " values, got " + llvm::Twine(id));
}

llvm::Error Validator::symbols() {
  for (const SymbolDecl &symbol : exe.symbols)
    if (symbol.min < 0 || symbol.max < symbol.min)
      return bad("bounds of symbol " + symbol.name + " must be ordered and not negative, got " +
                 llvm::Twine(symbol.min) + ".." + llvm::Twine(symbol.max));
  return llvm::Error::success();
}

/// Computes the product of the dimensions and the element width; false when a dimension is negative or the product
/// exceeds 62 bits.
static bool byteSize(const TensorMeta &meta, int64_t &bytes) {
  bytes = byteWidth(meta.dtype);
  bool empty = llvm::is_contained(meta.shape, 0);
  for (int64_t dim : meta.shape) {
    if (dim < 0 || (!empty && dim > 0 && bytes > (int64_t(1) << 62) / dim))
      return false;
    bytes = empty ? 0 : bytes * dim;
  }
  return true;
}

llvm::Error Validator::constants() {
  for (auto [index, constant] : llvm::enumerate(exe.constants)) {
    int64_t bytes = 0;
    if (!byteSize(constant.meta, bytes))
      return bad("constant " + llvm::Twine(index) + " must have a shape that fits memory, got " +
                 toString(constant.meta));
    if (constant.tensor.empty() && constant.content().size() != size_t(bytes))
      return bad("constant " + llvm::Twine(index) + " of " + toString(constant.meta) + " must have " +
                 llvm::Twine(bytes) + " bytes, got " + llvm::Twine(constant.content().size()));
  }
  return llvm::Error::success();
}

llvm::Error Validator::values() {
  for (auto [index, value] : llvm::enumerate(exe.values)) {
    if (value.kind != ValueKind::Constant)
      continue;
    if (value.constant < 0 || size_t(value.constant) >= exe.constants.size())
      return bad("value " + llvm::Twine(index) + " must name one of " + llvm::Twine(exe.constants.size()) +
                 " constants, got " + llvm::Twine(value.constant));
    if (exe.constants[value.constant].meta.dtype != value.dtype)
      return bad("value " + llvm::Twine(index) + " must have the dtype of its constant, got " + shortName(value.dtype));
    hasShape[index] = hasMemory[index] = true;
  }
  return llvm::Error::success();
}

llvm::Error Validator::initialValue(const InputDecl &input) {
  if (input.initial < -1 || input.initial >= int64_t(exe.constants.size()))
    return bad("state " + input.name + " must start with one of " + llvm::Twine(exe.constants.size()) +
               " constants, got " + llvm::Twine(input.initial));
  bool followsState = &input != exe.inputs.data() && (&input - 1)->isState();
  if (!input.isState())
    return followsState ? bad("input " + input.name + " must come before all state, got state " + (&input - 1)->name)
                        : llvm::Error::success();
  TensorMeta meta(input.dtype, {});
  bool isFixed = llvm::all_of(input.dims, [](DimDecl dim) { return dim.size >= 0 && dim.symbol < 0; });
  for (DimDecl dim : input.dims)
    meta.shape.push_back(dim.size);
  if (const TensorMeta &initial = exe.constants[input.initial].meta; !isFixed || !(meta == initial))
    return bad("state " + input.name + " must have the dtype and shape of its initial value " + toString(initial) +
               ", got " + toString(meta));
  return llvm::Error::success();
}

llvm::Error Validator::inputs() {
  for (const InputDecl &input : exe.inputs) {
    if (llvm::Error e = valueId(input.value, llvm::Twine("input ") + input.name))
      return e;
    if (exe.values[input.value].kind != ValueKind::Input || hasShape[input.value])
      return bad("input " + input.name + " must be a value of its own, got value " + llvm::Twine(input.value));
    if (input.dims.size() > kMaxRank)
      return bad("rank of input " + input.name + " must be at most " + llvm::Twine(kMaxRank) + ", got " +
                 llvm::Twine(input.dims.size()));
    for (DimDecl dim : input.dims) {
      bool symbolic = dim.symbol >= 0;
      if (dim.symbol < -1 || (symbolic && size_t(dim.symbol) >= exe.symbols.size()))
        return bad("input " + input.name + " must use one of " + llvm::Twine(exe.symbols.size()) + " symbols, got " +
                   llvm::Twine(dim.symbol));
      if (symbolic)
        known.addInput(dim.symbol);
      if (dim.size < -1)
        return bad("a dimension of input " + input.name + " must be at least 0, got " + llvm::Twine(dim.size));
    }
    if (llvm::Error e = initialValue(input))
      return e;
    hasShape[input.value] = hasMemory[input.value] = true;
  }
  return llvm::Error::success();
}

llvm::Error Validator::segments(const ProgramNode &node, const llvm::Twine &where) {
  llvm::ArrayRef<OperandInfo> groups = node.op.info().operands;
  if (node.segments.empty()) {
    llvm::Expected<llvm::SmallVector<unsigned, 4>> fits =
        defaultSegments(node.op.info(), unsigned(node.operands.size()));
    if (!fits)
      return bad(where + ": " + takeError(fits.takeError()).second);
    return llvm::Error::success();
  }
  if (node.segments.size() != groups.size())
    return bad(where + " must have " + llvm::Twine(groups.size()) + " operand groups, got " +
               llvm::Twine(node.segments.size()));
  size_t sum = 0;
  for (auto [operand, size] : llvm::zip(groups, node.segments)) {
    sum += size;
    if ((operand.arity == Arity::One && size != 1) || (operand.arity == Arity::Optional && size > 1))
      return bad(where + " must have one operand " + operand.name + ", got " + llvm::Twine(size));
  }
  if (sum != node.operands.size())
    return bad(where + " must have " + llvm::Twine(sum) + " operands, got " + llvm::Twine(node.operands.size()));
  return llvm::Error::success();
}

llvm::Error Validator::viewResult(const ProgramNode &node, ValueId result, size_t index) {
  ValueId base = exe.values[result].base;
  if (!node.op.info().viewRule || node.operands.empty() || node.operands[0] != base)
    return bad("node " + llvm::Twine(index) + " must view its operand 0, got base " + llvm::Twine(base) + " of " +
               node.op.name());
  return llvm::Error::success();
}

llvm::Error Validator::nodeResult(const ProgramNode &node, ValueId result, size_t index) {
  if (llvm::Error e = valueId(result, "result of node " + llvm::Twine(index)))
    return e;
  ValueKind kind = exe.values[result].kind;
  if (hasShape[result] || kind == ValueKind::Input || kind == ValueKind::Constant || kind == ValueKind::Argument)
    return bad("a value must be defined once, got value " + llvm::Twine(result) + " again from node " +
               llvm::Twine(index));
  hasShape[result] = true;
  nodeOf[result] = &node;
  if (kind != ValueKind::View)
    return llvm::Error::success();
  if (llvm::Error e = viewResult(node, result, index))
    return e;
  roots[result] = roots[exe.values[result].base];
  return llvm::Error::success();
}

llvm::Error Validator::sizes(const ProgramNode &node, size_t index) {
  std::optional<uint32_t> unknown;
  node.op.forEachSymbol([&](uint32_t symbol) {
    if (!known.has(symbol, hasShape))
      unknown = symbol;
  });
  if (unknown)
    return bad("sizes of node " + llvm::Twine(index) + " must use symbols of inputs and of earlier values, got " +
               llvm::Twine(*unknown));
  return llvm::Error::success();
}

llvm::Error Validator::node(const ProgramNode &node, size_t index) {
  if (!node.op && node.loop < 0)
    return bad("node " + llvm::Twine(index) + " must have an operator, got none");
  if (node.loop < 0)
    if (llvm::Error e = sizes(node, index))
      return e;
  for (ValueId operand : node.operands) {
    if (llvm::Error e = valueId(operand, "operand of node " + llvm::Twine(index)))
      return e;
    if (!hasShape[operand])
      return bad("operand of node " + llvm::Twine(index) + " must be defined before, got value " +
                 llvm::Twine(operand));
  }
  if (node.loop >= 0) { // its results have shapes when its body has
    for (ValueId argument : exe.loops[node.loop].arguments)
      hasShape[argument] = true;
    return llvm::Error::success();
  }
  if (llvm::Error e = segments(node, "node " + llvm::Twine(index) + " (" + node.op.name() + ")"))
    return e;
  for (ValueId result : node.results)
    if (llvm::Error e = nodeResult(node, result, index))
      return e;
  return llvm::Error::success();
}

llvm::Error Validator::nodes() {
  auto leave = [&](size_t index) -> llvm::Error {
    const ProgramNode &loop = exe.nodes[index];
    for (ValueId yield : exe.loops[loop.loop].yields)
      if (!hasShape[yield])
        return bad("loop of node " + llvm::Twine(index) + " must yield defined values, got value " +
                   llvm::Twine(yield));
    for (ValueId result : loop.results)
      if (llvm::Error e = nodeResult(loop, result, index))
        return e;
    return llvm::Error::success();
  };
  return walkLoops(
      exe.nodes, [&](int32_t loop) { return exe.loops[loop].numNodes; },
      [&](size_t index) { return node(exe.nodes[index], index); }, leave);
}

llvm::Error Validator::steps() {
  auto leave = [&](size_t index) { return results(exe.steps[index], "step " + llvm::Twine(index)); };
  return walkLoops(
      exe.steps, [&](int32_t loop) { return exe.loops[loop].numSteps; },
      [&](size_t index) { return step(exe.steps[index], index); }, leave);
}

llvm::Error Validator::code(const Step &step, int32_t entry, const llvm::Twine &where) {
  if (step.image < 0 || size_t(step.image) >= exe.images.size())
    return bad(where + " must name one of " + llvm::Twine(exe.images.size()) + " images, got " +
               llvm::Twine(step.image));
  const Image &image = exe.images[step.image];
  if (entry < 0 || size_t(entry) >= image.entries.size())
    return bad(where + " must name one of " + llvm::Twine(image.entries.size()) + " entries, got " +
               llvm::Twine(entry));
  if (image.entries[entry].offset >= image.code().size())
    return bad(where + " must start inside its image of " + llvm::Twine(image.code().size()) + " bytes, got offset " +
               llvm::Twine(image.entries[entry].offset));
  return llvm::Error::success();
}

llvm::Error Validator::groups(const Step &step, const llvm::Twine &where) {
  unsigned seen = 0;
  for (const AxisGroups *list : {&step.parallel, &step.reduced})
    for (AxisGroup group : *list) {
      if (group.first > group.last || group.last > kMaxRank)
        return bad(where + " must have ordered axis groups, got " + llvm::Twine(unsigned(group.first)) + ".." +
                   llvm::Twine(unsigned(group.last)));
      unsigned axes = ((1u << group.last) - 1) & ~((1u << group.first) - 1);
      if (seen & axes)
        return bad(where + " must use each axis once, got axis group " + llvm::Twine(unsigned(group.first)) + ".." +
                   llvm::Twine(unsigned(group.last)) + " again");
      seen |= axes;
    }
  if (step.parallel.empty() && !step.vectorOnReduced)
    return bad(where + " must have a parallel axis group for its vectors, got none");
  if (step.vectorOnReduced && step.reduced.empty())
    return bad(where + " must have a reduced axis group for its vectors, got none");
  return llvm::Error::success();
}

static std::string both(size_t a, size_t b) { return std::to_string(a) + " and " + std::to_string(b); }

llvm::Error Validator::kernelStep(const Step &step, const llvm::Twine &where) {
  if (llvm::Error e = code(step, step.entry, where))
    return e;
  if (step.domain.empty() || step.results.empty())
    return bad(where + " must have a domain and results, got " + both(step.domain.size(), step.results.size()));
  for (ValueId id : step.domain) {
    if (llvm::Error e = valueId(id, where + " domain"))
      return e;
    if (!hasShape[id])
      return bad(where + " must have a domain of defined shapes, got value " + llvm::Twine(id));
  }
  if (llvm::Error e = innerClasses(step, step.operands.size() + step.results.size(), where))
    return e;
  return groups(step, where);
}

llvm::Error Validator::innerClasses(const Step &step, size_t numOperands, const llvm::Twine &where) {
  if (!step.innerClasses.empty() && step.innerClasses.size() != numOperands)
    return bad(where + " must have an inner class per operand, got " + llvm::Twine(step.innerClasses.size()));
  if (llvm::any_of(step.innerClasses, [](InnerClass c) { return unsigned(c) >= kNumInnerClasses; }))
    return bad(where + " must have inner classes below " + llvm::Twine(kNumInnerClasses) + ", got another");
  return llvm::Error::success();
}

llvm::Error Validator::windowStep(const Step &step, const llvm::Twine &where) {
  if (step.op.info().lowering != Lowering::Window)
    return bad(where + " must be an operator of windows, got " + step.op.name());
  if (step.operands.size() != 1 || step.results.size() != 1)
    return bad(where + " must have an operand and a result, got " + both(step.operands.size(), step.results.size()));
  size_t numWindows = windows::of(step.op).size();
  if (step.parallel.size() != numWindows + 1 || step.reduced.size() != numWindows || step.vectorOnReduced)
    return bad(where + " must have groups for " + llvm::Twine(numWindows) + " windows, got " +
               both(step.parallel.size(), step.reduced.size()));
  if (llvm::Error e = innerClasses(step, 2, where))
    return e;
  if (llvm::Error e = code(step, step.entry, where))
    return e;
  return groups(step, where);
}

llvm::Error Validator::movementStep(const Step &step, const llvm::Twine &where) {
  if (!step.op.info().regionRule)
    return bad(where + " must be an operator that copies regions, got " + step.op.name());
  if (llvm::Error e = code(step, step.entry, where))
    return e;
  if (llvm::Error e = innerClasses(step, 2, where)) // source and destination
    return e;
  if (step.fillEntry < 0)
    return llvm::Error::success();
  if (step.scalars.size() != 1)
    return bad(where + " must have one scalar to fill with, got " + llvm::Twine(step.scalars.size()));
  return code(step, step.fillEntry, where);
}

/// Bind infers no operator of a step again: it must be the one that the step's results have their shapes from.
llvm::Error Validator::operatorOfNode(const Step &step, const llvm::Twine &where) {
  const ProgramNode &node = *nodeOf[step.results[0]]; // a temporary with a shape
  if (node.op.isSame(step.op) && node.operands == step.operands && node.results == step.results &&
      node.segments == step.segments)
    return llvm::Error::success();
  return bad(where + " must be the operator that gives its results their shapes, got " + step.op.name());
}

llvm::Error Validator::operatorStep(const Step &step, const llvm::Twine &where) {
  if (!step.op)
    return bad(where + " must have an operator, got none");
  if (step.results.empty())
    return bad(where + " must have results, got none");
  if (step.kind == StepKind::Library && !step.op.info().kernel)
    return bad(where + " must be an operator of the kernel table, got " + step.op.name());
  if (step.kind == StepKind::Window)
    if (llvm::Error e = windowStep(step, where))
      return e;
  if (step.kind == StepKind::Movement)
    if (llvm::Error e = movementStep(step, where))
      return e;
  return operatorOfNode(step, where);
}

llvm::Error Validator::operands(const Step &step, const llvm::Twine &where) {
  for (ValueId operand : step.operands) {
    if (llvm::Error e = valueId(operand, "operand of " + where))
      return e;
    if (!hasShape[operand] || !hasMemory[roots[operand]])
      return bad("operand of " + where + " must be computed before, got value " + llvm::Twine(operand));
  }
  return llvm::Error::success();
}

llvm::Error Validator::results(const Step &step, const llvm::Twine &where) {
  for (ValueId result : step.results) {
    if (llvm::Error e = valueId(result, "result of " + where))
      return e;
    if (exe.values[result].kind != ValueKind::Temp || !hasShape[result] || hasMemory[result])
      return bad("result of " + where + " must be a temporary computed once, got value " + llvm::Twine(result));
    hasMemory[result] = true;
  }
  return llvm::Error::success();
}

llvm::Error Validator::step(const Step &step, size_t index) {
  const std::string where = "step " + std::to_string(index);
  if (llvm::Error e = operands(step, where))
    return e;
  for (ValueId argument : step.loop >= 0 ? exe.loops[step.loop].arguments : ValueIds())
    hasMemory[argument] = true;
  if (step.loop < 0) // a loop's results are there after its body
    if (llvm::Error e = results(step, where))
      return e;
  for (auto [operand, result] : step.inplace)
    if (operand >= step.operands.size() || result >= step.results.size())
      return bad(where + " must have in-place pairs of its own operands, got " + both(operand, result));
  for (const ScalarSource &scalar : step.scalars) {
    if (scalar.kind == ScalarSource::Parameter && scalar.parameter >= exe.numScalars)
      return bad(where + " must use one of " + llvm::Twine(exe.numScalars) + " scalars, got " +
                 llvm::Twine(scalar.parameter));
    if (scalar.kind == ScalarSource::Size && !KnownSizes::isSize(exe, scalar))
      return bad(where + " must use a size that a node has as an attribute, got number " +
                 llvm::Twine(scalar.parameter) + " of node " + llvm::Twine(scalar.bits));
  }
  if (!exe.hasLookupsOf(step))
    return bad(where + " must look up operands of its own by nodes that do so, got others");
  if (step.kind == StepKind::Kernel)
    return kernelStep(step, where);
  return step.kind == StepKind::Loop ? llvm::Error::success() : operatorStep(step, where);
}

llvm::Error Validator::updates(llvm::ArrayRef<bool> donated) {
  for (auto [input, isDonated] : llvm::zip(exe.inputs, donated))
    if (input.isState() && !isDonated)
      return bad("state " + input.name + " must be updated by one output, got none");
  for (auto [index, output] : llvm::enumerate(exe.outputs))
    if (bool isUpdate = output.donates >= 0 && exe.inputs[output.donates].isState();
        isUpdate != (index >= exe.numResults()))
      return bad("updates of state must come after all other outputs, got output " + output.name + " of " +
                 llvm::Twine(exe.outputs.size()) + " at " + llvm::Twine(index));
  return llvm::Error::success();
}

llvm::Error Validator::outputs() {
  llvm::SmallVector<bool> donated(exe.inputs.size());
  for (const OutputDecl &output : exe.outputs) {
    if (llvm::Error e = valueId(output.value, llvm::Twine("output ") + output.name))
      return e;
    if (!hasShape[output.value] || !hasMemory[roots[output.value]])
      return bad("output " + output.name + " must be computed, got value " + llvm::Twine(output.value));
    if (output.donates == -1)
      continue;
    if (output.donates < -1 || size_t(output.donates) >= exe.inputs.size() || donated[output.donates])
      return bad("output " + output.name + " must take over an input of its own, got " + llvm::Twine(output.donates));
    donated[output.donates] = true;
  }
  return updates(donated);
}

/// A view without a node could be its own base, and the way to its memory would have no end.
llvm::Error Validator::views() {
  for (auto [index, value] : llvm::enumerate(exe.values))
    if (value.kind == ValueKind::View && !hasShape[index])
      return bad("value " + llvm::Twine(index) + " must be the result of a node that views another, got none");
  return llvm::Error::success();
}

/// What lies outside of the arena, and how much there is of it, is known to loops without a bound alone.
llvm::Error Validator::grown() {
  if (std::optional<ValueId> value = misusedGrownValue(exe))
    return bad("what loops without a bound stack must be read by such loops alone, got value " + llvm::Twine(*value));
  return llvm::Error::success();
}

llvm::Error Validator::run() {
  using Check = llvm::Error (Validator::*)();
  for (Check check :
       {&Validator::symbols, &Validator::constants, &Validator::values, &Validator::inputs, &Validator::loops,
        &Validator::nodes, &Validator::views, &Validator::steps, &Validator::outputs, &Validator::grown})
    if (llvm::Error e = (this->*check)())
      return e;
  return llvm::Error::success();
}

llvm::Error validate(const Executable &executable, llvm::StringRef what) { return Validator(executable, what).run(); }

} // namespace tess::runtime
