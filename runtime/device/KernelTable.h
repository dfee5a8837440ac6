//===- KernelTable.h - kernels that no program brings -----------*- C++ -*-===//
//
// The contract of every kernel that the compiler does not generate, and the
// table of them. A kernel is prepared once for its shapes (held in one
// byte-bounded LRU) and run many times.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/operator/OpDef.h"
#include "runtime/device/KernelSettings.h"
#include "runtime/schema/KernelAbi.h"
#include "llvm/ADT/ArrayRef.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tess::runtime {

class Stream;

/// What one call is given beside its operands. One thread at a time may use a context.
struct RunContext {
  unsigned threads = 1;
  /// PreparedKernel::workspaceBytes(), 64-byte aligned.
  void *workspace = nullptr;
  /// A kernel whose output size depends on data writes the extent of the unknown dimension here.
  int64_t unknownExtent = 0;
  /// The operator, and the user's line where it is known, as in KernelLaunch.
  const char *what = nullptr, *where = nullptr;
  /// Of the call, on a device whose memory the host does not address; null on others.
  Stream *stream = nullptr;
};

/// How a packing orders an image [batch, channels, ...] where channels are in whole blocks.
struct ChannelOrder {
  /// [images, blocks, a block of each position, 1]; the third axis has the block's channel `i % block` at `i`.
  Shape shape;
  int64_t block; // divides kLanes

  /// Over `shape`, an operand of a kernel that goes by channel: a whole image, an element for each channel, or a
  /// number.
  Layout layoutOf(const Layout &rowMajor, InnerClass inner) const;
};

/// A layout of the library's own, of as many bytes as the row-major one unless it is of constants.
struct Packing {
  /// Opaque; equal texts are equal layouts. Empty: row-major.
  std::string text;
  /// None where it is of no image, or its channels lie otherwise.
  std::optional<ChannelOrder> order = std::nullopt;
  /// Bytes of a constant in it; 0: as many as row-major.
  size_t constantBytes = 0;
};

/// A kernel for given attributes and metas. Immutable: any number of threads may run it.
class PreparedKernel {
public:
  virtual ~PreparedKernel() = default;
  /// Operands are row-major, or in the packings of the request. OutOfRange and such when the data is bad; outputs are
  /// then undefined.
  virtual llvm::Error run(RunContext &context, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const = 0;

  /// Bytes of memory that a run needs for itself (RunContext::workspace).
  size_t workspaceBytes() const { return workspace; }
  /// The name of the implementation that was picked ("brg:avx512_core"), which promise "one result" fixes.
  const std::string &implementation() const { return implementationName; }
  /// How it goes about it, where an operator has kernels of one implementation that differ in this alone.
  const std::string &form() const { return formText; }
  /// Whether a library computes the result, rather than loops of our own (runtime/cpu/Own*.cpp, the allow-list).
  bool callsLibrary() const { return isLibraryCall; }
  /// Threads it uses; above 1 it must run on the worker thread.
  unsigned threads() const { return threadCount; }
  /// Whether run() looks at values and may refuse them, as an index out of range.
  bool checksData() const { return looksAtData; }
  /// The packing in which the kernel reads an input, or writes output 0, without reordering.
  Packing inputPacking(size_t input) const { return input < inputPackings.size() ? inputPackings[input] : Packing(); }
  const Packing &outputPacking() const { return resultPacking; }
  /// Whether run() changes elements of output 0, which must hold those of input 0 when it is called.
  bool updatesOutput() const { return isUpdate; }
  /// Bytes it holds, for the cache's bound.
  size_t footprint() const { return heldBytes; }

protected:
  size_t workspace = 0;
  std::string implementationName = "own";
  std::string formText;
  bool isLibraryCall = false;
  unsigned threadCount = 1;
  bool looksAtData = false;
  bool isUpdate = false;
  size_t heldBytes = 1024;
  std::vector<Packing> inputPackings;
  Packing resultPacking;
};
/// Shared by the cache and the programs that use the kernel.
using PreparedRef = std::shared_ptr<const PreparedKernel>;

/// What a kernel is made for.
struct PrepareRequest {
  const OpDef &op;
  llvm::ArrayRef<TensorMeta> inputs;
  /// Extents that depend on data are at their upper bound.
  llvm::ArrayRef<TensorMeta> outputs;
  unsigned threads = 1;
  /// How the inputs (empty: all row-major) and output 0 lie: texts of packings that the kernel for row-major ones asked
  /// for.
  llvm::ArrayRef<std::string> inputPackings = {};
  llvm::StringRef outputPacking = {};
  /// The implementation that must be picked; Unimplemented when there is none of that name. Empty: any.
  llvm::StringRef implementation = {};
  KernelSettings settings = {};
  /// The form that the kernel must have, one of KernelDef::variants. Empty: that of the rule.
  llvm::StringRef form = {};
  /// Whether a kernel with other bits may compute the call (numerics "fast").
  bool mayMoveBits = false;
};

/// A kernel that can compute a request. Kernels of one implementation give the same bits, in whatever form.
struct KernelVariant {
  std::string implementation, form;
};

/// Who computes: kernels that the compiler wrote when the library was built (runtime/contract), a library, or loops of
/// our own that only a sequential walk allows. README.md lists each.
enum class KernelKind : uint8_t { Contraction, Library, Sequential };

/// One row of a device's table.
struct KernelDef {
  const char *name;
  KernelKind kind;
  llvm::Expected<PreparedRef> (*prepare)(const PrepareRequest &request);
  /// Copies input `input`, row-major at `from`, to `to` in a packing that the prepared kernel asked for; null: there is
  /// none.
  llvm::Error (*pack)(const PrepareRequest &request, unsigned input, llvm::StringRef packing, const void *from,
                      void *to) = nullptr;
  /// The kernels that can compute a request; null: there is one. Kernels that have this give the same bits for all
  /// numbers of threads.
  std::vector<KernelVariant> (*variants)(const PrepareRequest &request) = nullptr;
};

/// The processor's kernels, by name.
llvm::ArrayRef<KernelDef> cpuKernels();
/// The row of that name; null when there is none.
const KernelDef *findKernel(llvm::ArrayRef<KernelDef> table, llvm::StringRef name);

/// The prepared kernel, from the cache where it has one. Thread-safe. Errors are those of the kernel; Unimplemented
/// when the table has none for the operator.
llvm::Expected<PreparedRef> prepareKernel(llvm::ArrayRef<KernelDef> table, const PrepareRequest &request);

/// Counts since the process began; what is held now and the limit, in bytes.
struct PreparedCacheStats {
  uint64_t hits = 0, misses = 0, evictions = 0;
  uint64_t entries = 0, bytes = 0, limit = 0;
  double seconds = 0;     // in which kernels were prepared
  uint64_t fallbacks = 0; // preparations that took our own loops, since the library has no such kernel
};
/// Of the cache of this process.
PreparedCacheStats preparedCacheStats();
/// Sets the limit in bytes, and evicts at once what is beyond it.
void setPreparedCacheLimit(uint64_t bytes);
/// Counts a fallback (PreparedCacheStats::fallbacks).
void noteFallback();

} // namespace tess::runtime
