//===- KernelNodes.cpp - values of a kernel's nodes ----------------------===//
#include "compiler/emit/KernelNodes.h"

#include "compiler/lanes/LaneConversion.h"
#include "compiler/lanes/ScalarFunctions.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace tess::compiler {

ScopedValue KernelNodes::valueOf(int index) {
  for (unsigned depth = scopes.innermost() + 1; depth-- > 0;)
    if (V value = values.find(depth, index))
      return {value, depth};
  ScopedValue built = build(index);
  values.set(built.depth, index, built.value);
  return built;
}

V KernelNodes::lanesOf(int index) {
  ScopedValue found = valueOf(index);
  if (found.value.isVector())
    return found.value;
  std::pair<int, unsigned> key(index, b.lanes());
  if (V memo = splats.find(found.depth, key))
    return memo;
  V splat = scopes.at(found.depth, [&] { return b.splat(found.value); });
  splats.set(found.depth, key, splat);
  return splat;
}

ScopedValue KernelNodes::build(int index) {
  if (std::optional<ScopedValue> kept = phases.find(index))
    return *kept;
  const KernelNode &node = spec.nodes[index];
  if (node.kind == NodeKind::Lookup)
    return lookups.load(unsigned(node.operand), placeOf(node.args, node.slot));
  if (node.kind != NodeKind::Apply)
    return buildLeaf(node);
  return infoOf(node.fn).readsIndex ? buildNumber(node) : buildApply(node);
}

V KernelNodes::attribute(const KernelNode &node) {
  DType stored = node.attrIsInt ? DType::Int64 : DType::Float64;
  V value = sizes.attribute(unsigned(node.slot), computeElem(stored));
  // Narrow floats keep the attribute in the compute type: an operator rounds its result, not its attributes.
  DType wanted = computeElem(node.dtype) == Elem::F32 ? DType::Float32 : node.dtype;
  return castValue(value, stored, wanted);
}

ScopedValue KernelNodes::buildLeaf(const KernelNode &node) {
  ScopedValue leaf;
  switch (node.kind) {
  case NodeKind::Attr:
    leaf.value = scopes.at(0, [&] { return attribute(node); });
    break;
  case NodeKind::Const:
    leaf.value = scopes.at(0, [&] { return numberOf(b, node.constant, node.dtype); });
    break;
  case NodeKind::Load:
    leaf = operands.load(unsigned(node.operand));
    break;
  case NodeKind::Apply:
  case NodeKind::Lookup:
  case NodeKind::Reduce:
  case NodeKind::Contract:
  case NodeKind::Unpack:
  case NodeKind::Scan:
    llvm_unreachable("reductions and scans are defined where they are made, before they are used");
  }
  if (node.roundsHere)
    leaf.value = scopes.at(leaf.depth, [&] { return roundTo(leaf.value, node.dtype); });
  return leaf;
}

ScopedValue KernelNodes::buildNumber(const KernelNode &node) {
  ScopedValue number =
      node.fn == ScalarFn::Index ? indices.domainNumbers() : indices.along(spec.numGroups() - 1 - unsigned(node.slot));
  number.value = scopes.at(number.depth, [&] { return castValue(number.value, DType::Int64, node.dtype); });
  return number;
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

ScopedValue KernelNodes::buildApply(const KernelNode &node) {
  unsigned depth = 0;
  bool vector = false;
  llvm::SmallVector<DType, 3> types;
  llvm::SmallVector<bool, 3> constants;
  for (int arg : node.args) {
    ScopedValue found = valueOf(arg);
    depth = std::max(depth, found.depth);
    vector |= found.value.isVector();
    types.push_back(spec.nodes[arg].dtype);
    constants.push_back(spec.nodes[arg].kind == NodeKind::Const);
  }
  llvm::SmallVector<V, 3> arguments;
  for (int arg : node.args)
    arguments.push_back(vector ? lanesOf(arg) : valueOf(arg).value);
  V result = scopes.at(depth, [&] {
    bool adapts = infoOf(node.fn).args == ScalarArgs::Common;
    DType common = argumentType(node, types, constants);
    for (unsigned i = 0; adapts && i < arguments.size(); ++i) {
      if (computeElem(types[i]) != computeElem(common) || isUnsigned(types[i]) != isUnsigned(common))
        arguments[i] = castValue(arguments[i], types[i], common);
      types[i] = common;
    }
    V value = node.isShort ? emitShorterForm(node.fn, arguments.front())
                           : emitScalarFn(node.fn, node.dtype, arguments, types);
    return node.roundsHere ? roundTo(value, node.dtype) : value;
  });
  return {result, depth};
}

/// The place that the nodes `indices` say, of lookups `slot`, `slot` + 1, ...
ScopedValue KernelNodes::placeOf(llvm::ArrayRef<int16_t> indices, int slot) {
  llvm::SmallVector<ScopedValue, 2> places;
  for (auto [number, node] : llvm::enumerate(indices))
    places.push_back(lookups.placeOf(valueOf(node), spec.nodes[node].dtype, unsigned(slot) + unsigned(number)));
  return lookups.sumOf(places);
}

void KernelNodes::store(const KernelStore &store) {
  if (!store.indices.empty())
    return storeAtIndices(store);
  unsigned operand = unsigned(store.operand);
  V value = operands.differsByLane(operand) ? lanesOf(store.node) : valueOf(store.node).value;
  DType from = spec.nodes[store.node].dtype, to = spec.operands[operand].dtype;
  operands.store(operand, from == to ? value : castValue(value, from, to));
}

void KernelNodes::storeAtIndices(const KernelStore &store) {
  ScopedValue place = placeOf(store.indices, store.slot);
  mlir::Value base = operands.pointer(unsigned(store.operand), scopes.innermost());
  lookups.store(store, base, place.value, current(store.node));
}

// Reads everything before anything is written: an output may share an input's memory, and a kept value another's slot.
void KernelNodes::storeElements() {
  llvm::SmallVector<KernelStore> stores;
  for (const KernelStore &store : spec.stores)
    if (isFullStore(spec, store) && phases.computes(store.node))
      stores.push_back(store);
  llvm::SmallVector<int> spilled;
  for (unsigned i = 0; i < spec.nodes.size(); ++i)
    if (phases.spills(int(i)))
      spilled.push_back(int(i));
  for (const KernelStore &each : stores)
    valueOf(each.node);
  for (int index : spilled)
    valueOf(index);
  for (const KernelStore &each : stores)
    store(each);
  for (int index : spilled)
    phases.spill(index, lanesOf(index));
}

void KernelNodes::storeRows() {
  for (const KernelStore &each : spec.stores)
    if (!isFullStore(spec, each))
      valueOf(each.node);
  for (const KernelStore &each : spec.stores)
    if (!isFullStore(spec, each))
      store(each);
}

} // namespace tess::compiler
