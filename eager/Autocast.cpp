//===- Autocast.cpp - operators in two precisions -------------------------===//
//
// Which operator computes in what is that of MegEngine's amp (dtype promotion
// of its operators) and, for operators that it has not, of PyTorch's autocast
// ("CUDA Ops that can autocast to float16" and "to float32").
//
//===----------------------------------------------------------------------===//
#include "eager/Autocast.h"

#include "eager/Transformations.h"

#include "llvm/ADT/STLExtras.h"

#include <cassert>

namespace tess::eager {

static constinit thread_local Autocast current;

const Autocast &autocast() { return current; }

void setAutocast(const Autocast &cast) {
  current = cast;
  activeLayers = cast.isOn ? activeLayers | bitOf(Layer::Autocast) : activeLayers & ~bitOf(Layer::Autocast);
}

// Sums of many products, which the hardware has units for.
static constexpr const char *kLow[] = {
    "matmul",           "linear",           "einsum", "scaled_dot_product_attention",
    "conv1d",           "conv2d",           "conv3d", "conv_transpose1d",
    "conv_transpose2d", "conv_transpose3d",
};

// Sums, and functions whose results leave the range of narrow floats or magnify what was rounded. Losses (the module
// functional.loss) are of this kind.
static constexpr const char *kHigh[] = {
    // Of one element
    "div", "pow", "sqrt", "rsqrt", "exp", "expm1", "log", "log1p", "logaddexp", "sin", "cos", "tan", "asin", "acos",
    "atan2", "sinh", "cosh", "asinh", "acosh", "atanh", "softplus", "logsigmoid", "hsigmoid",
    // Along axes
    "sum", "mean", "prod", "var", "std", "norm", "normalize", "softmax", "log_softmax", "logsumexp", "cumsum",
    "cumprod", "logcumsumexp", "linear_recurrence",
    // Normalisation
    "layer_norm", "rms_norm", "general_norm", "group_norm", "instance_norm", "local_response_norm",
    // Of matrices as a whole
    "solve", "solve_triangular", "matinv", "det", "slogdet", "cholesky", "qr", "eigh", "svd", "svdvals"};

static constexpr const char *kLowData[] = {"batch_norm", "batch_norm_inference"};

/// The table, by OpInfo::id.
static std::vector<Precision> makeTable() {
  std::vector<Precision> table(allOps().size(), Precision::Given);
  for (const OpInfo &info : allOps())
    if (info.pythonModule && llvm::StringRef(info.pythonModule) == "functional.loss")
      table[info.id] = Precision::High;
  auto put = [&](llvm::ArrayRef<const char *> names, Precision precision) {
    for (const char *name : names) {
      const OpInfo *info = findOp(name);
      assert(info && table[info->id] == Precision::Given && "a record, which stands in one list");
      table[info->id] = precision;
    }
  };
  put(kLow, Precision::Low);
  put(kHigh, Precision::High);
  put(kLowData, Precision::LowData);
  return table;
}

Precision precisionOf(const OpInfo &info) {
  static const std::vector<Precision> table = makeTable();
  return info.id < table.size() ? table[info.id] : Precision::Given;
}

/// What operand number `index` is cast to. Integers, complex numbers and float64 stay.
static DType targetOf(Precision precision, unsigned index, DType dtype) {
  constexpr DTypeMask narrow = maskOf(DType::Float16) | maskOf(DType::BFloat16) | maskOf(DType::Float32);
  if (precision == Precision::Given || !(maskOf(dtype) & narrow))
    return dtype;
  bool isLow = precision == Precision::Low || (precision == Precision::LowData && index == 0);
  return isLow ? current.low : current.high;
}

llvm::Error applyAutocast(Call &call, Tensors &results) {
  Precision precision = call.isOpDef() ? precisionOf(call.opDef().info()) : Precision::Given;
  if (precision == Precision::Given)
    return next(call, results);
  static const OpInfo &cast = *findOp("cast");
  llvm::SmallVector<Operand, 4> operands(call.operands.begin(), call.operands.end());
  llvm::SmallVector<Tensors, 2> casts;
  for (auto [index, operand] : llvm::enumerate(operands)) {
    DType dtype = operand.tensor ? operand.tensor->dtype() : DType::Bool;
    DType target = targetOf(precision, index, dtype);
    if (target == dtype)
      continue;
    OpDef op(cast);
    op.set("dtype", target);
    if (llvm::Error e = applyBelow(Layer::Autocast, op, {operand}, {}, casts.emplace_back()))
      return e;
    operand = Operand(casts.back().front());
  }
  if (casts.empty())
    return next(call, results);
  // In memory of another dtype there is no place for the result.
  Call below{call.op, operands, neededLayers(call.opDef(), operands, Layer::Scalar)};
  return next(below, results);
}

} // namespace tess::eager
