//===- TapeBackward.cpp - gradients along a tape, in reverse -------------===//
//
// Gradients are accumulated in reverse tape order by the operator `add`, in
// place where that changes nothing. The compiler's autodiff keeps the same
// order.
//
//===----------------------------------------------------------------------===//
#include "eager/dispatch/InPlace.h"
#include "eager/gradients/Tape.h"
#include "eager/stack/Apply.h"
#include "eager/stack/Autocast.h"
#include "eager/stack/Expressions.h"
#include "eager/stack/Tracer.h"
#include "eager/tensor/Placement.h"
#include "ops/graphs/Control.h"
#include "ops/table/Builtin.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::eager {

/// The scope of what a tape does for a gradient, by which accounts tell what a program keeps for it
/// (jit/explanation/categories.py).
static constexpr llvm::StringLiteral kGradientScope = "gradient";

namespace {
/// Is within that scope while it lives.
class GradientScope {
public:
  GradientScope() { pushScope(kGradientScope); }
  ~GradientScope() { popScope(); }
  GradientScope(const GradientScope &) = delete;
};
} // namespace

static llvm::Expected<TensorRef> onesLike(const TensorImpl &y) {
  OpDef op = OpDef::get("full");
  op.set("shape", AttrValue(recordedShape(y))).set("value", 1.0).set("dtype", y.dtype());
  OnDevice here(y.storage().device());
  return applyExpressions(op);
}

static llvm::Error seedError(const TensorImpl &y, const TensorImpl &dy) {
  return invalidArgument("backward: dy must have the shape and dtype of y, got y " + toString(y.meta()) + " and dy " +
                         toString(dy.meta()));
}

llvm::Error Tape::seed(llvm::ArrayRef<TensorRef> ys, llvm::ArrayRef<TensorRef> dys) {
  grads.assign(lastId + 1, TensorRef());
  for (unsigned i = 0; i < ys.size(); ++i) {
    uint32_t value = idOf(*ys[i]);
    if (!value)
      continue; // it depends on no watched tensor
    if (llvm::Error e = checkUnwritten("backward", *ys[i]))
      return e;
    TensorRef dy = i < dys.size() ? dys[i] : TensorRef();
    if (dy && ys[i]->rank() == 0 && dy->rank() == 1 && dy->numElements() == 1)
      if (llvm::Error e = applyOne(builtin::Squeeze(IntList{0}), {Operand(dy)}).moveInto(dy))
        return e;
    if (dy && !dy->hasMeta(ys[i]->meta()))
      return seedError(*ys[i], *dy);
    if (!dy && isComplex(ys[i]->dtype()))
      return invalidArgument("backward: y must be real where no dy is given, got " + toString(ys[i]->meta()));
    if (!dy)
      if (llvm::Error e = onesLike(*ys[i]).moveInto(dy))
        return e;
    if (llvm::Error e = accumulate(value, std::move(dy)))
      return e;
  }
  return llvm::Error::success();
}

/// sum + grad. If `isOwned`, nobody else uses the variable `sum`, and where nobody else sees its memory either, the
/// result is written into it.
static llvm::Expected<TensorRef> addTo(TensorImpl &sum, TensorImpl &grad, bool isOwned) {
  static const OpDef add = OpDef::get("add");
  Destination into(sum, /*isSeen=*/false);
  Tensors results;
  bool isFree = isOwned && ownsMemory(sum);
  if (llvm::Error e = apply(add, {Operand(&sum), Operand(&grad)}, {}, results, isFree ? &into : nullptr))
    return std::move(e);
  return std::move(results.front());
}

llvm::Error accumulateGrad(TensorImpl &total, TensorImpl &grad) {
  llvm::Expected<TensorRef> sum = addTo(total, grad, /*isOwned=*/true);
  if (!sum)
    return sum.takeError();
  assign(total, **sum);
  return llvm::Error::success();
}

llvm::Error Tape::accumulate(uint32_t value, TensorRef grad) {
  TensorRef &total = grads[value];
  if (!total) {
    total = std::move(grad);
    return llvm::Error::success();
  }
  return addTo(*total, *grad, total->isUnique()).moveInto(total);
}

/// The name of the operand or result at `position` among the inputs of the backward graph.
static std::string valueName(const BackwardPlan &plan, unsigned position) {
  const OpInfo &info = plan.op.info();
  unsigned numOperands = plan.operands.size();
  if (position >= numOperands)
    return std::string("result ") +
           info.results[std::min<size_t>(position - numOperands, info.results.size() - 1)].name;
  unsigned group = 0, first = 0;
  while (!plan.segments.empty() && position >= first + plan.segments[group])
    first += plan.segments[group++];
  return std::string("operand ") + info.operands[plan.segments.empty() ? position : group].name;
}

