//===- Grad.cpp - operators go to the tapes ------------------------------===//
//
// The outermost tape tags first, and values are saved after all tapes have
// tagged: values that an inner tape saves are then known to the outer ones, for
// higher derivatives.
//
//===----------------------------------------------------------------------===//
#include "eager/gradients/Grad.h"

#include "eager/gradients/Tape.h"
#include "eager/stack/Watcher.h"
#include "ops/graphs/Control.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::eager {

using TapeList = llvm::SmallVector<Tape *, 2>;

static TapeList interested(llvm::ArrayRef<Operand> operands) {
  TapeList list;
  for (const TapeRef &tape : activeTapes())
    for (const Operand &operand : operands)
      if (operand.tensor->hasGradTags() && tape->tracks(*operand.tensor)) {
        list.push_back(tape.get());
        break;
      }
  return list;
}

/// The error that a tape has against a call, found before anything is written.
static llvm::Error checkCall(const Call &call, const Tape &tape) {
  for (const Operand &operand : call.operands)
    if (llvm::Error e = tape.checkUnwritten(call.opDef().name(), *operand.tensor))
      return e;
  if (LLVM_LIKELY(!call.into || !call.into->isSeen || !tape.watches(call.into->target)))
    return llvm::Error::success();
  return invalidArgument(call.opDef().name() +
                         ": inplace must write no tensor whose gradient is wanted while it is recorded, got " +
                         toString(call.into->target.meta()));
}

/// Whether the call reads memory that was ever written in place, as few do.
static bool readsWritten(const Call &call) {
  for (const Operand &operand : call.operands)
    if (operand.tensor->storage().version() != 0)
      return true;
  return call.into;
}

/// Runs the call, and has every tape write it down.
LLVM_ATTRIBUTE_ALWAYS_INLINE static llvm::Error recordCall(Call &call, const TapeList &tapes, Tensors &results) {
  bool isTraced = call.pending & bitOf(Layer::Tracing);
  if (llvm::Error e = next(call, results))
    return e;
  if (llvm::none_of(results, [](const TensorRef &result) { return isDifferentiable(result->dtype()); }))
    return llvm::Error::success();
  for (Tape *tape : tapes)
    if (llvm::Error e = tape->record(call, results, isTraced))
      return e;
  for (Tape *tape : tapes)
    tape->save(call, results);
  return llvm::Error::success();
}

/// As above, for a loop, which also gives what its gradient reads of its trips: results behind those of the call.
static llvm::Error recordLoop(Call &call, const TapeList &tapes, Tensors &results) {
  llvm::SmallVector<bool, 8> needed;
  for (const Operand &operand : call.operands)
    needed.push_back(llvm::any_of(tapes, [&](Tape *tape) { return tape->tracks(*operand.tensor); }));
  auto saved = control::valuesOfGradient(call.opDef(), metasOf(call.operands), needed);
  if (!saved) { // backward() reports an operator without a gradient
    llvm::consumeError(saved.takeError());
    return recordCall(call, tapes, results);
  }
  OpDef op = control::withResults(call.opDef(), *saved), recorded;
  if (const OpDef *given = static_cast<const OpDefOperator &>(call.op).recorded)
    recorded = control::withResults(*given, *saved);
  OpDefOperator wrapped(op, call.segments(), recorded ? &recorded : nullptr);
  Call whole{wrapped, call.operands, call.pending};
  return recordCall(whole, tapes, results);
}

static void noteReads(llvm::ArrayRef<Operand> operands) {
  for (const Operand &operand : operands)
    if (operand.tensor->hasGradTags())
      noteRead(*operand.tensor);
}

llvm::Error applyGrad(Call &call, Tensors &results) {
  if (!call.isOpDef())
    return next(call, results);
  if (LLVM_UNLIKELY(activeWatcher()))
    noteReads(call.operands);
  TapeList tapes = interested(call.operands);
  if (tapes.empty())
    return next(call, results);
  if (LLVM_UNLIKELY(readsWritten(call)))
    for (Tape *tape : tapes)
      if (llvm::Error e = checkCall(call, *tape))
        return e;
  return control::hasBody(call.opDef().info()) ? recordLoop(call, tapes, results) : recordCall(call, tapes, results);
}

} // namespace tess::eager
