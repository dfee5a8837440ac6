//===- KernelVerifier.cpp - checks of a KernelSpec ------------------------===//
#include "compiler/kernel/KernelAnalysis.h"
#include "ops/vocabulary/Error.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::compiler {

namespace {

/// Checks a KernelSpec; messages name the node or the operand.
class Verifier {
public:
  explicit Verifier(const KernelSpec &spec) : spec(spec) {}

  llvm::Error run() {
    if (spec.vectorAxis == VectorAxis::Parallel ? !spec.numParallel : !spec.numReduced)
      return error("the vector axis must have a group",
                   spec.vectorAxis == VectorAxis::Parallel ? "no parallel group" : "no reduced group");
    for (unsigned index = 0; index < spec.nodes.size(); ++index)
      if (llvm::Error failure = checkNode(index))
        return failure;
    if (spec.stores.empty())
      return error("a kernel must store something", "no store");
    for (const KernelOperand &operand : spec.operands)
      if (llvm::Error failure = checkOperand(operand))
        return failure;
    for (const KernelStore &store : spec.stores)
      if (!namesItsEnds(store))
        return error("a store must name a node and an output",
                     "n" + llvm::Twine(store.node) + " o" + llvm::Twine(store.operand));
    for (const KernelStore &store : spec.stores)
      if (llvm::Error failure = checkStore(store))
        return failure;
    if (spec.contracts())
      return checkContraction();
    if (spec.scans())
      return checkScans();
    if (spec.scatters())
      return llvm::Error::success();
    if (spec.order == ReductionOrder::Sequential)
      return checkSequential();
    if (spec.order == ReductionOrder::Backward)
      return error("a kernel that goes backward must scan", "no scan");
    if (!spec.bounds.empty())
      return error("bounds must be of a sequential kernel", "another");
    return llvm::Error::success();
  }

private:
  llvm::Error error(const llvm::Twine &must, const llvm::Twine &got) const {
    return invalidArgument("kernel: " + must + ", got " + got);
  }

  llvm::Error checkApply(unsigned index) const {
    const KernelNode &node = spec.nodes[index];
    const ScalarFnInfo &fn = infoOf(node.fn);
    std::string name = "node " + std::to_string(index) + " (" + fn.name + ")";
    if (fn.isLeaf)
      return error("a leaf must have its own node kind", name);
    if (node.args.size() != fn.arity)
      return error("a function must have its number of arguments", name + " with " + llvm::Twine(node.args.size()));
    if (node.fn == ScalarFn::DimIndex && unsigned(node.slot) >= spec.numParallel + spec.numReduced)
      return error("DimIndex must name a group", name + " slot " + llvm::Twine(node.slot));
    if (llvm::Error failure = checkComplex(node, fn, name))
      return failure;
    if (fn.type == ScalarType::Float && !isFloat(node.dtype))
      return error("a float function must have a float type", name + " " + shortName(node.dtype));
    if (fn.type == ScalarType::Integer && isFloat(node.dtype))
      return error("a bit function must have an integer type", name + " " + shortName(node.dtype));
    if (fn.type == ScalarType::Bool && !isBool(node.dtype))
      return error("a comparison must have type bool", name + " " + shortName(node.dtype));
    return llvm::Error::success();
  }

  /// Complex numbers are converted, selected, taken apart and put together; all else computes with their parts.
  llvm::Error checkComplex(const KernelNode &node, const ScalarFnInfo &fn, llvm::StringRef name) const {
    auto typeOf = [&](unsigned arg) { return spec.nodes[node.args[arg]].dtype; };
    bool hasComplex =
        isComplex(node.dtype) || llvm::any_of(node.args, [&](int arg) { return isComplex(spec.nodes[arg].dtype); });
    if (hasComplex && fn.args != ScalarArgs::Own)
      return error("a function must have real arguments", name);
    bool takesApart = node.fn == ScalarFn::Real || node.fn == ScalarFn::Imag;
    if (takesApart && (!isComplex(typeOf(0)) || node.dtype != partOf(typeOf(0))))
      return error("a part must be of a complex number, in the dtype of its parts", name + " " + shortName(node.dtype));
    bool joins = node.fn == ScalarFn::Complex;
    if (joins && (!isComplex(node.dtype) || typeOf(0) != partOf(node.dtype) || typeOf(1) != typeOf(0)))
      return error("a complex number must be of two parts of its dtype", name + " " + shortName(node.dtype));
    if (node.fn == ScalarFn::Conj)
      return error("a conjugate must be made of parts", name);
    return llvm::Error::success();
  }

