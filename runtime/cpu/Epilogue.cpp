//===- Epilogue.cpp - what follows a library call -------------------------===//
#include "runtime/cpu/Epilogue.h"
#include "ops/Error.h"
#include "runtime/Elements.h"
#include "runtime/ParallelFor.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cstring>

namespace tess::runtime {

/// The layout of an operand over the axes of the output; none when it does not broadcast.
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

llvm::Expected<std::vector<EpilogueStep>> readEpilogue(const PrepareRequest &request) {
  std::vector<EpilogueStep> steps;
  const TensorMeta &output = request.outputs[0];
  for (const std::string &text : request.epilogue) {
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
  case EpilogueFn::Relu: { // NaN and -0 stay, as in the operator
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

template <EpilogueFn kFn, typename T> static void applyRun(T *line, int64_t count, const T *operand, int64_t stride) {
  if (stride == 0) {
    T number = operand ? *operand : T();
    for (int64_t i = 0; i < count; ++i)
      line[i] = applyOne<T>(kFn, line[i], number);
  } else {
    for (int64_t i = 0; i < count; ++i)
      line[i] = applyOne<T>(kFn, line[i], operand[i * stride]);
  }
}

template <typename T> static void applyLine(EpilogueFn fn, T *line, int64_t count, const T *operand, int64_t stride) {
  switch (fn) {
  case EpilogueFn::Relu:
    return applyRun<EpilogueFn::Relu>(line, count, operand, 0);
  case EpilogueFn::Mul:
    return applyRun<EpilogueFn::Mul>(line, count, operand, stride);
  case EpilogueFn::Add:
    return applyRun<EpilogueFn::Add>(line, count, operand, stride);
  }
}

/// The operand's offset for row `row` of the output, in row-major order of all axes but the last.
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

bool isPerChannel(llvm::ArrayRef<EpilogueStep> steps, unsigned axis) {
  return llvm::all_of(steps, [&](const EpilogueStep &step) {
    for (auto [at, stride] : llvm::enumerate(step.operand.strides))
      if (step.input >= 0 && at != axis && stride != 0)
        return false;
    return true;
  });
}

using Lanes = float __attribute__((vector_size(64)));
constexpr int64_t kLanes = 16;

/// Applies all steps in registers; each rounds on its own.
static Lanes finished(llvm::ArrayRef<EpilogueStep> steps, const Lanes *operands, Lanes v) {
  for (size_t k = 0; k < steps.size(); ++k)
    v = steps[k].fn == EpilogueFn::Relu  ? (v < 0 ? Lanes{} : v) // NaN and -0 stay
        : steps[k].fn == EpilogueFn::Mul ? v * operands[k]
                                         : v + operands[k];
  return v;
}

/// Applies all steps to `count` floats in one pass. Operands repeat after 16 elements.
static void finishFloats(llvm::ArrayRef<EpilogueStep> steps, const Lanes *operands, float *line, int64_t count) {
  int64_t i = 0;
  Lanes v = {};
  for (; i + kLanes <= count; i += kLanes) {
    std::memcpy(&v, line + i, sizeof(v));
    v = finished(steps, operands, v);
    std::memcpy(line + i, &v, sizeof(v));
  }
  if (i == count)
    return;
  std::memcpy(&v, line + i, sizeof(float) * size_t(count - i));
  v = finished(steps, operands, v);
  std::memcpy(line + i, &v, sizeof(float) * size_t(count - i));
}

/// Applies all steps to `count` floats of a plane, whose first channel is `channel`.
static void finishPlane(llvm::ArrayRef<EpilogueStep> steps, const ChannelOrder &order, int64_t channel, float *line,
                        int64_t count, llvm::ArrayRef<void *> inputs) {
  llvm::SmallVector<Lanes, 4> operands(steps.size());
  for (auto [step, lanes] : llvm::zip(steps, operands))
    for (int64_t i = 0; step.input >= 0 && i < kLanes; ++i) {
      int64_t at = (channel + i % order.block) * step.operand.strides[order.axis];
      lanes[i] = static_cast<const float *>(inputs[step.input])[at];
    }
  finishFloats(steps, operands.data(), line, count);
}

template <typename T>
static void applyStep(EpilogueFn fn, T *line, int64_t rows, int64_t block, const T *operand, int64_t stride) {
  if (fn == EpilogueFn::Relu || block == 1 || stride == 0)
    return applyLine<T>(fn, line, rows * block, operand, 0);
  for (int64_t row = 0; row < rows; ++row)
    applyLine<T>(fn, line + row * block, block, operand, stride);
}

void applyPerChannel(llvm::ArrayRef<EpilogueStep> steps, const ChannelOrder &order, DType dtype, void *data,
                     llvm::ArrayRef<void *> inputs, unsigned threads) {
  constexpr int64_t kChunk = 2048; // elements that stay in the first-level cache from step to step
  const bool inLanes = dtype == DType::Float32 && kLanes % order.block == 0;
  const int64_t most = inLanes ? INT64_MAX / 2 : std::max<int64_t>(1, kChunk / order.block);
  withType(dtype, [&](auto tag) {
    using T = decltype(tag);
    parallelFor(threads, order.planes * order.rows, 64, [&](int64_t begin, int64_t end, unsigned) {
      for (int64_t rows; begin < end; begin += rows) {
        int64_t plane = begin / order.rows, channel = plane % order.blocks * order.block;
        rows = std::min({end, (plane + 1) * order.rows, begin + most}) - begin;
        if constexpr (std::is_same_v<T, float>)
          if (inLanes) {
            finishPlane(steps, order, channel, static_cast<T *>(data) + begin * order.block, rows * order.block,
                        inputs);
            continue;
          }
        for (const EpilogueStep &step : steps) {
          int64_t stride = step.input < 0 ? 0 : step.operand.strides[order.axis];
          const T *operand = step.input < 0 ? nullptr : static_cast<const T *>(inputs[step.input]) + channel * stride;
          applyStep<T>(step.fn, static_cast<T *>(data) + begin * order.block, rows, order.block, operand, stride);
        }
      }
    });
  });
}

} // namespace tess::runtime
