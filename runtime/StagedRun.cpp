//===- StagedRun.cpp - runs a program stage by stage ----------------------===//
#include "runtime/StagedRun.h"
#include "ops/Error.h"
#include "runtime/bind/Commands.h"
#include "runtime/bind/Stages.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::runtime {

static uint64_t bytesOf(const TensorMeta &meta) { return uint64_t(meta.numElements()) * byteWidth(meta.dtype); }

namespace {

/// One run.
class StagedRunner {
public:
  StagedRunner(Commands &whole, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs,
               llvm::ArrayRef<uint64_t> scalars, const RunOptions &options)
      : whole(whole), staged(*whole.staged), inputs(inputs), outputs(outputs), scalars(scalars), options(options),
        pointers(staged.stages.size()) {}
  llvm::Error run();

private:
  llvm::Error run(size_t stage);
  llvm::Expected<void *> placeOf(const StageOutput &output, const TensorMeta &meta);

  Commands &whole;
  StagedBinding &staged;
  llvm::ArrayRef<void *> inputs, outputs;
  llvm::ArrayRef<uint64_t> scalars;
  const RunOptions &options;
  std::vector<std::vector<TensorMeta>> made; // by stage
  std::vector<std::vector<void *>> pointers; // of the outputs, by stage
  std::vector<BufferRef> buffers;
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
  if (void *given = outputs[output.result]) {
    if (!most.isStatic() || bytesOf(meta) > bytesOf(most))
      return invalidArgument(whole.program->name() + ": output " + decl.name + " must fit into memory for " +
                             toString(most) + ", got " + toString(meta));
    return given;
  }
  if (decl.donates >= 0)
    return nullptr;
  if (options.allocate)
    return options.allocate(size_t(output.result), meta);
  if (bytesOf(meta) == 0)
    return nullptr;
  return invalidArgument(whole.program->name() + ": output " + decl.name + " must have memory, got none");
}

llvm::Error StagedRunner::run(size_t number) {
  const Stage &stage = staged.stages[number];
  llvm::Expected<BoundRef> bound = staged.bind(number, staged.inputsOf(number, made));
  if (!bound)
    return bound.takeError();
  llvm::SmallVector<void *, 8> from;
  for (StageInput input : stage.inputs)
    from.push_back(input.stage < 0 ? inputs[input.index] : pointers[input.stage][input.index]);
  for (auto [output, meta] : llvm::zip_equal(stage.outputs, (*bound)->mostOutputs()))
    if (llvm::Error error = placeOf(output, meta).moveInto(pointers[number].emplace_back()))
      return error;
  RunOptions own;
  own.stream = options.stream;
  own.isCounted = options.isCounted;
  if (llvm::Error error = runtime::run(**bound, from, pointers[number], scalars, own))
    return error;
  made.emplace_back((*bound)->outputs().begin(), (*bound)->outputs().end());
  for (auto [output, meta] : llvm::zip_equal(stage.outputs, made.back()))
    if (output.result >= 0)
      whole.outputs[output.result] = meta;
  return llvm::Error::success();
}

llvm::Error StagedRunner::run() {
  for (size_t stage = 0; stage < staged.stages.size(); ++stage)
    if (llvm::Error error = run(stage))
      return error;
  return llvm::Error::success();
}

llvm::Error runStages(Commands &whole, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs,
                      llvm::ArrayRef<uint64_t> scalars, const RunOptions &options) {
  return StagedRunner(whole, inputs, outputs, scalars, options).run();
}

} // namespace tess::runtime
