//===- OpBridge.cpp - OpDefs and operations -------------------------------===//
#include "ir/OpBridge.h"
#include "ir/Dialect.h"
#include "ir/Types.h"
#include "ops/graphs/Control.h"
#include "ops/vocabulary/NearNames.h"
#include "ops/vocabulary/SizeExpr.h"

#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

using namespace mlir;

namespace tess::ir {

static constexpr StringLiteral kSegments = "operandSegmentSizes";

const OpInfo *infoOf(Operation *op) {
  if (auto custom = dyn_cast<CustomOp>(op))
    return findOp(custom.getRecord());
  OperationName name = op->getName();
  if (name.getDialectNamespace() != "tess")
    return nullptr;
  return findOp(name.stripDialect());
}

/// Whether an attribute is one of a row that no record made: to MLIR, all of these are discardable.
static bool isOfRow(const OpInfo &info, StringRef name) {
  return name == kSegments || llvm::any_of(info.attrs, [&](const AttrInfo &attr) { return name == attr.name; });
}

LogicalResult verifyAttributes(Operation *op) {
  static constexpr StringLiteral added[] = {kAgainAttr, kKernelAttr,  kNameAttr, kPartOfAttr,
                                            kPhaseAttr, kScalarsAttr, kSizesAttr};
  for (NamedAttribute attr : op->getDiscardableAttrs()) {
    if (llvm::is_contained(added, attr.getName().strref()))
      continue;
    const OpInfo &info = *infoOf(op);
    if (info.origin && isOfRow(info, attr.getName()))
      continue;
    auto known = llvm::map_to_vector(info.attrs, [](const AttrInfo &attr) -> StringRef { return attr.name; });
    return op->emitError() << info.name << ": attributes must be those of its record, got " << attr.getName().strref()
                           << nearName(attr.getName(), known);
  }
  return success();
}

/// The operators of a body; they must be those of records, or have bodies. Where sizes have names, these are symbols of
/// the body.
static Subgraph graphOf(Block &block) {
  Subgraph graph;
  DenseMap<Value, int> ids;
  DenseMap<uint32_t, uint32_t> named; // by symbol of the program: of the body
  auto add = [&](Value value) { return ids[value] = graph.numValues++; };
  auto ofBody = [&](uint32_t symbol) { return sizes::symbol(named.lookup_or(symbol, symbol)); };
  for (BlockArgument argument : block.getArguments())
    graph.inputs.push_back(add(argument));
  graph.inputUsed.assign(graph.inputs.size(), true);
  for (Operation &op : block.without_terminator()) {
    if (auto size = dyn_cast<NamedSizeOp>(op)) {
      uint32_t symbol = control::bodySymbol(ids.lookup(size.getValue()), unsigned(size.getAxis()));
      named[sizes::kDataSymbols + uint32_t(size.getNumber())] = symbol;
      continue;
    }
    Subgraph::Node &node = graph.nodes.emplace_back();
    node.op = opDefOf(&op);
    if (!named.empty() && node.op.hasExpressions())
      node.op = node.op.withSymbols(ofBody);
    for (unsigned count : segmentsOf(&op))
      node.segments.push_back(count);
    node.location = locationText(op.getLoc());
    for (Value operand : op.getOperands())
      node.inputs.push_back(ids.lookup(operand));
    for (Value result : op.getResults())
      node.outputs.push_back(add(result));
  }
  for (Value value : block.getTerminator()->getOperands())
    graph.outputs.push_back(ids.lookup(value));
  return graph;
}

OpDef opDefOf(Operation *op) {
  const OpInfo *info = infoOf(op);
  OpDef def(*info);
  for (const AttrInfo &attr : info->attrs)
    if (AttrValue value = attrValueOf(op->getAttr(attr.name), attr.kind); value.kind() != AttrKind::None)
      def.set(attr.name, std::move(value));
  if (control::hasBody(*info))
    def.set("body", BodyRef(std::make_shared<const Body>(graphOf(op->getRegion(0).front()))));
  return def;
}

std::optional<uint32_t> parameterOf(Operation *op, unsigned attr) {
  auto parameters = op->getAttrOfType<DenseI64ArrayAttr>(kScalarsAttr);
  if (!parameters || parameters[attr] < 0)
    return std::nullopt;
  return uint32_t(parameters[attr]);
}

OpDef opDefWithParameters(Operation *op) {
  OpDef def = opDefOf(op);
  for (auto [index, attr] : llvm::enumerate(def.info().attrs))
    if (std::optional<uint32_t> parameter = parameterOf(op, unsigned(index)))
      def.set(attr.name, ScalarParameter{*parameter});
  return def;
}

SmallVector<unsigned, 4> segmentsOf(Operation *op) {
  const OpInfo *info = infoOf(op);
  SmallVector<unsigned, 4> segments;
  if (auto sizes = op->getAttrOfType<DenseI32ArrayAttr>(kSegments)) {
    segments.append(sizes.asArrayRef().begin(), sizes.asArrayRef().end());
    return segments;
  }
  // At most one group may have several operands, so the number of operands gives the counts.
  unsigned rest = op->getNumOperands() - (info->operands.size() - 1);
  for (const OperandInfo &operand : info->operands)
    segments.push_back(operand.arity == Arity::One ? 1 : rest);
  return segments;
}

SmallVector<TensorMeta, 4> metasOf(ValueRange values) {
  SmallVector<TensorMeta, 4> metas;
  for (Value value : values)
    metas.push_back(metaOf(value.getType()));
  return metas;
}

static bool hasSeveralOpenGroups(const OpInfo &info) {
  return llvm::count_if(info.operands, [](const OperandInfo &o) { return o.arity != Arity::One; }) > 1;
}

/// Adds the attributes of `op`. In place of a parameter stands a number that nothing reads, and its index beside.
static void addAttributes(OpBuilder &builder, OperationState &state, const OpDef &op) {
  SmallVector<int64_t> parameters(op.numAttrs(), -1);
  for (auto [index, attr] : llvm::enumerate(op.info().attrs)) {
    AttrValue value = op.attr(unsigned(index));
    if (value.kind() == AttrKind::Body)
      continue; // a region
    if (value.kind() == AttrKind::Parameter) {
      parameters[index] = value.parameter().index;
      value = neutralNumber(attr);
    }
    if (Attribute attribute = attributeOf(builder.getContext(), value))
      state.addAttribute(attr.name, attribute);
  }
  if (llvm::any_of(parameters, [](int64_t parameter) { return parameter >= 0; }))
    state.addAttribute(kScalarsAttr, builder.getDenseI64ArrayAttr(parameters));
  if (op.hasExpressions() && !control::hasBody(op.info()))
    state.addAttribute(kSizesAttr, builder.getStringAttr(op.toString()));
}

/// Names the sizes of `values` that are symbols in `op`, each once.
static void nameBodySizes(OpBuilder &builder, const OpDef &op, ArrayRef<Value> values, DenseSet<uint32_t> &named) {
  op.forEachSymbol([&](uint32_t symbol) {
    if (!control::isBodySymbol(symbol) || !named.insert(symbol).second)
      return;
    Value owner = values[control::valueOf(symbol)];
    NamedSizeOp::create(builder, owner.getLoc(), owner, control::axisOf(symbol), symbol - sizes::kDataSymbols);
  });
}

/// Fills the region of `op` with the operators of its body. Inference has seen them.
static void createBody(OpBuilder &builder, Operation *op, const OpDef &def) {
  const Subgraph &graph = control::bodyOf(def);
  Metas inputs = control::bodyInputs(def, metasOf(op->getOperands()));
  std::vector<TensorMeta> metas = llvm::cantFail(inferValues(graph, inputs));
  forgetExpressions(metas);
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&op->getRegion(0));
  std::vector<Value> values(graph.numValues);
  for (auto [id, meta] : llvm::zip(graph.inputs, inputs))
    values[id] = block->addArgument(typeOf(builder.getContext(), metas[id]), op->getLoc());
  auto valuesOf = [&](ArrayRef<int> ids) { return llvm::map_to_vector(ids, [&](int id) { return values[id]; }); };
  DenseSet<uint32_t> named;
  for (const Subgraph::Node &node : graph.nodes) {
    nameBodySizes(builder, node.op, values, named);
    auto results = llvm::map_to_vector<4>(node.outputs, [&](int id) { return metas[id]; });
    Location location = node.location.empty() ? op->getLoc() : locationOf(builder.getContext(), node.location);
    Operation *made = createOp(builder, location, node.op, valuesOf(node.inputs), node.segments, results);
    for (auto [id, result] : llvm::zip_equal(node.outputs, made->getResults()))
      values[id] = result;
  }
  OperationState yield(op->getLoc(), "tess.yield");
  yield.addOperands(valuesOf(graph.outputs));
  builder.create(yield);
}