  llvm::Error checkReduce(unsigned index) const {
    const KernelNode &node = spec.nodes[index];
    if (isComplex(node.dtype) || (node.args.size() == 1 && isComplex(spec.nodes[node.args[0]].dtype)))
      return error("a reduction must be of real numbers", "node " + llvm::Twine(index) + " " + shortName(node.dtype));
    if (!spec.numReduced || node.args.size() != 1)
      return error("a reduction must have one argument and a reduced group", "node " + llvm::Twine(index));
    if (givesIndex(node.reduceKind) && node.dtype != DType::Int32 && node.dtype != DType::Int64)
      return error("argmax and argmin must give i32 or i64",
                   "node " + llvm::Twine(index) + " " + shortName(node.dtype));
    return llvm::Error::success();
  }

  bool isLoadOf(int node, InnerClass inner) const {
    const KernelNode &load = spec.nodes[node];
    return load.kind == NodeKind::Load && spec.operands[load.operand].inner == inner &&
           spec.operands[load.operand].variesOnReduced;
  }

  /// The load of lines that a node is or converts.
  int loadOfLines(int index) const {
    const KernelNode &node = spec.nodes[index];
    bool converts = node.kind == NodeKind::Unpack || (node.kind == NodeKind::Apply && node.fn == ScalarFn::Cast);
    return converts ? node.args[0] : index;
  }

  /// The types that are multiplied, and those of their sums; what is converted first is float32.
  static bool mayContract(DType lhs, DType rhs, DType sum) {
    switch (rhs) {
    case DType::Float32:
    case DType::Float64:
      return lhs == rhs && sum == rhs;
    case DType::BFloat16:
      return lhs == rhs && sum == DType::Float32;
    case DType::Int8:
      return (lhs == DType::Int8 || lhs == DType::UInt8) && sum == DType::Int32;
    case DType::UInt8:
      return lhs == DType::Int8 && sum == DType::Float32;
    default:
      return false;
    }
  }

  llvm::Error checkUnpack(unsigned index) const {
    const KernelNode &node = spec.nodes[index];
    bool isOfWords = node.args.size() == 1 && isLoadOf(node.args[0], InnerClass::Contiguous) &&
                     spec.nodes[node.args[0]].dtype == DType::UInt32 &&
                     (node.dtype == DType::Float32 || node.dtype == DType::UInt8);
    if (!spec.contracts() || !isOfWords)
      return error("what is unpacked must be a load of lines of u32 in a chunked kernel, as f32 or u8",
                   "node " + llvm::Twine(index) + " " + shortName(node.dtype));
    return llvm::Error::success();
  }

  /// Each row's element by the line of columns, and scales of groups of lines.
  llvm::Error checkContract(unsigned index) const {
    const KernelNode &node = spec.nodes[index];
    std::string name = "node " + std::to_string(index);
    if (!spec.contracts())
      return error("a contraction must be of a chunked kernel", name);
    if (node.args.size() < 2 || !isLoadOf(node.args[0], InnerClass::Broadcast) ||
        !isLoadOf(loadOfLines(node.args[1]), InnerClass::Contiguous))
      return error("a contraction must multiply a load of rows by a load of lines, broadcast and contiguous", name);
    DType lhs = spec.nodes[node.args[0]].dtype, rhs = spec.nodes[node.args[1]].dtype;
    if (!mayContract(lhs, rhs, node.dtype))
      return error("a contraction must be of f32 or f64 in their type, of bf16 in f32, of i8 or u8 by i8 in i32, "
                   "or of i8 by u8 in f32",
                   name + " " + shortName(lhs) + " " + shortName(rhs) + " " + shortName(node.dtype));
    return checkScales(node, name);
  }

