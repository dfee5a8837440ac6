//===- Copies.cpp - row-major copies of operands, and writes into views ---===//
//
// What asks for a row-major operand gets the result of a `copy`, a kernel like
// any other: on the queue, over all threads.
//
//===----------------------------------------------------------------------===//
#include "eager/Counters.h"
#include "eager/Dispatch.h"
#include "eager/Queue.h"
#include "runtime/ExecutorCounters.h"
#include "runtime/Profiler.h"
#include "runtime/StridedCopy.h"

namespace tess::eager {

/// Elements of any dtype are copied as bits.
static DType bitsOf(DType dtype) {
  switch (byteWidth(dtype)) {
  case 1:
    return DType::Int8;
  case 2:
    return DType::Int16;
  case 4:
    return DType::Int32;
  default:
    return DType::Int64;
  }
}

static llvm::Expected<TensorRef> copyOf(const TensorImpl &tensor) {
  static const OpDef copy = OpDef::get("copy");
  const DType dtype = tensor.dtype();
  TensorRef bits = TensorImpl::create(bitsOf(dtype), tensor.layout(), tensor.storageRef());
  Operand source(bits);
  Tensors results;
  llvm::Expected<bool> done = dispatchDirect({copy, source, {}}, results);
  if (!done)
    return done.takeError();
  if (!*done)
    return makeError(ErrorCode::Internal, "copy: must be one kernel, got a program");
  return TensorImpl::create(dtype, bits->shape(), results.front()->storageRef());
}

/// The same while a profile is taken: the time of the copy alone.
static llvm::Expected<TensorRef> profiledCopyOf(const TensorImpl &tensor, llvm::StringRef reader) {
  if (llvm::Error e = awaitWritten(tensor.storage()))
    return std::move(e);
  uint64_t begin = runtime::profiler::now();
  llvm::Expected<TensorRef> copy = copyOf(tensor);
  if (!copy)
    return copy;
  if (llvm::Error e = awaitWritten((*copy)->storage()))
    return std::move(e);
  runtime::profiler::record(reader, "copy", begin, runtime::profiler::now(), toString(tensor.meta()));
  return copy;
}

llvm::Expected<TensorRef> contiguous(TensorImpl &tensor, llvm::StringRef reader) {
  if (tensor.isContiguous())
    return TensorRef(&tensor);
  count(Count::Copies);
  return runtime::profiler::on() ? profiledCopyOf(tensor, reader) : copyOf(tensor);
}

llvm::Expected<TensorRef> contiguousNow(TensorImpl &tensor, llvm::StringRef reader) {
  llvm::Expected<TensorRef> plain = contiguous(tensor, reader);
  if (plain)
    if (llvm::Error e = awaitValue((*plain)->storage()))
      return std::move(e);
  return plain;
}

void copyElements(const TensorImpl &from, const Layout &to, char *data, llvm::StringRef reader) {
  runtime::bump(runtime::executorCounters.copies);
  count(Count::Copies);
  uint64_t begin = runtime::profiler::on() ? runtime::profiler::now() : 0;
  runtime::copyStrided(data, to, from.data(), from.layout(), byteWidth(from.dtype()));
  if (runtime::profiler::on())
    runtime::profiler::record(reader, "copy", begin, runtime::profiler::now(), toString(from.meta()));
}

} // namespace tess::eager
