//===- LoopShapes.cpp - the shapes of a loop's body and results -----------===//
//
// They are inferred once, for all trips: what is carried keeps its shape.
//
//===----------------------------------------------------------------------===//
#include "ops/graphs/Control.h"
#include "ops/vocabulary/Error.h"
#include "runtime/bind/Binder.h"
#include "runtime/bind/LoopTrips.h"
#include "runtime/schema/GrownValues.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::runtime {

static llvm::Error wrongDType(const TensorMeta &meta) {
  return makeError(ErrorCode::Internal,
                   "scan: values of the body must be what the program says, got " + toString(meta));
}

llvm::Error Binder::inferArguments(const ProgramNode &node) {
  const LoopDecl &loop = exe.loops[node.loop];
  Metas operands = metasOf(node.operands);
  if (llvm::any_of(node.operands, [&](ValueId operand) { return !unknownAxes[operand].empty(); }))
    return makeError(ErrorCode::Unimplemented,
                     "scan: operands must have shapes that are known when inputs are bound, got one from the data");
  if (llvm::Error error = tripsOf(loop.length, loop.isGuarded, llvm::ArrayRef(operands).drop_front(loop.numCarried))
                              .moveInto(trips[node.loop]))
    return error;
  for (auto [number, argument] : llvm::enumerate(loop.arguments)) {
    TensorMeta meta = number < loop.numCarried ? operands[number] : control::elementOf(operands[number]);
    if (!allows(exe.values[argument].dtype, meta.dtype))
      return wrongDType(meta);
    setShape(argument, meta);
    if (number >= loop.numCarried)
      layouts[argument].offset = layouts[node.operands[number]].offset;
  }
  return llvm::Error::success();
}

llvm::Error Binder::inferLoop(const ProgramNode &node) {
  if (llvm::Error error = inferArguments(node))
    return error;
  const LoopDecl &loop = exe.loops[node.loop];
  size_t first = size_t(&node - exe.nodes.data()) + 1;
  if (llvm::Error error = inferNodes(first, first + loop.numNodes))
    return error;
  Metas carried = metasOf(llvm::ArrayRef(node.operands).take_front(loop.numCarried)), yields = metasOf(loop.yields);
  if (loop.isGuarded && !control::isGuard(carried.front()))
    return invalidArgument("scan: the guard, the first carried value, must be a bool or int64 of rank 0, got " +
                           toString(carried.front()));
  if (llvm::Error error = control::checkCarried(carried, yields))
    return error;
  for (auto [number, result] : llvm::enumerate(node.results)) {
    TensorMeta meta = number < loop.numCarried
                          ? carried[number]
                          : control::stacked(yields[number], hasNoBound(loop) ? 1 : trips[node.loop]);
    if (!allows(exe.values[result].dtype, meta.dtype) || !unknownAxes[loop.yields[number]].empty())
      return wrongDType(meta);
    if (meta.rank() > kMaxRank || meta.numElements() > kMaxElements)
      return invalidArgument("scan: stacked results must have rank <= " + llvm::Twine(kMaxRank) +
                             " and at most 2^59 elements, got " + toString(meta));
    setShape(result, meta);
  }
  return llvm::Error::success();
}

} // namespace tess::runtime
