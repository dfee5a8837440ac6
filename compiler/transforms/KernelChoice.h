//===- KernelChoice.h - which library kernel computes a call ----*- C++ -*-===//
//
// What passes ask about the libraries, which the compiler does not link: who
// calls compile() brings the answers. They are pure functions of operator,
// shapes, dtype, target and thread count, so that eager and graphs agree.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/operator/OpDef.h"

#include <optional>
#include <string>

namespace tess::compiler {

/// A library call that a pass wants to make. Operands and results are contiguous; any size may be unknown.
struct LibraryCall {
  const OpDef &op;
  llvm::ArrayRef<TensorMeta> operands;
  llvm::ArrayRef<TensorMeta> results;
  bool mayMoveBits = false; // numerics "fast"
};

/// What passes ask about library kernels. Thread-safe. No answer (nullopt) means that it depends on sizes that only
/// bind knows, or on a machine that is not this one; any choice is then right, and only its speed differs.
class KernelChoice {
public:
  virtual ~KernelChoice() = default;
  /// Threads that the answers are for.
  virtual unsigned threads() const = 0;
  /// Whether no convolution may go by Winograd's products.
  virtual bool withoutWinograd() const = 0;
  /// The name of the implementation that must compute the call (Step::implementation).
  virtual std::optional<std::string> implementation(const LibraryCall &call, llvm::StringRef target) const = 0;
};

} // namespace tess::compiler
