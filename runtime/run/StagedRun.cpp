//===- StagedRun.cpp - runs a program stage by stage ----------------------===//
#include "runtime/run/StagedRun.h"
#include "ops/vocabulary/Error.h"
#include "runtime/bind/Commands.h"
#include "runtime/bind/Stages.h"
#include "runtime/run/GrownMemory.h"
#include "runtime/run/StagedLoop.h"
#include "llvm/ADT/STLExtras.h"

#include <map>

namespace tess::runtime {

namespace {

/// One run.
class StagedRunner {
public:
  StagedRunner(Commands &whole, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs,
               llvm::ArrayRef<uint64_t> scalars, const RunOptions &options, RunProgram runProgram)
      : whole(whole), staged(*whole.staged), inputs(inputs), outputs(outputs), scalars(scalars), options(options),
        runProgram(runProgram), pointers(staged.stages.size()) {}
  llvm::Error run();

private:
  llvm::Error run(size_t stage);
  llvm::Error runLoop(size_t stage, llvm::ArrayRef<void *> from);
  llvm::Expected<void *> placeOf(const StageOutput &output, const TensorMeta &meta);
  RunOptions optionsOf(size_t stage);

  Commands &whole;
  StagedBinding &staged;
  llvm::ArrayRef<void *> inputs, outputs;
  llvm::ArrayRef<uint64_t> scalars;
  const RunOptions &options;
  RunProgram runProgram;
  std::vector<std::vector<TensorMeta>> made; // by stage
  std::vector<std::vector<void *>> pointers; // of the outputs, by stage
  std::vector<BufferRef> buffers;
  std::map<std::pair<int32_t, uint32_t>, int64_t> trips; // by stage and output: of those that grew
};

} // namespace

/// The memory for an output of a stage that may become as large as `meta`; null: it takes that of an input over.
llvm::Expected<void *> StagedRunner::placeOf(const StageOutput &output, const TensorMeta &meta) {
  Device &device = whole.program->device();
  if (output.result < 0) {
    llvm::Expected<BufferRef> buffer = Buffer::allocate(device, bytesOf(meta));
    if (!buffer)
      return buffer.takeError();
    return buffers.emplace_back(std::move(*buffer))->data();
  }
  const OutputDecl &decl = whole.program->executable().outputs[output.result];
  const TensorMeta &most = whole.mostOutputs[output.result];
  void *given = outputs[output.result];
  if (given && most.isStatic() && bytesOf(meta) <= bytesOf(most))
    return given;
  if (!given && decl.donates >= 0)
    return nullptr;
  if (options.allocate)
    return options.allocate(size_t(output.result), meta);
  if (given) // fewer elements that data picks can make it larger: x[4:-9:-1]
    return invalidArgument(whole.program->name() + ": output " + decl.name + " must fit into memory for " +
                           toString(most) + ", got " + toString(meta));
  if (bytesOf(meta) == 0)
    return nullptr;
  return invalidArgument(whole.program->name() + ": output " + decl.name + " must have memory, got none");
}

/// How a stage runs; what grew in it is for later stages, or for the caller.
RunOptions StagedRunner::optionsOf(size_t number) {
  const Stage &stage = staged.stages[number];
  RunOptions own;
  own.stream = options.stream;
  own.isCounted = options.isCounted;
  own.poll = options.poll;
  own.takeGrown = [&, number](size_t output, BufferRef buffer, int64_t saved) {
    pointers[number][output] = buffer->data();
    trips[{int32_t(number), uint32_t(output)}] = saved;
    if (int32_t result = stage.outputs[output].result; result >= 0)
      options.takeGrown(size_t(result), std::move(buffer), saved);
    else
      buffers.push_back(std::move(buffer));
  };
  own.savedTrips = [&](size_t input) {
    auto [from, index] = stage.inputs[input];
    if (from < 0)
      return options.savedTrips ? options.savedTrips(index) : 1;
    return trips[{from, index}];
  };
  return own;
}

llvm::Error StagedRunner::runLoop(size_t number, llvm::ArrayRef<void *> from) {
  const Stage &stage = staged.stages[number];
  Metas metas = staged.inputsOf(number, made);
  llvm::Expected<BoundRef> body = staged.bind(number, bodyInputsOf(*stage.loop, metas));
  if (!body)
    return body.takeError();
  pointers[number].resize(stage.outputs.size());
  auto place = [&](size_t result, const TensorMeta &meta) { return placeOf(stage.outputs[result], meta); };
  llvm::Expected<std::vector<TensorMeta>> results =
      runtime::runLoop({stage, **body, metas, from, scalars, place}, pointers[number], optionsOf(number), runProgram);
  if (!results)
    return results.takeError();
  made.push_back(std::move(*results));
  return llvm::Error::success();
}

llvm::Error StagedRunner::run(size_t number) {
  const Stage &stage = staged.stages[number];
  llvm::SmallVector<void *, 8> from;
  for (StageInput input : stage.inputs)
    from.push_back(input.stage < 0 ? inputs[input.index] : pointers[input.stage][input.index]);
  for (auto [index, output] : llvm::enumerate(stage.outputs))
    if (stage.loop && stage.loop->isGrown(index) && output.result >= 0 && !options.takeGrown)
      return nobodyTakes(*whole.program, size_t(output.result));
  if (stage.loop)
    return runLoop(number, from);
  llvm::Expected<BoundRef> bound = staged.bind(number, staged.inputsOf(number, made));
  if (!bound)
    return bound.takeError();
  for (auto [index, output, meta] : llvm::enumerate(stage.outputs, (*bound)->mostOutputs())) {
    void *&place = pointers[number].emplace_back();
    bool isGrown = (*bound)->isOutputGrown(index);
    if (isGrown && output.result >= 0 && !options.takeGrown)
      return nobodyTakes(*whole.program, size_t(output.result));
    if (!isGrown)
      if (llvm::Error error = placeOf(output, meta).moveInto(place))
        return error;
  }
  if (llvm::Error error = runProgram(**bound, from, pointers[number], scalars, optionsOf(number)))
    return error;
  made.emplace_back((*bound)->outputs().begin(), (*bound)->outputs().end());
  return llvm::Error::success();
}

llvm::Error StagedRunner::run() {
  for (auto [number, stage] : llvm::enumerate(staged.stages)) {
    if (llvm::Error error = run(number))
      return error;
    for (auto [output, meta] : llvm::zip_equal(stage.outputs, made.back()))
      if (output.result >= 0)
        whole.outputs[output.result] = meta;
  }
  return llvm::Error::success();
}

llvm::Error runStages(Commands &whole, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs,
                      llvm::ArrayRef<uint64_t> scalars, const RunOptions &options, RunProgram runProgram) {
  return StagedRunner(whole, inputs, outputs, scalars, options, runProgram).run();
}

} // namespace tess::runtime
