//===- GraphImpl.h - the MLIR side of a Graph -------------------*- C++ -*-===//
//
// A context from the pool and the module in it; for ir/ and compiler/ only.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/OpBridge.h"
#include "runtime/schema/BitsVersion.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"

#include <mutex>

namespace tess::ir {

enum class Numerics : uint8_t;

/// A context with the dialect loaded. Making one costs milliseconds, so they are pooled; types and attributes pile up
/// in a context, so one is thrown away after a few thousand graphs.
class PooledContext {
public:
  PooledContext();
  ~PooledContext();
  PooledContext(const PooledContext &) = delete;
  /// The context, which one thread may use at a time.
  mlir::MLIRContext *get() const { return context.get(); }
  /// Keeps the context out of the pool: it holds large constants, which only its end frees.
  void retire() { retired = true; }

private:
  std::unique_ptr<mlir::MLIRContext> context;
  unsigned uses = 0;
  bool retired = false;
};

/// The module of a Graph, and the context that owns its types and attributes.
struct GraphImpl {
  PooledContext context;
  /// Held while the context is used: contexts are single-threaded.
  std::mutex mutex;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  unsigned bitsVersion = runtime::bitsVersion();

  /// The one function, "main".
  mlir::func::FuncOp main() const;
};

/// The numerics that `func` is compiled with.
Numerics numericsOf(mlir::func::FuncOp func);
void setNumericsOf(mlir::func::FuncOp func, Numerics numerics);

// Names of the discardable attributes that carry the signature.
inline constexpr llvm::StringLiteral kDimsAttr = "tess.dims";        // func: array of {name, min, max}
inline constexpr llvm::StringLiteral kArgDimsAttr = "tess.arg_dims"; // argument: per axis an index into tess.dims or -1
inline constexpr llvm::StringLiteral kInitialAttr = "tess.initial";  // argument: its bytes before the first run; state
inline constexpr llvm::StringLiteral kLayoutAttr = "tess.layout";   // argument, result: a MemoryLayout; none: row-major
inline constexpr llvm::StringLiteral kOutputsAttr = "tess.outputs"; // func: array of {name, donates}
inline constexpr llvm::StringLiteral kOnesAttr = "tess.ones_known"; // func: unknown sizes of arguments are not 1
inline constexpr llvm::StringLiteral kNumericsAttr = "tess.numerics"; // func: the name of its Numerics; none: strict

} // namespace tess::ir
