//===- Tape.cpp - what a gradient needs ----------------------------------===//
#include "eager/gradients/Tape.h"

#include "eager/stack/Watcher.h"
#include "runtime/threads/Fork.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <atomic>
#include <mutex>

namespace tess::eager {

namespace {

/// Ids of the tapes that exist; tags with other ids have no meaning.
struct LiveTapes {
  LiveTapes() { runtime::holdAcrossFork(mutex); }

  std::mutex mutex;
  llvm::DenseSet<uint32_t> ids;
  uint32_t last = 0;
};
LiveTapes &liveTapes() {
  static LiveTapes *instance = new LiveTapes;
  return *instance;
}
const runtime::MadeAtLoad<liveTapes> kMade;

bool isLive(uint32_t owner) {
  LiveTapes &live = liveTapes();
  std::lock_guard<std::mutex> lock(live.mutex);
  return live.ids.contains(owner);
}

/// Counts the starts of tapes.
std::atomic<uint64_t> lastOrder = 0;

struct ThreadState {
  std::vector<TapeRef> started, active;                       // the active ones are those that are not hidden
  llvm::SmallVector<std::pair<uint64_t, uint64_t>, 2> hidden; // from one order to another
  unsigned paused = 0;
  int watching = 0;

  void updateLayers() {
    bool on = !paused && (!active.empty() || watching);
    activeLayers = on ? activeLayers | bitOf(Layer::Grad) : activeLayers & ~bitOf(Layer::Grad);
  }
  template <typename OrderOf> void update(OrderOf orderOf) {
    active.clear();
    llvm::copy_if(started, std::back_inserter(active), [&](const TapeRef &tape) {
      uint64_t order = orderOf(*tape);
      return llvm::none_of(hidden, [&](auto range) { return range.first <= order && order <= range.second; });
    });
    updateLayers();
  }
};
thread_local ThreadState threadState;

} // namespace

llvm::ArrayRef<TapeRef> activeTapes() { return threadState.active; }
bool isGradPaused() { return threadState.paused; }

StoppedTapes::StoppedTapes() : tapes(activeTapes()) {
  for (const TapeRef &tape : tapes)
    tape->stop();
}

void StoppedTapes::start() {
  for (const TapeRef &tape : tapes)
    tape->start();
  tapes.clear();
}

void pauseGrad() {
  ++threadState.paused;
  threadState.updateLayers();
}
void resumeGrad() {
  --threadState.paused;
  threadState.updateLayers();
}
void watchOperators(int change) {
  threadState.watching += change;
  threadState.updateLayers();
}
NoGrad::NoGrad() { pauseGrad(); }
NoGrad::~NoGrad() { resumeGrad(); }

Tape::Tape() {
  LiveTapes &live = liveTapes();
  std::lock_guard<std::mutex> lock(live.mutex);
  id = ++live.last;
  live.ids.insert(id);
}

Tape::~Tape() {
  LiveTapes &live = liveTapes();
  std::lock_guard<std::mutex> lock(live.mutex);
  live.ids.erase(id);
}

TapeRef Tape::create() { return TapeRef(new Tape); }

bool Tape::isRecording() const { return llvm::is_contained(threadState.started, this); }

void Tape::updateActive() {
  threadState.update([](const Tape &tape) { return tape.order; });
}

void Tape::start(const Tape *beside) {
  if (!order)
    order = beside ? beside->order : ++lastOrder;
  if (!isRecording())
    threadState.started.push_back(TapeRef(this));
  updateActive();
}

void Tape::stop() {
  TapeRef keep(this);
  llvm::erase_if(threadState.started, [&](const TapeRef &tape) { return tape.get() == this; });
  updateActive();
}

Tape::Outer::Outer(const Tape &tape) {
  threadState.hidden.push_back({tape.order, lastOrder});
  updateActive();
}

Tape::Outer::~Outer() {
  threadState.hidden.pop_back();
  updateActive();
}

Tape::Again::Again(Tape &tape) : tape(tape) {
  ++threadState.hidden.back().first;
  tape.start();
}

Tape::Again::~Again() {
  --threadState.hidden.back().first;
  tape.stop();
}

unsigned Tape::watch(TensorImpl &tensor) {
  uint32_t known = idOf(tensor);
  auto *it = llvm::find(watched, known);
  if (known && it != watched.end())
    return it - watched.begin();
  if (known) {
    watchedResults.push_back(known);
  } else {
    known = newId();
    tensor.setGradId(id, known, isLive);
  }
  watched.push_back(known);
  return watched.size() - 1;
}

void Tape::addHook(const TensorImpl &tensor, GradHook hook, const void *key) {
  uint32_t known = idOf(tensor);
  auto isSame = [&](const Hook &other) { return other.value == known && other.key == key; };
  if (known && llvm::none_of(hooks, isSame))
    hooks.push_back({known, key, std::move(hook)});
}

bool Tape::isUnwritten(const TensorImpl &tensor) const {
  const Tag *tag = tensor.gradTagOf(id);
  return tag && tag->version == tensor.storage().version();
}

bool Tape::watches(const TensorImpl &tensor) const {
  uint32_t known = idOf(tensor);
  return known && llvm::is_contained(watched, known);
}

void Tape::clear() {
  // Values may hold the last references to other tapes: drop them one by one, the newest first.
  while (!records.empty())
    records.pop_back();
  watched.clear();
  watchedResults.clear();
  hooks.clear();
  grads.clear();
  // Ids go on counting, so that tags still on values are not taken for new ones.
}

void Tape::tagResults(Record &record, llvm::ArrayRef<TensorRef> results) {
  for (const TensorRef &result : results) {
    uint32_t value = 0;
    if (isDifferentiable(result->dtype())) {
      value = newId();
      result->setGradId(id, value, isLive);
    }
    record.outputs.push_back(value);
  }
}

llvm::Error Tape::checkUnwritten(llvm::StringRef op, const TensorImpl &tensor) const {
  const Tag *tag = tensor.gradTagOf(id);
  if (LLVM_LIKELY(!tag || tag->version == tensor.storage().version()))
    return llvm::Error::success();
  return invalidArgument(op + ": operands must be unchanged since their gradient is recorded, got " +
                         toString(tensor.meta()) + " in memory written by " + tensor.storage().lastWrite()->text());
}

llvm::Error Tape::record(const Call &call, llvm::ArrayRef<TensorRef> results, bool isTraced) {
  llvm::SmallVector<uint32_t, 4> ids;
  llvm::SmallVector<bool, 4> needed, arrives;
  for (const Operand &operand : call.operands) {
    ids.push_back(idOf(*operand.tensor));
    needed.push_back(ids.back() != 0);
  }
  for (const TensorRef &result : results)
    arrives.push_back(isDifferentiable(result->dtype()));
  llvm::Expected<BackwardPlanRef> plan = backwardPlan(call.opDef(), call.operands, call.segments(), needed, arrives);
  if (!plan)
    return plan.takeError();
  Record &record = records.emplace_back();
  record.plan = std::move(*plan);
  if (LLVM_UNLIKELY(isTraced))
    if (std::unique_ptr<SymbolicPlan> symbolic = symbolicPlan(call, *record.plan))
      record.rare = std::make_unique<Rare>(std::move(symbolic));
  record.inputs = std::move(ids);
  tagResults(record, results);
  return llvm::Error::success();
}

void Tape::save(const Call &call, llvm::ArrayRef<TensorRef> results) {
  Record &record = records.back();
  if (LLVM_UNLIKELY(enabled(bitOf(Layer::CheckFinite))))
    record.place = Location::here();
  if (!record.plan->graph)
    return;
  size_t numOperands = call.operands.size();
  for (unsigned i = 0, n = numOperands + results.size(); i < n; ++i) {
    if (!record.plan->graph->inputUsed[i])
      continue;
    const TensorImpl &value = i < numOperands ? *call.operands[i].tensor : *results[i - numOperands];
    bool isRead = i < numOperands && call.into; // as it was before the call wrote it
    uint32_t version = isRead ? call.into->versionRead(value) : value.storage().version();
    record.saved.push_back({uint16_t(i), version, value.dup()});
  }
  if (!record.saved.empty())
    record.place = Location::here();
}

void Tape::recordCustom(llvm::ArrayRef<TensorRef> inputs, llvm::ArrayRef<TensorRef> outputs, CustomBackward backward) {
  Record &record = records.emplace_back();
  for (const TensorRef &input : inputs)
    record.inputs.push_back(idOf(*input));
  record.rare = std::make_unique<Rare>(nullptr, std::move(backward));
  if (enabled(bitOf(Layer::CheckFinite)))
    record.place = Location::here();
  for (const TensorRef &output : outputs)
    if (llvm::is_contained(inputs, output))
      record.outputs.push_back(idOf(*output));
    else
      tagResults(record, output);
}

void Tape::recordRerun(llvm::ArrayRef<TensorRef> outputs, Rerun rerun) {
  Record &record = records.emplace_back();
  record.rare = std::make_unique<Rare>(nullptr, nullptr, std::move(rerun));
  tagResults(record, outputs);
}

void recordCustomFunction(llvm::ArrayRef<TensorRef> inputs, llvm::ArrayRef<TensorRef> outputs,
                          const CustomBackward &backward) {
  if (threadState.paused)
    return;
  for (const TensorRef &input : inputs)
    noteRead(*input);
  for (const TapeRef &tape : threadState.active)
    if (llvm::any_of(inputs, [&](const TensorRef &input) { return tape->tracks(*input); }))
      tape->recordCustom(inputs, outputs, backward);
}

} // namespace tess::eager
