//===- KernelChoice.h - which library kernel computes a call ----*- C++ -*-===//
//
// What passes ask about the libraries, which the compiler does not link: who
// calls compile() brings the answers. They are pure functions of operator,
// shapes, dtype, target and thread count, so that eager and graphs agree.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/OpDef.h"

#include <optional>
#include <string>

namespace tess::compiler {

/// One step of an epilogue as text: "relu", or "mul:2" with the number of its operand among the call's.
inline std::string epilogueStep(llvm::StringRef op, int operand = -1) {
  return operand < 0 ? op.str() : (op + ":" + llvm::Twine(operand)).str();
}

/// A library call that a pass wants to make. Operands and results are contiguous; any size may be unknown.
struct LibraryCall {
  const OpDef &op;
  /// The operator's operands, then those that the epilogue names.
  llvm::ArrayRef<TensorMeta> operands;
  llvm::ArrayRef<TensorMeta> results;
  /// As runtime::Step::epilogue.
  llvm::ArrayRef<std::string> epilogue;
};

/// Thread-safe. No answer (nullopt): it depends on sizes that only bind knows, or on a machine that is not this one;
/// whatever is done then is right, only slower or faster.
class KernelChoice {
public:
  virtual ~KernelChoice() = default;
  /// Threads that the answers are for.
  virtual unsigned threads() const = 0;
  /// How many of the first steps of the epilogue are better done by the call than by a generated kernel after it. The
  /// implementation is the one that the call has without them.
  virtual std::optional<size_t> epilogueSteps(const LibraryCall &call, llvm::StringRef target) const = 0;
  /// Name of the implementation that must compute the call (Step::implementation).
  virtual std::optional<std::string> implementation(const LibraryCall &call, llvm::StringRef target) const = 0;
};

} // namespace tess::compiler
