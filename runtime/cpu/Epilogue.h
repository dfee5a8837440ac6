//===- Epilogue.h - what follows a library call -----------------*- C++ -*-===//
#pragma once

#include "runtime/KernelTable.h"

namespace tess::runtime {

/// Functions of an epilogue; relu keeps NaN and -0.
enum class EpilogueFn : uint8_t { Relu, Mul, Add };

/// One elementwise step on the output. `operand` broadcasts against it (right-aligned); its dtype is the output's.
struct EpilogueStep {
  EpilogueFn fn;
  int input = -1;
  Layout operand; // strides over the output's axes, 0 where it repeats
};

/// Reads request.epilogue ("sum" is "add" here). InvalidArgument when an operand does not
/// broadcast to the output or has another dtype.
llvm::Expected<std::vector<EpilogueStep>> readEpilogue(const PrepareRequest &request);

/// Applies the steps in place to a contiguous output, each rounded to its dtype; relu keeps NaN and -0.
void applyEpilogue(llvm::ArrayRef<EpilogueStep> steps, const TensorMeta &output, void *data,
                   llvm::ArrayRef<void *> inputs, unsigned threads);

/// An output as [planes][rows][block]: a plane is one block of channels, and `blocks` of them make all channels.
/// Row-major images have blocks of one channel, channels-last ones a single block.
struct ChannelOrder {
  unsigned axis; // of the channels, in the output's shape
  int64_t planes, rows, block, blocks;
};

/// Whether every step is relu, or has an operand that varies along `axis` only.
bool isPerChannel(llvm::ArrayRef<EpilogueStep> steps, unsigned axis);
/// As applyEpilogue(), for steps that are per channel: one pass over the memory in its own order.
void applyPerChannel(llvm::ArrayRef<EpilogueStep> steps, const ChannelOrder &order, DType dtype, void *data,
                     llvm::ArrayRef<void *> inputs, unsigned threads);

} // namespace tess::runtime