  /// Groups of lines have scales, and there are some only of lines that are converted or unsigned.
  llvm::Error checkScales(const KernelNode &node, llvm::StringRef name) const {
    const int lines = node.args[1], load = loadOfLines(lines);
    bool hasScales = node.args.size() == 3 && isLoadOf(node.args[2], InnerClass::Contiguous) &&
                     spec.nodes[node.args[2]].dtype == DType::Float32;
    const bool isUnsigned = spec.nodes[lines].dtype == DType::UInt8;
    const bool hasGroups = lines != load || isUnsigned;
    if (hasGroups ? !hasScales || spec.numReduced != 2 : node.args.size() != 2 || spec.numReduced != 1)
      return error("lines that are converted or u8, and no others, must have groups and a load of f32 scales",
                   name + " with " + llvm::Twine(node.args.size()) + " arguments and " + llvm::Twine(spec.numReduced) +
                       " reduced groups");
    bool isOfBytes = spec.nodes[lines].kind == NodeKind::Unpack || spec.nodes[load].dtype == DType::Int8;
    const bool isOfFloats = node.dtype == DType::Float32 && spec.nodes[lines].dtype == DType::Float32;
    if (lines != load && !isUnsigned && (!isOfBytes || !isOfFloats))
      return error("lines that are converted must be of i8, and f32 then",
                   name + " " + shortName(spec.nodes[load].dtype) + " " + shortName(spec.nodes[lines].dtype));
    return llvm::Error::success();
  }

  /// A kernel that contracts has one tile of one product, which it stores.
  llvm::Error checkContraction() const {
    constexpr unsigned kMostRows = 16, kMostPanels = 8;
    unsigned rows = spec.tile.rows, panels = spec.tile.panels;
    if (!rows || !panels || rows > kMostRows || panels > kMostPanels)
      return error("a tile must have 1 to " + llvm::Twine(kMostRows) + " rows and 1 to " + llvm::Twine(kMostPanels) +
                       " panels",
                   llvm::Twine(rows) + "x" + llvm::Twine(panels));
    bool hasGroups =
        spec.numParallel == 2 && spec.numReduced && spec.numReduced <= 2 && spec.vectorAxis == VectorAxis::Parallel;
    if (!hasGroups || !spec.bounds.empty() || spec.numAttrs)
      return error("a chunked kernel must have groups of rows, columns and lines, no bound and no attribute",
                   llvm::Twine(spec.numParallel) + " parallel and " + llvm::Twine(spec.numReduced) + " reduced groups");
    const KernelNode &contract = spec.nodes[spec.stores[0].node];
    auto isConversion = [](const KernelNode &node) {
      return node.kind == NodeKind::Apply || node.kind == NodeKind::Unpack;
    };
    bool stores = spec.stores.size() == 1 && contract.kind == NodeKind::Contract &&
                  spec.operands.size() == contract.args.size() + 1 &&
                  spec.nodes.size() == spec.operands.size() + unsigned(llvm::count_if(spec.nodes, isConversion)) &&
                  spec.operands[spec.stores[0].operand].dtype == spec.nodes[spec.stores[0].node].dtype &&
                  spec.operands[spec.stores[0].operand].inner == InnerClass::Contiguous;
    if (!stores)
      return error("a chunked kernel must store its one contraction as it is", "another");
    return llvm::Error::success();
  }

  llvm::Error checkScan(unsigned index) const {
    const KernelNode &node = spec.nodes[index];
    std::string name = "node " + std::to_string(index) + " (" + infoOf(node.fn).name + ")";
    constexpr ScalarFn kAllowed[] = {ScalarFn::Add, ScalarFn::Mul, ScalarFn::Max, ScalarFn::Min, ScalarFn::LogAddExp};
    if (!llvm::is_contained(kAllowed, node.fn))
      return error("a scan must be of add, mul, max, min or logaddexp", name);
    if (node.args.size() != 1 && (node.args.size() != 2 || node.fn != ScalarFn::Add))
      return error("a scan must have one argument, or, of add, a weight besides",
                   name + " with " + llvm::Twine(node.args.size()));
    bool isAllowed =
        !isComplex(node.dtype) && !isBool(node.dtype) && (node.fn != ScalarFn::LogAddExp || isFloat(node.dtype));
    if (!isAllowed || llvm::any_of(node.args, [&](int arg) { return spec.nodes[arg].dtype != node.dtype; }))
      return error("a scan must have real numbers of one type, floats for logaddexp",
                   name + " " + shortName(node.dtype));
    return llvm::Error::success();
  }

