//===- CheckOperands.cpp - memory that changes without an operator --------===//
//
// This layer is not in the stack unless a user asks for it. It looks at the
// memory of each operand before and after the call: what an operator read is
// there as it was, unless a write in place was counted since.
//
//===----------------------------------------------------------------------===//
#include "eager/layers/CheckOperands.h"

#include "eager/dispatch/Dispatch.h"
#include "eager/dispatch/Outcome.h"
#include "eager/eviction/Eviction.h"
#include "eager/layers/Layers.h"
#include "eager/tensor/Location.h"
#include "eager/tensor/Placement.h"
#include "eager/tensor/Queue.h"

#include <atomic>
#include <xxhash.h>

namespace tess::eager {

/// Number of the present session, never 0, which no storage has before it was looked at.
static std::atomic<uint16_t> session = 0;

void setCheckOperands(bool on) {
  if (on && ++session == 0)
    ++session;
  disableLayer(Layer::CheckOperands, !on);
}

bool checksOperands() { return enabled(bitOf(Layer::CheckOperands)); }

/// A print of the memory, which it waits for; none where there is no value.
static llvm::Expected<std::optional<uint32_t>> printOf(Storage &storage) {
  eviction::Use use;
  if (LLVM_UNLIKELY(eviction::isActive()))
    if (llvm::Error e = use.add(storage))
      return std::move(e);
  if (llvm::Error e = awaitWritten(storage))
    return std::move(e);
  if (storage.failure() || !storage.bytes())
    return std::nullopt;
  std::vector<char> apart; // a copy of what the host does not address
  const char *data = storage.data();
  if (!storage.device().hostAccessible()) {
    apart.resize(size_t(storage.bytes()));
    TensorRef whole = TensorImpl::create(DType::UInt8, {storage.bytes()}, StorageRef(&storage));
    if (llvm::Error e = copyToHost(*whole, apart.data(), apart.size()))
      return std::move(e);
    data = apart.data();
  }
  return uint32_t(XXH3_64bits(data, size_t(storage.bytes())));
}

static llvm::Error changed(const Call &call, const TensorImpl &tensor) {
  llvm::Error error = invalidArgument(call.opDef().name() +
                                      ": operands must stay as they were when an operator read them first, got other "
                                      "bytes in the memory of " +
                                      toString(tensor.meta()));
  DispatchCall described{call.opDef(), call.operands, call.segments()};
  return errorOf(*makeFailure(std::move(error), describeOperands(described), Location::here()));
}

static llvm::Error check(const Call &call) {
  for (const Operand &operand : call.operands) {
    Storage &storage = operand.tensor->storage();
    llvm::Expected<std::optional<uint32_t>> print = printOf(storage);
    if (!print)
      return print.takeError();
    if (*print && !storage.matchesPrint(session, **print))
      return changed(call, *operand.tensor);
  }
  return llvm::Error::success();
}

llvm::Error applyCheckOperands(Call &call, Tensors &results) {
  if (!call.isOpDef())
    return next(call, results);
  call.into = nullptr; // it would be a change of an operand
  if (llvm::Error e = check(call))
    return e;
  if (llvm::Error e = next(call, results))
    return e;
  for (const TensorRef &result : results)
    if (llvm::Error e = awaitWritten(result->storage()))
      return e;
  return check(call);
}

} // namespace tess::eager
