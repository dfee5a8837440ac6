//===- CustomInfer.cpp - metas by a library's functions -------------------===//
#include "ops/custom/CustomCalls.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>

namespace tess::custom {

/// Stands for open sizes where a library needs numbers: divisible, and larger than most windows.
static constexpr int64_t kExampleSize = 64;

InferCall::InferCall(const OpDef &op, llvm::ArrayRef<TensorMeta> operands)
    : custom(*Operator::of(op.info())), call{op} {
  const TessOperator &functions = custom.functions();
  for (const TensorMeta &meta : operands)
    inputs.push_back(metaFor(meta));
  outputs.assign(functions.num_outputs, kUnknownMeta);
  infer = {sizeof infer,
           &plainHost(),
           &call,
           inputs.data(),
           uint32_t(inputs.size()),
           outputs.data(),
           uint32_t(outputs.size()),
           functions.user};
}

/// Checks what a library said of an output by what it declared.
static llvm::Error checkOutput(const OpDef &op, const TessValue &declared, const TensorMeta &meta) {
  if (declared.dtypes && !(declared.dtypes >> unsigned(kindOf(meta.dtype)) & 1))
    return makeError(ErrorCode::Internal, op.name() + ": infer must give " + declared.name +
                                              " a dtype that was declared, got " + toString(meta));
  if ((declared.flags & TESS_DATA_SIZED) && !meta.rank())
    return makeError(ErrorCode::Internal, op.name() + ": infer must give " + declared.name +
                                              " an axis that data sizes, got " + toString(meta));
  return llvm::Error::success();
}

/// Asks again with numbers for open sizes. Dtypes and ranks follow from the answer; sizes do not.
llvm::Error InferCall::askByExample() {
  llvm::SmallVector<TessMeta, 4> examples = inputs;
  for (TessMeta &meta : examples)
    for (int64_t &size : llvm::MutableArrayRef(meta.sizes, size_t(meta.rank)))
      size = size < 0 ? kExampleSize : size;
  call.message.clear();
  infer.inputs = examples.data();
  const int status = custom.functions().infer(&infer);
  infer.inputs = inputs.data();
  if (status)
    return errorOf(call);
  for (TessMeta &meta : outputs)
    std::fill(meta.sizes, meta.sizes + TESS_MAX_RANK, kUnknown);
  return llvm::Error::success();
}

llvm::Expected<Metas> InferCall::results(bool wantsBound) {
  const unsigned numInputs = unsigned(inputs.size()) - (custom.usesRandom() ? 2 : 0);
  infer.num_inputs = numInputs;
  const int status = custom.functions().infer(&infer);
  if (status && status != TESS_OPEN_SIZES)
    return errorOf(call);
  if (status)
    if (llvm::Error error = askByExample())
      return std::move(error);
  Metas metas(custom.forward().results.size());
  for (auto [i, meta] : llvm::enumerate(outputs)) {
    const TessValue &declared = custom.functions().outputs[i];
    TensorMeta &to = metas[custom.resultOf(unsigned(i))];
    if (llvm::Error error = metaFrom(call.op.name(), declared.name, meta).moveInto(to))
      return std::move(error);
    if (llvm::Error error = checkOutput(call.op, declared, to))
      return std::move(error);
    if ((declared.flags & TESS_DATA_SIZED) && !wantsBound)
      to.shape[0] = kUnknown;
  }
  const unsigned numStates = custom.functions().num_states;
  for (unsigned i = 0; i < numStates; ++i) {
    const TessMeta &meta = inputs[numInputs - numStates + i];
    metas[custom.stateResult(i)] = TensorMeta(DType(meta.dtype), llvm::ArrayRef(meta.sizes, size_t(meta.rank)));
  }
  return metas;
}

llvm::Expected<Metas> inferForward(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, llvm::ArrayRef<unsigned>) {
  return InferCall(op, operands).results(/*wantsBound=*/false);
}

llvm::Expected<Metas> boundForward(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, llvm::ArrayRef<unsigned>) {
  return InferCall(op, operands).results(/*wantsBound=*/true);
}

//===----------------------------------------------------------------------===//
// Both ways
//===----------------------------------------------------------------------===//

namespace {

bool isSame(const TessMeta &a, const TessMeta &b) {
  return a.dtype == b.dtype && a.rank == b.rank && (a.rank < 0 || std::equal(a.sizes, a.sizes + a.rank, b.sizes));
}

/// Takes over what was found of a value; an error where it is something else than what was known.
llvm::Error merge(const OpDef &op, llvm::StringRef name, const TessMeta &known, TessMeta &found) {
  auto contradicts = [](int64_t a, int64_t b, int64_t open) { return a != open && b != open && a != b; };
  bool differs =
      contradicts(known.dtype, found.dtype, TESS_UNKNOWN) || contradicts(known.rank, found.rank, TESS_UNKNOWN);
  for (int32_t i = 0; !differs && known.rank >= 0 && i < std::min(known.rank, found.rank); ++i)
    differs = contradicts(known.sizes[i], found.sizes[i], kUnknown);
  if (differs)
    return invalidArgument(op.name() + ": " + name + " must be what inference finds, got another dtype or shape");
  if (found.dtype == TESS_UNKNOWN)
    found.dtype = known.dtype;
  if (found.rank == TESS_UNKNOWN) {
    found.rank = known.rank;
    std::copy(known.sizes, known.sizes + TESS_MAX_RANK, found.sizes);
  }
  for (int32_t i = 0; known.rank >= 0 && i < found.rank; ++i)
    if (found.sizes[i] == kUnknown)
      found.sizes[i] = known.sizes[i];
  return llvm::Error::success();
}

/// The name of one of `count` inputs with states behind, where one input may be variadic.
const char *operandName(const TessOperator &op, size_t count, size_t i) {
  const size_t numInputs = count - op.num_states;
  if (i >= numInputs)
    return op.states[i - numInputs].name;
  const llvm::ArrayRef inputs(op.inputs, op.num_inputs);
  const auto *found = llvm::find_if(inputs, [](const TessValue &input) { return input.flags & TESS_VARIADIC; });
  const size_t variadic = size_t(found - inputs.begin());
  if (i <= variadic)
    return inputs[i].name;
  const size_t behind = numInputs - i; // from this one on
  return behind < inputs.size() - variadic ? inputs[inputs.size() - behind].name : found->name;
}

/// Checks the number of inputs with states behind.
llvm::Error checkCount(const OpDef &op, const TessOperator &functions, size_t count) {
  const llvm::ArrayRef inputs(functions.inputs, functions.num_inputs);
  auto isNeeded = [](const TessValue &input) { return !(input.flags & (TESS_OPTIONAL | TESS_VARIADIC)); };
  const bool isVariadic = llvm::any_of(inputs, [](const TessValue &input) { return input.flags & TESS_VARIADIC; });
  const size_t least = size_t(llvm::count_if(inputs, isNeeded)) + functions.num_states,
               most = isVariadic ? std::numeric_limits<size_t>::max() : inputs.size() + functions.num_states;
  if (count >= least && count <= most)
    return llvm::Error::success();
  return invalidArgument(op.name() + ": inputs with states must be at least " + llvm::Twine(least) +
                         (isVariadic ? "" : " and at most " + std::to_string(most)) + ", got " + llvm::Twine(count));
}

bool isKnown(const TessMeta &meta) {
  return meta.dtype >= 0 && meta.rank >= 0 &&
         !llvm::is_contained(llvm::ArrayRef(meta.sizes, size_t(meta.rank)), kUnknown);
}

/// Inference of one call, again and again.
class BothWays {
public:
  BothWays(const OpDef &op, const Known &known) : op(op), custom(*Operator::of(op.info())), call{op} {
    auto metas = [](const auto &values, auto &to) {
      for (const std::optional<TensorMeta> &meta : values)
        to.push_back(meta ? metaFor(*meta) : kUnknownMeta);
    };
    metas(known.inputs, inputs);
    metas(known.outputs, outputs);
  }

