//===- Recording.h - what a traced function did -----------------*- C++ -*-===//
//
// The operators of one run, over numbered values. Variables that existed before
// are captured, not their values: a later run reads what they hold then. A
// variable that the function updates is an output that goes back into it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/tensor/BlockPool.h"
#include "eager/tensor/Location.h"
#include "eager/tensor/Operator.h"
#include "ops/vocabulary/SizeExpr.h"

#include <map>
#include <memory>

namespace tess::eager {

/// The symbol that stands for the size of an axis of the argument with this value number.
inline uint32_t symbolOf(uint32_t argument, unsigned axis) { return argument * kMaxRank + axis; }
/// The symbol that stands for the size of an axis of the value with this number, which data decides.
inline uint32_t dataSymbolOf(uint32_t value, unsigned axis) { return sizes::kDataSymbols + symbolOf(value, axis); }
/// The value number and the axis that symbolOf() or dataSymbolOf() was given.
inline uint32_t ownerOf(uint32_t symbol) { return symbol % sizes::kDataSymbols / kMaxRank; }
inline unsigned axisOf(uint32_t symbol) { return symbol % kMaxRank; }

/// What a function did: its values by number and its operators in order. Immutable once the recorder has ended, but
/// for the snapshots.
class Recording {
public:
  /// Where a value comes from; Captured: a variable that existed before the call.
  enum class ValueKind : uint8_t { Argument, Captured, Constant, Computed };
  /// One value; a variable has several, one after each update.
  struct Value {
    ValueKind kind;
    /// A bit for each axis whose size is a symbol.
    uint32_t freeAxes = 0;
    uint32_t tripAxes = 0; // of a body: those whose sizes data decides in a trip of a loop around it
    TensorMeta meta;
    std::string name;
    runtime::Device *device = nullptr; // set but for number 0
    TensorRef tensor;                  // Captured: the variable. Constant: the tensor.
    /// Captured: the value at its first use, for programs that take it as a constant.
    TensorRef snapshot;

    Value(ValueKind kind, TensorMeta meta, std::string name)
        : kind(kind), meta(std::move(meta)), name(std::move(name)) {}
    Value(const Value &) = default;
    Value &operator=(const Value &) = default;
    // They say that they do not throw: a list that grows moves its values.
    Value(Value &&) noexcept = default;
    Value &operator=(Value &&) noexcept = default;
  };
  /// One operator, with the place of its call.
  struct Op {
    /// Its sizes may be expressions of the arguments' sizes.
    OpDef op;
    llvm::SmallVector<uint32_t, 4> inputs; // value numbers
    llvm::SmallVector<unsigned, 4> segments;
    llvm::SmallVector<uint32_t, 2> outputs;
    Location location;
  };
  /// A variable that the function updated, and the value that it had at the end.
  struct Update {
    TensorRef variable; // null when it is an argument
    int argument = -1;
    uint32_t value = 0;
  };

  llvm::ArrayRef<Value> values() const { return valueList; } // number 0 is not used
  /// Operators in the order of their calls; numbers of the arguments, and of the outputs.
  llvm::ArrayRef<Op> ops() const { return opList; }
  llvm::ArrayRef<uint32_t> arguments() const { return argumentList; }
  llvm::ArrayRef<uint32_t> outputs() const { return outputList; }
  /// The size of the recorded call that a symbol stands for.
  int64_t sizeOf(uint32_t symbol) const;
  const TensorMeta &argumentMeta(size_t argument) const { return valueList[argumentList[argument]].meta; }
  /// The outputs that the function returns; the others were saved for its gradient.
  llvm::ArrayRef<uint32_t> results() const { return outputs().drop_back(numSaved); }
  llvm::ArrayRef<Update> updates() const { return updateList; }
  /// Numbers of the captured variables, in the order of their first use.
  llvm::ArrayRef<uint32_t> captured() const { return capturedList; }

  /// Whether the recording serves this call: the variables from outside have the dtypes and shapes that they had, and
  /// are none of its arguments; what is made of no tensor lies where it did.
  bool holds(llvm::ArrayRef<TensorRef> arguments) const;
  /// Whether the function read the variable, or its shape, from outside.
  bool captures(const TensorImpl *variable) const;
  /// Whether data decides the size of a value.
  bool hasDataSizes() const;
  /// An estimate of the bytes that it keeps, without its tensors.
  uint64_t heldBytes() const;
  /// Whether the function read a size that data decides, or a recording that ran nothing ended early at such a one.
  bool needsData() const { return dataShapes; }
  /// The first of the values that are read from outside, made by operators or returned, and one on another device;
  /// null: there is none.
  struct Places {
    const Value *first = nullptr, *apart = nullptr;
  };
  Places places() const;
  /// Why no program does what the function did, which runs eagerly then: it read a size that data decides, copied a
  /// tensor to another device, or its tensors are on several ones. "" where nothing forbids it.
  std::string whyEager() const;
  /// The place where the function first compared a size with a number; empty: it compared none.
  llvm::StringRef comparison() const { return comparedAt; }
  /// Frees the snapshots, when no program will need captured values as constants.
  void dropSnapshots() const;

private:
  friend class Recorder;
  friend class RecordingSplitter;
  mutable PooledVector<Value> valueList;
  PooledVector<Op> opList;
  std::vector<uint32_t> argumentList, outputList, capturedList;
  std::vector<Update> updateList;
  std::vector<std::pair<WeakTensor, TensorMeta>> lookedAt; // variables of which it read nothing but the shape
  runtime::Device *home = nullptr;                         // creationDevice() of the function
  /// Tensors from outside whose value the function read, each with what it held then.
  struct ValueRead {
    WeakTensor variable;
    TensorRef value;
    uint32_t version = 0;
  };
  std::vector<ValueRead> valueReads;
  std::string ownRead; // the place where it read the value of a tensor of its own
  bool dataShapes = false;
  std::string dataRead; // the place where it read a size that data decides; empty: it read none
  std::string comparedAt;
  std::string move; // "x from sim0 to cpu0", of a tensor that was copied to another device
  unsigned numSaved = 0;
};
/// "x"; "a tensor" for one without a name.
std::string nameOf(llvm::StringRef name);
/// "x on cpu0"; "a tensor on cpu0" for one without a name.
std::string placeOf(llvm::StringRef name, const runtime::Device &device);
std::string placeOf(const Recording::Value &value);
/// Shared by the programs and gradients that are made of it.
using RecordingRef = std::shared_ptr<const Recording>;

} // namespace tess::eager
