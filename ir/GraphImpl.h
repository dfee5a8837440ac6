//===- GraphImpl.h - the MLIR side of a Graph -------------------*- C++ -*-===//
//
// A context from the pool and the module in it; for ir/ and compiler/ only.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/GraphBuilder.h"
#include "runtime/schema/BitsVersion.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"

#include <mutex>

namespace tess::ir {

/// A context with the dialect loaded. Making one costs milliseconds, so they are pooled; types and attributes pile up
/// in a context, so one is thrown away after a few thousand graphs.
class PooledContext {
public:
  PooledContext();
  ~PooledContext();
  PooledContext(const PooledContext &) = delete;
  mlir::MLIRContext *get() const { return context.get(); }
  /// Not back to the pool: large constants stay in a context for ever.
  void retire() { retired = true; }

private:
  std::unique_ptr<mlir::MLIRContext> context;
  unsigned uses = 0;
  bool retired = false;
};

struct GraphImpl {
  PooledContext context;
  /// Held while the context is used: contexts are single-threaded.
  std::mutex mutex;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  unsigned bitsVersion = runtime::bitsVersion();

  /// The one function, "main".
  mlir::func::FuncOp main() const;
};

// Names of the discardable attributes that carry the signature.
inline constexpr llvm::StringLiteral kNameAttr = "tess.name";        // op, argument: user name
inline constexpr llvm::StringLiteral kScalarsAttr = "tess.scalars";  // op: parameter index per runtime attribute
inline constexpr llvm::StringLiteral kDimsAttr = "tess.dims";        // func: array of {name, min, max}
inline constexpr llvm::StringLiteral kArgDimsAttr = "tess.arg_dims"; // argument: per axis an index into tess.dims or -1
inline constexpr llvm::StringLiteral kInitialAttr = "tess.initial";  // argument: its bytes before the first run; state
inline constexpr llvm::StringLiteral kOutputsAttr = "tess.outputs";  // func: array of {name, donates}

/// "train.py:12 (net.conv1)" of a location; empty when unknown.
std::string locationText(mlir::Location location);
mlir::Location locationOf(mlir::MLIRContext *context, llvm::StringRef text);

} // namespace tess::ir
