//===- SymbolicShapes.cpp - sizes by those of the arguments ---------------===//
#include "eager/tracing/SymbolicShapes.h"

#include "ops/vocabulary/SizeExpr.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::eager {

/// The shape of a value that no operator made.
static Shape shapeOf(const Recording::Value &value, uint32_t number) {
  Shape shape = value.meta.shape;
  for (auto [axis, size] : llvm::enumerate(shape))
    size = value.freeAxes >> axis & 1 ? sizes::symbol(symbolOf(number, unsigned(axis))) : size;
  return shape;
}

void SymbolicShapes::infer(const Recording &recording, const Recording::Op &op) {
  Metas operands;
  for (uint32_t input : op.inputs)
    operands.emplace_back(recording.values()[input].meta.dtype, shapes[input]);
  bool isSymbolic = op.op.hasExpressions() ||
                    llvm::any_of(operands, [](const TensorMeta &meta) { return sizes::isSymbolic(meta.shape); });
  bool isDecidedByData = op.op.info().boundRule;
  if (!isSymbolic && !isDecidedByData)
    return;
  llvm::Expected<Metas> results = op.op.infer(operands, op.segments);
  if (!results)
    return llvm::consumeError(results.takeError()); // it knows too little of the sizes
  // Inference takes sizes for equal that it cannot compare; of a size that broadcast, the recorded call knows better.
  auto isRecorded = [&](int64_t size, int64_t recorded) {
    return sizes::substitute(size, [&](uint32_t symbol) { return recording.sizeOf(symbol); }) == recorded;
  };
  for (auto [output, meta] : llvm::zip_equal(op.outputs, *results))
    for (auto [axis, size] : llvm::enumerate(meta.shape)) {
      if (sizes::isSymbolic(size) && isRecorded(size, recording.values()[output].meta.shape[axis]))
        shapes[output][axis] = size;
      else if (isDecidedByData && size == kUnknown)
        shapes[output][axis] = sizes::symbol(dataSymbolOf(output, unsigned(axis)));
    }
}

llvm::ArrayRef<int64_t> SymbolicShapes::of(const Recording &recording, uint32_t number) {
  for (uint32_t each = shapes.size(); each < recording.values().size(); ++each)
    shapes.push_back(shapeOf(recording.values()[each], each));
  for (; numOps < recording.ops().size(); ++numOps)
    infer(recording, recording.ops()[numOps]);
  return shapes[number];
}

} // namespace tess::eager
