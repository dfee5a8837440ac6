//===- FusionLowering.cpp - tess.fusion to a kernel -----------------------===//
#include "compiler/lowering/FusionLowering.h"
#include "compiler/lowering/ScalarLowering.h"
#include "compiler/transforms/FusionGroups.h"
#include "ir/GraphBuilder.h"
#include "ir/GraphImpl.h"
#include "ir/OpBridge.h"
#include "ir/Types.h"
#include "ops/vocabulary/SizeExpr.h"

using namespace mlir;
using tess::runtime::AxisGroup;
using tess::runtime::ScalarSource;

namespace tess::compiler {
namespace {

ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

/// The dtype of `value` in a kernel: of a quantized one the kind, because scales and zero points are operands.
DType kernelDType(Value value) { return kindOf(ir::metaOf(value.getType()).dtype); }

/// The domain axes along which one operand varies, and its layout.
struct OperandAxes {
  SmallVector<bool, 8> varies;
  ValueLayout layout;
  SmallVector<int64_t, 2> lookedUp = {}; // axes along which indices count; it does not vary along them

  /// Whether indices count along an axis of [first, last).
  bool isLookedUp(unsigned first, unsigned last) const {
    return llvm::any_of(lookedUp, [&](int64_t axis) { return axis >= int64_t(first) && axis < int64_t(last); });
  }
};

class FusionLowering {
public:
  FusionLowering(ir::FusionOp fusion, const Layouts &layouts)
      : fusion(fusion), layouts(layouts),
        mayShorten(ir::numericsOf(fusion->getParentOfType<func::FuncOp>()) == ir::Numerics::Fast) {}

  LoweredFusion run() {
    findDomain();
    describeOperands();
    groupAxes();
    addOperands();
    lowerBody();
    return std::move(out);
  }

private:
  Block &body() { return fusion.getBody().front(); }

  /// Finds the domain: the shape of a value that no reduction has made smaller.
  void findDomain() {
    axes = SmallVector<int64_t>(fusion.getAxes());
    for (Operation &op : body().without_terminator()) {
      if (isScalarSource(&op) && !llvm::hasSingleElement(body().without_terminator()))
        continue;
      Value candidate = domainOf(&op);
      bool better = !out.launch.domain || isWider(candidate, out.launch.domain);
      if (better)
        out.launch.domain = candidate;
    }
    domain.assign(shapeOf(out.launch.domain).begin(), shapeOf(out.launch.domain).end());
  }

  /// Whether `candidate` has the shape of the domain where `best` has only that of a row: 1 along a reduced axis.
  bool isWider(Value candidate, Value best) const {
    ArrayRef<int64_t> a = shapeOf(candidate), b = shapeOf(best);
    return llvm::any_of(axes, [&](int64_t axis) { return a[axis] != 1 && b[axis] == 1; });
  }

  OperandAxes axesOf(Value value, ValueLayout layout) const {
    OperandAxes operand;
    operand.layout = layout;
    ArrayRef<int64_t> shape = shapeOf(value);
    unsigned missing = domain.size() - shape.size();
    for (unsigned axis = 0; axis < domain.size(); ++axis)
      operand.varies.push_back(axis >= missing && domain[axis] != 1 && shape[axis - missing] != 1);
    return operand;
  }

  /// The operator whose indices count along axes of `argument`; null when none do.
  static Operation *lookupIn(BlockArgument argument) {
    for (OpOperand &use : argument.getUses())
      if (countsByIndices(use.getOwner()) && use.getOperandNumber() == 0)
        return use.getOwner();
    return nullptr;
  }

  /// The axes along which the indices of `op` count, from the front.
  static SmallVector<int64_t, 2> countedAxes(Operation *op) {
    int64_t rank = cast<RankedTensorType>(op->getOperand(0).getType()).getRank();
    return llvm::map_to_vector<2>(ir::opDefOf(op).ints("axes"),
                                  [&](int64_t axis) { return axis < 0 ? axis + rank : axis; });
  }

  static void countAlong(OperandAxes &operand, Operation *op) {
    operand.lookedUp = countedAxes(op);
    for (int64_t axis : operand.lookedUp)
      operand.varies[axis] = false;
  }

