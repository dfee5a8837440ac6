//===- Recording.h - what a traced function did -----------------*- C++ -*-===//
//
// The operators of one run, over numbered values. Variables that existed before
// are captured, not their values: a later run reads what they hold then. A
// variable that the function updates is an output that goes back into it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/Apply.h"
#include "eager/Location.h"
#include "ir/GraphBuilder.h"

#include <map>
#include <memory>

namespace tess::eager {

struct Segment;

/// Names and bounds that a user gives to the dimensions of an argument: index of a NamedDim, or -1.
using ArgumentDims = llvm::SmallVector<int, 4>;

class Recording {
public:
  enum class ValueKind : uint8_t { Argument, Captured, Constant, Computed };
  struct Value {
    ValueKind kind;
    TensorMeta meta;
    std::string name;
    /// Captured: the variable. Constant: the tensor.
    TensorRef tensor;
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
  struct Op {
    OpDef op;
    llvm::SmallVector<uint32_t, 4> inputs; // value numbers
    llvm::SmallVector<unsigned, 4> segments;
    llvm::SmallVector<uint32_t, 2> outputs;
    Location location;
  };
  /// A variable that the function updated, and the value it ended with.
  struct Update {
    /// Null when it is an argument.
    TensorRef variable;
    int argument = -1;
    uint32_t value = 0;
  };

  llvm::ArrayRef<Value> values() const { return valueList; } // number 0 is not used
  llvm::ArrayRef<Op> ops() const { return opList; }
  llvm::ArrayRef<uint32_t> arguments() const { return argumentList; }
  llvm::ArrayRef<uint32_t> outputs() const { return outputList; }
  /// The outputs that the function returns; the others are there for its gradient.
  llvm::ArrayRef<uint32_t> results() const { return outputs().drop_back(numSaved); }
  llvm::ArrayRef<Update> updates() const { return updateList; }
  /// Numbers of the captured variables, in the order of their first use.
  llvm::ArrayRef<uint32_t> captured() const { return capturedList; }

  /// The captured variables have the dtypes and shapes that they had, and are none of the arguments of this call.
  bool holds(llvm::ArrayRef<TensorRef> arguments) const;
  /// The variable is one from outside.
  bool captures(const TensorImpl *variable) const;
  /// A recording that ran nothing ended early at an operator whose shapes depend on data.
  bool needsData() const { return dataShapes; }
  /// No program will want captured values as constants: lets their memory go.
  void dropSnapshots() const;

private:
  friend class Recorder;
  friend class RecordingSplitter;
  mutable std::vector<Value> valueList;
  std::vector<Op> opList;
  std::vector<uint32_t> argumentList, outputList, capturedList;
  std::vector<Update> updateList;
  bool dataShapes = false;
  unsigned numSaved = 0;
};
using RecordingRef = std::shared_ptr<const Recording>;

/// A tensor that has a shape and no memory: reading its value is an error, `why` or that only inference made it.
TensorRef valueless(const TensorMeta &meta, const FailureRef &why = nullptr);
bool isValueless(const TensorImpl &tensor);

/// Writes a Recording on one thread.
class Recorder {
public:
  /// Whether the recorded operators run. If not, results are valueless and every variable has its old value at the end;
  /// with InferBounds, sizes that depend on data are at their upper bounds, where InferOnly ends with an error.
  enum class Mode : uint8_t { Run, InferOnly, InferBounds };
  /// Starts on this thread with the given variables as arguments. InvalidArgument when one records already.
  static llvm::Expected<std::shared_ptr<Recorder>> begin(llvm::ArrayRef<TensorRef> arguments, Mode mode = Mode::Run);
  /// Ends it; `outputs` are what the function returns.
  llvm::Expected<RecordingRef> end(llvm::ArrayRef<TensorRef> outputs);
  /// A place in a recording: what was before it.
  struct Boundary {
    size_t ops = 0;
    uint32_t values = 0;
  };
  /// The function ended with `outputs`; what follows is its gradient.
  Boundary beginGradient(llvm::ArrayRef<TensorRef> outputs);
  /// One more argument, without a value.
  TensorRef addArgument(const TensorMeta &meta);
  /// Ends a recording that ran nothing, to run it later (Segment.h). Variables keep what the function gave them.
  Segment endSegment();
  /// As end(), for recordings that are taken apart.
  llvm::Expected<Recording> endWhole(llvm::ArrayRef<TensorRef> outputs);
  /// Ends it without a result (the function raised).
  void abandon();
  /// The recorder of this thread, or null.
  static Recorder *current();

  bool runsOperators() const { return mode == Mode::Run; }
  bool boundsSizes() const { return mode == Mode::InferBounds; }
  void record(const OpDef &op, llvm::ArrayRef<unsigned> segments, llvm::ArrayRef<Operand> operands,
              llvm::ArrayRef<TensorRef> results);
  void recordConstant(TensorImpl &tensor);
  /// Before `variable` takes over the value of another.
  void noteUpdate(TensorImpl &variable);
  /// Before the value of `tensor` goes to another variable.
  void noteUse(TensorImpl &tensor) { (void)numberOf(tensor); }
  /// A result's shape depends on data, and nothing runs.
  void noteDataShape() { recording.dataShapes = true; }
  bool needsData() const { return recording.dataShapes; }
  /// An error when reading the value would make the trace depend on data.
  llvm::Error checkRead(const TensorImpl &tensor) const;

private:
  Recorder() = default;
  uint32_t numberOf(TensorImpl &tensor);
  uint32_t addValue(Recording::ValueKind kind, TensorImpl &tensor);
  void addArgument(const TensorRef &argument);
  void collectUpdates();
  void leave();
  void restore();

  Mode mode = Mode::Run;
  uint32_t id = 0;
  Recording recording;
  /// Variables by address; they are kept alive by the recording.
  std::map<TensorImpl *, uint32_t> variables;
  std::vector<TensorRef> updated;
  // InferOnly: of `updated`, and the memory of results, by number.
  std::vector<TensorRef> oldValues;
  std::vector<std::pair<StorageRef, uint32_t>> pending;
};

/// TESS_DISABLE_TRACE is set, and not to 0. Asked by each traced call: the environment may change while the process
/// runs.
bool isTraceDisabled();

/// How a recording becomes a program.
struct GraphOptions {
  /// Captured variables that are not updated become constants.
  bool captureAsConstants = false;
  /// Variables that are updated become state of the program, which starts with their values now (files).
  bool keepsState = false;
  /// Names of arguments and outputs; defaults "arg0", "output0".
  std::vector<std::string> argumentNames, outputNames;
  std::vector<ir::NamedDim> dims;
  /// Per argument; empty: all sizes as recorded.
  std::vector<ArgumentDims> argumentDims;
  /// Arguments that the caller gives up: a result of the same shape and dtype may take over the memory of one.
  std::vector<unsigned> donated;
};

/// The function updates the captured variable of value `number`.
bool isUpdated(const Recording &recording, uint32_t number);

/// Inputs: arguments, then captured variables in their order (unless constants). Outputs: the function's, then the
/// updates; those of state come last. InvalidArgument when state would change its dtype or shape.
llvm::Expected<ir::Graph> buildGraph(const Recording &recording, const GraphOptions &options);

} // namespace tess::eager
