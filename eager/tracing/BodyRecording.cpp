//===- BodyRecording.cpp - the body of a loop, recorded -------------------===//
#include "eager/tracing/BodyRecording.h"

#include "eager/gradients/Tape.h"
#include "eager/stack/Apply.h"
#include "eager/stack/Expressions.h"
#include "eager/stack/GraphValue.h"
#include "eager/tensor/Placement.h"
#include "eager/tracing/Recorder.h"
#include "eager/tracing/SymbolicShapes.h"
#include "ops/vocabulary/SizeExpr.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

namespace tess::eager {

using Numbers = llvm::SmallVector<uint32_t, 8>;

llvm::Expected<std::unique_ptr<BodyRecording>> BodyRecording::begin(const ScanCall &call) {
  Metas metas;
  llvm::SmallVector<runtime::Device *, 8> devices;
  llvm::SmallVector<Recorder::Axes, 8> axes;
  Recorder *outer = Recorder::current();
  for (auto [list, isX] : {std::pair(call.carried, false), std::pair(call.xs, true)})
    for (const TensorRef &tensor : list) {
      metas.push_back(tensor->meta());
      devices.push_back(&tensor->storage().device());
      Recorder::Axes known = outer ? outer->axesOf(*tensor) : Recorder::Axes{graphFreeAxes(*tensor)};
      axes.push_back({known.free >> isX, known.trip >> isX}); // an element has no axis for the trips
    }
  OpDef scan = control::scan({}, 0, unsigned(call.carried.size()), call.order);
  if (llvm::Error error = control::numTrips(scan, metas).takeError())
    return std::move(error);
  std::unique_ptr<BodyRecording> body(new BodyRecording);
  for (auto [meta, device] : llvm::zip_equal(control::bodyInputs(scan, metas), devices)) {
    OnDevice here(*device);
    body->argumentList.push_back(valueless(meta));
  }
  body->recorder = Recorder::beginBody(body->argumentList, axes, Recorder::Mode::InferBounds);
  pauseGrad();
  return body;
}

BodyRecording::~BodyRecording() {
  if (!recorder)
    return;
  resumeGrad();
  recorder->abandon();
}

void BodyRecording::end(llvm::ArrayRef<TensorRef> outputs) {
  resumeGrad();
  recording = std::exchange(recorder, nullptr)->end(outputs);
}

namespace {

/// A recorded step as a body, with its operands.
class ScanWriter {
public:
  ScanWriter(const Recording &recording, const ScanCall &call)
      : recording(recording), call(call), ids(recording.values().size(), -1) {}
  llvm::Expected<Tensors> apply();
  llvm::Expected<Tensors> zeros() const;
  llvm::Error checkGradient();

private:
  bool isCarried(uint32_t number) const { return llvm::is_contained(carriedVariables, number); }
  void findUpdates();
  llvm::Error addConstants();
  llvm::Error addOperand(uint32_t number);
  Subgraph graph();
  llvm::Expected<OpDef> loop();
  bool isOfBody(uint32_t symbol) const;
  bool isOfNetwork(uint32_t symbol) const;
  OpDef ofBody(const OpDef &op) const;
  int64_t saidAround(int64_t size) const;
  OpDef saidAround(const OpDef &op);
  const TensorImpl &operandOf(uint32_t number) const;
  int64_t sizeOf(uint32_t symbol) const;
  OpDef aroundStep(const OpDef &op) const;

