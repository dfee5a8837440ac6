//===- Contiguous.cpp - row-major copies of operands, and writes into views ===//
//
// Both are a `copy`, a kernel like any other: on the queue, over all threads.
//
//===----------------------------------------------------------------------===//
#include "eager/dispatch/Contiguous.h"
#include "eager/dispatch/Dispatch.h"
#include "eager/eviction/Eviction.h"
#include "eager/tensor/Counters.h"
#include "eager/tensor/Queue.h"
#include "runtime/device/Profiler.h"

namespace tess::eager {

/// The dtype as which elements are copied: only their width matters.
static DType bitsOf(DType dtype) {
  switch (byteWidth(dtype)) {
  case 1:
    return DType::Int8;
  case 2:
    return DType::Int16;
  case 4:
    return DType::Int32;
  case 8:
    return DType::Int64;
  default:
    return DType::Complex128;
  }
}

static TensorRef asBits(const TensorImpl &tensor) {
  return TensorImpl::create(bitsOf(tensor.dtype()), tensor.layout(), tensor.storageRef());
}

/// Copies `bits` to `into`, where that is given, or to new memory.
static llvm::Expected<TensorRef> copyBits(TensorImpl &bits, const Destination *into) {
  static const OpDef copy = OpDef::get("copy");
  Operand source(&bits);
  Tensors results;
  llvm::Expected<bool> done = dispatchDirect({copy, source, {}, into}, results);
  if (!done)
    return done.takeError();
  if (!*done || (into && results.front().get() != &into->target))
    return makeError(ErrorCode::Internal, "copy: must be one kernel that writes where it is told, got another");
  return std::move(results.front());
}

/// Copies as copyBits() does. While a profile is taken, the time of the copy alone appears in it, under the name of
/// `reader`.
static llvm::Expected<TensorRef> copyNow(const TensorImpl &tensor, const Destination *into, llvm::StringRef reader) {
  TensorRef bits = asBits(tensor);
  if (LLVM_LIKELY(!runtime::profiler::on()))
    return copyBits(*bits, into);
  for (Storage *storage : {&tensor.storage(), into ? &into->target.storage() : nullptr})
    if (storage)
      if (llvm::Error e = awaitWritten(*storage))
        return std::move(e);
  runtime::profiler::Moment begin = runtime::profiler::now();
  llvm::Expected<TensorRef> copy = copyBits(*bits, into);
  if (!copy)
    return copy;
  if (llvm::Error e = awaitWritten((*copy)->storage()))
    return std::move(e);
  std::string meta = toString(tensor.meta());
  runtime::profiler::record(reader, "copy", begin, runtime::profiler::now(), {.value = meta});
  return copy;
}

/// Copies as copyNow() does, of memory that stays meanwhile.
static llvm::Expected<TensorRef> copyFor(const TensorImpl &tensor, const Destination *into, llvm::StringRef reader) {
  if (LLVM_LIKELY(!eviction::isActive()))
    return copyNow(tensor, into, reader);
  eviction::Use use;
  if (llvm::Error e = use.add(tensor))
    return std::move(e);
  if (into)
    if (llvm::Error e = use.addWritten(into->target.storage()))
      return std::move(e);
  return copyNow(tensor, into, reader);
}

llvm::Expected<TensorRef> contiguous(TensorImpl &tensor, llvm::StringRef reader) {
  if (tensor.isContiguous())
    return TensorRef(&tensor);
  count(Count::Copies);
  llvm::Expected<TensorRef> bits = copyFor(tensor, nullptr, reader);
  if (!bits)
    return bits;
  return TensorImpl::create(tensor.dtype(), (*bits)->shape(), (*bits)->storageRef());
}

llvm::Expected<TensorRef> contiguousNow(TensorImpl &tensor, llvm::StringRef reader) {
  llvm::Expected<TensorRef> plain = contiguous(tensor, reader);
  if (plain)
    if (llvm::Error e = awaitValue((*plain)->storage()))
      return std::move(e);
  return plain;
}

llvm::Error copyInto(TensorImpl &target, const TensorImpl &value, llvm::StringRef reader) {
  TensorRef bits = asBits(target);
  Destination into(*bits, /*isSeen=*/false);
  into.isRequired = true;
  return copyFor(value, &into, reader).takeError();
}

} // namespace tess::eager
