//===- GraphBuilder.cpp - programs without MLIR headers -------------------===//
#include "ir/GraphBuilder.h"
#include "ir/Contents.h"
#include "ir/Dialect.h"
#include "ir/GraphImpl.h"
#include "ir/OpBridge.h"
#include "ir/Types.h"
#include "ops/graphs/Subgraph.h"
#include "ops/vocabulary/SizeExpr.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;

namespace tess::ir {

struct GraphBuilder::State {
  func::FuncOp func;
  OpBuilder builder;
  std::vector<mlir::Value> values;
  std::vector<TensorMeta> metas;
  std::vector<NamedDim> dims;
  std::vector<NamedAttrList> inputAttrs; // given to the function at the end: each change of it is kept by the context
  struct Output {
    GraphBuilder::Value value;
    std::string name;
    int donates;
    MemoryLayout layout;
  };
  std::vector<Output> outputs;
  bool scalarParameters = false, onesAreKnown = false;
  Numerics numerics = Numerics::Strict;
  uint32_t nextScalar = 0;

  explicit State(MLIRContext *context) : builder(context) {}

  GraphBuilder::Value add(mlir::Value value, TensorMeta meta) {
    values.push_back(value);
    metas.push_back(std::move(meta));
    return GraphBuilder::Value(values.size() - 1);
  }
};

GraphBuilder::GraphBuilder() {
  GraphImpl &impl = graph.impl();
  MLIRContext *context = impl.context.get();
  state = std::make_unique<State>(context);
  OpBuilder &b = state->builder;
  impl.module = ModuleOp::create(b.getUnknownLoc());
  b.setInsertionPointToEnd(impl.module->getBody());
  state->func = func::FuncOp::create(b, b.getUnknownLoc(), "main", b.getFunctionType({}, {}));
  state->func.addEntryBlock();
  b.setInsertionPointToEnd(&state->func.getBody().front());
}

GraphBuilder::~GraphBuilder() = default;

int GraphBuilder::dim(NamedDim dim) {
  state->dims.push_back(std::move(dim));
  return int(state->dims.size()) - 1;
}

static DenseResourceElementsAttr contentOf(PooledContext &context, StringRef key, const TensorMeta &meta,
                                           const Content &content) {
  if (isLarge(content.bytes.size()))
    context.retire();
  RankedTensorType type = typeOf(context.get(), meta);
  return content.holder ? contentOf(type, key, content.holder) : contentOf(type, key, content.bytes);
}

GraphBuilder::Value GraphBuilder::input(StringRef name, const TensorMeta &meta, ArrayRef<int> dims,
                                        const std::optional<Content> &initial) {
  OpBuilder &b = state->builder;
  SmallVector<int64_t> dimIndices(dims.begin(), dims.end());
  dimIndices.resize(meta.rank(), -1);
  NamedAttrList &attrs = state->inputAttrs.emplace_back();
  attrs.set(kNameAttr, b.getStringAttr(name));
  attrs.set(kArgDimsAttr, b.getDenseI64ArrayAttr(dimIndices));
  if (initial)
    attrs.set(kInitialAttr, contentOf(graph.impl().context, "state", meta, *initial));
  return state->add(state->func.front().addArgument(typeOf(b.getContext(), meta), b.getUnknownLoc()), meta);
}

static Attribute layoutAttr(OpBuilder &b, MemoryLayout layout) { return b.getI8IntegerAttr(int8_t(layout)); }

void GraphBuilder::setLayout(Value input, MemoryLayout layout) {
  if (layout != MemoryLayout::RowMajor)
    state->inputAttrs[cast<BlockArgument>(state->values[input]).getArgNumber()].set(kLayoutAttr,
                                                                                    layoutAttr(state->builder, layout));
}

GraphBuilder::Value GraphBuilder::constant(const TensorMeta &meta, const Content &content, StringRef name) {
  OpBuilder &b = state->builder;
  auto value = contentOf(graph.impl().context, name.empty() ? "constant" : name, meta, content);
  auto op = ConstantOp::create(b, b.getUnknownLoc(), value.getType(), value, b.getStringAttr(name));
  return state->add(op.getOut(), meta);
}

/// `op` with parameters for the runtime attributes that it has.
static OpDef withParameters(OpDef op, uint32_t &next) {
  for (const AttrInfo &attr : op.info().attrs)
    if (attr.isRuntime && op.has(attr.name))
      op.set(attr.name, ScalarParameter{next++});
  return op;
}

llvm::Expected<SmallVector<GraphBuilder::Value, 4>>
GraphBuilder::apply(const OpDef &op, ArrayRef<Value> operands, ArrayRef<unsigned> segments, StringRef location) {
  SmallVector<TensorMeta, 4> metas;
  SmallVector<mlir::Value, 4> values;
  for (Value operand : operands) {
    metas.push_back(state->metas[operand]);
    values.push_back(state->values[operand]);
  }
  llvm::Expected<Metas> results = op.infer(metas, segments);
  if (!results)
    return at(results.takeError(), location);
  forgetExpressions(*results);
  OpBuilder &b = state->builder;
  const OpDef &made = state->scalarParameters ? withParameters(op, state->nextScalar) : op;
  Operation *created = createOp(b, locationOf(b.getContext(), location), made, values, segments, *results);
  SmallVector<Value, 4> ids;
  for (auto [value, meta] : llvm::zip(created->getResults(), *results))
    ids.push_back(state->add(value, meta));
  return ids;
}

llvm::Expected<SmallVector<GraphBuilder::Value, 4>> GraphBuilder::apply(const Subgraph &graph, ArrayRef<Value> operands,
                                                                        StringRef location) {
  SmallVector<Value> valueOf(graph.numValues);
  for (auto [id, operand] : llvm::zip_equal(graph.inputs, operands))
    valueOf[id] = operand;
  auto valuesOf = [&](ArrayRef<int> ids) {
    return SmallVector<Value, 4>(llvm::map_range(ids, [&](int id) { return valueOf[id]; }));
  };
  for (const Subgraph::Node &node : graph.nodes) {
    auto results = apply(node.op, valuesOf(node.inputs), node.segments, location);
    if (!results)
      return results.takeError();
    for (auto [id, result] : llvm::zip_equal(node.outputs, *results))
      valueOf[id] = result;
  }
  return valuesOf(graph.outputs);
}

void GraphBuilder::setName(Value value, StringRef name) {
  if (Operation *op = state->values[value].getDefiningOp())
    op->setAttr(kNameAttr, state->builder.getStringAttr(name));
}

void GraphBuilder::nameSize(Value value, unsigned axis, uint32_t number) {
  OpBuilder &b = state->builder;
  NamedSizeOp::create(b, b.getUnknownLoc(), state->values[value], axis, number);
}

void GraphBuilder::output(Value value, StringRef name, int donates, MemoryLayout layout) {
  state->outputs.push_back({value, name.str(), donates, layout});
}

const TensorMeta &GraphBuilder::meta(Value value) const { return state->metas[value]; }

void GraphBuilder::setScalarParameters(bool on) { state->scalarParameters = on; }

void GraphBuilder::setOnesKnown(bool known) { state->onesAreKnown = known; }

void GraphBuilder::setNumerics(Numerics numerics) { state->numerics = numerics; }

static Attribute dimsAttr(OpBuilder &b, ArrayRef<NamedDim> dims) {
  SmallVector<Attribute> entries;
  for (const NamedDim &dim : dims) {
    NamedAttribute fields[] = {b.getNamedAttr("name", b.getStringAttr(dim.name)),
                               b.getNamedAttr("min", b.getI64IntegerAttr(dim.min)),
                               b.getNamedAttr("max", b.getI64IntegerAttr(dim.max))};
    entries.push_back(b.getDictionaryAttr(fields));
  }
  return b.getArrayAttr(entries);
}

Graph GraphBuilder::finish() {
  OpBuilder &b = state->builder;
  SmallVector<mlir::Value> values;
  SmallVector<Attribute> entries;
  for (const State::Output &output : state->outputs) {
    values.push_back(state->values[output.value]);
    NamedAttribute fields[] = {b.getNamedAttr("name", b.getStringAttr(output.name)),
                               b.getNamedAttr("donates", b.getI64IntegerAttr(output.donates))};
    entries.push_back(b.getDictionaryAttr(fields));
  }
  func::ReturnOp::create(b, b.getUnknownLoc(), values);
  func::FuncOp func = state->func;
  func.setFunctionType(b.getFunctionType(func.front().getArgumentTypes(), ValueRange(values).getTypes()));
  func.setAllArgAttrs(llvm::map_to_vector(
      state->inputAttrs, [&](const NamedAttrList &attrs) { return attrs.getDictionary(b.getContext()); }));
  for (auto [index, output] : llvm::enumerate(state->outputs))
    if (output.layout != MemoryLayout::RowMajor)
      func.setResultAttr(index, kLayoutAttr, layoutAttr(b, output.layout));
  func->setAttr(kDimsAttr, dimsAttr(b, state->dims));
  func->setAttr(kOutputsAttr, b.getArrayAttr(entries));
  if (state->onesAreKnown)
    func->setAttr(kOnesAttr, b.getUnitAttr());
  setNumericsOf(func, state->numerics);
  state.reset();
  return std::move(graph);
}

} // namespace tess::ir
