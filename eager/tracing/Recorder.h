//===- Recorder.h - writes down what a function does ------------*- C++ -*-===//
#pragma once

#include "eager/stack/Apply.h"
#include "eager/stack/Tracer.h"
#include "eager/tracing/Recording.h"
#include "ops/graphs/SizeValues.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <functional>

namespace tess::eager {

struct Segment;
class SizeTensors;
class SymbolicShapes;

/// A tensor on creationDevice() that has a shape but no memory. Reading its value is an error: `why`, or, where that is
/// null, that only inference made it.
TensorRef valueless(const TensorMeta &meta, const FailureRef &why = nullptr);
bool isValueless(const TensorImpl &tensor);

/// By how much sizes that data decides are moved, as far as their bounds allow: the first of them by the first number,
/// the second by the second, and so on, behind the last number from the first again; empty: none is moved.
using SizeMove = std::vector<int64_t>;
/// In the place of such a number: the size becomes 1.
constexpr int64_t kToOne = INT64_MIN;
/// Sizes that a recording which runs nothing takes where data decides: those of a recording of the same function,
/// moved; in bodies of loops their bounds, moved. With bounds it has those that have none.
struct DataSizes {
  RecordingRef like; // null: such a size is an error
  SizeMove move = {};
  /// The number of `move` for the data size with this number.
  int64_t stepOf(size_t number) const { return move.empty() ? 0 : move[number % move.size()]; }
};

/// Writes a Recording on one thread.
class Recorder final : public Tracer {
public:
  /// Whether the recorded operators run. If not, results are valueless, and every variable gets its old value and
  /// gradient back at the end. A size that depends on data is that of DataSizes with InferOnly, and its upper bound
  /// with InferBounds.
  enum class Mode : uint8_t { Run, InferOnly, InferBounds };
  /// Starts to record this thread, with the given variables as arguments. InvalidArgument when it records already.
  static llvm::Expected<std::shared_ptr<Recorder>> begin(llvm::ArrayRef<TensorRef> arguments, Mode mode = Mode::Run,
                                                         const DataSizes &dataSizes = {});
  /// Lets the function read values of its own tensors: the recording then says why it is no program.
  void allowReads() { readsAllowed = true; }
  /// Ends a recording that runs nothing and runs it (`ends`), or begins the one that follows. A part of a function is
  /// interrupted so where an operator, or the function, needs values: without it that is an error.
  using Interruption = std::function<llvm::Error(bool ends)>;
  void allowInterruptions(Interruption allowed) { interruption = std::move(allowed); }
  /// Must be called before the value of a tensor is read. An error when that would make the trace depend on data.
  llvm::Error noteValueRead(TensorImpl &tensor);
  /// Starts to record the body of a loop, by inference, until it ends: only then does what recorded this thread before
  /// go on, for which the body's operators have not happened. With InferBounds a size that depends on data is its upper
  /// bound, moved as those of the outer recording are; with InferOnly it is an error. `axes`: those of each argument.
  struct Axes {
    uint32_t free = 0; // a bit for each axis whose size depends on sizes that the outer recording knows
    uint32_t trip = 0; // the same where these are sizes that data decides in a trip of a loop around
  };
  static std::shared_ptr<Recorder> beginBody(llvm::ArrayRef<TensorRef> arguments, llvm::ArrayRef<Axes> axes, Mode mode);
  /// Ends the recording; `outputs`: what the function returns.
  RecordingRef end(llvm::ArrayRef<TensorRef> outputs);
  /// A place in a recording, as the operators and values before it.
  struct Boundary {
    size_t ops = 0;
    uint32_t values = 0;
  };
  /// The place where the function ended with `outputs` and its gradient begins.
  Boundary beginGradient(llvm::ArrayRef<TensorRef> outputs);
  /// Adds an argument without a value, of the dtype, shape and device of `like`.
  TensorRef addArgument(const TensorImpl &like);
  /// Ends a recording that ran nothing, to run it later (Segment.h). Variables keep what the function gave them.
  Segment endSegment();
  /// Ends a recording that is taken apart.
  Recording endWhole(llvm::ArrayRef<TensorRef> outputs);
  /// Ends the recording without a result, because the function raised.
  void abandon();
  /// The recorder of this thread, or null.
  static Recorder *current();

