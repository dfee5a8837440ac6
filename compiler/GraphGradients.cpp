//===- GraphGradients.cpp - gradients of a graph --------------------------===//
#include "compiler/GraphGradients.h"
#include "compiler/FirstDiagnostic.h"
#include "compiler/transforms/Passes.h"
#include "ir/OpBridge.h"
#include "ir/Types.h"

#include "mlir/Pass/PassManager.h"

namespace tess::compiler {

/// The number of the output named `name`; the error for another name lists the names that exist.
static llvm::Expected<unsigned> outputNamed(mlir::func::FuncOp main, llvm::StringRef name) {
  std::string names;
  auto entries = main->getAttrOfType<mlir::ArrayAttr>(ir::kOutputsAttr);
  for (auto [index, entry] : llvm::enumerate(entries)) {
    llvm::StringRef own = llvm::cast<mlir::DictionaryAttr>(entry).getAs<mlir::StringAttr>("name").getValue();
    if (own == name)
      return unsigned(index);
    names += (names.empty() ? "" : ", ") + own.str();
  }
  return makeError(ErrorCode::NotFound, "differentiate: output must be one of [" + names + "], got '" + name + "'");
}

llvm::Error differentiate(ir::Graph &graph, llvm::StringRef output) {
  ir::GraphImpl &impl = graph.impl();
  std::lock_guard<std::mutex> lock(impl.mutex); // one thread at a time may use the context
  mlir::func::FuncOp main = impl.main();
  llvm::Expected<unsigned> number = outputNamed(main, output);
  if (!number)
    return number.takeError();
  TensorMeta meta = ir::metaOf(main.getBody().front().getTerminator()->getOperand(*number).getType());
  if (!isFloat(meta.dtype))
    return invalidArgument("differentiate: output must be a float, got " + output + " " + toString(meta));
  mlir::MLIRContext *context = impl.context.get();
  FirstDiagnostic diagnostic(context, "differentiate");
  mlir::PassManager manager(context);
  DifferentiatePassOptions options;
  options.output = *number;
  manager.addNestedPass<mlir::func::FuncOp>(createDifferentiatePass(options));
  return failed(manager.run(impl.module.get())) ? diagnostic.take() : llvm::Error::success();
}

} // namespace tess::compiler
