//===- Placement.h - the device that values are made on ---------*- C++ -*-===//
//
// Results lie where their operands do. What is made of no tensor lies on the
// default device, unless somebody who knows better says so for a while; and what
// the host gives or wants crosses over here.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/tensor/Operator.h"

namespace tess::eager {

/// The device of what this thread makes of no tensor.
runtime::Device &creationDevice();

/// While it lives, that is another one.
class OnDevice {
public:
  explicit OnDevice(runtime::Device &device);
  /// That of the first operand which is a tensor; without one nothing changes.
  explicit OnDevice(llvm::ArrayRef<Operand> operands);
  ~OnDevice();
  OnDevice(const OnDevice &) = delete;
  OnDevice &operator=(const OnDevice &) = delete;

private:
  runtime::Device *before;
};

/// The device of the operands; of a call without any, creationDevice().
inline runtime::Device &deviceOf(llvm::ArrayRef<Operand> operands) {
  return LLVM_LIKELY(!operands.empty()) ? operands[0].tensor->storage().device() : creationDevice();
}

/// Copies host memory to a row-major tensor of at least as many bytes, or from one that is written, and waits.
llvm::Error copyFromHost(TensorImpl &tensor, const void *bytes, size_t size);
llvm::Error copyToHost(const TensorImpl &tensor, void *bytes, size_t size);

} // namespace tess::eager
