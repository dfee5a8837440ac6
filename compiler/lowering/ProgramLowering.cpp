//===- ProgramLowering.cpp - a fused function to steps --------------------===//
#include "compiler/lowering/ProgramLowering.h"
#include "compiler/kernel/KernelAnalysis.h"
#include "compiler/lowering/FusionLowering.h"
#include "compiler/lowering/SizeNumbers.h"
#include "ir/GraphBuilder.h"
#include "ir/GraphImpl.h"
#include "ir/OpBridge.h"
#include "ir/Types.h"
#include "ops/graphs/Control.h"
#include "ops/inference/RegionRules.h"
#include "ops/inference/WindowRules.h"
#include "runtime/schema/GrownValues.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace tess::runtime;

namespace tess::compiler {
namespace {

class ProgramLowering {
public:
  ProgramLowering(func::FuncOp func, const KernelChoice *choice, const LoweringTarget &target)
      : func(func), choice(choice), target(target), sizeNumbers(func) {}

  FailureOr<LoweredProgram> run() {
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
    layouts.addSignature(func);
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
    ArrayRef<char> raw = value.getRawHandle().getBlob()->getData();
    exec().constants.push_back({ir::metaOf(type), std::string(raw.data(), raw.size()), ""});
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

  /// Adds `step`, which launches the first kernel of `unit`.
  void addStep(Step step, KernelUnit unit) {
    std::string text;
    for (const KernelSpec &spec : unit)
      text += spec.toText();
    for (const KernelOperand &operand : unit.front().operands)
      step.innerClasses.push_back(operand.inner);
    auto [found, isNew] = kernelOf.try_emplace(text, int32_t(out.kernels.size()));
    if (isNew)
      out.kernels.push_back(std::move(unit));
    step.image = found->second;
    step.entry = 0;
    for (const ScalarSource &source : step.scalars)
      if (source.kind == ScalarSource::Parameter)
        exec().numScalars = std::max(exec().numScalars, source.parameter + 1);
    exec().steps.push_back(std::move(step));
  }

  //===--------------------------------------------------------------------===//
  // Kernels
  //===--------------------------------------------------------------------===//

  /// The operand itself, or a contiguous copy when `value` is a view that the kernel cannot read.
  ValueId contiguous(Value value, StringRef location) {
    if (layouts.of(value).contiguous)
      return idOf.lookup(value);
    auto [found, isNew] = copyOf.try_emplace(value, 0);
    if (isNew)
      found->second = emitCopy(value, location);
    return copyOf.lookup(value);
  }

  ValueId emitCopy(Value value, StringRef location) {
    TensorMeta meta = ir::metaOf(value.getType());
    ValueId source = idOf.lookup(value);
    exec().values.push_back({ValueKind::Temp, meta.dtype, -1, -1, "", location.str()});
    ValueId id = ValueId(exec().values.size() - 1);
    ProgramNode node;
    node.op = OpDef::get("copy");
    node.operands = {source};
    node.results = {id};
    exec().nodes.push_back(std::move(node));
    Step step;
    step.operands = {source};
    step.results = {id};
    step.domain = {id};
    step.parallel = perAxis(meta.rank());
    step.location = location.str();
    InnerClass inner = layouts.of(value).innerUnit ? InnerClass::Contiguous : InnerClass::Strided;
    addStep(std::move(step), {copySpec(meta.dtype, meta.rank(), inner, InnerClass::Contiguous)});
    return id;
  }

  LogicalResult lowerFusionStep(ir::FusionOp fusion) {
    std::string location = ir::locationText(fusion.getLoc());
    Block &body = fusion.getBody().front();
    Step step;
    const bool isMade = !hasOnlyShapeReaders(fusion);
    for (auto [input, argument] : llvm::zip(fusion.getInputs(), body.getArguments())) {
      bool direct = !isMade || readsInPlace(fusion, layouts.of(input));
      ValueId id = direct ? idOf.lookup(input) : contiguous(input, location);
      step.operands.push_back(id);
      idOf[argument] = id;
    }
    uint32_t firstNode = uint32_t(exec().nodes.size());
    addFusedNodes(fusion, isMade);
    step.results = idsOf(body.getTerminator()->getOperands());
    for (auto [output, id] : llvm::zip(fusion.getOutputs(), step.results))
      idOf[output] = id;
    if (!isMade)
      return success();
    LoweredFusion lowered = lowerFusion(fusion, layouts, firstNode);
    step.domain = {idOf.lookup(lowered.domain)};
    step.parallel = std::move(lowered.parallel);
    step.reduced = std::move(lowered.reduced);
    step.vectorOnReduced = lowered.spec.vectorAxis == VectorAxis::Reduced;
    step.scalars = std::move(lowered.scalars);
    step.lookups = std::move(lowered.lookups);
    step.location = location;
    if (lowered.updated && mayUpdate(step.operands[lowered.updated->first], lowered.indicesAreInputs))
      step.inplace.push_back(*lowered.updated);
    markInplace(fusion, lowered.spec, step);
    addStep(std::move(step), {std::move(lowered.spec)});
    return success();
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

  /// Marks the operands whose memory an output of the same type may take over.
  void markInplace(ir::FusionOp fusion, const KernelSpec &spec, Step &step) {
    unsigned numInputs = fusion.getInputs().size();
    for (auto [i, input] : llvm::enumerate(fusion.getInputs()))
      for (auto [j, output] : llvm::enumerate(fusion.getOutputs()))
        if (layouts.of(input).contiguous && input.getType() == output.getType() &&
            mayShareMemory(spec, numInputs + unsigned(j), unsigned(i), target.later))
          step.inplace.push_back({uint16_t(i), uint16_t(j)});
  }

  //===--------------------------------------------------------------------===//
  // Views, movements, library calls
  //===--------------------------------------------------------------------===//

  LogicalResult lowerView(Operation *op) {
    std::string location = ir::locationText(op->getLoc());
    Value source = op->getOperand(0);
    ValueId base = layouts.needsCopy(op) ? contiguous(source, location) : idOf.lookup(source);
    ValueId id = addValue(op->getResult(0), ValueKind::View, nameOf(op), location);
    exec().values[id].base = base;
    layouts.add(op);
    ValueIds operands = idsOf(op->getOperands());
    operands.front() = base;
    addNode(op, operands);
    return success();
  }

  /// The step of an operator that is not a generated kernel, with its operands and results.
  Step opStep(Operation *op, StepKind kind) {
    Step step;
    step.kind = kind;
    step.location = ir::locationText(op->getLoc());
    for (Value operand : op->getOperands())
      step.operands.push_back(contiguous(operand, step.location));
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
    Step step = opStep(op, StepKind::Movement);
    TensorMeta meta = ir::metaOf(op->getResult(0).getType());
    step.parallel = perAxis(meta.rank());
    InnerClass source = movedClass(op, step.op.info());
    InnerClass destination = regions::writesStrided(step.op) ? InnerClass::Strided : InnerClass::Contiguous;
    KernelUnit unit = {copySpec(meta.dtype, meta.rank(), source, destination)};
    if (const AttrInfo *fill = regions::fillOf(step.op.info())) {
      unit.push_back(fillSpec(meta.dtype, meta.rank(), InnerClass::Contiguous));
      step.fillEntry = 1;
      step.scalars.push_back(scalarOf(op, step.op, unsigned(fill - step.op.info().attrs.begin())));
    }
    addStep(std::move(step), std::move(unit));
    return success();
  }

  LogicalResult lowerWindow(Operation *op) {
    Step step = opStep(op, StepKind::Window);
    const OpInfo &info = step.op.info();
    TensorMeta meta = ir::metaOf(op->getResult(0).getType());
    unsigned rank = meta.rank(), numWindows = windows::of(step.op).size();
    step.parallel = {{0, uint8_t(rank - numWindows)}};
    for (unsigned axis = rank - numWindows; axis < rank; ++axis) {
      step.parallel.push_back({uint8_t(axis), uint8_t(axis + 1)});
      step.reduced.push_back({uint8_t(axis + numWindows), uint8_t(axis + numWindows + 1)});
    }
    addStep(std::move(step), {windowSpec(meta.dtype, info.reduceKind, numWindows)});
    return success();
  }

  LogicalResult lowerLibrary(Operation *op) {
    Step step = opStep(op, StepKind::Library);
    if (choice && step.op.info().lowering == Lowering::Library) {
      SmallVector<TensorMeta, 4> operands = ir::metasOf(op->getOperands()), results = ir::metasOf(op->getResults());
      step.implementation = choice->implementation({step.op, operands, results}, target.name).value_or("");
    }
    exec().steps.push_back(std::move(step));
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Loops
  //===--------------------------------------------------------------------===//

  /// Whether a kernel reads the constant where it lies; what else reads it would copy a strided one in each trip.
  static bool onlyKernelsRead(Value argument) {
    return llvm::all_of(argument.getUsers(), [](Operation *user) { return isa<ir::FusionOp>(user); });
  }

  /// The constants of a loop are values of the program; what is carried and the elements of the xs are its arguments.
  /// Where data decides sizes in trips, the operands for these are inputs of a program.
  void lowerArguments(ir::ScanOp scan, Step &step, LoopDecl &loop) {
    unsigned numConstants = unsigned(scan.getConstants());
    const bool isStage = decidesSizesOfTrips(scan);
    for (auto [index, input, argument] : llvm::enumerate(scan.getInputs(), scan.getBody().front().getArguments())) {
      bool stays = index < numConstants;
      if (stays && (layouts.of(input).contiguous || onlyKernelsRead(argument))) {
        idOf[argument] = idOf.lookup(input);
        layouts.alias(argument, input);
        continue;
      }
      ValueId id = contiguous(input, step.location);
      if (stays) {
        idOf[argument] = id;
        continue;
      }
      ValueKind kind = exec().values[id].kind;
      if (isStage && (kind == ValueKind::Constant || kind == ValueKind::View))
        id = emitCopy(input, step.location);
      step.operands.push_back(id);
      loop.arguments.push_back(addValue(argument, ValueKind::Argument, "", step.location));
    }
  }

  /// What a trip yields has memory of its own, made in the trip: arguments, constants, views, and what is yielded twice
  /// are copied, but a carried value that does not change.
  void lowerYields(ir::ScanOp scan, LoopDecl &loop, ValueId firstOfBody) {
    DenseSet<ValueId> taken;
    for (auto [index, value] : llvm::enumerate(scan.getBody().front().getTerminator()->getOperands())) {
      ValueId id = idOf.lookup(value);
      bool stays = index < loop.numCarried && id == loop.arguments[index];
      if (!stays && (exec().values[id].kind != ValueKind::Temp || id < firstOfBody || !taken.insert(id).second))
        id = emitCopy(value, ir::locationText(scan.getLoc()));
      loop.yields.push_back(id);
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
    ValueId firstOfBody = ValueId(exec().values.size());
    SizeNumbers::Trip trip(sizeNumbers);
    for (Operation &op : scan.getBody().front().without_terminator())
      if (failed(lowerOp(&op)))
        return failure();
    lowerYields(scan, loop, firstOfBody);
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

  /// Whether the data decides how large the value is.
  static bool isSizedByData(Value value) { return value.getDefiningOp() && decidesSizes(value.getDefiningOp()); }

  /// Whether a loop without a bound stacks the value: it takes over the memory of no argument.
  static bool isGrown(Value value) {
    auto scan = value.getDefiningOp<ir::ScanOp>();
    return scan && control::hasNoBound(scan.getGuarded(), scan.getLength().value_or(-1)) &&
           int64_t(cast<OpResult>(value).getResultNumber()) >= scan.getCarried();
  }

  /// Gives each output memory of its own: inputs, constants, views, and values that are output twice are copied. Of the
  /// last, those whose size the data decides are copied by the executor, which knows the size.
  void lowerOutputs() {
    Operation *ret = func.getBody().front().getTerminator();
    auto entries = func->getAttrOfType<ArrayAttr>(ir::kOutputsAttr);
    DenseSet<ValueId> taken;
    for (auto [value, entry] : llvm::zip(ret->getOperands(), entries)) {
      auto fields = cast<DictionaryAttr>(entry);
      ValueId id = idOf.lookup(value);
      bool isFirst = taken.insert(id).second;
      if (exec().values[id].kind != ValueKind::Temp || (!isFirst && !isSizedByData(value)))
        id = emitCopy(value, ir::locationText(value.getLoc()));
      int32_t donates = isGrown(value) ? -1 : int32_t(fields.getAs<IntegerAttr>("donates").getInt());
      exec().outputs.push_back({fields.getAs<StringAttr>("name").str(), id, donates});
    }
  }

  func::FuncOp func;
  const KernelChoice *choice;
  const LoweringTarget &target;
  LoweredProgram out;
  DenseMap<Value, ValueId> idOf, copyOf;
  SizeNumbers sizeNumbers;
  Layouts layouts;
  llvm::StringMap<int32_t> kernelOf;
};

} // namespace

FailureOr<LoweredProgram> lowerProgram(func::FuncOp func, const KernelChoice *choice, const LoweringTarget &target) {
  return ProgramLowering(func, choice, target).run();
}

} // namespace tess::compiler
