//===- KernelBuilder.cpp - scopes and nodes of a kernel ------------------===//
#include "compiler/emit/KernelBuilder.h"

#include "compiler/lanes/LaneConversion.h"
#include "compiler/lanes/ScalarFunctions.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLExtras.h"

#include <optional>

namespace tess::compiler {

class KernelBuilder::OpenScope {
public:
  OpenScope(KernelBuilder &k, mlir::Operation *branch, mlir::Operation *end) : k(k) {
    k.scopes.back().nested = branch;
    k.scopes.emplace_back(end);
  }
  ~OpenScope() {
    k.scopes.pop_back();
    k.scopes.back().nested = nullptr;
  }
  OpenScope(const OpenScope &) = delete;

private:
  KernelBuilder &k;
};

KernelBuilder::KernelBuilder(const KernelSpec &spec, const KernelPlan &plan, LaneBuilder &b, const Arguments &args,
                             bool narrowMasks, mlir::Operation *end)
    : spec(spec), plan(plan), b(b), args(args), narrowMasks(narrowMasks) {
  scopes.emplace_back(end);
}

KernelBuilder::Values KernelBuilder::loop(V lo, V hi, V step, llvm::ArrayRef<V> init, LaneBuilder::LoopBody body) {
  std::optional<OpenScope> scope;
  return b.forLoop(lo, hi, step, init, body,
                   [&](mlir::Operation *branch, mlir::Operation *end) { scope.emplace(*this, branch, end); });
}

KernelBuilder::Values KernelBuilder::loopWhile(llvm::ArrayRef<V> init,
                                               llvm::function_ref<Values(llvm::ArrayRef<V>)> body,
                                               llvm::function_ref<V(llvm::ArrayRef<V>)> isMore,
                                               llvm::function_ref<Values(llvm::ArrayRef<V>)> next) {
  std::optional<OpenScope> scope;
  return b.loopWhile(init, body, isMore, next,
                     [&](mlir::Operation *branch, mlir::Operation *end) { scope.emplace(*this, branch, end); });
}

KernelBuilder::Values KernelBuilder::when(V condition, llvm::ArrayRef<V> otherwise, llvm::function_ref<Values()> body) {
  std::optional<OpenScope> scope;
  return b.ifThen(condition, otherwise, body,
                  [&](mlir::Operation *branch, mlir::Operation *end) { scope.emplace(*this, branch, end); });
}

void KernelBuilder::limitLanes(V remaining) {
  scopes.back().remaining = remaining;
  scopes.back().mask = tailMask();
}

void KernelBuilder::limitLanesAtEnd(V remaining) {
  scopes.back().remaining = remaining;
  scopes.back().whole = ge(remaining, b.index(kLanes));
}

V KernelBuilder::dim(unsigned slot) {
  V &memo = dimMemo[slot];
  if (!memo)
    memo = at(0, [&] { return b.load(b.addressConst(args.dims, slot, Elem::I64), Elem::I64, false); });
  return memo;
}

V KernelBuilder::reducedCount() {
  if (!reducedCountMemo)
    reducedCountMemo = at(0, [&] {
      V count = size(spec.numParallel);
      for (unsigned g = 1; g < spec.numReduced; ++g)
        count = count * size(spec.numParallel + g);
      return count;
    });
  return reducedCountMemo;
}

const KernelBuilder::Scope *KernelBuilder::laneScope() const {
  for (const Scope &scope : scopes)
    if (!scope.groups.empty() && scope.groups.back().lanes)
      return &scope;
  return nullptr;
}

unsigned KernelBuilder::depthOf(unsigned group) const {
  auto isOf = [&](const GroupIndex &index) { return index.group == group; };
  const Scope *open = llvm::find_if(scopes, [&](const Scope &scope) { return llvm::any_of(scope.groups, isOf); });
  assert(open != scopes.end() && "every group is open where it is used");
  return open - scopes.begin();
}

const KernelBuilder::GroupIndex &KernelBuilder::openIndex(unsigned group) const {
  return *llvm::find_if(scopes[depthOf(group)].groups, [&](const GroupIndex &index) { return index.group == group; });
}

V KernelBuilder::indexOf(unsigned group) const { return openIndex(group).index; }

void KernelBuilder::keep(int index, mlir::Value buffer) {
  V value = lanesOf(index);
  b.store(value, b.address(buffer, columnInBlock(), value.elem()));
}

KernelBuilder::Found KernelBuilder::node(int index) {
  for (unsigned depth = scopes.size(); depth-- > 0;) {
    auto it = scopes[depth].values.find(index);
    if (it != scopes[depth].values.end())
      return {it->second, depth};
  }
  unsigned depth = 0;
  V value = build(index, depth);
  scopes[depth].values[index] = value;
  return {value, depth};
}

V KernelBuilder::lanesOf(int index) {
  Found found = node(index);
  if (found.value.isVector())
    return found.value;
  std::pair<int, unsigned> key(index, b.lanes());
  if (V memo = scopes[found.depth].splats.lookup(key))
    return memo;
  V splat = at(found.depth, [&] { return b.splat(found.value); });
  scopes[found.depth].splats[key] = splat;
  return splat;
}

V KernelBuilder::build(int index, unsigned &depth) {
  const KernelNode &node = spec.nodes[index];
  if (mlir::Value buffer = held.lookup(index)) {
    depth = laneScope() - scopes.begin();
    Elem elem = computeElem(node.dtype);
    return at(depth, [&] { return b.load(b.address(buffer, columnInBlock(), elem), elem, true); });
  }
  if (plan.scratchOffset[index] >= 0 && plan.phase[index] < phase) {
    depth = scopes.size() - 1;
    return reload(index);
  }
  if (node.kind == NodeKind::Lookup)
    return buildLookup(node, depth);
  if (node.kind != NodeKind::Apply || infoOf(node.fn).readsIndex)
    return buildLeaf(node, depth);
  return buildApply(index, depth);
}

V KernelBuilder::attribute(const KernelNode &node) {
  mlir::Value address = b.addressConst(args.dims, spec.dims().attribute(node.slot), Elem::I64);
  DType stored = node.attrIsInt ? DType::Int64 : DType::Float64;
  V value = b.load(address, computeElem(stored), false);
  // Narrow floats keep the attribute in the compute type: an operator rounds its result, not its attributes.
  DType wanted = computeElem(node.dtype) == Elem::F32 ? DType::Float32 : node.dtype;
  return castValue(value, stored, wanted);
}

V KernelBuilder::buildLeaf(const KernelNode &node, unsigned &depth) {
  V value;
  switch (node.kind) {
  case NodeKind::Attr:
    value = at(0, [&] { return attribute(node); });
    break;
  case NodeKind::Const:
    value = at(0, [&] { return numberOf(b, node.constant, node.dtype); });
    break;
  case NodeKind::Load:
    depth = accessDepth(node.operand);
    value = at(depth, [&] { return load(node.operand, depth); });
    break;
  case NodeKind::Apply:
    value = node.fn == ScalarFn::Index ? buildIndex(depth) : buildDimIndex(numGroups() - 1 - node.slot, depth);
    return at(depth, [&] { return castValue(value, DType::Int64, node.dtype); });
  case NodeKind::Lookup:
  case NodeKind::Reduce:
  case NodeKind::Contract:
  case NodeKind::Scan:
    llvm_unreachable("reductions and scans are defined where they are made, before they are used");
  }
  return node.roundsHere ? at(depth, [&] { return roundTo(value, node.dtype); }) : value;
}

/// The type in which `node` takes its arguments. A comparison takes the widest, where constants adapt to the others.
static DType argumentType(const KernelNode &node, llvm::ArrayRef<DType> types, llvm::ArrayRef<bool> constants) {
  if (infoOf(node.fn).type != ScalarType::Bool)
    return node.dtype;
  DType widest = types[0];
  bool fromConstant = constants[0];
  for (auto [type, constant] : llvm::zip_equal(types.drop_front(), constants.drop_front()))
    if (fromConstant != constant ? fromConstant : byteWidth(type) > byteWidth(widest)) {
      widest = type;
      fromConstant = constant;
    }
  return widest;
}

V KernelBuilder::buildApply(int index, unsigned &depth) {
  const KernelNode &apply = spec.nodes[index];
  bool vector = false;
  llvm::SmallVector<DType, 3> types;
  llvm::SmallVector<bool, 3> constants;
  for (int arg : apply.args) {
    Found found = node(arg);
    depth = std::max(depth, found.depth);
    vector |= found.value.isVector();
    types.push_back(spec.nodes[arg].dtype);
    constants.push_back(spec.nodes[arg].kind == NodeKind::Const);
  }
  llvm::SmallVector<V, 3> values;
  for (int arg : apply.args)
    values.push_back(vector ? lanesOf(arg) : node(arg).value);
  return at(depth, [&] {
    bool adapts = infoOf(apply.fn).args == ScalarArgs::Common;
    DType common = argumentType(apply, types, constants);
    for (unsigned i = 0; adapts && i < values.size(); ++i) {
      if (computeElem(types[i]) != computeElem(common) || isUnsigned(types[i]) != isUnsigned(common))
        values[i] = castValue(values[i], types[i], common);
      types[i] = common;
    }
    V value = emitScalarFn(apply.fn, apply.dtype, values, types);
    return apply.roundsHere ? roundTo(value, apply.dtype) : value;
  });
}

V KernelBuilder::linearReduced(unsigned depth) {
  Scope &scope = scopes[depth];
  if (scope.linear || depth == 0)
    return scope.linear;
  V outer = linearReduced(depth - 1);
  if (scope.groups.empty() || scope.groups.back().group < spec.numParallel)
    return scope.linear = outer;
  const GroupIndex &group = scope.groups.back();
  V extent = outer ? size(group.group) : V();
  scope.linear = at(depth, [&] { return outer ? outer * extent + group.index : group.index; });
  return scope.linear;
}

V KernelBuilder::reducedElementNumber(Elem elem) {
  V number = b.convert(linearReduced(scopes.size() - 1), elem);
  if (!hasLanes())
    return number;
  return spec.vectorAxis == VectorAxis::Reduced ? b.splat(number) + b.iota(elem) : b.splat(number);
}

V KernelBuilder::buildIndex(unsigned &depth) {
  depth = scopes.size() - 1;
  if (!hasLanes())
    return buildIndexAlone(depth);
  bool parallel = spec.vectorAxis == VectorAxis::Parallel;
  V last = parallel ? size(spec.numParallel - 1) : V();
  V count = spec.numReduced ? reducedCount() : V();
  V reduced = linearReduced(depth);
  return at(depth, [&] {
    V base = row ? row : b.index(0), step = b.index(1);
    if (parallel)
      base = base * last + laneScope()->groups.back().index;
    if (spec.numReduced) {
      base = base * count + reduced;
      step = parallel ? count : step;
    }
    return b.splat(base) + b.iota(Elem::I64) * b.splat(step);
  });
}

/// Of a thread that computes one element at a time.
V KernelBuilder::buildIndexAlone(unsigned depth) {
  V count = spec.numReduced ? reducedCount() : V(), reduced = linearReduced(depth);
  return at(depth, [&] { return spec.numReduced ? row * count + reduced : row; });
}

V KernelBuilder::buildDimIndex(unsigned group, unsigned &depth) {
  depth = depthOf(group);
  const GroupIndex &open = openIndex(group);
  return at(depth, [&] { return open.lanes ? b.splat(open.index) + b.iota(Elem::I64) : open.index; });
}

mlir::Value KernelBuilder::scratchAddress(int index, Elem elem) {
  unsigned key = 1u << 20 | index;
  mlir::Value base = scopes[0].pointers.lookup(key);
  if (!base) {
    V count = reducedCount();
    base = at(0, [&] {
      V offset = (count + b.index(runtime::scratchElements(0))) * b.index(plan.scratchOffset[index]);
      return b.address(args.scratch, offset, Elem::I8);
    });
    scopes[0].pointers[key] = base;
  }
  V linear = linearReduced(scopes.size() - 1);
  return b.address(base, linear, elem);
}

V KernelBuilder::reload(int index) {
  Elem elem = computeElem(spec.nodes[index].dtype);
  V value = loadLanes(scratchAddress(index, elem), elem == Elem::I1 ? Elem::I8 : elem, InnerClass::Contiguous, V());
  return elem == Elem::I1 ? b.compare(LaneBuilder::Cmp::Ne, value, value.ci(0)) : value;
}

void KernelBuilder::spill(int index) {
  V value = lanesOf(index);
  mlir::Value address = scratchAddress(index, value.elem());
  storeLanes(value.elem() == Elem::I1 ? b.convert(value, Elem::I8) : value, address, InnerClass::Contiguous, V());
}

} // namespace tess::compiler
