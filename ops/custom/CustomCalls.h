//===- CustomCalls.h - calls of a library's functions -----------*- C++ -*-===//
#pragma once

#include "ops/custom/CustomOp.h"

/// A call, as a library gets it.
struct TessCall {
  const tess::OpDef &op;
  std::string message = {};
  bool isState = false;
  unsigned threads = 1; // of TessHost::parallel_for
};

namespace tess::custom {

/// The host of functions that are no runs: their parallel_for has one thread.
const TessHost &plainHost();
/// The error of a function that returned `status`, which is not 0.
llvm::Error errorOf(const TessCall &call);

/// Nothing is known of a value.
inline constexpr TessMeta kUnknownMeta = {TESS_UNKNOWN, TESS_UNKNOWN, {}};
/// Sizes and dtypes as libraries know them, and back. InvalidArgument where a library gives what is none.
TessMeta metaFor(const TensorMeta &meta);
llvm::Expected<TensorMeta> metaFrom(llvm::StringRef op, llvm::StringRef value, const TessMeta &meta);

/// Metas of a call's operands, for the functions of its operator.
struct InferCall {
  InferCall(const OpDef &op, llvm::ArrayRef<TensorMeta> operands);
  InferCall(const InferCall &) = delete;

  /// Metas of the row's results; a size that data decides is unknown, or its bound.
  llvm::Expected<Metas> results(bool wantsBound);

  const Operator &custom;
  TessCall call;
  llvm::SmallVector<TessMeta, 4> inputs, outputs;
  TessInfer infer = {};

private:
  llvm::Error askByExample();
};

/// Knowledge of inputs (with states behind) and outputs; those of unknown dtype or rank are none.
struct Known {
  llvm::SmallVector<std::optional<TensorMeta>, 4> inputs, outputs;
};
/// Fills in what an operator's functions find, forwards and backwards, until they find nothing more; whether all is
/// known. InvalidArgument where they contradict what is known.
llvm::Expected<bool> inferBothWays(const OpDef &op, Known &known);

// Rules of the rows.
llvm::Expected<Metas> inferForward(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, llvm::ArrayRef<unsigned>);
llvm::Expected<Metas> boundForward(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, llvm::ArrayRef<unsigned>);
llvm::Expected<Metas> inferBackward(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, llvm::ArrayRef<unsigned>);
/// Says of a backward for each input of the forward: 1 where its gradient is wanted.
llvm::ArrayRef<int64_t> neededGradients(const OpDef &backward);
llvm::SmallVector<int, 4> gradient(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> values,
                                   llvm::ArrayRef<bool> needed);

} // namespace tess::custom