llvm::Error Tape::checkSaved(const Record &record) const {
  for (const Saved &saved : record.saved) {
    const Storage &storage = saved.value->storage();
    if (LLVM_LIKELY(storage.version() == saved.version))
      continue;
    std::string place = record.place.describe();
    return invalidArgument(record.plan->op.name() + ": " + valueName(*record.plan, saved.position) +
                           " must be unchanged until the gradient is taken" +
                           (place.empty() ? "" : " (the call at " + place + " saved it)") + ", got a write by " +
                           storage.lastWrite()->text());
  }
  return llvm::Error::success();
}

/// The inputs of a loop whose sums its gradient takes over; empty for other operators.
llvm::SmallVector<bool, 4> Tape::sumsOf(const Record &record) const {
  if (!record.plan)
    return {};
  return control::sumsTaken(record.plan->op, record.inputs, [&](uint32_t input) { return input && grads[input]; });
}

llvm::Expected<Tensors> Tape::gradientsOf(Record &record, llvm::ArrayRef<TensorRef> outputGrads,
                                          llvm::ArrayRef<bool> hasSum) {
  if (record.rare && record.rare->custom)
    return record.rare->custom(outputGrads);
  if (!record.plan->graph)
    return makeError(ErrorCode::Unimplemented,
                     record.plan->op.name() + ": an operator on the way to a gradient must have one, got none");
  if (llvm::Error e = checkSaved(record))
    return std::move(e);
  llvm::SmallVector<bool, 2> arrives;
  for (const TensorRef &grad : outputGrads)
    arrives.push_back(bool(grad));
  BackwardPlanRef plan = record.plan;
  if (arrives != plan->hasOutputGrad || llvm::is_contained(hasSum, true)) // the tape expected more gradients, no sums
    if (llvm::Error e = backwardPlan(*plan, arrives, hasSum).moveInto(plan))
      return std::move(e);
  unsigned numOperands = record.inputs.size(), numResults = outputGrads.size();
  llvm::SmallVector<Operand, 8> inputs(numOperands + 2 * numResults, Operand(static_cast<TensorImpl *>(nullptr)));
  for (const Saved &saved : record.saved)
    inputs[saved.position] = Operand(saved.value);
  for (unsigned i = 0; i < numResults; ++i)
    inputs[numOperands + numResults + i] = Operand(outputGrads[i]);
  for (unsigned i = 0; i < plan->hasSum.size(); ++i)
    inputs.push_back(Operand(hasSum[i] ? grads[record.inputs[i]] : TensorRef()));
  return applyBackward(*plan, record.rare ? record.rare->symbolic.get() : nullptr, inputs);
}

/// Checks that a call that ran again returned what it did before, which has these gradients.
static llvm::Error checkSame(llvm::ArrayRef<TensorRef> outputs, llvm::ArrayRef<TensorRef> grads) {
  if (outputs.size() != grads.size())
    return invalidArgument("checkpoint: the function must return as many tensors when it runs again, got " +
                           llvm::Twine(grads.size()) + ", then " + llvm::Twine(outputs.size()));
  for (auto [output, grad] : llvm::zip(outputs, grads))
    if (grad && !output->hasMeta(grad->meta()))
      return invalidArgument(
          "checkpoint: the function must return the same shapes and dtypes when it runs again, got " +
          toString(grad->meta()) + ", then " + toString(output->meta()));
  return llvm::Error::success();
}

llvm::Expected<Tensors> Tape::recordAgain(const Rerun &rerun) {
  Again records(*this);
  unsigned paused = 0;
  for (; isGradPaused(); ++paused)
    resumeGrad();
  llvm::Expected<Tensors> outputs = rerun();
  for (; paused; --paused)
    pauseGrad();
  return outputs;
}

/// Records the call that runs again; its outputs take over the gradients of those of the first one.
llvm::Error Tape::runAgain(const Rerun &rerun, llvm::ArrayRef<TensorRef> outputGrads) {
  llvm::Expected<Tensors> outputs = recordAgain(rerun);
  if (!outputs)
    return outputs.takeError();
  if (llvm::Error e = checkSame(*outputs, outputGrads))
    return e;
  grads.resize(lastId + 1);
  for (auto [output, grad] : llvm::zip_equal(*outputs, outputGrads))
    if (uint32_t value = idOf(*output); value && grad)
      if (llvm::Error e = accumulate(value, grad))
        return e;
  return llvm::Error::success();
}

