//===- Apply.cpp - the entry of eager mode -------------------------------===//
#include "eager/stack/Apply.h"

#include "eager/stack/DispatchLog.h"
#include "eager/stack/Tracer.h"
#include "eager/stack/Watcher.h"
#include "eager/tensor/Evaluate.h"
#include "eager/tensor/Location.h"
#include "ir/FreeSizes.h"
#include "ops/inference/Promotion.h"
#include "runtime/device/Elements.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cassert>
#include <cmath>
#include <cstring>
#include <optional>

namespace tess::eager {

/// Sends a call into the stack.
static llvm::Error enter(Call &call, Tensors &results) {
  if constexpr (kLogsDispatch)
    logDispatch(call);
  return next(call, results);
}

static bool promotes(DTypeRuleKind kind, DTypeMask seen) {
  if (seen & (seen - 1))
    return true;
  constexpr DTypeMask parts = maskOf(DType::Float32) | maskOf(DType::Float64);
  return (kind == DTypeRuleKind::PromoteFloat && (seen & ~kFloatMask)) ||
         (kind == DTypeRuleKind::Complex && (seen & ~parts));
}

/// Whether operands stay as they are, since an attribute gives the dtype of the result.
static bool takesEachDType(const OpDef &op) {
  const DTypeRule &rule = op.info().dtypes;
  return rule.kind == DTypeRuleKind::PromoteOr && op.attr(unsigned(rule.attr)).kind() != AttrKind::None;
}

/// Whether a conversion is from or to a quantized dtype.
LLVM_ATTRIBUTE_NOINLINE static bool converts(const OpDef &op, DTypeMask seen) {
  const AttrValue &dtype = op.attr(unsigned(op.info().dtypes.attr));
  return seen & kQuantizedMask || (dtype.kind() == AttrKind::DType && isQuantized(dtype.dtype()));
}

/// As neededLayers(), within each call of a user's.
LLVM_ATTRIBUTE_ALWAYS_INLINE static uint32_t layersOf(const OpDef &op, llvm::ArrayRef<Operand> operands) {
  const OpInfo &info = op.info();
  uint32_t layers = activeLayers | bitOf(Layer::CheckFinite) | bitOf(Layer::CheckOperands) | bitOf(Layer::Interpreter);
  DTypeMask seen = 0;
  uint8_t traits = 0;
  for (const Operand &operand : operands) {
    if (!operand.tensor) {
      layers |= bitOf(Layer::Scalar);
      continue;
    }
    seen |= maskOf(operand.tensor->dtype());
    traits |= operand.tensor->traits();
  }
  if (traits & TensorImpl::kChannelsLast)
    layers |= bitOf(Layer::Format);
  if (traits & TensorImpl::kOnGrid)
    layers |= bitOf(Layer::Grid);
  if (traits & TensorImpl::kGraphValue)
    layers |= bitOf(Layer::Tracing);
  if (info.dtypes.operandMask && promotes(info.dtypes.kind, seen) && !takesEachDType(op))
    layers |= bitOf(Layer::DTypePromotion);
  if (info.dtypes.kind == DTypeRuleKind::FromAttr && converts(op, seen))
    layers |= bitOf(Layer::Quantize);
  if (LLVM_UNLIKELY(info.roundsToGrid && seen & kQuantizedMask))
    layers |= bitOf(Layer::Quantize);
  if (info.takesVectors || info.sampleRank)
    layers |= bitOf(Layer::DimExpansion);
  return enabled(layers);
}

uint32_t neededLayers(const OpDef &op, llvm::ArrayRef<Operand> operands, Layer first) {
  return layersOf(op, operands) & ~(bitOf(first) - 1);
}

/// Adds to `error` the module whose forward made the call.
static llvm::Error withScope(llvm::Error error) {
  std::string scope = currentScope();
  if (scope.empty())
    return error;
  auto [code, message] = takeError(std::move(error));
  bool isNamed = llvm::StringRef(message).contains("(" + scope + ")");
  return makeError(code, isNamed ? message : message + " (in " + scope + ")");
}

/// The dtype of the elements that numbers of attributes become; none: that of a number, which holds them.
static std::optional<DType> dtypeOfNumbers(const OpDef &op, llvm::ArrayRef<Operand> operands) {
  if (op.info().dtypes.kind == DTypeRuleKind::FromAttr)
    return op.attr(unsigned(op.info().dtypes.attr)).dtype();
  const TensorRef &tensor = operands.front().tensor;
  return tensor ? std::optional(tensor->dtype()) : std::nullopt;
}

/// Whether an integer `dtype` takes the number; NaN is none of any.
static bool fitsAs(double number, Fit fit, DType dtype) {
  if (fit == Fit::Both || std::isnan(number))
    return fits(Number::floating(number), dtype);
  double limit = std::ldexp(1.0, int(byteWidth(dtype)) * 8 - (isUnsignedInt(dtype) ? 0 : 1));
  return fit == Fit::AtMost ? number < limit : std::trunc(number) >= (isUnsignedInt(dtype) ? 0 : -limit);
}

/// Checks the numbers of attributes that must fit the dtype of the result.
LLVM_ATTRIBUTE_NOINLINE static llvm::Error checkFits(const OpDef &op, llvm::ArrayRef<Operand> operands) {
  std::optional<DType> dtype = dtypeOfNumbers(op, operands);
  if (!dtype || !isInt(*dtype))
    return llvm::Error::success();
  for (auto [number, info] : llvm::enumerate(op.info().attrs))
    if (info.fit != Fit::Free && op.attr(unsigned(number)).kind() == AttrKind::F64 &&
        !fitsAs(op.attr(unsigned(number)).f64(), info.fit, *dtype))
      return invalidArgument(op.name() + ": " + info.name + " must fit its dtype " + numpyName(*dtype) + ", got " +
                             op.attr(unsigned(number)).toText());
  return llvm::Error::success();
}

static llvm::Error applyWrapped(const OpDefOperator &wrapped, llvm::ArrayRef<Operand> operands, Tensors &results,
                                const Destination *into) {
  Call call{wrapped, operands, layersOf(wrapped.op, operands), into};
  if (LLVM_UNLIKELY(wrapped.recorded) && ir::hasNodeSymbols(*wrapped.recorded))
    call.pending |= bitOf(Layer::Tracing);
  if (LLVM_UNLIKELY(wrapped.op.info().fitsNumbers))
    if (llvm::Error e = checkFits(wrapped.op, operands))
      return withScope(std::move(e));
  llvm::Error error = enter(call, results);
  return LLVM_UNLIKELY(error) ? withScope(std::move(error)) : std::move(error);
}

llvm::Error apply(const OpDef &op, llvm::ArrayRef<Operand> operands, llvm::ArrayRef<unsigned> segments,
                  Tensors &results, const Destination *into) {
  return applyWrapped(OpDefOperator(op, segments), operands, results, into);
}

llvm::Error applyRecorded(const OpDef &op, const OpDef &recorded, llvm::ArrayRef<Operand> operands,
                          llvm::ArrayRef<unsigned> segments, Tensors &results) {
  return applyWrapped(OpDefOperator(op, segments, &recorded), operands, results, nullptr);
}

llvm::Expected<Tensors> apply(const OpDef &op, llvm::ArrayRef<Operand> operands, llvm::ArrayRef<unsigned> segments) {
  Tensors results;
  if (llvm::Error e = apply(op, operands, segments, results))
    return std::move(e);
  return results;
}

llvm::Error applyBelow(Layer after, const OpDef &op, llvm::ArrayRef<Operand> operands,
                       llvm::ArrayRef<unsigned> segments, Tensors &results, const Destination *into) {
  OpDefOperator wrapped(op, segments);
  Call call{wrapped, operands, neededLayers(op, operands, Layer(unsigned(after) + 1)), into};
  return enter(call, results);
}

/// Applies an operator that is no OpDef: only the layers that watch every operator see it.
static llvm::Error applyOther(const Operator &op, llvm::ArrayRef<Operand> operands, Tensors &results) {
  Call call{op, operands, enabled(activeLayers | bitOf(Layer::Interpreter))};
  return enter(call, results);
}

llvm::Expected<Tensors> apply(const Operator &op, llvm::ArrayRef<Operand> operands) {
  if (op.kind == OperatorKind::OpDef) {
    const auto &opDef = static_cast<const OpDefOperator &>(op);
    return apply(opDef.op, operands, opDef.segments);
  }
  Tensors results;
  if (llvm::Error e = applyOther(op, operands, results))
    return std::move(e);
  return results;
}

llvm::Expected<Tensors> apply(const Subgraph &graph, llvm::ArrayRef<Operand> operands) {
  return evaluate(graph, operands, [](const Subgraph::Node &node, llvm::ArrayRef<Operand> read, Tensors &results) {
    return apply(node.op, read, node.segments, results);
  });
}

llvm::Expected<TensorRef> applyOne(const OpDef &op, llvm::ArrayRef<Operand> operands) {
  Tensors results;
  if (llvm::Error e = apply(op, operands, {}, results))
    return std::move(e);
  return std::move(results.front());
}

/// As applyOther(), of one result.
static llvm::Expected<TensorRef> applyOneOther(const Operator &op, llvm::ArrayRef<Operand> operands) {
  Tensors results;
  if (llvm::Error e = applyOther(op, operands, results))
    return std::move(e);
  return std::move(results.front());
}

llvm::Expected<TensorRef> createTensor(const TensorMeta &meta, const void *bytes, runtime::Device *device) {
  return applyOneOther(CreateTensor(meta, bytes, device), {});
}

llvm::Expected<TensorRef> dupTensor(TensorImpl &tensor, bool detach) {
  return applyOneOther(DupTensor(detach), {Operand(&tensor)});
}

/// `number` as an element of T. A narrow float is rounded from float32, as the result of every operator is.
template <typename T, typename A> static T elementOf(A number) {
  if constexpr (std::is_same_v<runtime::Accumulator<T>, float>)
    return runtime::narrow<T>(float(number));
  else
    return runtime::narrow<T>(number);
}

bool fits(Number number, DType dtype) {
  if (!isInt(dtype) || number.kind == Number::Complex || number.kind == Number::Bool)
    return true;
  int digits = int(byteWidth(dtype)) * 8 - (isUnsignedInt(dtype) ? 0 : 1);
  if (number.kind == Number::Float) {
    double limit = std::ldexp(1.0, digits), whole = std::trunc(number.f); // of NaN NaN, which is nowhere
    return whole >= (isUnsignedInt(dtype) ? 0 : -limit) && whole < limit;
  }
  if (number.i < 0)
    return !isUnsignedInt(dtype) && (number.i >> digits) == -1;
  return digits >= 63 || (number.i >> digits) == 0;
}

static std::string textOf(Number number) {
  return number.kind == Number::Float ? llvm::formatv("{0}", number.f).str() : std::to_string(number.i);
}

llvm::Expected<TensorRef> createScalar(Number number, DType dtype, runtime::Device *device) {
  if (!fits(number, dtype))
    return invalidArgument(llvm::Twine("tensor: a number must fit its dtype ") + numpyName(dtype) + ", got " +
                           textOf(number));
  if (number.kind == Number::Complex && !isComplex(dtype))
    return makeError(ErrorCode::TypeMismatch,
                     llvm::Twine("tensor: a complex number must have a complex dtype, got ") + numpyName(dtype));
  alignas(16) char bytes[16];
  runtime::withAnyType(dtype, [&](auto tag) {
    using T = decltype(tag);
    T element;
    if constexpr (runtime::kIsComplex<T>)
      element = T(number.toComplex());
    else
      element = number.kind == Number::Float ? elementOf<T>(number.f) : elementOf<T>(number.i);
    std::memcpy(bytes, &element, sizeof(T));
  });
  TensorMeta meta(dtype, {});
  return createTensor(meta, bytes, device);
}

llvm::Error readValue(TensorImpl &tensor, void *destination) {
  GetAttr::Answer answer;
  GetAttr op(GetAttr::Value, answer, destination);
  Tensors none;
  return applyOther(op, {Operand(&tensor)}, none);
}

void assign(TensorImpl &variable, TensorImpl &value) {
  noteUpdate(variable);
  if (Tracer *tracer = activeTracer())
    tracer->noteAssign(variable, value);
  variable.rebind(value);
}

} // namespace tess::eager
