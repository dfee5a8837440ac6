//===- Upgrades.h - operators of older versions -----------------*- C++ -*-===//
//
// What a file says of an operator is read as the record says it now. Lines about
// attributes (UpgradeStep.h) give another OpDef; a version that has become several
// operators is a graph of them, which takes the place of the node.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/graphs/Subgraph.h"

namespace tess {

/// What a version of an operator computed, in operators of today.
struct Split {
  const OpInfo *op;
  unsigned version;
  const char *when; // "mode=2": where the older text has this; empty: wherever no other of the version holds
  ForwardFn graph;  // of the OpDef that the lines about attributes give
};

/// The versions of an operator that have become several, by its record.
llvm::ArrayRef<Split> splitsOf(const OpInfo &info);

/// What was before: the present version, and how to read the others.
struct OpHistory {
  unsigned version;
  llvm::ArrayRef<const char *> upgrades;
  llvm::ArrayRef<Split> splits;
};
/// Of the record, or of the ScopedHistory.
OpHistory historyOf(const OpInfo &info);

/// Gives an operator another history for what this thread reads: tests of readers need versions that no record has had.
class ScopedHistory {
public:
  ScopedHistory(const OpInfo &info, const OpHistory &history);
  ~ScopedHistory();
  ScopedHistory(const ScopedHistory &) = delete;
};

/// An operator as a file has it.
struct StoredOp {
  OpDef op;
  const Split *split = nullptr; // what it was; null: `op`
};
/// As OpDef::parse(), for readers that can put several operators in the place of one.
llvm::Expected<StoredOp> parseStored(llvm::StringRef text);
/// The operators that compute what `stored`, which has a split, did.
llvm::Expected<Subgraph> splitGraph(const StoredOp &stored, llvm::ArrayRef<TensorMeta> operands);

} // namespace tess