  /// The layer of the stack: writes down the calls, and runs or infers them (Tracing.cpp).
  llvm::Error apply(Call &call, Tensors &results) override;
  void noteAssign(TensorImpl &variable, TensorImpl &value) override;
  llvm::Error noteMove(const TensorImpl &tensor, const runtime::Device &to) override;
  /// A variable whose gradient changed, and the gradient that it had before; null: none.
  struct GradBefore {
    TensorRef variable, grad;
  };
  /// Must be called before the gradient of `variable` changes, or is replaced.
  void noteGrad(TensorImpl &variable);
  llvm::ArrayRef<GradBefore> gradsBefore() const { return grads; }
  /// Whether the variable is an argument, or one from outside that has been used up to now.
  bool uses(TensorImpl &variable) const { return variables.count(&variable); }
  /// The axes of a tensor, which may be one from outside, for a body within this recording.
  Axes axesOf(TensorImpl &tensor);
  void noteUse(TensorImpl &tensor) override { (void)numberOf(tensor); }
  /// The function read the shape of a variable from outside, which may be an argument of another call.
  void noteLook(TensorImpl &variable);
  /// Whether the function must run: it read a size that data decides, or copied a tensor to another device.
  bool mustRun() const { return recording.dataShapes || !recording.move.empty(); }
  /// Whether the function left a gradient behind, by detach() or no_grad, of which a recording says nothing.
  bool leavesGradients() const { return gradientsLeft; }
  /// Must be called when the function learns a size that data decides: its later runs may do something else.
  void noteDataRead();
  /// Must be called when the function compares a size: what it does then may be another thing at other sizes.
  void noteComparison();
  /// Symbols are those of SymbolicShapes.h.
  std::optional<llvm::ArrayRef<int64_t>> symbolicShape(const TensorImpl &tensor) override;
  int64_t sizeOf(uint32_t symbol) const override { return recording.sizeOf(symbol); }
  /// The elements of a tensor of integers that an operator takes as sizes, by expressions where they follow from sizes,
  /// else as they are now: other runs may do something else then, as noteDataRead() says.
  llvm::Expected<SizeValues> readSizes(TensorImpl &tensor);
  /// Reads sizes as readSizes() does, but those that follow from data the program finds where it can, by the operator
  /// extent: the recording holds for others.
  llvm::Expected<SizeValues> takeSizes(TensorImpl &tensor);
  /// The bound of a slice of an axis of `size`, a number or an expression, by a tensor of one integer. One that the
  /// program finds is the position itself, between 0 and the size; others may be negative.
  llvm::Expected<int64_t> takeBound(TensorImpl &tensor, int64_t size);
  uint32_t number() const override { return id; }
  /// Gives the size here of a size of the recording with this number, or of one around. None: it is of another
  /// recording, or a tensor is gone.
  std::optional<int64_t> sizeHere(int64_t size, uint32_t recording);
  /// As noteDataRead(), for the recording with this number, which is this one or around it.
  void noteDataReadOf(uint32_t recording);
  ~Recorder();

private:
  Recorder();
  static std::shared_ptr<Recorder> create(llvm::ArrayRef<TensorRef> arguments, Mode mode, const DataSizes &dataSizes);
  bool runsOperators() const { return mode == Mode::Run; }
  llvm::Error infer(const Call &call, Tensors &results);
  llvm::Error inferOrInterrupt(Call &call, Tensors &results, bool &isRecorded);
  llvm::Error interrupt(llvm::function_ref<llvm::Error()> between);
  /// Whether this recording may be, and is not around that of a body.
  bool mayInterrupt() const { return interruption && current() == this; }
  llvm::Expected<Metas> inferMetas(const Call &call);
  llvm::Expected<std::optional<SizeValues>> knownSizes(TensorImpl &tensor);
  llvm::Expected<SizeValues> peek(TensorImpl &tensor);
  llvm::Expected<bool> isFound(TensorImpl &tensor, bool isBound);
  /// Number of a value, and its element; of a bound also the size of the axis.
  using SizeKey = std::tuple<uint32_t, int64_t, std::optional<int64_t>>;
  llvm::Expected<int64_t> findSize(const SizeKey &key, llvm::function_ref<llvm::Expected<TensorRef>()> make);
  void takeDataSizes(Metas &metas, llvm::ArrayRef<TensorMeta> bounds);
  void takeBounds(Metas &metas, llvm::ArrayRef<TensorMeta> bounds);
  int64_t movedSize(int64_t known, int64_t most);
  void record(const Call &call, llvm::ArrayRef<TensorRef> results);
  /// Writes down a tensor that the function made of bytes.
  void recordConstant(TensorImpl &tensor);
  uint32_t numberOf(TensorImpl &tensor);
  TensorImpl *tensorOf(uint32_t symbol) const;
  uint32_t addValue(Recording::ValueKind kind, TensorImpl &tensor);
  void addArgument(const TensorRef &argument);
  void collectUpdates();
  void leave();
  void restore();

  Mode mode = Mode::Run;
  DataSizes dataSizes;
  size_t nextLike = 0;   // among the operators of dataSizes.like
  unsigned numMoved = 0; // sizes that have been moved
  uint32_t id = 0;
  Recording recording;
  /// Variables by address; they are kept alive by the recording.
  std::map<TensorImpl *, uint32_t> variables;
  std::map<uint32_t, TensorRef> sizedByData; // by number
  std::vector<TensorRef> updated;
  std::vector<GradBefore> grads;
  // InferOnly: of `updated`, and the memory of results, by number.
  std::vector<TensorRef> oldValues;
  std::vector<std::pair<StorageRef, uint32_t>> pending;
  std::unique_ptr<SymbolicShapes> symbolicShapes; // once one is asked for
  std::unique_ptr<SizeTensors> sizeTensors;       // the same
  bool readsSizes = false;                        // a read is that of peek()
  std::map<SizeKey, int64_t> foundSizes;          // symbols of sizes that the program finds
  bool readsAllowed = false;
  Interruption interruption; // empty: there is none
  // Of a body: what recorded the thread before, and the tags of captured variables from there.
  std::shared_ptr<Recorder> outer;
  std::vector<std::pair<TensorRef, Tag>> outerTags;
  bool isBody = false;
  bool gradientsLeft = false;
};

/// Must be called before the gradient of `variable` changes, or is replaced: this thread may record.
inline void noteGrad(TensorImpl &variable) {
  if (Recorder *recorder = Recorder::current())
    recorder->noteGrad(variable);
}

/// Must be called before memory of a tensor is read, or given away to be read: this thread may record.
inline llvm::Error noteValueRead(TensorImpl &tensor) {
  Recorder *recorder = Recorder::current();
  return recorder ? recorder->noteValueRead(tensor) : llvm::Error::success();
}

/// Whether TESS_DISABLE_TRACE is set, and not to 0. Each traced call asks, because the environment may change.
bool isTraceDisabled();

} // namespace tess::eager
