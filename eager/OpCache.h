//===- OpCache.h - compiled operators by class ------------------*- C++ -*-===//
//
// One per process, sharded, bounded in bytes with second chance, safe for any
// number of threads; a class that is being compiled is compiled once. A hit
// takes no lock.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/Counters.h"
#include "eager/HazardPointer.h"
#include "ops/OpDef.h"
#include "runtime/Code.h"
#include "runtime/bind/Bind.h"
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
  std::vector<TensorMeta> inputs;
  unsigned threads;
  Count origin;       // of its results
  uint64_t bytes = 0; // that the cache counts
  std::mutex running; // a Bound runs on one thread at a time
  runtime::BoundRef bound;
};
using BoundShapesRef = std::shared_ptr<BoundShapes>;

/// A key in 128 bits; keys that differ in one of their words have different ones.
struct KeyPrint {
  explicit KeyPrint(const OpKey &key) {
    constexpr uint64_t a = 0x9E3779B97F4A7C15ull, b = 0xD6E8FEB86659FD93ull;
    low = key.op * a;
    low = (low ^ key.operands ^ low >> 31) * b;
    low = (low ^ key.space ^ low >> 29) * b;
    high = (key.space ^ b) * a;
    high = (high ^ key.op ^ high >> 32) * b;
    high = (high ^ key.operands ^ high >> 30) * a;
  }
  uint64_t low, high;
  bool operator==(const KeyPrint &other) const = default;
};

/// Whether compiled code depends on an attribute. `direct`: it is a DirectKernel, which serves every shape.
inline bool isKeyAttr(const OpInfo &info, unsigned attr, bool direct) {
  if (info.lowering == Lowering::Elementwise && info.attrs[attr].isRuntime)
    return false; // an operand of the kernel
  return !(direct && info.attrs[attr].shapeOnly);
}

/// What a class of calls compiles to, and from what. Immutable but for the bindings. Aligned as EntryTable wants it.
class alignas(64) CompiledOp {
public:
  CompiledOp(const OpKey &key, OpDef op) : key(key), op(std::move(op)) {}

  const KeyPrint key;
  std::unique_ptr<DirectKernel> direct; // null: run the program
  const OpDef op;                       // for the static attributes
  runtime::ProgramRef program;
  uint64_t bytes = 0;
  std::string text; // OpClass::toText()

  /// Equal attributes, where the code depends on them; key and operator are known to be equal.
  bool answers(const OpDef &other) const { return other.numAttrs() == 0 || hasAttrs(other); }

  ~CompiledOp();

  /// Bindings for concrete shapes, the latest used first. All of the process are bounded in bytes: where there are
  /// more, an operator that gets another one gives up its oldest.
  BoundShapesRef findBound(llvm::ArrayRef<TensorMeta> inputs, unsigned threads);
  void addBound(BoundShapesRef bound);

private:
  bool hasAttrs(const OpDef &other) const;
  void dropOldest();

  static constexpr size_t kMaxBound = 32;
  std::mutex mutex;
  std::list<BoundShapesRef> bindings;
};

/// What a look-up found: evicted or not, it lives while this does. For the thread that looked it up.
class CompiledOpRef {
public:
  CompiledOpRef() = default; // null
  CompiledOpRef(CompiledOp *op, HazardPointer hazard) : op(op), hazard(std::move(hazard)) {}
  explicit operator bool() const { return op; }
  CompiledOp &operator*() const { return *op; }
  CompiledOp *operator->() const { return op; }
  CompiledOp *get() const { return op; }

private:
  CompiledOp *op = nullptr;
  HazardPointer hazard;
};

struct OpCacheStats {
  uint64_t hits = 0, misses = 0, evictions = 0;
  uint64_t entries = 0, bytes = 0, limit = 0;
  uint64_t bindingBytes = 0, bindingLimit = 0;
};

using BuiltOp = llvm::Expected<std::unique_ptr<CompiledOp>>;
/// The operator of `key`; `build` makes it when there is none. `op` is compared too: a hash is not an identity.
llvm::Expected<CompiledOpRef> findOrBuild(const OpKey &key, const OpDef &op, llvm::function_ref<BuiltOp()> build);

OpCacheStats opCacheStats();
/// The classes of all entries, as OpClass writes them, sorted.
std::vector<std::string> cachedClasses();
/// Evicts when it is below what is held. Bindings may have a quarter of it beside.
void setOpCacheLimit(uint64_t bytes);
/// Forgets everything (tests); what is in use stays alive until then.
void clearOpCache();

} // namespace tess::eager
