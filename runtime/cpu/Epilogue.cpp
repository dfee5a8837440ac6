//===- Epilogue.cpp - what follows a library call -------------------------===//
#include "runtime/cpu/Epilogue.h"
#include "ops/Error.h"
#include "runtime/Elements.h"
#include "runtime/ParallelFor.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::runtime {

/// Strides of an operand over the axes of the output; nothing when it does not broadcast.
static std::optional<Layout> broadcastTo(const Layout &operand, const Shape &shape) {
  if (operand.shape.size() > shape.size())
    return std::nullopt;
  Layout out{shape, Shape(shape.size(), 0), 0};
  size_t lead = shape.size() - operand.shape.size();
  for (size_t i = 0; i < operand.shape.size(); ++i) {
    if (operand.shape[i] != 1 && operand.shape[i] != shape[lead + i])
      return std::nullopt;
    out.strides[lead + i] = operand.shape[i] == 1 ? 0 : operand.strides[i];
  }
  return out;
}

llvm::Expected<std::vector<EpilogueStep>> readEpilogue(const PrepareRequest &request, size_t first) {
  std::vector<EpilogueStep> steps;
  const TensorMeta &output = request.outputs[0];
  for (const std::string &text : request.epilogue.drop_front(first)) {
    auto [name, operand] = llvm::StringRef(text).split(':');
    EpilogueStep step{name == "relu" ? EpilogueFn::Relu : name == "mul" ? EpilogueFn::Mul : EpilogueFn::Add, -1, {}};
    unsigned input = 0;
    if (step.fn != EpilogueFn::Relu) {
      if (operand.getAsInteger(10, input) || input >= request.inputs.size())
        return invalidArgument(request.op.name() + ": epilogue must name an operand, got " + text);
      std::optional<Layout> layout = broadcastTo(request.layouts[input], output.shape);
      if (!layout || request.inputs[input].dtype != output.dtype)
        return invalidArgument(request.op.name() + ": operand of the epilogue must broadcast to " + toString(output) +
                               ", got " + toString(request.inputs[input]));
      step.input = int(input);
      step.operand = std::move(*layout);
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

template <typename T> static T applyOne(EpilogueFn fn, T value, T operand) {
  using A = Accumulator<T>;
  switch (fn) {
  case EpilogueFn::Relu: { // NaN and -0 stay: as the operator
    auto wide = widen(value);
    return wide < 0 ? narrow<T>(A(0)) : value;
  }
  case EpilogueFn::Mul:
    return narrow<T>(A(A(widen(value)) * A(widen(operand))));
  case EpilogueFn::Add:
    return narrow<T>(A(A(widen(value)) + A(widen(operand))));
  }
  llvm_unreachable("epilogue function out of range");
}

template <typename T> static void applyLine(EpilogueFn fn, T *line, int64_t count, const T *operand, int64_t stride) {
  if (fn == EpilogueFn::Relu)
    for (int64_t i = 0; i < count; ++i)
      line[i] = applyOne<T>(EpilogueFn::Relu, line[i], line[i]);
  else if (stride == 0)
    for (int64_t i = 0; i < count; ++i)
      line[i] = applyOne<T>(fn, line[i], *operand);
  else
    for (int64_t i = 0; i < count; ++i)
      line[i] = applyOne<T>(fn, line[i], operand[i * stride]);
}

/// Offset of the operand for row `row` of the output (all axes but the last, row-major).
static int64_t rowOffset(const Layout &operand, int64_t row) {
  int64_t offset = 0;
  for (size_t axis = operand.shape.size() - 1; axis-- > 0;) {
    offset += row % operand.shape[axis] * operand.strides[axis];
    row /= operand.shape[axis];
  }
  return offset;
}

void applyEpilogue(llvm::ArrayRef<EpilogueStep> steps, const TensorMeta &output, void *data,
                   llvm::ArrayRef<void *> inputs, unsigned threads) {
  int64_t total = output.numElements(), count = output.rank() ? output.shape.back() : 1;
  if (steps.empty() || total == 0)
    return;
  withType(output.dtype, [&](auto tag) {
    using T = decltype(tag);
    parallelFor(threads, total / count, 1, [&](int64_t begin, int64_t end, unsigned) {
      for (int64_t row = begin; row < end; ++row)
        for (const EpilogueStep &step : steps) {
          bool has = step.input >= 0 && output.rank();
          const T *operand = step.input >= 0 ? static_cast<const T *>(inputs[step.input]) : nullptr;
          applyLine<T>(step.fn, static_cast<T *>(data) + row * count, count,
                       has ? operand + rowOffset(step.operand, row) : operand, has ? step.operand.strides.back() : 0);
        }
    });
  });
}

} // namespace tess::runtime
