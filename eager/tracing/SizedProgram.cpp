//===- SizedProgram.cpp - one program for calls of other sizes ------------===//
#include "eager/tracing/SizedProgram.h"
#include "eager/tensor/Location.h"
#include "eager/tracing/Recorder.h"
#include "eager/tracing/SymbolicShapes.h"
#include "ir/SizeChecks.h"
#include "ops/graphs/Control.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace tess::eager {

static std::pair<unsigned, unsigned> keyOf(const SizedProgram::Axis &axis) { return {axis.argument, axis.axis}; }
static bool isBefore(const SizedProgram::Axis &a, const SizedProgram::Axis &b) { return keyOf(a) < keyOf(b); }

llvm::Expected<SizedProgram::Shared> SizedProgram::of(const RecordingRef &first, const RecordingRef &second,
                                                      const Ref &known) {
  llvm::Expected<SizeDifference> difference = differenceInSizes(*first, *second);
  if (!difference)
    return difference.takeError();
  if (!difference->why.empty())
    return Shared{nullptr, std::move(difference->why)};
  std::vector<Axis> axes = std::move(difference->axes); // in order
  if (known && std::includes(known->freeAxes.begin(), known->freeAxes.end(), axes.begin(), axes.end(), isBefore))
    return Shared{known, ""};
  std::vector<Axis> all;
  llvm::ArrayRef<Axis> before = known ? known->axes() : llvm::ArrayRef<Axis>();
  std::set_union(axes.begin(), axes.end(), before.begin(), before.end(), std::back_inserter(all), isBefore);
  return Shared{Ref(new SizedProgram(second, std::move(all))), ""};
}

/// `error` as the reason that there is no program; what says nothing about sizes is returned.
static llvm::Error takeReason(llvm::Error error, std::string &reason) {
  auto [code, message] = takeError(std::move(error));
  if (code != ErrorCode::InvalidArgument && code != ErrorCode::Unimplemented)
    return makeError(code, message);
  reason = message;
  return llvm::Error::success();
}

llvm::Error SizedProgram::compile(GraphOptions options, bool fuse) {
  options.argumentDims.resize(recording->arguments().size());
  for (auto [number, axis] : llvm::enumerate(freeAxes)) {
    options.dims.push_back({"d" + std::to_string(number), kLeastFreeSize, INT64_MAX});
    ArgumentDims &dims = options.argumentDims[axis.argument];
    dims.resize(recording->argumentMeta(axis.argument).rank(), -1);
    dims[axis.axis] = int(number);
  }
  auto compiled = TracedProgram::compile(recording, options, fuse);
  if (!compiled)
    return takeReason(compiled.takeError(), reason);
  program = std::move(*compiled);
  return llvm::Error::success();
}

llvm::Expected<std::shared_ptr<TracedProgram>> SizedProgram::get(llvm::ArrayRef<TensorRef> arguments,
                                                                 const GraphOptions &options, bool fuse) {
  std::unique_lock<std::mutex> lock = lockInRegion(mutex);
  if (!program && reason.empty())
    if (llvm::Error e = compile(options, fuse))
      return std::move(e);
  if (!program)
    return nullptr;
  std::string unused;
  if (llvm::Error e = program->bindTo(arguments)) {
    if (llvm::Error other = takeReason(std::move(e), unused))
      return std::move(other);
    return nullptr;
  }
  return program;
}

bool SizedProgram::isCompiled() {
  std::unique_lock<std::mutex> lock = lockInRegion(mutex);
  return program || !reason.empty();
}

std::string SizedProgram::why() {
  std::unique_lock<std::mutex> lock = lockInRegion(mutex);
  return reason;
}

/// Why the recording is another program at sizes of data that are moved, empty where it is not: by the first of the
/// moves that all operators take. Nothing: they take none.
static llvm::Expected<std::optional<std::string>> whyOther(const Recording &recording, RecordMoved record,
                                                           llvm::ArrayRef<SizeMove> moves) {
  std::string unused;
  for (const SizeMove &move : moves) {
    llvm::Expected<RecordingRef> again = record(move);
    if (!again) { // an operator takes the sizes of the call and not these
      if (llvm::Error e = takeReason(again.takeError(), unused))
        return std::move(e);
      continue;
    }
    llvm::Expected<SizeDifference> difference = differenceInSizes(recording, **again);
    if (!difference)
      return difference.takeError();
    return difference->why;
  }
  return std::nullopt;
}

/// How many sizes data decides at most in the body of a loop.
static size_t mostDataSizes(const OpDef &loop) {
  size_t most = 0;
  for (const Subgraph::Node &node : control::bodyOf(loop).nodes)
    if (control::hasBody(node.op.info()))
      most += mostDataSizes(node.op);
    else if (node.op.info().boundRule)
      most += node.outputs.size() * kMaxRank;
  return most;
}

/// How many sizes data decides at most.
static size_t mostDataSizes(const Recording &recording) {
  size_t most = 0;
  for (const Recording::Op &op : recording.ops())
    if (control::hasBody(op.op.info()))
      most += mostDataSizes(op.op);
    else if (op.op.info().boundRule)
      for (uint32_t output : op.outputs)
        most += recording.values()[output].meta.rank();
  return most;
}

std::string whyTakenForEqual(const Recording &recording) {
  if (!recording.hasDataSizes())
    return "";
  SymbolicShapes shapes;
  auto recorded = [&](uint32_t symbol) { return recording.sizeOf(symbol); };
  for (const Recording::Op &op : recording.ops()) {
    if (!ir::needsSizeChecks(op.op))
      continue;
    Metas operands;
    for (uint32_t input : op.inputs)
      operands.emplace_back(recording.values()[input].meta.dtype, shapes.of(recording, input));
    for (const ir::SizeCheck &check : ir::sizeChecks(op.op, operands, op.segments)) {
      int64_t own = sizes::substitute(operands[check.operand].shape[check.axis], recorded);
      int64_t other = sizes::substitute(check.size, recorded);
      if (own != other && own != kUnknown && other != kUnknown)
        return (op.op.name() + " of sizes " + llvm::Twine(own) + " and " + llvm::Twine(other) +
                ", which it takes for equal, at " + op.location.describe())
            .str();
    }
  }
  return "";
}

llvm::Expected<std::string> whyFixedByData(const Recording &recording, RecordMoved record) {
  if (!recording.hasDataSizes())
    return "";
  auto why = whyOther(recording, record, {{1}, {2}, {3}, {4}, {6}, {-1}, {-2}, {1, -1}, {-1, 1}, {2, -2}});
  if (!why || *why)
    return why ? llvm::Expected<std::string>(**why) : why.takeError();
  // Some are compared with what they were, as each run of the program will: these cannot move, others can.
  for (size_t number = 0, count = mostDataSizes(recording); number < count; ++number) {
    std::vector<SizeMove> alone;
    for (int64_t step : {int64_t(1), int64_t(2), int64_t(-1), kToOne})
      alone.emplace_back(count).at(number) = step;
    why = whyOther(recording, record, alone);
    if (!why)
      return why.takeError();
    if (*why && !(*why)->empty())
      return **why;
  }
  return "";
}

} // namespace tess::eager
