//===- Upgrades.cpp - operators of older versions -------------------------===//
#include "ops/table/Upgrades.h"

namespace tess {

namespace {

/// What the thread's ScopedHistory says.
struct OtherHistory {
  const OpInfo *info = nullptr;
  OpHistory history = {};
};
thread_local OtherHistory other;

} // namespace

OpHistory historyOf(const OpInfo &info) {
  if (other.info == &info)
    return other.history;
  return {info.version, info.upgrades, info.version > 1 ? splitsOf(info) : llvm::ArrayRef<Split>()};
}

ScopedHistory::ScopedHistory(const OpInfo &info, const OpHistory &history) { other = {&info, history}; }
ScopedHistory::~ScopedHistory() { other = {}; }

llvm::Expected<Subgraph> splitGraph(const StoredOp &stored, llvm::ArrayRef<TensorMeta> operands) {
  if (operands.size() != stored.op.info().operands.size())
    return makeError(ErrorCode::DataLoss, stored.op.name() + ": number of operands must be " +
                                              llvm::Twine(stored.op.info().operands.size()) + ", got " +
                                              llvm::Twine(operands.size()));
  SubgraphBuilder builder;
  llvm::SmallVector<int, 4> values;
  for (const TensorMeta &meta : operands)
    values.push_back(builder.input(meta));
  return builder.finish(stored.split->graph(builder, stored.op, values));
}

} // namespace tess
