//===- ScanGradient.cpp - the gradient of a scan --------------------------===//
//
// A scan in the other direction. Each of its trips goes back through one trip of
// the forward scan as a tape does: the same gradient graphs, sums in the order of
// a tape that has recorded all trips. It reads what that trip computed from
// stacked results of the forward scan; what follows from constants alone it
// computes again. A carried value's gradient is carried the other way; the sum
// for a constant is carried through all trips, from what was summed before or
// from -0.0, to which adding changes nothing. Zeros are added to the gradient of
// each operand: it has one whatever the trips depend on, and no -0.0 says that
// none of them did (eager/tracing/TripValues.h). Grown values of an inner loop
// (ops/graphs/Control.h) have another length in each trip and are not stacked: the inner
// loop is made again. So are values whose sizes data decides in a trip: a second
// gradient adds what arrives at both, rounded apart.
//
//===----------------------------------------------------------------------===//
#include "ops/graphs/Control.h"
#include "ops/graphs/GradientRules.h"
#include "ops/graphs/GraphPieces.h"

#include "llvm/ADT/STLExtras.h"

namespace tess {

using namespace control;
using Values = llvm::SmallVector<int, 4>;

namespace {

/// An input of the gradient's body.
struct Input {
  /// What `index` counts: values of the forward body, nothing, carried values, operands, results.
  enum Kind : uint8_t { Value, Guard, CarriedGrad, Sum, ResultGrad } kind;
  unsigned index;
  int id; // in the gradient's body
};

/// The body of the gradient's scan.
class ReverseBody {
public:
  /// `needed`: by operand; `arrives`: by result, whether it has a gradient.
  ReverseBody(const OpDef &op, llvm::ArrayRef<bool> needed, llvm::ArrayRef<bool> arrives)
      : op(op), body(bodyOf(op)), groups(op), needed(needed), arrives(arrives), active(body.numValues),
        isGrown(body.numValues), isMadeAgain(body.numValues), values(body.numValues, -1), grads(body.numValues, -1) {}
  llvm::Error build(llvm::ArrayRef<TensorMeta> operands);

  Subgraph graph;
  llvm::SmallVector<Input, 16> inputs;       // those that the graph reads, and all carried ones
  unsigned numConstants = 0, numCarried = 0; // of the inputs, which have this order
  llvm::SmallVector<unsigned, 8> gradients;  // by output: the operand whose gradient it is

private:
  int carriedIn(unsigned k) const { return body.inputs[groups.constants + k]; }
  int add(Input::Kind kind, unsigned index, int like);
  void findActive();
  void findMadeAgain();
  void addGrad(int id, int grad);
  void addInputs();
  void replay(const Subgraph::Node &node);
  void bindOutputs();
  void reverse(const Subgraph::Node &node);
  Values outputs();
  void order(Subgraph made);

