//===- SizeChecks.cpp - equal sizes that a run must find ------------------===//
#include "ir/SizeChecks.h"

#include "ops/vocabulary/SizeExpr.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::ir {

using Checks = llvm::SmallVector<SizeCheck, 2>;

/// Adds that the first axis of size `own` has size `other`; false where no operand has one.
static bool add(Checks &checks, llvm::ArrayRef<TensorMeta> operands, int64_t own, int64_t other) {
  for (auto [number, operand] : llvm::enumerate(operands))
    for (auto [axis, size] : llvm::enumerate(operand.shape))
      if (size == own) {
        checks.push_back({unsigned(number), unsigned(axis), other});
        return true;
      }
  return false;
}

Checks sizeChecks(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, llvm::ArrayRef<unsigned> segments) {
  Checks checks;
  if (!needsSizeChecks(op) ||
      llvm::none_of(operands, [](const TensorMeta &meta) { return sizes::isSymbolic(meta.shape); }))
    return checks;
  sizes::AgreedSizes agreed;
  if (llvm::Expected<Metas> results = op.infer(operands, segments); !results)
    llvm::consumeError(results.takeError()); // it knows too little of the sizes
  llvm::SmallVector<std::pair<int64_t, int64_t>, 2> seen;
  for (auto pair : agreed.pairs()) {
    if (llvm::is_contained(seen, pair))
      continue;
    seen.push_back(pair);
    auto [a, b] = pair;
    // Of what is computed of sizes, as the number of windows, no operand may be it: the operators it becomes say it.
    if (!(sizes::isSymbolic(a) && add(checks, operands, a, b)) && sizes::isSymbolic(b))
      add(checks, operands, b, a);
  }
  return checks;
}

llvm::Error appendChecks(GraphBuilder &builder, const OpDef &op, llvm::ArrayRef<SizeCheck> checks,
                         llvm::MutableArrayRef<GraphBuilder::Value> operands, llvm::StringRef location) {
  for (const SizeCheck &check : checks) {
    OpDef match = OpDef::get("match_size").set("size", check.size).set("axis", int64_t(check.axis));
    match.set("user", op.name().str());
    auto results = builder.apply(match, operands[check.operand], {}, location);
    if (!results)
      return results.takeError();
    operands[check.operand] = results->front();
  }
  return llvm::Error::success();
}

} // namespace tess::ir
