//===- Recorder.cpp - writes down what a function does --------------------===//
#include "eager/tracing/Recorder.h"

#include "eager/gradients/Tape.h"
#include "eager/stack/GraphValue.h"
#include "eager/tensor/Placement.h"
#include "eager/tracing/SizeTensors.h"
#include "eager/tracing/SymbolicShapes.h"
#include "ops/graphs/Control.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <atomic>
#include <cstdlib>
#include <utility>

namespace tess::eager {

static thread_local std::shared_ptr<Recorder> active;

/// Room for operators and values that a recording has from the start.
static constexpr size_t kReserved = 256;

Recorder::Recorder() = default;
Recorder::~Recorder() = default;

Recorder *Recorder::current() { return active.get(); }

std::optional<llvm::ArrayRef<int64_t>> Recorder::symbolicShape(const TensorImpl &tensor) {
  if (tensor.traceTag.owner != id) {
    auto known = outer ? outer->symbolicShape(tensor) : std::nullopt;
    bool isFree = known ? sizes::isSymbolic(*known) : isBody && graphFreeAxes(tensor);
    if (!isFree) {
      noteLook(const_cast<TensorImpl &>(tensor));
      return std::nullopt;
    }
    noteUse(const_cast<TensorImpl &>(tensor)); // a body takes the sizes of what it captures
  }
  if (!symbolicShapes)
    symbolicShapes = std::make_unique<SymbolicShapes>();
  return symbolicShapes->of(recording, tensor.traceTag.id);
}

void Recorder::noteLook(TensorImpl &variable) {
  auto isKnown = [&](const auto &look) { return look.first.is(variable); };
  if (!isBody && !variable.isGraphValue() && llvm::none_of(recording.lookedAt, isKnown))
    recording.lookedAt.push_back({WeakTensor(variable), variable.meta()});
}

Recorder::Axes Recorder::axesOf(TensorImpl &tensor) {
  noteUse(tensor);
  Axes axes;
  auto isOfTrip = [&](uint32_t symbol) {
    return isBody && !ir::isNodeSymbol(symbol) &&
           (symbol >= sizes::kDataSymbols || recording.valueList[ownerOf(symbol)].tripAxes >> axisOf(symbol) & 1);
  };
  for (auto [axis, size] : llvm::enumerate(*symbolicShape(tensor))) {
    if (!sizes::isSymbolic(size))
      continue;
    axes.free |= 1u << axis;
    sizes::forEachSymbol(size, [&](uint32_t symbol) { axes.trip |= isOfTrip(symbol) ? 1u << axis : 0; });
  }
  return axes;
}

std::shared_ptr<Recorder> Recorder::create(llvm::ArrayRef<TensorRef> arguments, Mode mode, const DataSizes &dataSizes) {
  static std::atomic<uint32_t> lastId = 0;
  std::shared_ptr<Recorder> recorder(new Recorder);
  recorder->mode = mode;
  recorder->dataSizes = dataSizes;
  recorder->id = ++lastId;
  recorder->recording.home = &creationDevice();
  recorder->recording.valueList.reserve(kReserved);
  recorder->recording.opList.reserve(kReserved);
  recorder->recording.valueList.emplace_back(Recording::ValueKind::Constant, TensorMeta(), ""); // number 0
  for (const TensorRef &argument : arguments)
    recorder->addArgument(argument);
  return recorder;
}

llvm::Expected<std::shared_ptr<Recorder>> Recorder::begin(llvm::ArrayRef<TensorRef> arguments, Mode mode,
                                                          const DataSizes &dataSizes) {
  if (active)
    return invalidArgument("trace: one recording at a time must run on a thread, got a second one");
  active = create(arguments, mode, dataSizes);
  setTracer(active.get());
  return active;
}

std::shared_ptr<Recorder> Recorder::beginBody(llvm::ArrayRef<TensorRef> arguments, llvm::ArrayRef<Axes> axes,
                                              Mode mode) {
  std::shared_ptr<Recorder> recorder = create(arguments, mode, {});
  recorder->outer = std::move(active);
  recorder->isBody = true;
  if (recorder->outer) {
    recorder->dataSizes.move = recorder->outer->dataSizes.move;
    recorder->numMoved = recorder->outer->numMoved;
  }
  for (auto [number, known] : llvm::zip_equal(recorder->recording.argumentList, axes)) {
    recorder->recording.valueList[number].freeAxes = known.free;
    recorder->recording.valueList[number].tripAxes = known.trip;
  }
  active = recorder;
  setTracer(active.get());
  return recorder;
}

bool isTraceDisabled() {
  const char *value = std::getenv("TESS_DISABLE_TRACE");
  return value && *value && llvm::StringRef(value) != "0";
}

void Recorder::leave() {
  if (active.get() != this)
    return;
  if (isBody && outer)
    outer->numMoved = numMoved;
  std::shared_ptr<Recorder> self = std::exchange(active, std::move(outer)); // the last reference may be that
  setTracer(active.get());
}

/// Gives variables their old values and gradients back after a recording that ran nothing.
void Recorder::restore() {
  for (auto [variable, value] : llvm::zip(updated, oldValues))
    variable->rebind(*value);
  for (const GradBefore &before : runsOperators() ? llvm::ArrayRef<GradBefore>() : gradsBefore())
    before.variable->setGrad(before.grad);
  for (auto &[variable, tag] : outerTags)
    variable->traceTag = tag;
}

void Recorder::abandon() {
  leave();
  restore();
}

uint32_t Recorder::addValue(Recording::ValueKind kind, TensorImpl &tensor) {
  uint32_t number = recording.valueList.size();
  recording.valueList.emplace_back(kind, tensor.meta(), tensor.name().str());
  recording.valueList.back().device = &tensor.storage().device();
  tensor.traceTag = {id, number};
  return number;
}

void Recorder::addArgument(const TensorRef &argument) {
  uint32_t number = addValue(Recording::ValueKind::Argument, *argument);
  recording.valueList[number].tensor = argument;
  if (!runsOperators())
    recording.valueList[number].snapshot = argument->dup();
  const int64_t least = mode == Mode::InferBounds ? 1 : 2; // a call of smaller sizes is recorded by itself
  for (auto [axis, size] : llvm::enumerate(argument->shape()))
    recording.valueList[number].freeAxes |= size >= least ? 1u << axis : 0;
  recording.argumentList.push_back(number);
  variables[argument.get()] = number;
}

TensorRef Recorder::addArgument(const TensorImpl &like) {
  OnDevice here(like.storage().device());
  TensorRef argument = valueless(like.meta());
  addArgument(argument);
  return argument;
}

Recorder::Boundary Recorder::beginGradient(llvm::ArrayRef<TensorRef> outputs) {
  for (const TensorRef &output : outputs)
    noteUse(*output);
  return {recording.opList.size(), uint32_t(recording.valueList.size())};
}

/// The number of a value. A variable that existed before the recording is captured at its first use.
uint32_t Recorder::numberOf(TensorImpl &tensor) {
  if (tensor.traceTag.owner == id)
    return tensor.traceTag.id;
  Axes axes = outer ? outer->axesOf(tensor) : Axes{graphFreeAxes(tensor)};
  if (isBody)
    outerTags.push_back({TensorRef(&tensor), tensor.traceTag});
  uint32_t number = addValue(Recording::ValueKind::Captured, tensor);
  recording.valueList[number].freeAxes = axes.free;
  recording.valueList[number].tripAxes = axes.trip;
  recording.valueList[number].tensor = TensorRef(&tensor);
  recording.valueList[number].snapshot = tensor.dup();
  tensor.storage().noteCopy();
  recording.capturedList.push_back(number);
  variables[&tensor] = number;
  return number;
}

/// The tensor with the size that a symbol is; null: it is gone.
TensorImpl *Recorder::tensorOf(uint32_t symbol) const {
  uint32_t number = ownerOf(symbol);
  if (auto known = sizedByData.find(number); known != sizedByData.end())
    return known->second.get();
  return recording.valueList[number].tensor.get();
}

std::optional<int64_t> Recorder::sizeHere(int64_t size, uint32_t recording) {
  if (recording == id)
    return size;
  std::optional<int64_t> around = outer ? outer->sizeHere(size, recording) : std::nullopt;
  if (!around)
    return std::nullopt;
  int64_t here = sizes::substitute(*around, [&](uint32_t symbol) {
    if (ir::isNodeSymbol(symbol))
      return sizes::symbol(symbol);
    TensorImpl *owner = outer->tensorOf(symbol);
    return owner ? (noteUse(*owner), (*symbolicShape(*owner))[axisOf(symbol)]) : kUnknown;
  });
  return here == kUnknown ? std::nullopt : std::optional(here);
}

void Recorder::noteDataReadOf(uint32_t number) {
  for (Recorder *each = this; each; each = each->outer.get())
    if (each->id == number)
      return each->noteDataRead();
}

void Recorder::record(const Call &call, llvm::ArrayRef<TensorRef> results) {
  gradientsLeft |= isGradPaused();
  Recording::Op entry;
  const OpDef *recorded = static_cast<const OpDefOperator &>(call.op).recorded;
  entry.op = recorded ? *recorded : call.opDef();
  entry.segments.assign(call.segments().begin(), call.segments().end());
  for (const Operand &operand : call.operands)
    entry.inputs.push_back(numberOf(*operand.tensor));
  for (const TensorRef &result : results) {
    entry.outputs.push_back(addValue(Recording::ValueKind::Computed, *result));
    if (!runsOperators())
      pending.emplace_back(result->storageRef(), entry.outputs.back());
    if (entry.op.info().boundRule)
      sizedByData[entry.outputs.back()] = result;
  }
  entry.location = Location::here();
  recording.opList.push_back(std::move(entry));
}

void Recorder::recordConstant(TensorImpl &tensor) {
  uint32_t number = addValue(Recording::ValueKind::Constant, tensor);
  recording.valueList[number].tensor = tensor.dup();
  tensor.storage().noteCopy();
}

void Recorder::noteAssign(TensorImpl &variable, TensorImpl &value) {
  noteUse(value);
  bool isLocal = variable.traceTag.owner == id && !variables.count(&variable);
  if (isLocal || llvm::is_contained(updated, &variable))
    return;
  updated.push_back(TensorRef(&variable));
  if (!runsOperators())
    oldValues.push_back(variable.dup());
}

/// "x", or what stands for a tensor without a name.
llvm::Error Recorder::noteMove(const TensorImpl &tensor, const runtime::Device &to) {
  bool isOwn = tensor.traceTag.owner == id;
  if (isOwn && recording.valueList[tensor.traceTag.id].kind == Recording::ValueKind::Constant)
    return llvm::Error::success();
  if (isOwn && mayInterrupt())
    return interrupt([] { return llvm::Error::success(); });
  llvm::StringRef name = isOwn ? recording.valueList[tensor.traceTag.id].name : tensor.name();
  std::string move = nameOf(name) + " from " + tensor.storage().device().name() + " to " + to.name();
  for (Recorder *each = this; each; each = each->outer.get())
    if (each->recording.move.empty())
      each->recording.move = move;
  if (runsOperators())
    return llvm::Error::success();
  return invalidArgument((isBody ? "scan" : "trace") +
                         llvm::Twine(": a tensor must stay on its device in what is recorded and not run, got a copy "
                                     "of ") +
                         move);
}

void Recorder::noteGrad(TensorImpl &variable) {
  if (llvm::none_of(grads, [&](const GradBefore &each) { return each.variable == &variable; }))
    grads.push_back({&variable, variable.grad()});
}

/// Runs what was recorded, then `between`, and begins another recording, also where that failed.
llvm::Error Recorder::interrupt(llvm::function_ref<llvm::Error()> between) {
  std::shared_ptr<Recorder> self = active; // which ends now
  if (llvm::Error e = interruption(/*ends=*/true))
    return e;
  llvm::Error error = between();
  llvm::Error begun = self->interruption(/*ends=*/false);
  return llvm::joinErrors(std::move(error), std::move(begun));
}

llvm::Error Recorder::noteValueRead(TensorImpl &tensor) {
  if (readsSizes)
    return llvm::Error::success();
  if (outer && tensor.traceTag.owner != id)
    return outer->noteValueRead(tensor);
  bool isOwn = tensor.traceTag.owner == id;
  if (isOwn && recording.valueList[tensor.traceTag.id].kind == Recording::ValueKind::Constant)
    return llvm::Error::success();
  bool mayChangeUnseen = tensor.storage().isForeign() && !tensor.storage().isReadOnly();
  if (!isOwn && !mayChangeUnseen) {
    auto isKnown = [&](const auto &read) { return read.variable.is(tensor); };
    if (llvm::none_of(recording.valueReads, isKnown)) {
      tensor.storage().noteCopy();
      recording.valueReads.push_back({WeakTensor(tensor), tensor.dup(), tensor.storage().version()});
    }
    return llvm::Error::success();
  }
  if (isOwn && mayInterrupt())
    return interrupt([] { return llvm::Error::success(); });
  if (isOwn && !(readsAllowed && runsOperators()))
    return invalidArgument("trace: a traced function must not look at the value of a tensor (its later runs would "
                           "not), got a read of " +
                           toString(tensor.meta()));
  if (recording.ownRead.empty())
    recording.ownRead = Location::here().describe();
  return llvm::Error::success();
}

void Recorder::collectUpdates() {
  auto argumentOf = [&](TensorImpl *variable) {
    auto it = variables.find(variable);
    auto known = it == variables.end() ? recording.argumentList.end() : llvm::find(recording.argumentList, it->second);
    return known == recording.argumentList.end() ? -1 : int(known - recording.argumentList.begin());
  };
  for (const TensorRef &variable : updated) {
    auto it = variables.find(variable.get());
    uint32_t value = numberOf(*variable);
    if (it != variables.end() && it->second == value)
      continue; // it has got its old value back
    recording.updateList.push_back({variable, argumentOf(variable.get()), value});
  }
  for (Recording::Update &update : recording.updateList)
    if (update.argument >= 0)
      update.variable.reset();
}

RecordingRef Recorder::end(llvm::ArrayRef<TensorRef> outputs) {
  return std::make_shared<const Recording>(endWhole(outputs));
}

Recording Recorder::endWhole(llvm::ArrayRef<TensorRef> outputs) {
  leave();
  for (const TensorRef &output : outputs)
    recording.outputList.push_back(numberOf(*output));
  collectUpdates();
  llvm::erase_if(recording.lookedAt, [&](const auto &look) {
    TensorRef variable = look.first.lock();
    return !variable || variables.count(variable.get());
  });
  for (auto &[variable, number] : variables)
    if (recording.valueList[number].name.empty() && !variable->name().empty())
      recording.valueList[number].name = variable->name().str();
  for (uint32_t argument : recording.argumentList)
    recording.valueList[argument].tensor = recording.valueList[argument].snapshot = nullptr;
  restore();
  return std::move(recording);
}

} // namespace tess::eager