  void describeOperands() {
    for (auto [argument, input] : llvm::zip(body().getArguments(), fusion.getInputs())) {
      operands.push_back(axesOf(argument, layouts.of(input)));
      Operation *op = lookupIn(argument);
      if (op)
        countAlong(operands.back(), op);
      if (op && isScatter(op)) // the result has its elements, and the kernel does not read it
        llvm::fill(operands.back().varies, false);
    }
    for (auto [value, result] : llvm::zip(body().getTerminator()->getOperands(), fusion.getResults())) {
      operands.push_back(axesOf(value, layouts.of(result)));
      if (isScatter(value.getDefiningOp()))
        writeInOrder(operands.back(), value.getDefiningOp());
    }
    for (Operation &op : body().without_terminator()) {
      if (const ScalarProgram *program = ir::infoOf(&op)->scalar)
        axesApart |= readsDimIndex(*program);
      if (const ScanInfo *scan = ir::infoOf(&op)->scan)
        out.spec.order = scan->isReverse(ir::opDefOf(&op)) ? ReductionOrder::Backward : ReductionOrder::Sequential;
    }
  }

  /// What is written at indices goes over each element of the result by itself: the axes along which it does not vary
  /// are walked in order, as reduced ones are.
  void writeInOrder(OperandAxes &result, Operation *op) {
    countAlong(result, op);
    scattered = op;
    out.spec.order = ReductionOrder::Sequential;
    for (unsigned axis = 0; axis < domain.size(); ++axis)
      if (domain[axis] != 1 && !result.varies[axis])
        axes.push_back(axis);
  }

  bool isReduced(unsigned axis) const { return llvm::is_contained(axes, int64_t(axis)); }

  /// Whether `axis` may join the group that ends with `previous`: every operand is contiguous and varies along both
  /// axes or along neither. A kernel that goes by channel joins what is behind the channels only.
  bool joins(unsigned previous, unsigned axis) const {
    return byChannel ? axis > 2 : !axesApart && llvm::all_of(operands, [&](const OperandAxes &operand) {
      bool isApart = operand.varies[axis] && operand.isLookedUp(previous, axis);
      return operand.layout.contiguous && operand.varies[previous] == operand.varies[axis] && !isApart;
    });
  }

  /// Whether a call of the library makes an operand or reads a result.
  bool isBesideCall() {
    auto isCall = [](Operation *op) { return ir::infoOf(op) && ir::infoOf(op)->lowering == Lowering::Library; };
    auto isResult = [&](Value input) { return input.getDefiningOp() && isCall(input.getDefiningOp()); };
    return llvm::any_of(fusion.getInputs(), isResult) || llvm::any_of(fusion->getUsers(), isCall);
  }

  /// Whether the kernel goes over [axis 0, channels, all others] and repeats what there is for each channel, so that
  /// bind may launch it over a library's order of channels, too. Its other operands must be whole, or one number.
  bool goesByChannel() {
    const auto &whole = operands.back().varies;
    auto isSmall = [](const OperandAxes &operand) { return llvm::count(operand.varies, true) == operand.varies[1]; };
    auto fits = [&](const OperandAxes &o) {
      return o.layout.contiguous && o.lookedUp.empty() && (o.varies == whole || isSmall(o));
    };
    auto isPerChannel = [&](const OperandAxes &operand) { return isSmall(operand) && operand.varies[1]; };
    return domain.size() > 2 && axes.empty() && !axesApart && !scattered &&
           variesIn(operands.back(), {2, uint8_t(domain.size())}) && llvm::all_of(operands, fits) &&
           llvm::any_of(operands, isPerChannel) && isBesideCall();
  }

  /// Neighbouring axes that are walked in order join only where all operands pass them in one piece.
  void groupAxesInOrder() {
    int previous = -1;
    for (int64_t axis : axes) {
      bool isNext = previous >= 0 && llvm::all_of(llvm::seq<int64_t>(previous + 1, axis),
                                                  [&](int64_t between) { return domain[between] == 1; });
      if (isNext && joins(unsigned(previous), unsigned(axis)))
        out.launch.reduced.back().last = uint8_t(axis + 1);
      else
        out.launch.reduced.push_back({uint8_t(axis), uint8_t(axis + 1)});
      previous = int(axis);
    }
  }

  void groupAxes() {
    if (scattered)
      groupAxesInOrder();
    else
      for (auto [first, last] : runsOf(axes))
        out.launch.reduced.push_back({uint8_t(first), uint8_t(last)});
    byChannel = goesByChannel();
    int previous = -1; // last parallel axis whose size is not 1
    for (unsigned axis = 0; axis < domain.size(); ++axis) {
      bool skip = domain[axis] == 1 && !axesApart && !byChannel;
      if (isReduced(axis) || skip) {
        previous = isReduced(axis) ? -1 : previous;
        continue;
      }
      if (previous >= 0 && joins(unsigned(previous), axis))
        out.launch.parallel.back().last = uint8_t(axis + 1);
      else
        out.launch.parallel.push_back({uint8_t(axis), uint8_t(axis + 1)});
      previous = int(axis);
    }
    if (out.launch.parallel.empty() && (scattered || !reducesEverything()))
      out.launch.parallel.push_back({0, 0}); // one position
    out.spec.numParallel = out.launch.parallel.size();
    out.spec.numReduced = out.launch.reduced.size();
    lanesAreInnermost = !takesRowsSideBySide();
    out.spec.vectorAxis = vectorOnReduced() && lanesAreInnermost ? VectorAxis::Reduced : VectorAxis::Parallel;
  }

