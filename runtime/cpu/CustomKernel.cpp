//===- CustomKernel.cpp - operators of libraries --------------------------===//
//
// Hands memory to a library's functions (ops/custom). The object that `create` makes
// belongs to the prepared kernel, whose runs take turns; without it they may overlap.
//
//===----------------------------------------------------------------------===//
#include "ops/custom/CustomCalls.h"
#include "runtime/cpu/GuardedMemory.h"
#include "runtime/cpu/Kernels.h"
#include "runtime/threads/ParallelFor.h"
#include "llvm/ADT/STLExtras.h"

#include <cstring>
#include <mutex>

namespace tess::runtime::cpu {

namespace {

using custom::Operator;

void runInParallel(const TessCall *call, int64_t count, int64_t least, void (*body)(void *, int64_t, int64_t),
                   void *context) {
  const int64_t parts = std::clamp<int64_t>(count / std::max<int64_t>(least, 1), 1, call->threads);
  parallelFor(unsigned(parts), count, 1, [&](int64_t begin, int64_t end, unsigned) { body(context, begin, end); });
}

const TessHost &runHost() {
  static const TessHost host = [] {
    TessHost made = custom::plainHost();
    made.parallel_for = runInParallel;
    return made;
  }();
  return host;
}

size_t bytesOf(const TensorMeta &meta) { return size_t(meta.numElements() * byteWidth(meta.dtype)); }

/// Members of both directions: metas as libraries know them, the object of `create`, and memory.
class CustomKernel : public PreparedKernel {
public:
  ~CustomKernel() override {
    if (made && functions.destroy)
      functions.destroy(made);
  }

  llvm::Error run(RunContext &context, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
    if (functions.create)
      lock.lock();
    TessCall call{op, {}, false, context.threads};
    TessRun run = {};
    run.size = sizeof run;
    run.host = &runHost();
    run.call = &call;
    run.workspace = context.workspace;
    run.made = made;
    run.user = functions.user;
    return runWith(run, call, context, inputs, outputs);
  }

  /// Asks for resources and has the state made.
  llvm::Error prepare() {
    TessCall call{op};
    TessInfer infer = {sizeof infer,
                       &runHost(),
                       &call,
                       inputMetas.data(),
                       uint32_t(inputMetas.size()),
                       outputMetas.data(),
                       uint32_t(outputMetas.size()),
                       functions.user};
    TessResources resources = {sizeof resources, 0, 1};
    if (functions.resources) {
      resources.threads = threadCount;
      if (functions.resources(&infer, isBackward, &resources))
        return custom::errorOf(call);
    }
    workspace = resources.workspace_bytes;
    threadCount = std::clamp<unsigned>(resources.threads, 1, threadCount);
    if (functions.create && functions.create(&infer, isBackward, &made))
      return custom::errorOf(call);
    return llvm::Error::success();
  }

protected:
  CustomKernel(const PrepareRequest &request, bool isBackward)
      : op(request.op), library(*Operator::of(request.op.info())), functions(library.functions()),
        isBackward(isBackward) {
    implementationName = "library:" + library.origin().library;
    isLibraryCall = true;
    looksAtData = true; // a function may refuse what it gets
    threadCount = request.threads;
  }

  virtual llvm::Error runWith(TessRun &run, TessCall &call, RunContext &context, llvm::ArrayRef<void *> inputs,
                              llvm::ArrayRef<void *> outputs) const = 0;

