//===- ProfiledCalls.cpp - calls as a profile names them ------------------===//
#include "eager/tensor/ProfiledCalls.h"

#include "eager/tensor/Location.h"

namespace tess::eager {

using namespace runtime;

profiler::Context contextOf(llvm::StringRef operation) {
  return {operation.str(), Location::here().describe(), profiler::hasCalls ? callsHere() : std::string()};
}

void recordTypes(llvm::ArrayRef<TensorRef> tensors) {
  for (const TensorRef &tensor : tensors)
    if (const void *data = tensor->storage().data())
      profiler::recordType(data, toString(tensor->meta()));
}

} // namespace tess::eager