  /// Whether every axis is reduced. Sizes of 1 do not matter: whether a size is known must not change the order of a
  /// sum.
  bool reducesEverything() const { return !axes.empty() && axes.size() == domain.size(); }

  /// Whether lanes run along a reduced group. Lanes run along the innermost axis whose size is not 1.
  bool vectorOnReduced() const {
    if (axes.empty())
      return false;
    for (int axis = int(domain.size()) - 1; axis >= 0; --axis)
      if (domain[axis] != 1)
        return isReduced(unsigned(axis));
    return true;
  }

  /// Whether rows are scanned by a function so long that 16 of them at once are worth a stride between their elements.
  bool takesRowsSideBySide() {
    constexpr unsigned kLong = 10; // a stride costs about as much
    auto isLong = [](Operation &op) {
      const ScanInfo *scan = ir::infoOf(&op)->scan;
      return scan && infoOf(scan->fn).cost > kLong;
    };
    return vectorOnReduced() && llvm::any_of(body().without_terminator(), isLong) && !out.launch.parallel.empty() &&
           !hasOneElement(out.launch.parallel.back());
  }

  static bool variesIn(const OperandAxes &operand, AxisGroup group) {
    return llvm::is_contained(ArrayRef(operand.varies).slice(group.first, group.last - group.first), true);
  }

  /// Whether the group has one element, so that a stride along it has no meaning.
  bool hasOneElement(AxisGroup group) const {
    return llvm::all_of(llvm::seq<unsigned>(group.first, group.last), [&](unsigned axis) { return domain[axis] == 1; });
  }

  InnerClass innerClass(const OperandAxes &operand) const {
    AxisGroup vector =
        out.spec.vectorAxis == VectorAxis::Reduced ? out.launch.reduced.back() : out.launch.parallel.back();
    if (!hasOneElement(vector) && !variesIn(operand, vector))
      return byChannel && operand.varies[1] ? InnerClass::Repeated : InnerClass::Broadcast;
    bool isLast = !operand.isLookedUp(vector.last, unsigned(domain.size()));
    bool isUnit = (operand.layout.contiguous || operand.layout.innerUnit) && isLast;
    return isUnit && lanesAreInnermost ? InnerClass::Contiguous : InnerClass::Strided;
  }

  /// Whether the kernel scans: what it gives has an element for each of the axis, if that is only one, too.
  bool goesInOrder() const { return out.spec.order != ReductionOrder::Lanes; }

  void addOperands() {
    unsigned numInputs = fusion.getInputs().size();
    for (auto [index, operand] : llvm::enumerate(operands)) {
      Value value =
          index < numInputs ? Value(body().getArgument(index)) : body().getTerminator()->getOperand(index - numInputs);
      KernelOperand described{kernelDType(value)};
      described.isOutput = index >= numInputs;
      described.inner = innerClass(operand);
      bool isScattered = scattered && described.isOutput && value == scattered->getResult(0);
      described.variesOnReduced =
          isScattered ? out.spec.numReduced != 0 : llvm::any_of(out.launch.reduced, [&](AxisGroup group) {
            return variesIn(operand, group) || (goesInOrder() && hasOneElement(group));
          });
      out.spec.operands.push_back(described);
    }
  }

  /// Says where the value of each runtime attribute of `op` comes from; their slots were just added.
  void addScalars(Operation *op, const OpDef &def) {
    for (auto [index, attr] : llvm::enumerate(def.info().attrs))
      if (attr.isRuntime)
        out.launch.scalars.push_back(scalarOf(op, def, unsigned(index)));
  }

  /// The group of the domain axis `fromLast`, both counted from the last; parallel groups come before reduced ones.
  int16_t groupFromLast(int16_t fromLast, unsigned rank) const {
    unsigned axis = rank - 1 - unsigned(fromLast), position = 0;
    for (const auto *list : {&out.launch.parallel, &out.launch.reduced})
      for (AxisGroup group : *list) {
        if (group.first <= axis && axis < group.last)
          return int16_t(out.launch.parallel.size() + out.launch.reduced.size() - 1 - position);
        ++position;
      }
    return 0;
  }

