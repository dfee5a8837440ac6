//===- CompiledOp.h - what a class of calls compiles to ---------*- C++ -*-===//
#pragma once

#include "eager/tensor/Counters.h"
#include "eager/tensor/Operator.h"
#include "runtime/bind/Bind.h"
#include "runtime/device/Device.h"
#include "llvm/ADT/IntrusiveRefCntPtr.h"

#include <atomic>
#include <list>
#include <mutex>
#include <unordered_map>

namespace tess::eager {

/// Operator with static attributes, dtypes and ranks of its operands, class of its iteration space.
struct OpKey {
  uint64_t op = 0, operands = 0, space = 0;
};

/// A kernel that eager launches itself: one elementwise step.
struct DirectKernel {
  runtime::LoadedCodeRef image;
  runtime::KernelFn fn = nullptr;
  int64_t picosecondsPerElement = 0;
  bool isStrided = false; // it walks some operand by stride
  llvm::SmallVector<DType, 4> resultDTypes;
  /// Runs of axes of the iteration space that the kernel sees as one.
  llvm::SmallVector<runtime::AxisGroup, 4> groups;
  /// Per kernel pointer: the operand, or numOperands + the result.
  llvm::SmallVector<uint8_t, 8> values;
  /// Attribute of the operator, or immediate bits, per runtime attribute of the kernel.
  struct Scalar {
    int attr = -1;
    uint64_t bits = 0;
  };
  llvm::SmallVector<Scalar, 2> scalars;
};

/// A runtime attribute as generated code reads it.
inline uint64_t bitsOf(const AttrValue &value) {
  if (value.kind() == AttrKind::F64)
    return __builtin_bit_cast(uint64_t, value.f64());
  return value.kind() == AttrKind::Bool ? uint64_t(value.boolean()) : uint64_t(value.i64());
}

/// A program bound to shapes, with the shapes.
struct BoundShapes {
  std::vector<TensorMeta> inputs;
  OpDef op; // whose attributes were read; none where the program has them
  runtime::BindSettings settings;
  bool isInPlace = false; // the result lies where an operand lay
  uint64_t hash = 0;      // of inputs, op and settings
  runtime::Bound::TableCalls calls;
  uint64_t bytes = 0; // that the cache counts
  std::mutex running; // a Bound runs on one thread at a time
  runtime::BoundRef bound;
};
/// A thread that runs the program holds one: the cache may drop its own meanwhile.
using BoundShapesRef = std::shared_ptr<BoundShapes>;

/// A key in 128 bits; keys that differ in only one word have different prints. Two chains of mixHash would take a third
/// longer, which every eager call pays.
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

/// Whether compiled code depends on the value of an attribute; otherwise, on what isSameForm() compares. `sizesLater`:
/// it is a DirectKernel, which serves every shape, or a program whose binding reads what bind time reads.
inline bool isKeyAttr(const OpInfo &info, unsigned attr, bool sizesLater) {
  return !info.attrs[attr].isRuntime && !(sizesLater && info.attrs[attr].isBindTime);
}
/// Whether both are given or neither is, and lists are equally long, as a shape's is its rank.
bool isSameForm(const AttrValue &a, const AttrValue &b);
/// Whether the operator is a call of the kernel table, which takes operands of any size.
inline bool callsTable(const OpInfo &info) {
  return info.lowering == Lowering::Library || info.lowering == Lowering::Sequential;
}
/// Whether a size of 1, which may repeat, is part of the code of its programs.
inline bool keepsOnes(const OpInfo &info) { return !callsTable(info); }
/// Whether its calls are compiled so: as a DirectKernel, or as one step whose code is the same for all of them.
inline bool readsSizesLater(const OpInfo &info, bool direct) {
  return direct || info.lowering == Lowering::Movement || info.lowering == Lowering::Window || callsTable(info);
}

/// The words of an OpKey: static attributes, dtypes and segments, ranks. Attributes that bind
/// time reads count where readsSizesLater() says no.
uint64_t keyOfOp(const OpDef &op, bool direct);
uint64_t keyOfOperands(llvm::ArrayRef<Operand> operands, llvm::ArrayRef<unsigned> segments);
uint64_t keyOfRanks(llvm::ArrayRef<Operand> operands);

/// What a class of calls compiles to, and from what. Only the bindings change. Shared by the cache and by threads.
class CompiledOp : public llvm::ThreadSafeRefCountedBase<CompiledOp> {
public:
  CompiledOp(const OpKey &key, OpDef op) : key(key), op(std::move(op)) {}

  const KeyPrint key;
  std::unique_ptr<DirectKernel> direct; // null: run the program
  const OpDef op;                       // for the static attributes
  runtime::ProgramRef program;
  bool bindsAttrs = false; // the program is this one operator: a binding has the call's attributes
  uint64_t bytes = 0;
  std::string text; // OpClass::toText()

  /// Whether the code serves `other`, whose key is equal: a hash is not an identity, so the operator and the attributes
  /// that code depends on are compared.
  bool answers(const OpDef &other) const {
    return &op.info() == &other.info() && (other.numAttrs() == 0 || hasAttrs(other));
  }

  ~CompiledOp();

  /// A binding for these shapes, settings and, where bindsAttrs, attributes, null when there is none; addBound() keeps
  /// one. The bindings of the process are bounded in bytes: beyond the limit, an operator that gets one more drops the
  /// one that it used longest ago.
  BoundShapesRef findBound(llvm::ArrayRef<TensorMeta> inputs, const OpDef &call, const runtime::BindSettings &settings);
  void addBound(BoundShapesRef bound);

private:
  bool hasAttrs(const OpDef &other) const;
  bool isFor(const BoundShapes &bound, llvm::ArrayRef<TensorMeta> inputs, const OpDef &call,
             const runtime::BindSettings &settings) const;
  void dropOldest();

  /// Of shapes, and of attributes: a loop over the steps of a sequence comes back to all of them.
  static constexpr size_t kMostShapes = 32, kMostAttrs = 4096;
  std::mutex mutex;
  std::list<BoundShapesRef> bindings;
  std::unordered_map<uint64_t, std::list<BoundShapesRef>::iterator> index; // by hash; of equal ones the latest
};
using CompiledOpPtr = llvm::IntrusiveRefCntPtr<CompiledOp>;

constexpr uint64_t kDefaultOpCacheLimit = uint64_t(256) << 20;

/// Bytes of the bindings of all operators, and the most that they may be: a quarter of what operators may.
struct BindingBytes {
  static std::atomic<uint64_t> held, limit;
};

} // namespace tess::eager
