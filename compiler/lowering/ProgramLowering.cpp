//===- ProgramLowering.cpp - a fused function to steps --------------------===//
#include "compiler/lowering/ProgramLowering.h"
#include "compiler/kernel/KernelAnalysis.h"
#include "compiler/lowering/SizeNumbers.h"
#include "compiler/lowering/StepKernels.h"
#include "ir/Contents.h"
#include "ir/GraphBuilder.h"
#include "ir/GraphImpl.h"
#include "ir/OpBridge.h"
#include "ir/Types.h"
#include "ops/graphs/Control.h"
#include "runtime/schema/GrownValues.h"

#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace tess::runtime;

namespace tess::compiler {
namespace {

class ProgramLowering {
public:
  ProgramLowering(func::FuncOp func, const KernelChoice *choice, const LoweringTarget &target)
      : func(func), choice(choice), target(target), sizeNumbers(func), kernels(func) {}

  FailureOr<LoweredProgram> run() {
    exec().isFast = ir::numericsOf(func) == ir::Numerics::Fast;
    if (failed(lowerSignature()))
      return failure();
    for (Operation &op : func.getBody().front().without_terminator())
      if (failed(lowerOp(&op)))
        return failure();
    lowerOutputs();
    if (std::optional<ValueId> value = runtime::misusedGrownValue(exec()))
      return func.emitError(
                 "while_loop: max_trips must be given for a gradient of third order, or of two gradients, got "
                 "none, and value ")
             << *value << " with what trips saved for both";
    out.kernels = kernels.takeUnits();
    return std::move(out);
  }

private:
  Executable &exec() { return out.executable; }

  //===--------------------------------------------------------------------===//
  // Values
  //===--------------------------------------------------------------------===//

  ValueId addValue(Value value, ValueKind kind, StringRef name = "", StringRef location = "") {
    ValueDecl decl;
    decl.kind = kind;
    decl.dtype = ir::metaOf(value.getType()).dtype;
    decl.name = name.str();
    decl.location = location.str();
    exec().values.push_back(std::move(decl));
    return idOf[value] = ValueId(exec().values.size() - 1);
  }

  static StringRef nameOf(Operation *op) {
    auto name = op->getAttrOfType<StringAttr>(ir::kNameAttr);
    return name ? name.getValue() : StringRef();
  }