  void lowerOp(Operation *op, NodeBuilder &nodes) {
    OpDef def = ir::opDefOf(op);
    SmallVector<int16_t, 4> args = llvm::map_to_vector<4>(op->getOperands(), [&](Value v) { return nodeOf.lookup(v); });
    SmallVector<DType> results = llvm::map_to_vector(op->getResults(), [](Value v) { return kernelDType(v); });
    if (def.info().lowering == Lowering::Reduction) {
      nodeOf[op->getResult(0)] = lowerReduction(def, args.front(), results.front(), nodes);
      return;
    }
    if (def.info().scan) {
      nodeOf[op->getResult(0)] = lowerScan(def, args, results.front(), nodes);
      return;
    }
    if (isLookup(op)) {
      nodeOf[op->getResult(0)] = lowerLookup(op, ArrayRef(args).drop_front(), results.front(), nodes);
      return;
    }
    if (isScatter(op)) { // the store has them
      indicesOfScatter.assign(args.begin() + 2, args.end());
      nodeOf[op->getResult(0)] = nodes.finish(nodes.cast(args[1], results.front()), results.front());
      return;
    }
    size_t firstNew = out.spec.nodes.size();
    auto made = lowerElementwise(nodes, def, args, results);
    for (size_t i = firstNew; i < out.spec.nodes.size(); ++i)
      if (KernelNode &node = out.spec.nodes[i]; node.fn == ScalarFn::DimIndex && node.kind == NodeKind::Apply)
        node.slot = groupFromLast(node.slot, shapeOf(op->getResult(0)).size());
    shorten(op, firstNew);
    addScalars(op, def);
    for (auto [value, node] : llvm::zip(op->getResults(), made))
      nodeOf[value] = node;
  }

  /// Takes the shorter forms of functions among the nodes of `op`, which begin at `first`, if numerics allow it.
  void shorten(Operation *op, size_t first) {
    if (!mayShorten)
      return;
    for (KernelNode &node : llvm::drop_begin(out.spec.nodes, first)) {
      if (node.kind != NodeKind::Apply || !hasShorterForm(node.fn, node.dtype))
        continue;
      node.isShort = true;
      op->emitRemark(op->getName().stripDialect()) << ": " << infoOf(node.fn).name << " in its shorter form";
    }
  }

  static int16_t lowerReduction(const OpDef &def, int16_t arg, DType result, NodeBuilder &nodes) {
    ReduceKind kind = def.info().reduceKind;
    int16_t wide = givesIndex(kind) ? arg : nodes.cast(arg, result);
    return nodes.finish(nodes.reduce(kind, wide, result), result);
  }

  static int16_t lowerScan(const OpDef &def, ArrayRef<int16_t> args, DType result, NodeBuilder &nodes) {
    const ScanInfo &scan = *def.info().scan;
    return nodes.finish(nodes.scan(scan.fn, scan.isExclusive(def), args, result), result);
  }

  /// Numbers the lookups of an operator, which are along axes of a kernel's operand.
  void addLookups(Operation *op, unsigned operand) {
    auto number = uint32_t(llvm::range_size(llvm::make_range(body().begin(), op->getIterator())));
    for (int64_t axis : countedAxes(op))
      out.launch.lookups.push_back({uint16_t(operand), uint8_t(axis), number});
  }

  int16_t lowerLookup(Operation *op, ArrayRef<int16_t> indices, DType result, NodeBuilder &nodes) {
    unsigned operand = cast<BlockArgument>(op->getOperand(0)).getArgNumber();
    addLookups(op, operand);
    return nodes.lookup(int16_t(operand), indices, result);
  }

  /// Notes what `scattered` writes into, if the kernel does not read that besides, and its result.
  void noteUpdate(unsigned result) {
    Value argument = scattered->getOperand(0), updated = scattered->getResult(0);
    unsigned operand = cast<BlockArgument>(argument).getArgNumber();
    Value x = fusion.getInputs()[operand];
    if (argument.getType() == updated.getType() && argument.hasOneUse() && llvm::count(fusion.getInputs(), x) == 1)
      out.launch.updated = {uint16_t(operand), uint16_t(result)};
    out.launch.indicesAreInputs =
        llvm::all_of(scattered->getOperands().drop_front(2), [](Value index) { return isa<BlockArgument>(index); });
  }