  const OpDef op;
  const Operator &library;
  const TessOperator &functions;
  const bool isBackward;
  llvm::SmallVector<TessMeta, 4> inputMetas, outputMetas;
  void *made = nullptr;

private:
  mutable std::mutex mutex;
};

class ForwardKernel : public CustomKernel {
public:
  explicit ForwardKernel(const PrepareRequest &request)
      : CustomKernel(request, false), numStates(functions.num_states),
        numInputs(unsigned(request.inputs.size()) - library.numTrailing()) {
    for (const TensorMeta &meta : request.inputs.take_front(numInputs + numStates))
      inputMetas.push_back(custom::metaFor(meta));
    for (unsigned i = 0; i < functions.num_outputs; ++i) {
      const TensorMeta &meta = request.outputs[library.resultOf(i)];
      outputMetas.push_back(custom::metaFor(meta));
      outputBytes.push_back(bytesOf(meta));
    }
    for (unsigned i = 0; i < numStates; ++i)
      stateBytes.push_back(bytesOf(request.inputs[numInputs + i]));
    isTraining = library.usesTraining() && op.attr(op.numAttrs() - 1).boolean();
  }

private:
  llvm::Error runWith(TessRun &run, TessCall &call, RunContext &context, llvm::ArrayRef<void *> inputs,
                      llvm::ArrayRef<void *> outputs) const override {
    GuardedMemory guarded(outputBytes, run.workspace, workspace);
    llvm::SmallVector<TessTensor, 8> in, out, states;
    for (unsigned i = 0; i < numInputs; ++i)
      in.push_back({inputs[i], &inputMetas[i], TESS_NULL});
    for (unsigned i = 0; i < functions.num_outputs; ++i) {
      void *data = outputs[library.resultOf(i)];
      const bool isShared = llvm::is_contained(inputs.take_front(numInputs), data) && outputBytes[i];
      out.push_back(
          {isShared ? data : guarded.placeOf(i, data), &outputMetas[i], isShared ? TESS_INPLACE : TESS_WRITE});
    }
    for (unsigned i = 0; i < numStates; ++i) {
      void *data = outputs[library.stateResult(i)];
      if (data != inputs[numInputs + i])
        std::memcpy(data, inputs[numInputs + i], stateBytes[i]);
      states.push_back({data, &inputMetas[numInputs + i], TESS_WRITE});
    }
    if (library.usesRandom()) {
      run.seed = *static_cast<const uint64_t *>(inputs[numInputs + numStates]);
      run.offset = *static_cast<const uint64_t *>(inputs[numInputs + numStates + 1]);
    }
    llvm::SmallVector<int64_t, 4> dataSizes(functions.num_outputs, -1);
    run.is_training = isTraining;
    run.data_sizes = dataSizes.data();
    run.inputs = in.data(), run.num_inputs = uint32_t(in.size());
    run.outputs = out.data(), run.num_outputs = uint32_t(out.size());
    run.states = states.data(), run.num_states = numStates;
    if (functions.forward(&run))
      return custom::errorOf(call);
    if (llvm::Error error = guarded.finish(op.name(), [&](size_t i) { return functions.outputs[i].name; }))
      return error;
    return takeSize(dataSizes, context);
  }

  /// Hands the size on that data decided.
  llvm::Error takeSize(llvm::ArrayRef<int64_t> dataSizes, RunContext &context) const {
    const int output = library.dataSized();
    if (output < 0)
      return llvm::Error::success();
    const int64_t size = dataSizes[size_t(output)], most = outputMetas[size_t(output)].sizes[0];
    if (size < 0 || size > most)
      return makeError(ErrorCode::Internal, op.name() + ": the size of " + functions.outputs[output].name +
                                                " must be in [0, " + llvm::Twine(most) + "], got " + llvm::Twine(size));
    context.unknownExtent = size;
    return llvm::Error::success();
  }

  const unsigned numStates, numInputs;
  llvm::SmallVector<size_t, 4> outputBytes, stateBytes;
  bool isTraining;
};

class BackwardKernel : public CustomKernel {
public:
  explicit BackwardKernel(const PrepareRequest &request) : CustomKernel(request, true) {
    for (const TensorMeta &meta : request.inputs)
      inputMetas.push_back(custom::metaFor(meta));
    unsigned result = 0;
    for (int64_t isNeeded : custom::neededGradients(op)) {
      places.push_back(isNeeded ? int(result) : -1);
      outputMetas.push_back(isNeeded ? custom::metaFor(request.outputs[result]) : custom::kUnknownMeta);
      if (isNeeded)
        outputBytes.push_back(bytesOf(request.outputs[result++]));
    }
  }

private:
  llvm::Error runWith(TessRun &run, TessCall &call, RunContext &, llvm::ArrayRef<void *> inputs,
                      llvm::ArrayRef<void *> outputs) const override {
    GuardedMemory guarded(outputBytes, run.workspace, workspace);
    llvm::SmallVector<TessTensor, 8> in, out;
    for (auto [data, meta] : llvm::zip_equal(inputs, inputMetas))
      in.push_back({data, &meta, TESS_NULL});
    for (auto [place, meta] : llvm::zip_equal(places, outputMetas)) {
      void *data = place < 0 ? nullptr : guarded.placeOf(size_t(place), outputs[size_t(place)]);
      out.push_back({data, &meta, place < 0 ? TESS_NULL : TESS_WRITE});
    }
    run.is_training = 1;
    run.inputs = in.data(), run.num_inputs = uint32_t(in.size());
    run.outputs = out.data(), run.num_outputs = uint32_t(out.size());
    if (functions.backward(&run))
      return custom::errorOf(call);
    return guarded.finish(op.name(), [](size_t) { return "a gradient"; });
  }

  llvm::SmallVector<int, 4> places; // of gradients among the results; -1: nobody wants them
  llvm::SmallVector<size_t, 4> outputBytes;
};

template <typename Kernel> llvm::Expected<PreparedRef> prepared(const PrepareRequest &request) {
  auto kernel = std::make_shared<Kernel>(request);
  if (llvm::Error error = kernel->prepare())
    return std::move(error);
  return kernel;
}

} // namespace

llvm::Expected<PreparedRef> prepareCustom(const PrepareRequest &request) {
  const Operator &library = *Operator::of(request.op.info());
  return library.isBackward(request.op.info()) ? prepared<BackwardKernel>(request) : prepared<ForwardKernel>(request);
}

} // namespace tess::runtime::cpu