  /// Indices that count along axes are integers; those of nodes, then of stores are numbered in their order.
  llvm::Error checkIndices(llvm::ArrayRef<int16_t> indices, int slot, const llvm::Twine &where) {
    auto isIndex = [&](int index) { return unsigned(index) < spec.nodes.size() && isInt(spec.nodes[index].dtype); };
    if (!llvm::all_of(indices, isIndex))
      return error("indices must be integers", where);
    if (indices.empty() || slot != int(numLookups) || numLookups + indices.size() > spec.numLookups)
      return error("lookups must be numbered in order", where + " slot " + llvm::Twine(slot));
    numLookups += unsigned(indices.size());
    return llvm::Error::success();
  }

  llvm::Error checkLookup(unsigned index) {
    const KernelNode &node = spec.nodes[index];
    std::string name = "node " + std::to_string(index);
    auto isLoad = [&](const KernelNode &n) { return n.kind == NodeKind::Load && n.operand == node.operand; };
    if (unsigned(node.operand) >= spec.operands.size() || spec.operands[node.operand].isOutput ||
        spec.operands[node.operand].dtype != node.dtype || spec.operands[node.operand].inner == InnerClass::Repeated)
      return error("a lookup must name an input of its type, not a repeated one", name);
    if (llvm::any_of(spec.nodes, isLoad))
      return error("an operand that is looked up must not be loaded", name);
    if (spec.numReduced)
      return error("a kernel that looks elements up must not reduce", name);
    return checkIndices(node.args, node.slot, name);
  }

  llvm::Error checkNode(unsigned index) {
    const KernelNode &node = spec.nodes[index];
    for (int arg : node.args)
      if (arg < 0 || unsigned(arg) >= index)
        return error("arguments must be earlier nodes", "n" + llvm::Twine(arg) + " in node " + llvm::Twine(index));
    if (node.isShort && (node.kind != NodeKind::Apply || !hasShorterForm(node.fn, node.dtype)))
      return error("a node that is short must apply a function that has a shorter form", "node " + llvm::Twine(index));
    switch (node.kind) {
    case NodeKind::Load:
      if (unsigned(node.operand) >= spec.operands.size() || spec.operands[node.operand].isOutput)
        return error("a load must name an input", "o" + llvm::Twine(node.operand) + " in node " + llvm::Twine(index));
      if (spec.operands[node.operand].dtype != node.dtype)
        return error("a load must have its operand's type", shortName(node.dtype) + " in node " + llvm::Twine(index));
      return llvm::Error::success();
    case NodeKind::Lookup:
      return checkLookup(index);
    case NodeKind::Attr:
      if (unsigned(node.slot) >= spec.numAttrs)
        return error("an attribute must be below numAttrs", llvm::Twine(node.slot) + " in node " + llvm::Twine(index));
      return llvm::Error::success();
    case NodeKind::Const:
      return llvm::Error::success();
    case NodeKind::Apply:
      return checkApply(index);
    case NodeKind::Reduce:
      return checkReduce(index);
    case NodeKind::Contract:
      return checkContract(index);
    case NodeKind::Unpack:
      return checkUnpack(index);
    case NodeKind::Scan:
      return checkScan(index);
    }
    llvm_unreachable("covered switch");
  }

  bool namesItsEnds(const KernelStore &store) const {
    return unsigned(store.node) < spec.nodes.size() && unsigned(store.operand) < spec.operands.size() &&
           spec.operands[store.operand].isOutput;
  }

  static bool isWriteFn(ScalarFn fn, DType dtype) {
    return fn == ScalarFn::Add || ((fn == ScalarFn::Max || fn == ScalarFn::Min) && !isComplex(dtype));
  }

