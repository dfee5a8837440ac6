//===- Apply.cpp - operators on tensors of the C++ API --------------------===//
#include "tessera/Apply.h"

#include "eager/stack/Expressions.h"

namespace tessera {

namespace eager = tess::eager;

eager::Tensors detail::refs(llvm::ArrayRef<Tensor> tensors) {
  eager::Tensors list;
  for (const Tensor &tensor : tensors)
    list.push_back(tensor.ref());
  return list;
}

std::vector<Tensor> detail::tensorsOf(eager::Tensors refs) {
  std::vector<Tensor> list;
  for (eager::TensorRef &ref : refs)
    list.emplace_back(std::move(ref));
  return list;
}

std::vector<Tensor> applyAll(OpDef op, llvm::ArrayRef<Tensor> operands, llvm::ArrayRef<unsigned> segments) {
  llvm::SmallVector<eager::Operand, 4> given;
  llvm::SmallVector<unsigned, 4> counts(segments.begin(), segments.end());
  for (const Tensor &operand : operands) {
    if (segments.empty())
      counts.push_back(operand.isDefined());
    if (!operand.isDefined())
      continue;
    given.push_back(operand.operand());
  }
  const tess::OpInfo &info = op.info();
  counts.resize(std::max(counts.size(), info.operands.size()));
  eager::Tensors results;
  eager::start();
  checkOrThrow(eager::applyNormalised(std::move(op), given,
                                      info.simple ? llvm::ArrayRef<unsigned>() : llvm::ArrayRef(counts), results));
  for (const tess::ResultInfo &result : info.results)
    if (result.hidden)
      results.pop_back();
  return detail::tensorsOf(std::move(results));
}

Tensor apply(OpDef op, llvm::ArrayRef<Tensor> operands, llvm::ArrayRef<unsigned> segments) {
  return applyAll(std::move(op), operands, segments).front();
}

} // namespace tessera
