//===- OpCache.h - compiled operators by class ------------------*- C++ -*-===//
//
// One per process, sharded, bounded in bytes with second chance, safe for any
// number of threads; a class that is being compiled is compiled once. Each
// thread keeps a small direct-mapped front, so that a hit takes no lock.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/OpDef.h"
#include "runtime/Bind.h"
#include "runtime/Code.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <atomic>
#include <list>
#include <mutex>

namespace tess::eager {

/// Operator with static attributes, dtypes and ranks of its operands, class of its iteration space.
struct OpKey {
  uint64_t op = 0, operands = 0, space = 0;
};

/// A kernel that eager launches itself: one elementwise step.
struct DirectKernel {
  std::shared_ptr<runtime::CodeImage> image;
  runtime::KernelFn fn = nullptr;
  int64_t picosecondsPerElement = 0;
  llvm::SmallVector<DType, 4> resultDTypes;
  /// Runs of axes of the iteration space that the kernel sees as one.
  llvm::SmallVector<runtime::AxisGroup, 4> groups;
  /// Per kernel pointer: the operand, or numOperands + the result.
  llvm::SmallVector<uint8_t, 8> values;
  /// Attribute of the operator, or immediate bits, per runtime attribute of the kernel.
  struct Scalar {
    int attr = -1;
    bool isInt = false;
    uint64_t bits = 0;
  };
  llvm::SmallVector<Scalar, 2> scalars;
};

/// A program bound to shapes, with the shapes.
struct BoundShapes {
  Metas inputs;
  bool isTrain;
  unsigned threads;
  Metas results; // sizes that depend on data at their upper bound
  bool callsLibrary;
  std::mutex running; // a Bound runs on one thread at a time
  runtime::BoundRef bound;
};
using BoundShapesRef = std::shared_ptr<BoundShapes>;

/// What a class of calls compiles to, and from what. Immutable but for the bindings.
class CompiledOp {
public:
  OpDef op;                             // for the static attributes
  std::string text;                     // OpClass::toText()
  std::unique_ptr<DirectKernel> direct; // null: run the program
  runtime::ProgramRef program;
  uint64_t bytes = 0;

  /// Bindings for concrete shapes, the latest used first.
  BoundShapesRef findBound(llvm::ArrayRef<TensorMeta> inputs, bool isTrain, unsigned threads);
  void addBound(BoundShapesRef bound);

private:
  static constexpr size_t kMaxBound = 32;
  std::mutex mutex;
  std::list<BoundShapesRef> bindings;
};

/// A key in 128 bits; keys that differ in one of their words have different ones.
struct KeyPrint {
  explicit KeyPrint(const OpKey &key);
  uint64_t low, high;
  bool operator==(const KeyPrint &other) const = default;
};

/// What a look-up reads: half a line of the cache, beside those of other entries.
class alignas(32) OpEntry : public llvm::ThreadSafeRefCountedBase<OpEntry> {
public:
  OpEntry(const OpKey &key, OpDef op);
  static void *operator new(size_t size);
  static void operator delete(void *entry);

  std::atomic<bool> used = true; // since eviction last looked
  const uint16_t op;             // OpInfo::id
  const KeyPrint key;
  const std::unique_ptr<CompiledOp> compiled;
};
using OpEntryRef = llvm::IntrusiveRefCntPtr<OpEntry>;

struct OpCacheStats {
  uint64_t hits = 0, misses = 0, evictions = 0;
  uint64_t entries = 0, bytes = 0, limit = 0;
};

/// Whether the code of an entry depends on an attribute. `direct`: the entry has a DirectKernel, which serves every
/// shape.
bool isKeyAttr(const OpInfo &info, unsigned attr, bool direct);

/// The entry of `key` if this thread used it lately; it lives until the thread's next look-up. Null: ask findOrBuild.
const OpEntry *findInFront(const OpKey &key, const OpDef &op);
/// The entry of `key`; `build` makes it when there is none. `op` is compared too: a hash is not an identity.
llvm::Expected<OpEntryRef> findOrBuild(const OpKey &key, const OpDef &op,
                                       llvm::function_ref<llvm::Expected<OpEntryRef>()> build);

OpCacheStats opCacheStats();
/// The classes of all entries, as OpClass writes them, sorted.
std::vector<std::string> cachedClasses();
/// Evicts when it is below what is held.
void setOpCacheLimit(uint64_t bytes);
/// Forgets everything (tests); entries in use stay alive with their users.
void clearOpCache();

} // namespace tess::eager