  const Recording &recording;
  const ScanCall &call;
  std::vector<int> ids;                                    // by value number: of the graph's values
  llvm::SmallVector<const Recording::Update *, 4> updates; // of variables from outside
  Numbers constants, carriedVariables;                     // value numbers; 0: a variable that is not read
  Tensors operands;
  std::string unsaid; // an operator with a size that has neither an expression around nor a number; empty: none
};

} // namespace

/// Variables that a trip updates are carried, behind what the step itself carries.
void ScanWriter::findUpdates() {
  for (const Recording::Update &update : recording.updates()) {
    if (update.argument >= 0)
      continue; // a trip's own variable
    auto isIt = [&](uint32_t number) { return recording.values()[number].tensor == update.variable; };
    const auto *known = llvm::find_if(recording.captured(), isIt);
    updates.push_back(&update);
    carriedVariables.push_back(known == recording.captured().end() ? 0 : *known);
  }
}

/// Adds what a trip reads and does not change: variables from outside, and tensors that the step made of bytes, which
/// what records the loop sees as made here.
llvm::Error ScanWriter::addOperand(uint32_t number) {
  const Recording::Value &value = recording.values()[number];
  if (value.kind == Recording::ValueKind::Captured) {
    operands.push_back(value.tensor);
    return llvm::Error::success();
  }
  std::string bytes(value.meta.numElements() * byteWidth(value.meta.dtype), '\0');
  if (llvm::Error error = readValue(*value.tensor, bytes.data()))
    return error;
  OnDevice here(*value.device);
  return createTensor(value.meta, bytes.data()).moveInto(operands.emplace_back());
}

llvm::Error ScanWriter::addConstants() {
  llvm::SetVector<uint32_t> read;
  for (const Recording::Op &op : recording.ops()) {
    read.insert(op.inputs.begin(), op.inputs.end());
    op.op.forEachSymbol([&](uint32_t symbol) {
      if (isOfBody(symbol))
        read.insert(ownerOf(symbol));
    });
  }
  read.insert(recording.outputs().begin(), recording.outputs().end());
  for (const Recording::Update *update : updates)
    read.insert(update->value);
  for (uint32_t number : read) {
    Recording::ValueKind kind = recording.values()[number].kind;
    bool isOutside = kind == Recording::ValueKind::Captured || kind == Recording::ValueKind::Constant;
    if (!isOutside || isCarried(number))
      continue;
    constants.push_back(number);
    if (llvm::Error error = addOperand(number))
      return error;
  }
  return llvm::Error::success();
}

Subgraph ScanWriter::graph() {
  Subgraph graph;
  auto addInput = [&](uint32_t number) {
    graph.inputs.push_back(graph.numValues);
    ids[number] = graph.numValues++;
  };
  llvm::for_each(constants, addInput);
  llvm::for_each(recording.arguments().take_front(call.carried.size()), addInput);
  llvm::for_each(carriedVariables, addInput);
  for (size_t i = 0; i < call.unread.size(); ++i)
    graph.inputs.push_back(graph.numValues++);
  llvm::for_each(recording.arguments().drop_front(call.carried.size()), addInput);
  graph.inputUsed.assign(graph.inputs.size(), true);
  for (const Recording::Op &op : recording.ops()) {
    Subgraph::Node &node = graph.nodes.emplace_back();
    node.op = ofBody(saidAround(op.op));
    node.segments = llvm::SmallVector<unsigned, 4>(op.segments);
    node.location = op.location.describe();
    for (uint32_t input : op.inputs)
      node.inputs.push_back(ids[input]);
    for (uint32_t output : op.outputs)
      node.outputs.push_back(ids[output] = graph.numValues++);
  }
  auto addOutput = [&](uint32_t number) { graph.outputs.push_back(ids[number]); };
  llvm::for_each(recording.outputs().take_front(call.carried.size()), addOutput);
  for (const Recording::Update *update : updates)
    addOutput(update->value);
  llvm::for_each(recording.outputs().drop_front(call.carried.size()), addOutput);
  return graph;
}

/// Whether the symbol of the step is a size that data decides in a trip, of this loop or of one around it: the body
/// says it by a value of its own.
bool ScanWriter::isOfBody(uint32_t symbol) const {
  return !ir::isNodeSymbol(symbol) &&
         (symbol >= sizes::kDataSymbols || recording.values()[ownerOf(symbol)].tripAxes >> axisOf(symbol) & 1);
}

/// An operator of the step with sizes that data decides as symbols of the body.
OpDef ScanWriter::ofBody(const OpDef &op) const {
  if (!op.hasExpressions())
    return op;
  return op.withSymbols([&](uint32_t symbol) {
    return sizes::symbol(isOfBody(symbol) ? control::bodySymbol(ids[ownerOf(symbol)], axisOf(symbol)) : symbol);
  });
}

/// What the step takes as value `number`: an operand, or a tensor from outside.
const TensorImpl &ScanWriter::operandOf(uint32_t number) const {
  const Recording::Value &value = recording.values()[number];
  if (value.kind == Recording::ValueKind::Captured)
    return *value.tensor;
  size_t argument = llvm::find(recording.arguments(), number) - recording.arguments().begin();
  return argument < call.carried.size() ? *call.carried[argument] : *call.xs[argument - call.carried.size()];
}

/// The size that a symbol of the step stands for, by those of the recording around.
int64_t ScanWriter::sizeOf(uint32_t symbol) const {
  if (ir::isNodeSymbol(symbol))
    return sizes::symbol(symbol); // of a network around, where it is what it is here
  const TensorImpl &operand = operandOf(ownerOf(symbol));
  bool isX = llvm::is_contained(recording.arguments().drop_front(call.carried.size()), ownerOf(symbol));
  return recordedShape(operand)[axisOf(symbol) + isX];
}

/// Whether the symbol of the step is a size of a network around, which has no number.
bool ScanWriter::isOfNetwork(uint32_t symbol) const {
  bool found = false;
  sizes::forEachSymbol(sizeOf(symbol), [&](uint32_t each) { found |= ir::isNodeSymbol(each); });
  return found;
}

/// A size of the step that the recording around can say. Of one that would have more parts there than sizes may have
/// the step sees the number of this call, as a function does of such a size (ops/vocabulary/SizeExpr.h).
int64_t ScanWriter::saidAround(int64_t size) const {
  auto by = [&](llvm::function_ref<int64_t(uint32_t)> valueOf) {
    return sizes::substitute(
        size, [&](uint32_t symbol) { return isOfBody(symbol) ? sizes::symbol(symbol) : valueOf(symbol); });
  };
  if (by([&](uint32_t symbol) { return sizeOf(symbol); }) != kUnknown)
    return size;
  return by([&](uint32_t symbol) { return isOfNetwork(symbol) ? kUnknown : recording.sizeOf(symbol); });
}

/// The same of an operator, and of those in its body.
OpDef ScanWriter::saidAround(const OpDef &op) {
  if (!op.hasExpressions())
    return op;
  auto said = [&](int64_t size) {
    int64_t around = saidAround(size);
    if (around == kUnknown)
      unsaid = op.name().str();
    return around;
  };
  if (!control::hasBody(op.info()))
    return op.withSizes(said);
  Subgraph step = control::bodyOf(op);
  for (Subgraph::Node &node : step.nodes)
    node.op = saidAround(node.op);
  control::ScanGroups groups(op);
  return control::scan(std::move(step), groups.constants, groups.carried, control::orderOf(op)).withSizes(said);
}

/// An operator of the step's sizes, by those of the recording around.
OpDef ScanWriter::aroundStep(const OpDef &op) const {
  return op.hasExpressions() ? op.withSymbols([&](uint32_t symbol) { return sizeOf(symbol); }) : op;
}

/// The scan with the sizes of the recording around; finds its operands.
llvm::Expected<OpDef> ScanWriter::loop() {
  findUpdates();
  if (llvm::Error error = addConstants())
    return std::move(error);
  unsigned numConstants = unsigned(operands.size());
  llvm::append_range(operands, call.carried);
  for (const Recording::Update *update : updates)
    operands.push_back(update->variable);
  llvm::append_range(operands, call.unread);
  unsigned numCarried = unsigned(operands.size()) - numConstants;
  llvm::append_range(operands, call.xs);
  Subgraph step = graph();
  if (!unsaid.empty())
    return invalidArgument("scan: sizes of the step must have at most " + llvm::Twine(sizes::kMostParts) +
                           " parts in the network, got more in " + unsaid);
  return aroundStep(control::scan(std::move(step), numConstants, numCarried, call.order));
}

llvm::Expected<Tensors> ScanWriter::apply() {
  llvm::Expected<OpDef> scan = loop();
  if (!scan)
    return scan.takeError();
  Tensors results;
  llvm::SmallVector<Operand, 8> given(operands.begin(), operands.end());
  if (llvm::Error error = applyExpressions(*scan, given, {}, results))
    return std::move(error);
  Tensors out(results.begin(), results.begin() + call.carried.size());
  for (auto [index, update] : llvm::enumerate(updates))
    assign(*update->variable, *results[call.carried.size() + index]);
  unsigned numCarried = control::ScanGroups(*scan).carried;
  size_t numOutputs = control::bodyOf(*scan).outputs.size(); // a tape may have added some
  out.append(results.begin() + numCarried - call.unread.size(), results.begin() + numOutputs);
  return out;
}

/// The error when there is no gradient of the loop, as far as its operands have one.
llvm::Error ScanWriter::checkGradient() {
  llvm::Expected<OpDef> scan = loop();
  if (!scan)
    return scan.takeError();
  Metas metas;
  for (const TensorRef &operand : operands)
    metas.push_back(operand->meta());
  OpDef known = scan->withSymbols([](uint32_t) { return kUnknown; });
  return control::valuesOfGradient(known, metas, llvm::SmallVector<bool, 8>(metas.size(), true)).takeError();
}

llvm::Expected<Tensors> ScanWriter::zeros() const {
  Tensors zeros;
  SymbolicShapes shapes;
  for (uint32_t number : recording.outputs().drop_front(call.carried.size())) {
    const Recording::Value &value = recording.values()[number];
    bool isFilled = maskOf(value.meta.dtype) & kAnyMask;
    OpDef op = OpDef::get("full").set("value", 0.0).set("dtype", isFilled ? value.meta.dtype : DType::Float32);
    op.set("shape", AttrValue(shapes.of(recording, number)));
    OnDevice here(*value.device);
    if (llvm::Error error = applyExpressions(aroundStep(op)).moveInto(zeros.emplace_back()))
      return std::move(error);
    OpDef cast = OpDef::get("cast").set("dtype", value.meta.dtype);
    if (!isFilled)
      if (llvm::Error error = applyOne(cast, {Operand(zeros.back())}).moveInto(zeros.back()))
        return std::move(error);
  }
  return zeros;
}

llvm::Expected<Tensors> BodyRecording::zeros(const ScanCall &call) const {
  return ScanWriter(*recording, call).zeros();
}

/// Whether data decides a size of the value in a trip.
static bool isSizedByData(SymbolicShapes &shapes, const Recording &recording, uint32_t number) {
  return llvm::any_of(shapes.of(recording, number), sizes::dependsOnData);
}

llvm::Error BodyRecording::check(const ScanCall &call, bool hasGradient) const {
  auto refused = [](const llvm::Twine &what) {
    return invalidArgument("scan: sizes that data decides in a trip must be those of values within it, got " + what);
  };
  if (recording->needsData())
    return refused("one that the step looks at");
  if (!recording->hasDataSizes())
    return llvm::Error::success();
  SymbolicShapes shapes;
  for (uint32_t output : recording->outputs())
    if (isSizedByData(shapes, *recording, output))
      return refused("one of what the step returns, " + toString(recording->values()[output].meta));
  for (const Recording::Update &update : recording->updates())
    if (isSizedByData(shapes, *recording, update.value))
      return refused("one of a variable that the step updates");
  return hasGradient ? ScanWriter(*recording, call).checkGradient() : llvm::Error::success();
}

llvm::Expected<Tensors> BodyRecording::apply(const ScanCall &call) const {
  return ScanWriter(*recording, call).apply();
}

} // namespace tess::eager