  const OpDef &op;
  const Subgraph &body;
  ScanGroups groups;
  llvm::ArrayRef<bool> needed, arrives;
  SubgraphBuilder b;
  std::vector<TensorMeta> metas;           // of the forward body's values
  llvm::SmallVector<bool, 32> active;      // by value: its gradient is wanted
  llvm::SmallVector<bool, 32> isGrown;     // by value: an inner loop without a bound stacks it
  llvm::SmallVector<bool, 32> isMadeAgain; // by value: constants alone decide it, or it is not stacked
  std::vector<int> values, grads;          // by value: where it and its gradient are in `b`
};

} // namespace

int ReverseBody::add(Input::Kind kind, unsigned index, int like) {
  int id = b.input(metas[like]);
  inputs.push_back({kind, index, id});
  return id;
}

/// A value is active when it depends on an operand whose gradient is wanted, in whatever trip.
void ReverseBody::findActive() {
  for (auto [id, isNeeded] : llvm::zip_equal(body.inputs, needed))
    active[id] = isNeeded;
  for (bool changed = true; changed;) {
    for (const Subgraph::Node &node : body.nodes)
      if (llvm::any_of(node.inputs, [&](int id) { return active[id]; }))
        for (int id : node.outputs)
          active[id] = isFloat(metas[id].dtype);
    changed = false;
    for (unsigned k = 0; k < groups.carried; ++k)
      if (active[body.outputs[k]] && !active[carriedIn(k)])
        active[carriedIn(k)] = changed = true;
  }
}

/// Whether data decides the size in a trip: other trips have another.
static bool isOfTrip(int64_t size) {
  bool found = size == kUnknown;
  sizes::forEachSymbol(size, [&](uint32_t symbol) { found |= isBodySymbol(symbol); });
  return found;
}

void ReverseBody::findMadeAgain() {
  llvm::SmallVector<bool, 32> isInvariant(body.numValues);
  for (int id : llvm::ArrayRef<int>(body.inputs).take_front(groups.constants))
    isInvariant[id] = isMadeAgain[id] = true;
  for (const Subgraph::Node &node : body.nodes) {
    bool stays = llvm::all_of(node.inputs, [&](int id) { return isInvariant[id]; });
    llvm::ArrayRef<int> grown;
    if (hasBody(node.op.info()) && hasNoBound(node.op))
      grown = llvm::ArrayRef(node.outputs).drop_front(ScanGroups(node.op).carried);
    for (int id : grown)
      isGrown[id] = true;
    bool isSized = llvm::any_of(node.outputs, [&](int id) { return llvm::any_of(metas[id].shape, isOfTrip); });
    for (int id : node.outputs) {
      isInvariant[id] = stays;
      isMadeAgain[id] = stays || isSized || !grown.empty();
    }
  }
}

/// Constants, what trips hand on, then elements: of the forward scan's xs, of stacked results, of their gradients.
void ReverseBody::addInputs() {
  llvm::ArrayRef<int> constants = llvm::ArrayRef<int>(body.inputs).take_front(groups.constants);
  for (int id : constants)
    values[id] = add(Input::Value, unsigned(id), id);
  if (op.boolean("guarded"))
    add(Input::Guard, 0, carriedIn(0));
  for (unsigned k = 0; k < groups.carried; ++k)
    if (active[carriedIn(k)]) {
      gradients.push_back(groups.constants + k);
      add(Input::CarriedGrad, k, carriedIn(k));
    }
  for (auto [i, id] : llvm::enumerate(constants))
    if (needed[i]) {
      gradients.push_back(unsigned(i));
      grads[id] = add(Input::Sum, unsigned(i), id);
    }
  for (int id = 0; id < body.numValues; ++id)
    if (!isMadeAgain[id])
      values[id] = add(Input::Value, unsigned(id), id);
  for (const Subgraph::Node &node : body.nodes)
    if (llvm::all_of(node.outputs, [&](int id) { return isMadeAgain[id]; }))
      replay(node);
}

void ReverseBody::replay(const Subgraph::Node &node) {
  Values inputs;
  for (int id : node.inputs)
    inputs.push_back(values[id]);
  OpDef op =
      withBodySizes(node.op, [&](int value, unsigned axis) { return sizes::symbol(bodySymbol(values[value], axis)); });
  for (auto [id, made] : llvm::zip(node.outputs, b.applyAll(std::move(op), inputs, node.segments)))
    values[id] = made;
}

/// The gradients that arrive at the end of a trip: of stacked results, the last first, then of carried values.
void ReverseBody::bindOutputs() {
  auto bind = [&](unsigned result, int grad) {
    int id = body.outputs[result];
    grads[id] = pieces::accumulate(b, grads[id], grad);
  };
  for (unsigned result = unsigned(body.outputs.size()); result-- > groups.carried;)
    if (arrives[result] && active[body.outputs[result]])
      bind(result, add(Input::ResultGrad, result, body.outputs[result]));
  for (const Input &input : llvm::reverse(inputs))
    if (input.kind == Input::CarriedGrad && active[body.outputs[input.index]])
      bind(input.index, input.id);
}

/// One operator, as Tape::step() goes back through it.
void ReverseBody::reverse(const Subgraph::Node &node) {
  Metas operands;
  llvm::SmallVector<bool, 4> wanted, hasGrad;
  Values all;
  for (int id : node.inputs) {
    operands.push_back(metas[id]);
    wanted.push_back(active[id]);
    all.push_back(values[id]);
  }
  for (int id : node.outputs)
    all.push_back(values[id]);
  for (int id : node.outputs) {
    hasGrad.push_back(grads[id] >= 0);
    all.push_back(grads[id]);
  }
  if (!llvm::is_contained(hasGrad, true) || !llvm::is_contained(wanted, true))
    return;
  if (!node.op.info().gradient)
    return b.fail(makeError(ErrorCode::Unimplemented,
                            node.op.name() + ": an operator on the way to a gradient must have one, got none"));
  auto hasSum = sumsTaken(node.op, node.inputs, [&](int id) { return active[id] && grads[id] >= 0; });
  for (size_t i = 0; i < hasSum.size(); ++i)
    all.push_back(hasSum[i] ? grads[node.inputs[i]] : -1);
  llvm::Expected<Subgraph> backward = node.op.makeBackwardGraph(operands, wanted, hasGrad, node.segments, hasSum);
  if (!backward)
    return b.fail(backward.takeError());
  Values made = pieces::inlined(b, *backward, all);
  for (auto [i, id] : llvm::enumerate(node.inputs))
    if (wanted[i] && made[i] >= 0)
      i < hasSum.size() && hasSum[i] ? void(grads[id] = made[i]) : addGrad(id, made[i]);
}

/// Adds to the gradient of a value. That of a grown one comes from the one loop that reads it.
void ReverseBody::addGrad(int id, int grad) {
  if (isGrown[id] && grads[id] >= 0)
    return b.fail(makeError(ErrorCode::Unimplemented,
                            "while_loop: max_trips must be given for a gradient of third order through a loop within "
                            "a loop, got none"));
  grads[id] = pieces::accumulate(b, grads[id], grad);
}

/// The gradient, in which zeros are no -0.0.
static int plusZeros(SubgraphBuilder &b, int grad) {
  return pieces::accumulate(b, grad, pieces::fullLike(b, grad, 0.0));
}

/// A carried gradient to which no operator adds ends in each trip.
Values ReverseBody::outputs() {
  Values outputs;
  for (const Input &input : inputs)
    if (input.kind == Input::Guard)
      outputs.push_back(input.id);
  for (unsigned operand : gradients) {
    int id = body.inputs[operand];
    outputs.push_back(grads[id] < 0 ? pieces::fullLike(b, values[id], -0.0) : grads[id]);
  }
  numCarried = unsigned(outputs.size());
  for (unsigned i = groups.firstX(); i < body.inputs.size(); ++i)
    if (int grad = grads[body.inputs[i]]; needed[i] && grad >= 0) {
      gradients.push_back(i);
      outputs.push_back(plusZeros(b, grad));
    }
  return outputs;
}

/// Keeps the inputs that the graph reads, and puts them in the order of a scan's operands.
void ReverseBody::order(Subgraph made) {
  llvm::SmallVector<Input, 16> kept;
  auto keep = [&](auto isOfGroup) {
    for (auto [input, isRead] : llvm::zip_equal(inputs, made.inputUsed)) {
      bool isHandedOn = input.kind == Input::Guard || input.kind == Input::CarriedGrad || input.kind == Input::Sum;
      if ((isRead || isHandedOn) && isOfGroup(input, isHandedOn))
        kept.push_back(input);
    }
    return unsigned(kept.size());
  };
  auto stays = [&](const Input &input) {
    return input.kind == Input::Value &&
           llvm::is_contained(llvm::ArrayRef<int>(body.inputs).take_front(groups.constants), int(input.index));
  };
  numConstants = keep([&](const Input &input, bool) { return stays(input); });
  keep([&](const Input &, bool isHandedOn) { return isHandedOn; });
  keep([&](const Input &input, bool isHandedOn) { return !isHandedOn && !stays(input); });
  inputs = std::move(kept);
  graph = std::move(made);
  graph.inputs.clear();
  for (const Input &input : inputs)
    graph.inputs.push_back(input.id);
  graph.inputUsed.assign(inputs.size(), true);
}

/// A guard that counts says how many trips the way back makes.
static llvm::Error checkGuarded(const OpDef &op, llvm::ArrayRef<TensorMeta> operands) {
  ScanOrder order = orderOf(op);
  if (!order.isGuarded || order.length == 1)
    return llvm::Error::success();
  if (operands[ScanGroups(op).constants].dtype != DType::Int64)
    return makeError(ErrorCode::Unimplemented, "scan: the guard of a loop on the way to a gradient must be an int64, "
                                               "which counts its trips, got a bool");
  return llvm::Error::success();
}

llvm::Error ReverseBody::build(llvm::ArrayRef<TensorMeta> operands) {
  if (llvm::Error error = checkGuarded(op, operands))
    return error;
  llvm::Expected<std::vector<TensorMeta>> inferred = inferValues(body, bodyInputs(op, operands));
  if (!inferred)
    return inferred.takeError();
  metas = std::move(*inferred);
  findActive();
  findMadeAgain();
  addInputs();
  for (TensorMeta &meta : metas) // symbols of the forward body mean nothing in this one
    for (int64_t &size : meta.shape)
      size = isOfTrip(size) ? kUnknown : size;
  bindOutputs();
  for (const Subgraph::Node &node : llvm::reverse(body.nodes))
    reverse(node);
  llvm::Expected<Subgraph> made = b.finish(outputs());
  if (!made)
    return made.takeError();
  order(std::move(*made));
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// What the forward scan saves
//===----------------------------------------------------------------------===//

/// The values of the forward body that the gradient's reads and no operand has.
static llvm::SmallVector<int, 8> valuesToSave(const OpDef &op, const ReverseBody &reverse) {
  const Subgraph &body = bodyOf(op);
  ScanGroups groups(op);
  llvm::SmallVector<int, 8> saved;
  for (const Input &input : reverse.inputs) {
    bool isX = llvm::is_contained(llvm::ArrayRef<int>(body.inputs).drop_front(groups.firstX()), int(input.index));
    bool isConstant =
        llvm::is_contained(llvm::ArrayRef<int>(body.inputs).take_front(groups.constants), int(input.index));
    if (input.kind == Input::Value && !isX && !isConstant)
      saved.push_back(int(input.index));
  }
  return saved;
}

OpDef control::withResults(const OpDef &op, llvm::ArrayRef<int> values) {
  Subgraph body = bodyOf(op);
  body.outputs.append(values.begin(), values.end());
  ScanGroups groups(op);
  return control::scan(std::move(body), groups.constants, groups.carried, orderOf(op));
}

llvm::Expected<llvm::SmallVector<int, 8>>
control::valuesOfGradient(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, llvm::ArrayRef<bool> needed) {
  llvm::SmallVector<bool, 8> wanted, arrives(bodyOf(op).outputs.size(), true);
  for (auto [operand, need] : llvm::zip(operands, needed))
    wanted.push_back(need && isFloat(operand.dtype));
  ReverseBody reverse(op, wanted, arrives);
  if (llvm::Error error = reverse.build(operands))
    return std::move(error);
  llvm::ArrayRef<int> stacked = llvm::ArrayRef<int>(bodyOf(op).outputs).drop_front(ScanGroups(op).carried);
  llvm::SmallVector<int, 8> values = valuesToSave(op, reverse);
  llvm::erase_if(values, [&](int id) { return llvm::is_contained(stacked, id); });
  return values;
}

//===----------------------------------------------------------------------===//
// The rule
//===----------------------------------------------------------------------===//

namespace {

/// The operands of the gradient's scan, in the graph of the gradient.
class ScanGradient {
public:
  ScanGradient(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v, unsigned numOperands)
      : b(b), op(op), v(v), body(bodyOf(op)), groups(op), numOperands(numOperands),
        numResults(unsigned(body.outputs.size())) {}
  /// Where value `id` of the forward body, stacked over the trips, or a constant is; -1 after an error.
  int whole(int id, const ReverseBody &reverse);
  int operandOf(const Input &input, const ReverseBody &reverse);
  int gradOfResult(unsigned result) const { return v[numOperands + numResults + result]; }

private:
  int sumOf(unsigned operand) const {
    size_t first = numOperands + 2 * size_t(numResults);
    return v.size() > first ? v[first + operand] : -1;
  }

  SubgraphBuilder &b;
  const OpDef &op;
  llvm::ArrayRef<int> v;
  const Subgraph &body;
  ScanGroups groups;
  unsigned numOperands, numResults;
  llvm::SmallVector<int, 8> againValues, again; // of the forward scan made again: values, results
};

} // namespace

int ScanGradient::whole(int id, const ReverseBody &reverse) {
  for (unsigned i = 0; i < numOperands; ++i)
    if (body.inputs[i] == id && (i < groups.constants || i >= groups.firstX()))
      return v[i];
  for (unsigned result = groups.carried; result < numResults; ++result)
    if (body.outputs[result] == id)
      return v[numOperands + result];
  if (again.empty()) { // it was not told that it would have a gradient
    againValues = valuesToSave(op, reverse);
    again = b.applyAll(withResults(op, againValues), v.take_front(numOperands));
  }
  return again.empty() ? -1 : again[numResults + (llvm::find(againValues, id) - againValues.begin())];
}

int ScanGradient::operandOf(const Input &input, const ReverseBody &reverse) {
  auto orNothing = [&](int grad, int like) { return grad < 0 ? pieces::fullLike(b, like, -0.0) : grad; };
  switch (input.kind) {
  case Input::Guard: // one that counts has the number of trips at the end
    return b.meta(v[groups.constants]).dtype == DType::Int64 ? v[numOperands] : v[groups.constants];
  case Input::Value:
    return whole(int(input.index), reverse);
  case Input::CarriedGrad:
    return orNothing(gradOfResult(input.index), v[numOperands + input.index]);
  case Input::Sum:
    return orNothing(sumOf(input.index), v[input.index]);
  case Input::ResultGrad:
    return gradOfResult(input.index);
  }
  llvm_unreachable("input kind out of range");
}

namespace gradients {

Values scan(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v, llvm::ArrayRef<bool> needed) {
  Values result(needed.size(), -1);
  ScanGradient gradient(b, op, v, unsigned(needed.size()));
  Metas operands;
  llvm::SmallVector<bool, 8> arrives;
  for (unsigned i = 0; i < needed.size(); ++i)
    operands.push_back(b.meta(v[i]));
  for (unsigned i = 0; i < bodyOf(op).outputs.size(); ++i)
    arrives.push_back(gradient.gradOfResult(i) >= 0);
  llvm::Expected<int64_t> trips = numTrips(op, operands);
  ReverseBody reverse(op, needed, arrives);
  if (llvm::Error error = trips ? reverse.build(operands) : trips.takeError()) {
    b.fail(std::move(error));
    return result;
  }
  llvm::SmallVector<int, 16> inputs;
  for (const Input &input : reverse.inputs)
    inputs.push_back(gradient.operandOf(input, reverse));
  ScanGroups groups(op);
  ScanOrder order = orderOf(op);
  order.reverse = !order.reverse;
  if (inputs.size() == reverse.numConstants + reverse.numCarried) // no operand says how many trips there are
    order.length = *trips;
  OpDef scan = control::scan(std::move(reverse.graph), reverse.numConstants, reverse.numCarried, order);
  llvm::SmallVector<int, 2> made = b.applyAll(std::move(scan), inputs);
  for (auto [place, operand] : llvm::enumerate(reverse.gradients))
    if (needed[operand] && !made.empty()) {
      int value = made[place + order.isGuarded]; // behind the guard
      result[operand] = operand < groups.firstX() ? plusZeros(b, value) : value;
    }
  for (unsigned i = 0; i < needed.size(); ++i)
    if (needed[i] && result[i] < 0)
      result[i] = pieces::fullLike(b, v[i], 0.0);
  return result;
}

} // namespace gradients

} // namespace tess