Operation *createOp(OpBuilder &builder, Location location, const OpDef &op, ValueRange operands,
                    ArrayRef<unsigned> segments, ArrayRef<TensorMeta> results) {
  MLIRContext *context = builder.getContext();
  const bool isCustom = op.info().origin;
  OperationState state(location, isCustom ? "tess.custom" : ("tess." + op.name()).str());
  if (isCustom)
    state.addAttribute("record", builder.getStringAttr(op.name()));
  state.addOperands(operands);
  addAttributes(builder, state, op);
  if (hasSeveralOpenGroups(op.info()))
    state.addAttribute(kSegments, builder.getDenseI32ArrayAttr(SmallVector<int32_t>(segments.begin(), segments.end())));
  for (const TensorMeta &meta : results)
    state.addTypes(typeOf(context, meta));
  if (!control::hasBody(op.info()))
    return builder.create(state);
  state.addRegion();
  Operation *made = builder.create(state);
  createBody(builder, made, op);
  return made;
}

static llvm::Error inferResults(const OpDef &op, ValueRange operands, ArrayRef<unsigned> segments, Metas &out) {
  llvm::Expected<Metas> metas = op.infer(metasOf(operands), segments);
  if (!metas)
    return metas.takeError();
  out = std::move(*metas);
  forgetExpressions(out); // a type has numbers
  return llvm::Error::success();
}

