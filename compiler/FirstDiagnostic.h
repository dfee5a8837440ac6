//===- FirstDiagnostic.h - MLIR's diagnostics as an error -------*- C++ -*-===//
#pragma once

#include "ir/GraphImpl.h"
#include "ops/Error.h"

#include "mlir/IR/Diagnostics.h"

namespace tess::compiler {

/// Keeps the first diagnostic, with its location: "train.py:12: matmul: ...".
class FirstDiagnostic {
public:
  FirstDiagnostic(mlir::MLIRContext *context, const char *what)
      : what(what), handler(context, [this](mlir::Diagnostic &diagnostic) {
          if (message.empty() && diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
            keep(diagnostic);
          return mlir::success();
        }) {}

  llvm::Error take() {
    return makeError(ErrorCode::InvalidArgument, message.empty() ? what + ": pass must succeed, got failure" : message);
  }

private:
  void keep(mlir::Diagnostic &diagnostic) {
    std::string location = ir::locationText(diagnostic.getLocation());
    message = diagnostic.str() + (location.empty() ? "" : " (at " + location + ")");
  }

  std::string what, message;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace tess::compiler