  llvm::Error run() {
    const TessOperator &functions = custom.functions();
    for (bool moved = true; moved;) {
      moved = false;
      if (llvm::all_of(inputs, [](const TessMeta &meta) { return meta.dtype >= 0 && meta.rank >= 0; }))
        if (llvm::Error error = step(functions.infer, moved))
          return error;
      if (functions.infer_back)
        if (llvm::Error error = step(functions.infer_back, moved))
          return error;
    }
    return llvm::Error::success();
  }

  llvm::Expected<bool> found(Known &known) const {
    bool all = true;
    auto take = [&](llvm::ArrayRef<TessMeta> from, auto &to) -> llvm::Error {
      for (auto [meta, place] : llvm::zip(from, to)) {
        all &= isKnown(meta);
        place.reset();
        if (meta.dtype < 0 || meta.rank < 0)
          continue;
        llvm::Expected<TensorMeta> one = metaFrom(op.name(), "a value", meta);
        if (!one)
          return one.takeError();
        place = std::move(*one);
      }
      return llvm::Error::success();
    };
    if (llvm::Error error = take(inputs, known.inputs))
      return std::move(error);
    if (llvm::Error error = take(outputs, known.outputs))
      return std::move(error);
    return all;
  }

private:
  using Metas = llvm::SmallVector<TessMeta, 4>;

  llvm::Error step(int (*function)(TessInfer *), bool &moved) {
    Metas in = inputs, out = outputs;
    TessInfer infer = {sizeof infer,         &plainHost(),           &call, in.data(), uint32_t(in.size()), out.data(),
                       uint32_t(out.size()), custom.functions().user};
    if (function(&infer))
      return errorOf(call);
    auto keep = [&](Metas &known, Metas &found, auto nameOf) -> llvm::Error {
      for (unsigned i = 0; i < known.size(); ++i) {
        if (llvm::Error error = merge(op, nameOf(i), known[i], found[i]))
          return error;
        moved |= !isSame(known[i], found[i]);
      }
      known = found;
      return llvm::Error::success();
    };
    const TessOperator &functions = custom.functions();
    if (llvm::Error error = keep(inputs, in, [&](unsigned i) { return operandName(functions, inputs.size(), i); }))
      return error;
    return keep(outputs, out, [&](unsigned i) { return functions.outputs[i].name; });
  }

  const OpDef &op;
  const Operator &custom;
  TessCall call;
  Metas inputs, outputs;
};

} // namespace

llvm::Expected<bool> inferBothWays(const OpDef &op, Known &known) {
  const TessOperator &functions = Operator::of(op.info())->functions();
  if (llvm::Error error = checkCount(op, functions, known.inputs.size()))
    return std::move(error);
  known.outputs.resize(functions.num_outputs);
  BothWays call(op, known);
  if (llvm::Error error = call.run())
    return std::move(error);
  return call.found(known);
}

} // namespace tess::custom
