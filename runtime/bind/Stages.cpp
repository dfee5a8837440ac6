//===- Stages.cpp - programs in stages, bound as far as shapes tell -------===//
#include "runtime/bind/Stages.h"
#include "ops/graphs/Control.h"
#include "ops/inference/ShapeRules.h"
#include "ops/vocabulary/Error.h"
#include "runtime/bind/Commands.h"
#include "runtime/bind/LoopTrips.h"
#include "runtime/schema/GrownValues.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace tess::runtime {

Metas bodyInputsOf(const StageLoop &loop, Metas inputs) {
  for (TensorMeta &x : llvm::MutableArrayRef<TensorMeta>(inputs).slice(loop.numCarried, loop.numXs))
    x = control::elementOf(x);
  return inputs;
}

std::vector<TensorMeta> loopResults(const StageLoop &loop, llvm::ArrayRef<TensorMeta> inputs,
                                    llvm::ArrayRef<TensorMeta> outputs, size_t numResults, int64_t trips) {
  std::vector<TensorMeta> results(inputs.begin(), inputs.begin() + loop.numCarried);
  results.resize(numResults);
  for (auto [result, meta] : llvm::zip_equal(loop.results, outputs))
    if (result >= loop.numCarried)
      results[result] = control::stacked(meta, trips == control::kManyTrips ? 1 : trips);
  return results;
}

/// Number of bindings that a stage keeps: trips of a loop meet several sizes again and again.
static constexpr size_t kMostKnown = 16;

Metas StagedBinding::inputsOf(size_t stage, llvm::ArrayRef<std::vector<TensorMeta>> made) const {
  Metas metas;
  for (StageInput from : stages[stage].inputs)
    metas.push_back(from.stage < 0 ? inputs[from.index] : made[from.stage][from.index]);
  return metas;
}

llvm::Expected<BoundRef> StagedBinding::bind(size_t stage, llvm::ArrayRef<TensorMeta> metas) {
  std::list<Known> &list = known[stage];
  auto found = llvm::find_if(list, [&](const Known &each) { return llvm::ArrayRef<TensorMeta>(each.inputs) == metas; });
  if (found != list.end()) {
    list.splice(list.begin(), list, found);
    return list.front().bound;
  }
  llvm::Expected<BoundRef> bound = stages[stage].program->bind(metas, options);
  if (!bound)
    return bound;
  list.push_front({Metas(metas.begin(), metas.end()), *bound});
  if (list.size() > kMostKnown)
    list.pop_back();
  return bound;
}

uint64_t StagedBinding::heldBytes() const {
  uint64_t bytes = 0;
  for (const std::list<Known> &list : known)
    for (const Known &each : list)
      bytes += each.bound->heldBytes();
  return bytes;
}

uint64_t StagedBinding::launches() const {
  uint64_t count = 0;
  for (const std::list<Known> &list : known)
    count += list.empty() ? 0 : list.front().bound->launches();
  return count;
}

/// Adds what a stage needs to the memory of the whole. Its results are the whole's, and what later stages read is like
/// its arena.
static void addMemory(MemoryEstimate &total, const Stage &stage, const Bound &bound) {
  const MemoryEstimate &own = bound.memory();
  total.rounding += own.rounding;
  total.arena += own.arena;
  total.outputs += own.outputs;
  total.savedPerTrip += own.savedPerTrip;
  for (auto [index, output, meta] : llvm::enumerate(stage.outputs, bound.mostOutputs())) {
    bool isPlanned = output.result < 0 && !bound.isOutputGrown(index);
    uint64_t bytes = isPlanned ? bytesOf(meta) : 0;
    total.outputs -= bytes;
    total.arena += bytes;
  }
}

/// The same of a loop: what trips carry and stack lies in its results.
static void addLoopMemory(MemoryEstimate &total, const Stage &stage, const Bound &body,
                          llvm::ArrayRef<TensorMeta> results) {
  total.rounding += body.memory().rounding;
  total.arena += body.memory().arena;
  total.savedPerTrip += body.memory().savedPerTrip;
  for (auto [index, output, meta] : llvm::enumerate(stage.outputs, results)) {
    uint64_t bytes = meta.isStatic() ? bytesOf(meta) : 0;
    (stage.loop->isGrown(index) ? total.savedPerTrip : output.result < 0 ? total.arena : total.outputs) += bytes;
  }
}

/// What a stage gives for inputs that are known, as far as shapes tell.
static std::vector<TensorMeta> resultsOf(const Stage &stage, llvm::ArrayRef<TensorMeta> inputs, const Bound &bound) {
  if (!stage.loop)
    return bound.mostOutputs().vec();
  auto trips =
      tripsOf(stage.loop->length, stage.loop->isGuarded, inputs.slice(stage.loop->numCarried, stage.loop->numXs));
  if (!trips)
    llvm::consumeError(trips.takeError()); // the run says so
  return loopResults(*stage.loop, inputs, bound.mostOutputs(), stage.outputs.size(), trips ? *trips : 0);
}

/// Forgets sizes that data decides and nothing bounds: what reads them is bound when they are known.
static void forgetUnbounded(llvm::MutableArrayRef<TensorMeta> metas) {
  for (TensorMeta &meta : metas)
    llvm::replace(meta.shape, shapes::kNoBound, kUnknown);
}

llvm::Expected<std::shared_ptr<Bound>> Program::bindStages(llvm::ArrayRef<TensorMeta> inputs,
                                                           const BindOptions &bindOptions) {
  auto whole = std::make_unique<Commands>();
  whole->program = shared_from_this();
  whole->dependsOnData = true;
  whole->staged = std::make_shared<StagedBinding>(*stages, inputs, bindOptions);
  whole->outputs.resize(exe.outputs.size());
  whole->unknownAxes.resize(exe.outputs.size());
  std::vector<std::vector<TensorMeta>> made;
  for (auto [number, stage] : llvm::enumerate(*stages)) {
    Metas metas = whole->staged->inputsOf(number, made);
    std::vector<TensorMeta> &results = made.emplace_back();
    bool isKnown = llvm::all_of(metas, [](const TensorMeta &meta) { return meta.isStatic(); });
    Metas own = stage.loop ? bodyInputsOf(*stage.loop, metas) : metas;
    llvm::Expected<BoundRef> bound = isKnown ? whole->staged->bind(number, own) : BoundRef();
    if (!bound && number == 0)
      return bound.takeError();
    for (const StageOutput &output : stage.outputs)
      results.push_back(output.meta);
    if (!bound) {
      llvm::consumeError(bound.takeError()); // the sizes of a run may fit, although the largest do not
    } else if (*bound) {
      results = resultsOf(stage, metas, **bound);
      if (stage.loop)
        addLoopMemory(whole->memory, stage, **bound, results);
      else
        addMemory(whole->memory, stage, **bound);
      whole->checksData |= (*bound)->checksData();
      forgetUnbounded(results);
    }
    for (auto [output, meta] : llvm::zip_equal(stage.outputs, results))
      if (output.result >= 0)
        whole->outputs[output.result] = meta;
  }
  if (std::vector<bool> grown = grownValues(exe); !grown.empty())
    for (const OutputDecl &output : exe.outputs)
      whole->isOutputGrown.push_back(grown[output.value]);
  whole->mostOutputs = whole->outputs;
  whole->memory.constants = constantBytes();
  whole->needsWorker = true; // a stage may
  return std::make_shared<Bound>(std::move(whole));
}

} // namespace tess::runtime
