//===- FirstDiagnostic.h - MLIR's diagnostics as an error -------*- C++ -*-===//
#pragma once

#include "ir/GraphBuilder.h"
#include "ir/GraphImpl.h"
#include "ir/Types.h"
#include "ops/vocabulary/Error.h"

#include "mlir/IR/Diagnostics.h"

#include <functional>

namespace tess::compiler {

/// Keeps the first error, with its location: "train.py:12: matmul: ...".
class FirstDiagnostic {
public:
  /// `what` opens the message of a failure without a diagnostic. `remark` is called with each remark, in the form of
  /// errors; empty: remarks are dropped.
  FirstDiagnostic(mlir::MLIRContext *context, const char *what,
                  std::function<void(const std::string &)> remark = nullptr)
      : what(what), handler(context, [this, remark](mlir::Diagnostic &diagnostic) {
          if (message.empty() && diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
            message = textOf(diagnostic);
          else if (remark && diagnostic.getSeverity() == mlir::DiagnosticSeverity::Remark)
            remark(textOf(diagnostic));
          return mlir::success();
        }) {}

  /// The error for a pass that failed: InvalidArgument with the first diagnostic.
  llvm::Error take() {
    return makeError(ErrorCode::InvalidArgument, message.empty() ? what + ": pass must succeed, got failure" : message);
  }

private:
  static std::string textOf(mlir::Diagnostic &diagnostic) {
    std::string location = ir::locationText(diagnostic.getLocation());
    return diagnostic.str() + (location.empty() ? "" : " (at " + location + ")");
  }

  std::string what, message;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace tess::compiler
