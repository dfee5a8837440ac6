//===- Control.cpp - operators with bodies --------------------------------===//
#include "ops/graphs/Control.h"
#include "ops/graphs/GradientRules.h"
#include "ops/inference/RuleErrors.h"
#include "ops/vocabulary/Hash.h"
#include "ops/vocabulary/Quantization.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>

namespace tess {

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

static bool isSameNode(const Subgraph::Node &a, const Subgraph::Node &b) {
  return a.op.isSame(b.op) && a.inputs == b.inputs && a.outputs == b.outputs && a.segments == b.segments;
}

/// Locations do not count: operators of two lines are one program.
bool Body::isSame(const AttrBody &other) const {
  const Subgraph &theirs = static_cast<const Body &>(other).operators;
  return operators.inputs == theirs.inputs && operators.outputs == theirs.outputs &&
         operators.nodes.size() == theirs.nodes.size() &&
         llvm::all_of(llvm::zip(operators.nodes, theirs.nodes),
                      [](auto pair) { return isSameNode(std::get<0>(pair), std::get<1>(pair)); });
}

static uint64_t hashOf(const Subgraph &operators) {
  uint64_t h = mixHash(0x3C6EF372FE94F82Bull, operators.inputs.size());
  auto mix = [&](llvm::ArrayRef<int> ids) {
    for (int id : ids)
      h = mixHash(h, uint64_t(id));
  };
  for (const Subgraph::Node &node : operators.nodes) {
    h = mixHash(h, node.op.hash());
    mix(node.inputs);
  }
  mix(operators.outputs);
  return h;
}

Body::Body(Subgraph graph) : operators(std::move(graph)), hashed(hashOf(operators)) {}

static std::string listText(llvm::ArrayRef<int> ids) {
  std::string text;
  for (int id : ids)
    text += (text.empty() ? "%" : ", %") + std::to_string(id);
  return text;
}

std::string Body::toText() const {
  std::string text = "{(" + listText(operators.inputs) + ")";
  for (const Subgraph::Node &node : operators.nodes) {
    text += " " + listText(node.outputs) + " = ";
    text += (node.op.numAttrs() ? node.op.toString() : node.op.name().str()) + "(" + listText(node.inputs);
    for (unsigned segment : node.segments)
      text += "|" + std::to_string(segment);
    text += ");";
  }
  return text + " yield " + listText(operators.outputs) + "}";
}

bool Body::hasExpressions() const {
  return llvm::any_of(operators.nodes, [](const Subgraph::Node &node) { return node.op.hasExpressions(); });
}

/// What its own symbols stand for is no matter of those outside.
BodyRef Body::withSymbols(llvm::function_ref<int64_t(uint32_t)> valueOf) const {
  Subgraph graph = operators;
  auto outside = [&](uint32_t symbol) {
    return control::isBodySymbol(symbol) ? sizes::symbol(symbol) : valueOf(symbol);
  };
  for (Subgraph::Node &node : graph.nodes)
    node.op = node.op.withSymbols(outside);
  return std::make_shared<const Body>(std::move(graph));
}

uint64_t Body::heldBytes() const {
  uint64_t bytes = sizeof(Body);
  for (const Subgraph::Node &node : operators.nodes)
    bytes += sizeof(node) + node.op.heldBytes() + node.location.size();
  return bytes;
}

/// Checks that the sizes of an operator that are symbols of its body are sizes of values.
static llvm::Error checkBodySizes(const OpDef &op, llvm::ArrayRef<TensorMeta> metas) {
  std::optional<uint32_t> unknown;
  if (!control::hasBody(op.info()))
    op.forEachSymbol([&](uint32_t symbol) {
      if (control::isBodySymbol(symbol) && (size_t(control::valueOf(symbol)) >= metas.size() ||
                                            control::axisOf(symbol) >= metas[control::valueOf(symbol)].rank()))
        unknown = symbol;
    });
  if (!unknown)
    return llvm::Error::success();
  return shapes::mustHoldOf(op, "sizes in a body must be those of values before",
                            "axis " + llvm::Twine(control::axisOf(*unknown)) + " of value " +
                                llvm::Twine(control::valueOf(*unknown)));
}

llvm::Expected<std::vector<TensorMeta>> inferValues(const Subgraph &graph, llvm::ArrayRef<TensorMeta> inputs) {
  std::vector<TensorMeta> metas(graph.numValues);
  for (auto [id, meta] : llvm::zip_equal(graph.inputs, inputs))
    metas[id] = meta;
  for (const Subgraph::Node &node : graph.nodes) {
    Metas operands;
    for (int id : node.inputs)
      operands.push_back(metas[id]);
    if (llvm::Error error = checkBodySizes(node.op, metas))
      return at(std::move(error), node.location);
    llvm::Expected<Metas> results = node.op.infer(operands, node.segments);
    if (!results)
      return at(results.takeError(), node.location);
    if (results->size() != node.outputs.size())
      return invalidArgument(node.op.name() + ": results in a body must be " + llvm::Twine(results->size()) + ", got " +
                             llvm::Twine(node.outputs.size()));
    for (auto [id, meta] : llvm::zip_equal(node.outputs, *results))
      metas[id] = std::move(meta);
  }
  return metas;
}

//===----------------------------------------------------------------------===//
// scan
//===----------------------------------------------------------------------===//

namespace control {

const Subgraph &bodyOf(const OpDef &op) { return static_cast<const Body &>(*op.attr("body").body()).graph(); }

const Subgraph *findBody(const OpDef &op) {
  bool hasOne = op.numAttrs() && op.attr(0u).kind() == AttrKind::Body;
  return hasOne ? &static_cast<const Body &>(*op.attr(0u).body()).graph() : nullptr;
}

OpDef withBodySizes(const OpDef &op, llvm::function_ref<int64_t(int value, unsigned axis)> sizeOf) {
  if (hasBody(op.info()) || !op.hasExpressions())
    return op;
  return op.withSymbols([&](uint32_t symbol) {
    return isBodySymbol(symbol) ? sizeOf(valueOf(symbol), axisOf(symbol)) : sizes::symbol(symbol);
  });
}

bool decidesSizes(const OpDef &op) {
  return hasBody(op.info()) && llvm::any_of(bodyOf(op).nodes, [](const Subgraph::Node &node) {
           return node.op.info().boundRule || decidesSizes(node.op);
         });
}

ScanOrder orderOf(const OpDef &op) {
  return {op.has("length") ? std::optional(op.i64("length")) : std::nullopt, op.boolean("reverse"),
          op.boolean("guarded")};
}

OpDef scan(Subgraph step, unsigned constants, unsigned carried, const ScanOrder &order) {
  OpDef op = OpDef::get("scan");
  op.set("body", BodyRef(std::make_shared<const Body>(std::move(step))));
  op.set("constants", int64_t(constants)).set("carried", int64_t(carried));
  op.set("reverse", order.reverse).set("guarded", order.isGuarded);
  return order.length ? op.set("length", *order.length) : op;
}

static llvm::Error badOperands(const OpDef &op, const llvm::Twine &must, const llvm::Twine &values) {
  return shapes::mustHoldOf(op, must, values);
}

bool hasNoBound(const OpDef &op) { return op.has("length") && hasNoBound(op.boolean("guarded"), op.i64("length")); }

llvm::Expected<int64_t> grownBytes(int64_t trips, int64_t bytes) {
  constexpr int64_t kMost = int64_t(1) << 62;
  if (bytes && trips > kMost / bytes)
    return noMemory(makeError(ErrorCode::ResourceExhausted, "more than 2^62"), trips, bytes);
  return trips * bytes;
}

llvm::Error noMemory(llvm::Error cause, int64_t trips, int64_t bytes) {
  auto [code, message] = takeError(std::move(cause));
  return makeError(code, "while_loop: what trips save for a gradient must find memory, got " + llvm::Twine(trips) +
                             " trips of " + llvm::Twine(bytes) + " bytes (" + message + ")");
}

llvm::Error notSaved(int64_t trip, int64_t saved) {
  return invalidArgument(
      "while_loop: the gradient of a loop without max_trips must read what each trip saved, got trip " +
      llvm::Twine(trip) + " of " + llvm::Twine(saved));
}

/// The trips of a loop without a bound, whose xs are grown values.
static llvm::Expected<int64_t> manyTrips(const OpDef &op, llvm::ArrayRef<TensorMeta> xs) {
  for (const TensorMeta &x : xs)
    if (x.rank() == 0 || shapes::differs(x.shape[0], 1))
      return badOperands(op, "xs of a loop without a bound must have size 1 of axis 0", toString(x));
  return kManyTrips;
}

llvm::Expected<int64_t> numTrips(const OpDef &op, llvm::ArrayRef<TensorMeta> operands) {
  llvm::ArrayRef<TensorMeta> xs = operands.drop_front(ScanGroups(op).firstX());
  if (hasNoBound(op))
    return manyTrips(op, xs);
  if (xs.empty() && !op.has("length"))
    return badOperands(op, "length must be given where there are no xs", "none");
  int64_t trips = op.has("length") ? op.i64("length") : kUnknown;
  if (trips < 0 && !sizes::isSymbolic(trips) && trips != kUnknown)
    return badOperands(op, "length must be at least 0", llvm::Twine(trips));
  for (const TensorMeta &x : xs) {
    if (x.rank() == 0)
      return badOperands(op, "xs must have an axis for the trips", toString(x));
    if (isPerChannel(x.dtype) && quantizationOf(x.dtype)->axis == 0)
      return badOperands(op, "xs must not have their channels along the axis of the trips", toString(x));
    if (shapes::differs(trips, x.shape[0]))
      return op.has("length")
                 ? badOperands(op, "length must be the size of axis 0 of all xs",
                               llvm::Twine(trips) + " and " + toString(x))
                 : badOperands(op, "xs must have one size of axis 0", toString(xs.front()) + " and " + toString(x));
    trips = trips == kUnknown ? x.shape[0] : sizes::agreed(trips, x.shape[0]);
  }
  return trips;
}

/// The dtype of a tensor that has one more axis in front, or one less. Without parameters where it has no channels
/// then, which is no dtype of a value.
static DType withChannelsMoved(DType dtype, int by) {
  if (!isPerChannel(dtype))
    return dtype;
  int axis = quantizationOf(dtype)->axis + by;
  llvm::Expected<DType> moved = axis < 0 ? kindOf(dtype) : withChannelAxis(dtype, axis);
  if (moved)
    return *moved;
  llvm::consumeError(moved.takeError());
  return kindOf(dtype);
}

TensorMeta elementOf(const TensorMeta &x) {
  return TensorMeta(withChannelsMoved(x.dtype, -1), llvm::ArrayRef<int64_t>(x.shape).drop_front());
}

Metas bodyInputs(const OpDef &op, llvm::ArrayRef<TensorMeta> operands) {
  Metas inputs(operands.begin(), operands.end());
  for (TensorMeta &x : llvm::MutableArrayRef<TensorMeta>(inputs).drop_front(ScanGroups(op).firstX()))
    x = elementOf(x);
  return inputs;
}

TensorMeta stacked(const TensorMeta &element, int64_t trips) {
  TensorMeta meta(withChannelsMoved(element.dtype, 1), element.shape);
  meta.shape.insert(meta.shape.begin(), trips);
  return meta;
}

/// Whether both may be one meta, as far as their sizes are known.
static bool mayBeSame(const TensorMeta &a, const TensorMeta &b) {
  return a.dtype == b.dtype && a.rank() == b.rank() && llvm::none_of(llvm::zip(a.shape, b.shape), [](auto pair) {
           return shapes::differs(std::get<0>(pair), std::get<1>(pair));
         });
}

llvm::Error checkCarried(llvm::ArrayRef<TensorMeta> carried, llvm::ArrayRef<TensorMeta> outputs, llvm::StringRef name,
                         llvm::StringRef body) {
  for (auto [index, before] : llvm::enumerate(carried))
    if (!mayBeSame(before, outputs[index]))
      return invalidArgument(
          name + ": " + body + " must return each carried value with the dtype and shape that it takes, got " +
          toString(outputs[index]) + " for " + toString(before) + " (carried value " + llvm::Twine(index) + ")");
  return llvm::Error::success();
}

} // namespace control

namespace {

using namespace control;

/// Checks that operands and body fit each other.
llvm::Error checkGroups(const OpDef &op, size_t numOperands) {
  if (!op.has("body"))
    return shapes::mustHoldOf(op, "body must be given", "none");
  const Subgraph &body = bodyOf(op);
  uint64_t constants = op.i64("constants"), carried = op.i64("carried");
  if (constants + carried > numOperands)
    return shapes::mustHoldOf(op, "constants and carried values must be operands",
                              llvm::Twine(constants + carried) + " of " + llvm::Twine(numOperands));
  if (body.inputs.size() != numOperands || body.outputs.size() < carried)
    return shapes::mustHoldOf(op, "body must have an input for each operand and an output for each carried value",
                              llvm::Twine(body.inputs.size()) + " and " + llvm::Twine(body.outputs.size()));
  return llvm::Error::success();
}

llvm::Expected<Metas> inferScan(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, llvm::ArrayRef<unsigned>) {
  if (llvm::Error error = checkGroups(op, operands.size()))
    return std::move(error);
  llvm::Expected<int64_t> trips = numTrips(op, operands);
  if (!trips)
    return trips.takeError();
  ScanGroups groups(op);
  if (op.boolean("guarded") && (!groups.carried || !isGuard(operands[groups.constants])))
    return shapes::mustHoldOf(op, "the guard, the first carried value, must be a bool or int64 of rank 0",
                              groups.carried ? toString(operands[groups.constants]) : "none");
  const Subgraph &body = bodyOf(op);
  llvm::Expected<std::vector<TensorMeta>> values = inferValues(body, bodyInputs(op, operands));
  if (!values)
    return values.takeError();
  Metas results;
  for (int id : body.outputs)
    results.push_back((*values)[id]);
  llvm::ArrayRef<TensorMeta> carried = operands.slice(groups.constants, groups.carried);
  if (llvm::Error error = checkCarried(carried, results))
    return std::move(error);
  for (auto [index, result] : llvm::enumerate(results)) {
    if (index >= groups.carried && result.rank() >= kMaxRank)
      return shapes::mustHoldOf(op, "stacked results must have rank < " + llvm::Twine(kMaxRank), toString(result));
    result = index < groups.carried ? carried[index] : stacked(result, hasNoBound(op) ? 1 : *trips);
  }
  return results;
}

constexpr double kMostOperands = 1 << 20;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

AttrValue isNot() { return AttrValue(false); }

constexpr OperandInfo kScanOperands[] = {{"inputs", Arity::Variadic, kMovedMask}};
constexpr ResultInfo kScanResults[] = {{"outs", kMovedMask, false, Arity::Variadic}};

llvm::ArrayRef<AttrInfo> scanAttrs() {
  static const AttrInfo attrs[] = {
      {"body", AttrKind::Body, false, true, false, nullptr, {}, -kInfinity, kInfinity, "what each trip does"},
      {"constants", AttrKind::I64, false, false, false, nullptr, {}, 0, kMostOperands, "operands that stay"},
      {"carried", AttrKind::I64, false, false, false, nullptr, {}, 0, kMostOperands, "operands that trips change"},
      {"length", AttrKind::I64, false, true, false, nullptr, {}, -kInfinity, kInfinity, "trips, where there are no xs"},
      {"reverse", AttrKind::Bool, false, false, true, isNot, {}, -kInfinity, kInfinity, "last element first"},
      {"guarded", AttrKind::Bool, false, false, true, isNot, {}, -kInfinity, kInfinity, "carried 0 says when it ends"}};
  return attrs;
}

OpInfo makeScan(uint16_t id) {
  OpInfo info = {};
  info.name = "scan";
  info.opdefName = "Scan";
  info.summary = "a body applied again and again, each time to what the last one left";
  info.id = id;
  info.version = 1;
  info.operands = kScanOperands;
  info.results = kScanResults;
  info.attrs = scanAttrs();
  info.shapeRule = inferScan;
  info.dtypes.kind = DTypeRuleKind::Rule;
  info.lowering = Lowering::Control;
  info.regionSteps = -1;
  info.gradient = gradients::scan;
  info.pythonModule = "functional";
  info.pythonName = "scan";
  return info;
}

} // namespace

llvm::ArrayRef<OpInfo> controlOps() {
  static const OpInfo ops[] = {makeScan(uint16_t(allOps().size()))};
  return ops;
}

} // namespace tess
