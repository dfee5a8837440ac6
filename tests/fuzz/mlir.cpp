//===- mlir.cpp - any text for tess-opt's parser and pipeline -------------===//
#include "compiler/CompileModule.h"
#include "compiler/Pipeline.h"
#include "eager/classes/HostOptions.h"
#include "ir/Dialect.h"
#include "tests/fuzz/Fuzz.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

using namespace tess;

/// Upstream's parser recurses over nested text and never says no: README.md.
static bool isDeep(llvm::StringRef text) {
  constexpr int kMostNested = 200;
  int depth = 0, deepest = 0;
  for (char c : text) {
    depth += llvm::StringRef("([{<").contains(c);
    depth -= depth > 0 && llvm::StringRef(")]}>").contains(c);
    deepest = std::max(deepest, depth);
  }
  return deepest > kMostNested;
}

/// Upstream's parser asks for memory of the alignment that a blob begins with, whatever it is: README.md.
static bool hasOddBlob(llvm::StringRef text) {
  constexpr uint32_t kMostAligned = 4096;
  for (size_t at = text.find("\"0x"); at != llvm::StringRef::npos; at = text.find("\"0x", at + 1)) {
    std::string head = llvm::fromHex(text.substr(at + 3, 8).take_while(llvm::isHexDigit));
    head.resize(4);
    uint32_t alignment = llvm::support::endian::read32le(head.data());
    if (!llvm::isPowerOf2_32(alignment) || alignment > kMostAligned)
      return true;
  }
  return false;
}

void fuzzOne(llvm::StringRef input) {
  if (isDeep(input) || hasOddBlob(input))
    return;
  static const compiler::CompileOptions options = eager::hostOptions();
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<ir::TessDialect, mlir::func::FuncDialect>();
  bool isDiagnosed = false;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    isDiagnosed |= diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
    return mlir::success();
  });
  std::string text = input.str(); // upstream's lexer looks at the byte after the last: README.md
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    return fuzz::require(isDiagnosed, "a text that is refused must have a diagnostic");
  mlir::PassManager manager(&context);
  const auto numerics = input.size() % 2 ? ir::Numerics::Fast : ir::Numerics::Strict; // both, by the text alone
  compiler::buildPipeline(manager, options, numerics, compiler::moduleEvaluator(options));
  if (mlir::failed(manager.run(*module)))
    fuzz::require(isDiagnosed, "a module that is refused must have a diagnostic");
}