  /// Of a kernel whose stores all name their ends, because a plan reads every one of them.
  llvm::Error checkStore(const KernelStore &store) {
    if (!store.indices.empty()) {
      bool reduces = llvm::any_of(spec.nodes, [](const KernelNode &n) { return n.kind == NodeKind::Reduce; });
      if (reduces || spec.scans() || spec.order != ReductionOrder::Sequential)
        return error("what writes at indices must be a sequential kernel that does nothing else in order", "another");
      if (store.fn && !isWriteFn(*store.fn, spec.operands[store.operand].dtype))
        return error("what is joined with the element there must be added, or the maximum or minimum of numbers",
                     infoOf(*store.fn).name);
      return checkIndices(store.indices, store.slot, "o" + llvm::Twine(store.operand));
    }
    if (store.fn)
      return error("a function must join elements at indices", "o" + llvm::Twine(store.operand));
    bool full = isFullStore(spec, store);
    const KernelOperand &operand = spec.operands[store.operand];
    if (!full && planKernel(spec).full[store.node])
      return error("an output must vary over the reduced domain where its node does", "o" + llvm::Twine(store.operand));
    bool lanes = spec.vectorAxis == VectorAxis::Parallel || full;
    if (lanes && operand.inner == InnerClass::Broadcast)
      return error("an output must have an element for every lane", "broadcast o" + llvm::Twine(store.operand));
    return llvm::Error::success();
  }

  llvm::Error checkOperand(const KernelOperand &operand) const {
    if (operand.variesOnReduced && !spec.numReduced)
      return error("an operand may vary over reduced groups only where there are some", "none");
    bool strides = llvm::any_of(spec.operands, [](const KernelOperand &o) { return o.inner == InnerClass::Strided; });
    if (operand.inner == InnerClass::Repeated && (operand.isOutput || spec.numReduced || strides))
      return error("a repeated operand must be an input of a kernel without reduced groups and strided operands",
                   operand.isOutput  ? "an output"
                   : spec.numReduced ? "a reduced group"
                                     : "a strided one");
    return llvm::Error::success();
  }

  /// A kernel with scans walks one reduced group, one way, and does nothing else there.
  llvm::Error checkScans() const {
    bool reduces = llvm::any_of(spec.nodes, [](const KernelNode &node) { return node.kind == NodeKind::Reduce; });
    if (spec.numReduced != 1 || spec.order == ReductionOrder::Lanes || reduces || !spec.bounds.empty())
      return error(
          "a scan must be of a sequential or backward kernel with one reduced group, no reduction and no bound",
          llvm::Twine(spec.numReduced) + " groups, " + llvm::Twine(spec.bounds.size()) + " bounds, " +
              (reduces ? "a reduction" : "no reduction"));
    return llvm::Error::success();
  }

  /// A sequential kernel passes over its reduced groups once, with a column in each lane.
  llvm::Error checkSequential() const {
    if (!spec.numReduced || spec.vectorAxis != VectorAxis::Parallel)
      return error("a sequential kernel must have lanes along a parallel group, and a reduced group",
                   spec.numReduced ? "lanes along a reduced one" : "no reduced one");
    auto isOf = [](AxisBound bound) {
      return [=](AxisBound b) { return b.parallel == bound.parallel || b.reduced == bound.reduced; };
    };
    for (AxisBound bound : spec.bounds)
      if (bound.parallel >= spec.numParallel || bound.reduced >= spec.numReduced ||
          llvm::count_if(spec.bounds, isOf(bound)) > 1)
        return error("a bound must name a parallel and a reduced group that no other names",
                     "p" + llvm::Twine(unsigned(bound.parallel)) + " r" + llvm::Twine(unsigned(bound.reduced)));
    auto givesPlace = [](const KernelNode &n) { return n.kind == NodeKind::Reduce && givesIndex(n.reduceKind); };
    auto isFull = [&](const KernelStore &store) { return isFullStore(spec, store); };
    if (planKernel(spec).numPhases != 1 || llvm::any_of(spec.nodes, givesPlace) || llvm::any_of(spec.stores, isFull))
      return error("a sequential kernel must reduce once, to values, and write rows", "another");
    return llvm::Error::success();
  }

  const KernelSpec &spec;
  unsigned numLookups = 0; // of what was checked
};

} // namespace

llvm::Error verifyKernel(const KernelSpec &spec) { return Verifier(spec).run(); }

} // namespace tess::compiler