llvm::Error Tape::runHooks(uint32_t value) {
  for (const Hook &hook : hooks)
    if (hook.value == value && grads[value])
      if (llvm::Error e = hook.run(grads[value]).moveInto(grads[value]))
        return e;
  llvm::erase_if(hooks, [&](const Hook &hook) { return hook.value == value; });
  return llvm::Error::success();
}

/// The gradient of a result, which all that read it have given by now. It stays where it is watched.
llvm::Expected<TensorRef> Tape::takeGrad(uint32_t value) {
  if (!value)
    return TensorRef();
  if (LLVM_UNLIKELY(!hooks.empty()))
    if (llvm::Error e = runHooks(value))
      return std::move(e);
  return llvm::is_contained(watchedResults, value) ? grads[value] : std::move(grads[value]);
}

/// Adds the call whose gradient it is to an error, where values are checked: that of the operator names the line of
/// backward.
llvm::Error Tape::inGradientOf(const Record &record, llvm::Error error) {
  std::string place = record.place.describe();
  if (!enabled(bitOf(Layer::CheckFinite)) || place.empty())
    return error;
  auto [code, message] = takeError(std::move(error));
  std::string name = record.plan ? record.plan->op.name().str() : "a function of one's own";
  return makeError(code, message + " (in the gradient of " + name + ", called at " + place + ")");
}

bool Tape::returnsInput(const Record &record, uint32_t output) {
  return record.rare && output && llvm::is_contained(record.inputs, output);
}

/// Moves what has arrived at inputs that the call returned to `outputGrads`: hooks of such a value have yet to wait.
void Tape::takeGradsOfInputs(const Record &record, llvm::MutableArrayRef<TensorRef> outputGrads) {
  for (auto [output, grad] : llvm::zip_equal(record.outputs, outputGrads))
    if (returnsInput(record, output))
      grad = std::move(grads[output]);
}

llvm::Error Tape::step(Record &record) {
  llvm::SmallVector<TensorRef, 2> outputGrads;
  bool any = false;
  for (uint32_t output : record.outputs) {
    llvm::Expected<TensorRef> grad = takeGrad(returnsInput(record, output) ? 0 : output);
    if (!grad)
      return grad.takeError();
    outputGrads.push_back(std::move(*grad));
    any |= bool(outputGrads.back());
  }
  if (!any)
    return llvm::Error::success();
  if (record.rare)
    takeGradsOfInputs(record, outputGrads);
  if (record.rare && record.rare->rerun)
    return runAgain(record.rare->rerun, outputGrads);
  llvm::SmallVector<bool, 4> hasSum = sumsOf(record);
  llvm::Expected<Tensors> inputGrads = gradientsOf(record, outputGrads, hasSum);
  if (!inputGrads)
    return inGradientOf(record, inputGrads.takeError());
  for (unsigned i = 0; i < record.inputs.size() && i < inputGrads->size(); ++i) {
    TensorRef &grad = (*inputGrads)[i];
    if (i < hasSum.size() && hasSum[i])
      grads[record.inputs[i]] = std::move(grad);
    else if (record.inputs[i] && grad)
      if (llvm::Error e = accumulate(record.inputs[i], std::move(grad)))
        return e;
  }
  return llvm::Error::success();
}

llvm::Error Tape::walk() {
  while (!records.empty()) {
    Record record = std::move(records.back());
    records.pop_back();
    if (llvm::Error e = step(record))
      return e;
  }
  while (!hooks.empty()) // those of values that no record gives
    if (llvm::Error e = runHooks(hooks.front().value))
      return e;
  return llvm::Error::success();
}

llvm::Expected<Tensors> Tape::backward(llvm::ArrayRef<TensorRef> ys, llvm::ArrayRef<TensorRef> dys) {
  TapeRef keep(this);
  NoAutocast asRecorded;
  GradientScope scope;
  stop();
  Outer outer(*this);
  llvm::Error error = seed(ys, dys);
  if (!error)
    error = walk();
  Tensors results;
  for (uint32_t value : watched)
    results.push_back(!error && value < grads.size() ? grads[value] : TensorRef());
  clear();
  if (error)
    return std::move(error);
  for (TensorRef &grad : results)
    if (grad && !(grad->isUnique() && grad->storage().isExclusive())) {
      grad = grad->dup(); // a variable of its own, where several leaves or the user's dy share one
      grad->storage().noteCopy();
    }
  return results;
}

} // namespace tess::eager