  LogicalResult lowerSignature() {
    for (Attribute entry : func->getAttrOfType<ArrayAttr>(ir::kDimsAttr)) {
      auto fields = cast<DictionaryAttr>(entry);
      exec().symbols.push_back({fields.getAs<StringAttr>("name").str(), fields.getAs<IntegerAttr>("min").getInt(),
                                fields.getAs<IntegerAttr>("max").getInt()});
    }
    for (auto [index, argument] : llvm::enumerate(func.getArguments())) {
      InputDecl input;
      input.name = func.getArgAttrOfType<StringAttr>(index, ir::kNameAttr).str();
      input.value = addValue(argument, ValueKind::Input, input.name);
      TensorMeta meta = ir::metaOf(argument.getType());
      input.dtype = meta.dtype;
      ArrayRef<int64_t> symbols = func.getArgAttrOfType<DenseI64ArrayAttr>(index, ir::kArgDimsAttr).asArrayRef();
      for (auto [size, symbol] : llvm::zip(meta.shape, symbols))
        input.dims.push_back({size == kUnknown ? -1 : size, int32_t(symbol)});
      if (Attribute initial = func.getArgAttr(index, ir::kInitialAttr)) {
        FailureOr<int32_t> constant = addConstant(argument.getType(), initial, func);
        if (failed(constant))
          return failure();
        input.initial = *constant;
      }
      exec().inputs.push_back(std::move(input));
    }
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Operators
  //===--------------------------------------------------------------------===//

  LogicalResult lowerOp(Operation *op) {
    if (auto constant = dyn_cast<ir::ConstantOp>(op))
      return lowerConstant(constant);
    if (auto size = dyn_cast<ir::NamedSizeOp>(op))
      return lowerNamedSize(size);
    if (auto fusion = dyn_cast<ir::FusionOp>(op))
      return lowerFusionStep(fusion);
    if (auto scan = dyn_cast<ir::ScanOp>(op))
      return lowerScan(scan);
    if (isCopy(op))
      return lowerCopy(op);
    const OpInfo *info = ir::infoOf(op);
    if (!info)
      return op->emitError("compile: operator must be of the tess dialect, got ") << op->getName().getStringRef();
    switch (info->lowering) {
    case Lowering::View:
      return lowerView(op);
    case Lowering::Movement:
      return lowerMovement(op);
    case Lowering::Window:
      return lowerWindow(op);
    case Lowering::Library:
    case Lowering::Sequential:
      return lowerLibrary(op);
    default:
      return op->emitError("compile: operator must have been fused or expanded, got ") << info->name;
    }
  }

  LogicalResult lowerNamedSize(ir::NamedSizeOp op) {
    std::vector<runtime::DataSize> &sizes = exec().dataSizes;
    uint32_t number = sizeNumbers.add(op);
    sizes.resize(std::max<size_t>(sizes.size(), number + 1));
    sizes[number] = {idOf.lookup(op.getValue()), int32_t(op.getAxis())};
    return success();
  }

  LogicalResult lowerConstant(ir::ConstantOp op) {
    ValueId id = addValue(op.getOut(), ValueKind::Constant, op.getKey());
    FailureOr<int32_t> constant = addConstant(op.getType(), op.getValue(), op);
    if (failed(constant))
      return failure();
    exec().values[id].constant = *constant;
    return success();
  }

  /// The number of a new constant with the bytes of `content`; errors are reported at `op`.
  FailureOr<int32_t> addConstant(Type type, Attribute content, Operation *op) {
    auto value = dyn_cast<DenseResourceElementsAttr>(content);
    if (!value || !value.getRawHandle().getBlob() || value.getType() != type)
      return op->emitError("compile: constant must hold its bytes in a resource of ") << type << ", got " << content;
    runtime::HeldBytes held = ir::holderOf(value);
    exec().constants.push_back({ir::metaOf(type), held ? "" : ir::bytesOf(value).str(), "", held});
    return int32_t(exec().constants.size() - 1);
  }

  void addNode(Operation *op, ArrayRef<ValueId> operands) {
    ProgramNode node;
    node.op = sizeNumbers.numbered(ir::opDefOf(op));
    node.operands.assign(operands.begin(), operands.end());
    for (unsigned count : ir::segmentsOf(op))
      node.segments.push_back(count);
    node.results = idsOf(op->getResults());
    exec().nodes.push_back(std::move(node));
  }

  ValueIds idsOf(ValueRange values) const {
    return llvm::map_to_vector<4>(values, [&](Value value) { return idOf.lookup(value); });
  }

  /// Adds `step`, which launches `kernel`.
  void addStep(Step step, const StepKernel &kernel) {
    const KernelUnit &unit = kernels.units()[kernel.unit];
    for (const KernelOperand &operand : unit.front().operands)
      step.innerClasses.push_back(operand.inner);
    step.image = int32_t(kernel.unit);
    step.entry = 0;
    step.parallel = kernel.launch.parallel;
    step.reduced = kernel.launch.reduced;
    for (const ScalarSource &source : step.scalars)
      if (source.kind == ScalarSource::Parameter)
        exec().numScalars = std::max(exec().numScalars, source.parameter + 1);
    exec().steps.push_back(std::move(step));
  }

  //===--------------------------------------------------------------------===//
  // Kernels
  //===--------------------------------------------------------------------===//

  LogicalResult lowerCopy(Operation *copy) {
    Step step;
    step.location = ir::locationText(copy->getLoc());
    step.operands = idsOf(copy->getOperands());
    step.results = {addValue(copy->getResult(0), ValueKind::Temp, "", step.location)};
    step.domain = step.results;
    ProgramNode &node = exec().nodes.emplace_back();
    node.op = ir::opDefOf(copy);
    node.operands = step.operands;
    node.results = step.results;
    addStep(std::move(step), *kernels.find(copy));
    return success();
  }

  LogicalResult lowerFusionStep(ir::FusionOp fusion) {
    Block &body = fusion.getBody().front();
    const StepKernel *kernel = kernels.find(fusion);
    Step step;
    step.location = ir::locationText(fusion.getLoc());
    step.operands = idsOf(fusion.getInputs());
    for (auto [argument, id] : llvm::zip_equal(body.getArguments(), step.operands))
      idOf[argument] = id;
    uint32_t firstNode = uint32_t(exec().nodes.size());
    addFusedNodes(fusion, /*isMade=*/kernel);
    step.results = idsOf(body.getTerminator()->getOperands());
    for (auto [output, id] : llvm::zip(fusion.getOutputs(), step.results))
      idOf[output] = id;
    if (!kernel)
      return success();
    const KernelSpec &spec = kernels.units()[kernel->unit].front();
    step.vectorOnReduced = spec.vectorAxis == VectorAxis::Reduced;
    addLaunch(kernel->launch, firstNode, step);
    markInplace(fusion, spec, step);
    addStep(std::move(step), *kernel);
    return success();
  }

  /// Adds what a fused kernel reads beside its operands. `firstNode`: the number of its first operator in the program.
  void addLaunch(const KernelLaunch &launch, uint32_t firstNode, Step &step) {
    step.domain = {idOf.lookup(launch.domain)};
    step.scalars = launch.scalars;
    for (ScalarSource &scalar : step.scalars)
      scalar.bits += scalar.kind == ScalarSource::Size ? firstNode : 0;
    step.lookups = launch.lookups;
    for (LookupDecl &lookup : step.lookups)
      lookup.node += firstNode;
    if (launch.updated && mayUpdate(step.operands[launch.updated->first], launch.indicesAreInputs))
      step.inplace.push_back(*launch.updated);
  }

  /// Whether a kernel may write at indices where `value` lies. The memory of a caller stays as it is where an error
  /// ends the run, so all indices must be in memory, where bind has them looked at first.
  bool mayUpdate(ValueId value, bool indicesAreInputs) {
    while (exec().values[value].kind == ValueKind::View)
      value = exec().values[value].base;
    ValueKind kind = exec().values[value].kind; // what a loop carries is its own
    return kind == ValueKind::Temp || kind == ValueKind::Argument || (kind == ValueKind::Input && indicesAreInputs);
  }

  void addFusedNodes(ir::FusionOp fusion, bool isMade) {
    Block &body = fusion.getBody().front();
    DenseSet<Value> yielded(llvm::from_range, body.getTerminator()->getOperands());
    for (Operation &op : body.without_terminator()) {
      for (Value result : op.getResults())
        addValue(result, isMade && yielded.contains(result) ? ValueKind::Temp : ValueKind::Fused, nameOf(&op),
                 ir::locationText(op.getLoc()));
      addNode(&op, idsOf(op.getOperands()));
    }
  }

  /// Whether the memory of an operand is that of a whole value. A copy that was made for the kernel is left out.
  bool isWhole(Value input) const {
    Operation *op = input.getDefiningOp();
    return kernels.layouts().of(input).contiguous && !(op && isCopy(op));
  }

  /// Marks the operands whose memory an output of the same type may take over.
  void markInplace(ir::FusionOp fusion, const KernelSpec &spec, Step &step) {
    unsigned numInputs = fusion.getInputs().size();
    for (auto [i, input] : llvm::enumerate(fusion.getInputs()))
      for (auto [j, output] : llvm::enumerate(fusion.getOutputs()))
        if (isWhole(input) && input.getType() == output.getType() &&
            mayShareMemory(spec, numInputs + unsigned(j), unsigned(i), target.later))
          step.inplace.push_back({uint16_t(i), uint16_t(j)});
  }

  //===--------------------------------------------------------------------===//
  // Views, movements, library calls
  //===--------------------------------------------------------------------===//

  LogicalResult lowerView(Operation *op) {
    std::string location = ir::locationText(op->getLoc());
    ValueId id = addValue(op->getResult(0), ValueKind::View, nameOf(op), location);
    exec().values[id].base = idOf.lookup(op->getOperand(0));
    addNode(op, idsOf(op->getOperands()));
    return success();
  }

  /// The step of an operator that is not a generated kernel, with its operands and results.
  Step opStep(Operation *op, StepKind kind) {
    Step step;
    step.kind = kind;
    step.location = ir::locationText(op->getLoc());
    step.operands = idsOf(op->getOperands());
    for (Value result : op->getResults())
      step.results.push_back(addValue(result, ValueKind::Temp, nameOf(op), step.location));
    addNode(op, step.operands);
    step.op = exec().nodes.back().op;
    step.segments = exec().nodes.back().segments;
    markUpdate(op, step);
    return step;
  }

  /// Marks the operand that an operator changes in places, so that it is not copied where nothing reads it later.
  static void markUpdate(Operation *op, Step &step) {
    const OpInfo &info = step.op.info();
    for (auto [operand, result] : info.inplace) {
      auto before = info.operands.take_front(operand + 1u);
      bool isPlain = llvm::all_of(before, [](const OperandInfo &group) { return group.arity == Arity::One; });
      if (isPlain && op->getOperand(operand).getType() == op->getResult(result).getType())
        step.inplace.push_back({operand, result});
    }
  }

  LogicalResult lowerMovement(Operation *op) {
    const StepKernel &kernel = *kernels.find(op);
    Step step = opStep(op, StepKind::Movement);
    step.scalars = kernel.launch.scalars;
    if (kernels.units()[kernel.unit].size() > 1)
      step.fillEntry = 1;
    addStep(std::move(step), kernel);
    return success();
  }

  LogicalResult lowerWindow(Operation *op) {
    addStep(opStep(op, StepKind::Window), *kernels.find(op));
    return success();
  }

  LogicalResult lowerLibrary(Operation *op) {
    Step step = opStep(op, StepKind::Library);
    if (choice && step.op.info().lowering == Lowering::Library) {
      SmallVector<TensorMeta, 4> operands = ir::metasOf(op->getOperands()), results = ir::metasOf(op->getResults());
      step.implementation =
          choice->implementation({step.op, operands, results, exec().isFast}, target.name).value_or("");
    }
    exec().steps.push_back(std::move(step));
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Loops
  //===--------------------------------------------------------------------===//

  /// The constants of a loop are values of the program; what is carried and the elements of the xs are its arguments.
  void lowerArguments(ir::ScanOp scan, Step &step, LoopDecl &loop) {
    for (auto [index, input, argument] : llvm::enumerate(scan.getInputs(), scan.getBody().front().getArguments())) {
      ValueId id = idOf.lookup(input);
      if (index < size_t(scan.getConstants())) {
        idOf[argument] = id;
        continue;
      }
      step.operands.push_back(id);
      loop.arguments.push_back(addValue(argument, ValueKind::Argument, "", step.location));
    }
  }

  LogicalResult lowerScan(ir::ScanOp scan) {
    Step step;
    step.kind = StepKind::Loop;
    step.location = ir::locationText(scan.getLoc());
    step.loop = int32_t(exec().loops.size());
    exec().loops.emplace_back();
    LoopDecl loop;
    loop.numCarried = uint32_t(scan.getCarried());
    loop.length = scan.getLength().value_or(-1);
    loop.reverse = scan.getReverse();
    loop.isGuarded = scan.getGuarded();
    lowerArguments(scan, step, loop);
    for (unsigned number = 0; number < loop.numCarried; ++number)
      step.inplace.push_back({uint16_t(number), uint16_t(number)});
    size_t node = exec().nodes.size(), at = exec().steps.size();
    exec().nodes.emplace_back();
    exec().steps.emplace_back();
    SizeNumbers::Trip trip(sizeNumbers);
    for (Operation &op : scan.getBody().front().without_terminator())
      if (failed(lowerOp(&op)))
        return failure();
    loop.yields = idsOf(scan.getBody().front().getTerminator()->getOperands());
    loop.numNodes = uint32_t(exec().nodes.size() - node - 1);
    loop.numSteps = uint32_t(exec().steps.size() - at - 1);
    for (Value result : scan.getOuts())
      step.results.push_back(addValue(result, ValueKind::Temp, nameOf(scan), step.location));
    exec().nodes[node].loop = step.loop;
    exec().nodes[node].operands = step.operands;
    exec().nodes[node].results = step.results;
    exec().loops[step.loop] = std::move(loop);
    exec().steps[at] = std::move(step);
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Outputs
  //===--------------------------------------------------------------------===//

  /// Whether a loop without a bound stacks the value, or its copy: it takes over the memory of no argument.
  static bool isGrown(Value value) {
    if (Operation *op = value.getDefiningOp(); op && isCopy(op))
      value = op->getOperand(0);
    auto scan = value.getDefiningOp<ir::ScanOp>();
    return scan && control::hasNoBound(scan.getGuarded(), scan.getLength().value_or(-1)) &&
           int64_t(cast<OpResult>(value).getResultNumber()) >= scan.getCarried();
  }

  void lowerOutputs() {
    Operation *ret = func.getBody().front().getTerminator();
    auto entries = func->getAttrOfType<ArrayAttr>(ir::kOutputsAttr);
    for (auto [value, entry] : llvm::zip(ret->getOperands(), entries)) {
      auto fields = cast<DictionaryAttr>(entry);
      int32_t donates = isGrown(value) ? -1 : int32_t(fields.getAs<IntegerAttr>("donates").getInt());
      exec().outputs.push_back({fields.getAs<StringAttr>("name").str(), idOf.lookup(value), donates});
    }
  }

  func::FuncOp func;
  const KernelChoice *choice;
  const LoweringTarget &target;
  LoweredProgram out;
  DenseMap<Value, ValueId> idOf;
  SizeNumbers sizeNumbers;
  StepKernels kernels;
};

} // namespace

FailureOr<LoweredProgram> lowerProgram(func::FuncOp func, const KernelChoice *choice, const LoweringTarget &target) {
  return ProgramLowering(func, choice, target).run();
}

} // namespace tess::compiler
