//===- DimExpansion.cpp - vectors and single samples ---------------------===//
//
// Operators are declared for matrices and batches. A vector operand of matmul
// and an image without a batch axis get the missing axis here, and the results
// lose it again.
//
//===----------------------------------------------------------------------===//
#include "eager/layers/Layers.h"
#include "eager/stack/Apply.h"
#include "ops/inference/SignatureShapes.h"

#include "llvm/ADT/STLExtras.h"

namespace tess::eager {

namespace {

/// Applies expand_dims or squeeze at `axis`, below this layer.
llvm::Expected<TensorRef> withAxis(const char *name, TensorImpl *tensor, int64_t axis) {
  OpDef op = OpDef::get(name);
  op.set(op.info().attrs[0].name,
         op.info().attrs[0].kind == AttrKind::I64List ? AttrValue(IntList{axis}) : AttrValue(axis));
  Tensors results;
  if (llvm::Error e = applyBelow(Layer::DimExpansion, op, {Operand(tensor)}, {}, results))
    return std::move(e);
  return std::move(results.front());
}

/// Inserts an axis of size 1 into operand `operand`, and removes an axis of the result; both are counted from the last
/// axis.
struct Expansion {
  unsigned operand;
  int64_t insert, remove;
};

llvm::SmallVector<Expansion, 2> expansionsOf(const Call &call) {
  const OpInfo &info = call.opDef().info();
  llvm::SmallVector<Expansion, 2> list;
  if (info.sampleRank && call.operands[0].tensor->rank() == info.sampleRank)
    list.push_back({0, 0, 0});
  if (!info.takesVectors || call.operands.size() < 2)
    return list;
  // A vector becomes a row on the left and a column on the right; a transposed operand, which its signature guards, the
  // other one.
  auto isTransposed = [&](unsigned operand) {
    return tess::isGuarded(call.opDef(), info.signature->operands[operand]);
  };
  if (call.operands[1].tensor->rank() == 1)
    list.push_back({1, isTransposed(1) ? 0 : 1, -1});
  if (call.operands[0].tensor->rank() == 1)
    list.push_back({0, isTransposed(0) ? 1 : 0, list.empty() ? -2 : -1});
  return list;
}

} // namespace

llvm::Error applyDimExpansion(Call &call, Tensors &results) {
  llvm::SmallVector<Expansion, 2> expansions = expansionsOf(call);
  if (expansions.empty())
    return next(call, results);
  llvm::SmallVector<Operand, 4> operands(call.operands.begin(), call.operands.end());
  llvm::SmallVector<TensorRef, 2> made;
  for (const Expansion &expansion : expansions) {
    Operand &operand = operands[expansion.operand];
    if (llvm::Error e = withAxis("expand_dims", operand.tensor, expansion.insert).moveInto(made.emplace_back()))
      return e;
    operand = Operand(made.back());
  }
  if (llvm::Error e = applyBelow(Layer::DimExpansion, call.opDef(), operands, call.segments(), results))
    return e;
  for (const Expansion &expansion : expansions)
    for (TensorRef &result : results)
      if (llvm::Error e = withAxis("squeeze", result.get(), expansion.remove).moveInto(result))
        return e;
  return llvm::Error::success();
}

} // namespace tess::eager
