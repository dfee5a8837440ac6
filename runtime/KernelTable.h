//===- KernelTable.h - library and sequential kernels -----------*- C++ -*-===//
//
// The contract of every kernel that the compiler does not generate, and the
// table of them. A kernel is prepared once for its shapes (held in one
// byte-bounded LRU) and run many times.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/OpDef.h"
#include "llvm/ADT/ArrayRef.h"

#include <memory>
#include <string>

namespace tess::runtime {

/// What a kernel does with one output. Add: adds to what is there (gradient accumulation).
/// Inplace: as Write, and the memory is that of the first input.
enum class Req : uint8_t { Null, Write, Inplace, Add };

/// What one call gets. Kernels are called by one thread at a time per context.
struct RunContext {
  bool isTrain = false;
  unsigned threads = 1;
  /// PreparedKernel::workspaceBytes(), 64-byte aligned.
  void *workspace = nullptr;
  /// A kernel whose output size depends on data writes the extent of the unknown dimension here.
  int64_t unknownExtent = 0;
};

/// A kernel for given attributes, metas and layouts. Immutable: any number of threads may run it.
class PreparedKernel {
public:
  virtual ~PreparedKernel() = default;
  /// Inputs at their layouts, outputs contiguous. OutOfRange and such when the data is bad; outputs are then undefined.
  virtual llvm::Error run(RunContext &context, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<Req> reqs,
                          llvm::ArrayRef<void *> outputs) const = 0;

  size_t workspaceBytes() const { return workspace; }
  /// The implementation that was picked ("brg:avx512_core"); part of promise "one result".
  const std::string &implementation() const { return implementationName; }
  /// Threads it uses; above 1 it must run on the worker thread.
  unsigned threads() const { return threadCount; }
  /// The library computes every step of the epilogue itself.
  bool foldsEpilogue() const { return foldsAll; }
  /// Bytes it holds, for the cache's bound.
  size_t footprint() const { return heldBytes; }

protected:
  size_t workspace = 0;
  std::string implementationName = "own";
  unsigned threadCount = 1;
  size_t heldBytes = 1024;
  bool foldsAll = false;
};
using PreparedRef = std::shared_ptr<const PreparedKernel>;

struct PrepareRequest {
  const OpDef &op;
  /// The operator's operands, then the operands that the epilogue names.
  llvm::ArrayRef<TensorMeta> inputs;
  /// Of the inputs; offsets are already in the pointers.
  llvm::ArrayRef<Layout> layouts;
  /// Extents that depend on data are at their upper bound.
  llvm::ArrayRef<TensorMeta> outputs;
  unsigned threads = 1;
  bool isTrain = false;
  /// Empty: Write for every output.
  llvm::ArrayRef<Req> reqs = {};
  /// "relu", "mul:<input>", "add:<input>", "sum:<input>", in order, each rounded as the operator on its own.
  llvm::ArrayRef<std::string> epilogue = {};
  /// Must be picked if not empty; Unimplemented when it cannot.
  llvm::StringRef implementation = {};
};

struct KernelDef {
  const char *name;
  /// On the allow-list of README.md: not a library call, and not generated.
  bool sequential;
  llvm::Expected<PreparedRef> (*prepare)(const PrepareRequest &request);
  /// Metas of the results; null: the record's own rule.
  llvm::Expected<Metas> (*infer)(const OpDef &op, llvm::ArrayRef<TensorMeta> inputs) = nullptr;
  /// Unknown dimensions of the inputs from known outputs; null: nothing can be said.
  llvm::Error (*inferInputs)(const OpDef &op, llvm::MutableArrayRef<TensorMeta> inputs,
                             llvm::ArrayRef<TensorMeta> outputs) = nullptr;
};

/// The processor's kernels, by name.
llvm::ArrayRef<KernelDef> cpuKernels();
/// Null when there is none of that name.
const KernelDef *findKernel(llvm::ArrayRef<KernelDef> table, llvm::StringRef name);

/// Prepares through the cache. Errors are the kernel's own; Unimplemented when the table has no such kernel.
llvm::Expected<PreparedRef> prepareKernel(llvm::ArrayRef<KernelDef> table, const PrepareRequest &request);

/// True when the kernel computes the whole epilogue inside the library call and the implementation stays the one that
/// it picks without: the compiler's question before it folds. (prepareKernel takes any epilogue: what the library does
/// not do exactly, the kernel does after the call.)
llvm::Expected<bool> foldsEpilogue(llvm::ArrayRef<KernelDef> table, const PrepareRequest &request);

struct PreparedCacheStats {
  uint64_t hits = 0, misses = 0, evictions = 0;
  uint64_t entries = 0, bytes = 0, limit = 0;
};
PreparedCacheStats preparedCacheStats();
/// Evicts at once when it is below what is held.
void setPreparedCacheLimit(uint64_t bytes);

} // namespace tess::runtime