  void lowerBody() {
    NodeBuilder nodes(out.spec);
    for (auto [index, argument] : llvm::enumerate(body().getArguments()))
      if (operands[index].lookedUp.empty())
        nodeOf[argument] = nodes.load(int16_t(index));
    for (Operation &op : body().without_terminator())
      lowerOp(&op, nodes);
    int16_t operand = int16_t(body().getNumArguments());
    for (Value value : body().getTerminator()->getOperands()) {
      out.spec.stores.push_back({nodeOf.lookup(value), operand++});
      if (!scattered || value != scattered->getResult(0))
        continue;
      KernelStore &store = out.spec.stores.back();
      noteUpdate(unsigned(out.spec.stores.size()) - 1);
      addLookups(scattered, unsigned(store.operand));
      store.indices = indicesOfScatter;
      store.fn = ir::infoOf(scattered)->writeFn;
      store.slot = int16_t(out.spec.numLookups);
      out.spec.numLookups += unsigned(store.indices.size());
    }
  }

  ir::FusionOp fusion;
  const Layouts &layouts;
  bool mayShorten;
  LoweredFusion out;
  SmallVector<int64_t> axes, domain;
  SmallVector<OperandAxes, 8> operands;
  bool axesApart = false, byChannel = false, lanesAreInnermost = true;
  DenseMap<Value, int16_t> nodeOf;
  Operation *scattered = nullptr; // what writes at indices
  SmallVector<int16_t, 2> indicesOfScatter;
};

KernelSpec perAxisSpec(unsigned rank, ArrayRef<KernelOperand> operands) {
  KernelSpec spec;
  spec.numParallel = std::max(rank, 1u);
  for (KernelOperand operand : operands) {
    operand.dtype = kindOf(operand.dtype);
    spec.operands.push_back(operand);
  }
  return spec;
}

} // namespace

LoweredFusion lowerFusion(ir::FusionOp fusion, const Layouts &layouts) { return FusionLowering(fusion, layouts).run(); }

InnerClass movedClass(Operation *op, const OpInfo &info) {
  TensorMeta last = ir::metaOf(op->getOperands().back().getType());
  bool repeats = info.regionSteps >= 0 && (last.rank() == 0 || last.shape.back() == 1);
  return repeats ? InnerClass::Broadcast : InnerClass::Contiguous;
}

runtime::AxisGroups perAxis(unsigned rank) {
  runtime::AxisGroups groups;
  for (unsigned axis = 0; axis < rank; ++axis)
    groups.push_back({uint8_t(axis), uint8_t(axis + 1)});
  if (groups.empty())
    groups.push_back({0, 0});
  return groups;
}

KernelSpec copySpec(DType dtype, unsigned rank, InnerClass source, InnerClass destination) {
  KernelSpec spec = perAxisSpec(rank, {{dtype, false, source, false}, {dtype, true, destination, false}});
  spec.stores.push_back({NodeBuilder(spec).load(0), 1});
  return spec;
}

KernelSpec windowSpec(DType dtype, ReduceKind kind, unsigned numWindows) {
  KernelSpec spec;
  spec.numParallel = 1 + numWindows;
  spec.numReduced = numWindows;
  spec.order = ReductionOrder::Sequential;
  for (unsigned window = 0; window < numWindows; ++window)
    spec.bounds.push_back({uint8_t(1 + window), uint8_t(window)});
  spec.operands = {{dtype, false, InnerClass::Strided, true}, {dtype, true, InnerClass::Contiguous, false}};
  NodeBuilder nodes(spec);
  spec.stores.push_back({nodes.finish(nodes.reduce(kind, nodes.load(0), dtype), dtype), 1});
  return spec;
}

ScalarSource scalarOf(Operation *op, const OpDef &def, unsigned attr) {
  if (std::optional<uint32_t> parameter = ir::parameterOf(op, attr))
    return {ScalarSource::Parameter, 0, *parameter};
  const AttrValue &value = def.attr(attr);
  if (value.kind() == AttrKind::I64 && sizes::isSymbolic(value.i64())) {
    auto before = llvm::make_range(op->getBlock()->begin(), op->getIterator());
    return {ScalarSource::Size, uint64_t(llvm::range_size(before)), attr};
  }
  return {ScalarSource::Immediate,
          value.kind() == AttrKind::F64 ? llvm::bit_cast<uint64_t>(value.f64()) : uint64_t(value.i64()), 0};
}

KernelSpec fillSpec(DType dtype, unsigned rank, InnerClass destination) {
  KernelSpec spec = perAxisSpec(rank, {{dtype, true, destination, false}});
  spec.stores.push_back({NodeBuilder(spec).attribute(/*isInt=*/false, int16_t(spec.numAttrs++), kindOf(dtype)), 0});
  return spec;
}

} // namespace tess::compiler