FailureOr<Operation *> createInferred(OpBuilder &builder, Location location, const OpDef &op, ValueRange operands,
                                      ArrayRef<unsigned> segments) {
  Metas results;
  if (llvm::Error error = inferResults(op, operands, segments, results))
    return emitError(location, takeError(std::move(error)).second);
  return createOp(builder, location, op, operands, segments, results);
}

/// The OpDef that the attributes describe; an error when the text of a file gives one a value of another kind.
static llvm::Expected<OpDef> opDefFrom(const OpInfo &info, ArrayRef<Attribute> attrs) {
  OpDef op(info);
  for (auto [attr, value] : llvm::zip(info.attrs, attrs))
    if (value)
      if (llvm::Error error = op.trySet(attr.name, attrValueOf(value, attr.kind)))
        return std::move(error);
  return op;
}

LogicalResult inferVia(MLIRContext *context, std::optional<Location> location, const OpInfo &info,
                       ArrayRef<ValueRange> groups, ArrayRef<Attribute> attrs, SmallVectorImpl<Type> &types) {
  SmallVector<Value, 8> operands;
  SmallVector<unsigned, 4> segments;
  for (ValueRange group : groups) {
    segments.push_back(group.size());
    llvm::append_range(operands, group);
  }
  llvm::Expected<OpDef> op = opDefFrom(info, attrs);
  if (!op)
    return emitOptionalError(location, takeError(op.takeError()).second);
  Metas results;
  if (llvm::Error error = inferResults(*op, operands, segments, results))
    return emitOptionalError(location, takeError(std::move(error)).second);
  for (const TensorMeta &meta : results)
    types.push_back(typeOf(context, meta));
  return success();
}

LogicalResult CustomOp::verify() {
  const OpInfo *info = infoOf(*this);
  if (!info || !info->origin)
    return emitOpError("its library must be loaded, got none for ") << getRecord();
  if (failed(verifyAttributes(*this)))
    return failure();
  llvm::Expected<Metas> inferred = opDefOf(*this).infer(metasOf(getInputs()), segmentsOf(*this));
  if (!inferred)
    return emitOpError(takeError(inferred.takeError()).second);
  forgetExpressions(*inferred);
  SmallVector<Type> types;
  for (const TensorMeta &meta : *inferred)
    types.push_back(typeOf(getContext(), meta));
  if (!compatible(types, getOuts().getTypes()))
    return emitOpError("results must have the types that inference gives, got ") << getOuts().getTypes();
  return success();
}

static bool compatibleTypes(Type lhs, Type rhs) {
  auto a = dyn_cast<RankedTensorType>(lhs), b = dyn_cast<RankedTensorType>(rhs);
  return a && b && a.getElementType() == b.getElementType() && succeeded(verifyCompatibleShape(a, b));
}

bool compatible(TypeRange lhs, TypeRange rhs) {
  return lhs.size() == rhs.size() && llvm::all_of_zip(lhs, rhs, compatibleTypes);
}

} // namespace tess::ir
