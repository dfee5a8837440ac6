//===- Recomputation.cpp - calls whose gradient runs them again -----------===//
#include "eager/gradients/Recomputation.h"

#include "eager/gradients/Tape.h"
#include "eager/stack/Apply.h"
#include "eager/stack/Tracer.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::eager {

/// The innermost call of this thread that runs; null: none.
static constinit thread_local Recomputation *running = nullptr;

/// Another variable with the value, which a recording knows as that of `tensor`.
static TensorRef duplicate(TensorImpl &tensor) {
  if (Tracer *tracer = activeTracer())
    tracer->noteUse(tensor);
  return tensor.dup();
}

Recomputation::Kept::Kept(TensorImpl &tensor)
    : variable(&tensor), value(duplicate(tensor)), version(tensor.storage().version()) {}

Recomputation::Recomputation(llvm::ArrayRef<TensorRef> given)
    : tapes(stops.list()), isRead(tapes.size(), false), cast(autocast()), outer(running) {
  for (const TensorRef &argument : given)
    arguments.emplace_back(*argument);
  running = this;
  enter();
  watchOperators(+1);
}

Recomputation::~Recomputation() {
  if (runs)
    end();
}

void Recomputation::end() {
  runs = false;
  running = outer;
  leave();
  watchOperators(-1);
  stops.start();
  known.clear();
  // The call's own variables are gone with it, but for these references.
  llvm::erase_if(updates, [](const Kept &kept) { return kept.variable->isUnique(); });
}

void Recomputation::noteRead(TensorImpl &tensor) {
  bool isTracked = false;
  for (auto [number, tape] : llvm::enumerate(tapes))
    if (tape->tracks(tensor))
      isTracked = isRead[number] = true;
  if (isTracked && known.insert(&tensor).second)
    reads.emplace_back(tensor);
}

void Recomputation::noteUpdate(TensorImpl &variable) {
  auto isIt = [&](const Kept &kept) { return kept.variable.get() == &variable; };
  if (llvm::any_of(updates, isIt))
    return;
  known.insert(&variable); // a later read is that of a value of the call's own
  llvm::erase_if(reads, isIt);
  updates.emplace_back(variable);
  variable.storage().noteCopy();
}

void Recomputation::record(llvm::ArrayRef<TensorRef> outputs, const Rerun &rerun) {
  for (auto [number, tape] : llvm::enumerate(tapes))
    if (isRead[number])
      tape->recordRerun(outputs, rerun);
  tapes.clear(); // which keep the rerun, and it this
}

llvm::Error Recomputation::check(const Kept &kept) const {
  const Storage &memory = kept.value->storage();
  if (memory.version() == kept.version)
    return llvm::Error::success();
  return invalidArgument(
      "checkpoint: tensors that the function reads must be unchanged until the gradient is taken, got "
      "a write to " +
      toString(kept.value->meta()) + " by " + memory.lastWrite()->text());
}

/// The value of `kept`; in a recording a copy of it, so that what is computed of it is not merged with what the first
/// call computed, and its memory is free in between.
static llvm::Expected<TensorRef> valueApart(TensorImpl &value) {
  TensorRef apart = value.dup();
  if (!(activeLayers & bitOf(Layer::Tracing)))
    return apart;
  NoGrad off;
  llvm::Expected<TensorRef> copy = applyOne(OpDef::get("copy"), {Operand(apart)});
  if (copy) {
    Tag recorded = (*copy)->traceTag;
    (*copy)->takeTags(value);
    (*copy)->traceTag = recorded;
  }
  return copy;
}

bool Recomputation::Kept::isChanged() const {
  return variable->storageRef() != value->storageRef() || variable->offset() != value->offset() ||
         variable->shape() != value->shape() || variable->strides() != value->strides();
}

llvm::Expected<Tensors> Recomputation::begin() {
  for (const std::vector<Kept> *list : {&arguments, &reads, &updates})
    for (const Kept &kept : *list)
      if (llvm::Error e = check(kept))
        return std::move(e);
  Tensors given;
  for (const Kept &kept : arguments)
    if (llvm::Error e = valueApart(*kept.value).moveInto(given.emplace_back()))
      return std::move(e);
  std::vector<std::pair<TensorRef, TensorRef>> former;
  for (const Kept &kept : updates)
    if (llvm::Error e = valueApart(*kept.value).moveInto(former.emplace_back(kept.variable, TensorRef()).second))
      return std::move(e);
  for (const Kept &kept : reads)
    if (kept.isChanged())
      former.emplace_back(kept.variable, kept.value->dup());
  for (auto &[variable, value] : former) {
    present.emplace_back(variable, variable->dup());
    assign(*variable, *value);
  }
  castBefore = autocast();
  setAutocast(cast);
  return given;
}

void Recomputation::finish() {
  setAutocast(castBefore);
  for (auto &[variable, value] : present)
    assign(*variable, *value);
  present.clear();
}

size_t numTapes() {
  if (isGradPaused())
    return 0;
  size_t count = activeTapes().size();
  for (const Recomputation *call = running; call; call = call->outerCall())
    count += call->stopped().size();
  return count;
}

bool isTracked(const TensorImpl &tensor) {
  if (isGradPaused())
    return false;
  auto tracks = [&](const TapeRef &tape) { return tape->tracks(tensor); };
  if (llvm::any_of(activeTapes(), tracks))
    return true;
  for (const Recomputation *call = running; call; call = call->outerCall())
    if (llvm::any_of(call->stopped(), tracks))
      return true;
  return false;
}

} // namespace tess::eager
