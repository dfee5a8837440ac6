//===- Epilogue.h - what follows a library call -----------------*- C++ -*-===//
#pragma once

#include "runtime/KernelTable.h"

namespace tess::runtime {

enum class EpilogueFn : uint8_t { Relu, Mul, Add };

/// One elementwise step on the output. `operand` broadcasts against it (right-aligned); its dtype is the output's.
struct EpilogueStep {
  EpilogueFn fn;
  int input = -1;
  Layout operand; // strides over the output's axes, 0 where it repeats
};

/// Reads request.epilogue from step `first` on ("sum" is "add" here). InvalidArgument when an operand does not
/// broadcast to the output or has another dtype.
llvm::Expected<std::vector<EpilogueStep>> readEpilogue(const PrepareRequest &request, size_t first);

/// Applies the steps in place to a contiguous output, each rounded to its dtype; relu keeps NaN and -0.
void applyEpilogue(llvm::ArrayRef<EpilogueStep> steps, const TensorMeta &output, void *data,
                   llvm::ArrayRef<void *> inputs, unsigned threads);

} // namespace tess::runtime
