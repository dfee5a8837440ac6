//===- examples_test.cpp - what documentation shows of the dialect --------===//
//
// ops/table/IrText.h writes the text of an operator without MLIR; here the dialect
// reads it, verifies it and prints it again.
//
//===----------------------------------------------------------------------===//
#include "ir/Dialect.h"
#include "ops/table/Docs.h"
#include "ops/table/IrText.h"
#include "tests/ops/Samples.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"

using namespace tess;
using namespace tess::test;

namespace {

llvm::SmallVector<llvm::StringRef> listed(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> parts;
  text.trim().split(parts, ", ", -1, false);
  return parts;
}

/// A function around the operator `text`, whose arguments are its operands; their locations keep the names for the
/// printer.
std::string functionAround(llvm::StringRef text) {
  auto names =
      listed(text.split("tess.").second.split(' ').second.take_until([](char c) { return c == '{' || c == ':'; }));
  auto types = listed(text.rsplit(" : (").second.split(')').first);
  REQUIRE(names.size() == types.size());
  std::string source = "func.func @main(";
  for (auto [index, name] : llvm::enumerate(names))
    source +=
        (llvm::Twine(index ? ", " : "") + name + ": " + types[index] + " loc(\"" + name.drop_front() + "\")").str();
  return source + ") {\n  " + text.str() + "\n  return\n}\n";
}

/// What the dialect prints after it has read `text`; the first diagnostic when it refuses.
std::string printedAgain(mlir::MLIRContext &context, llvm::StringRef text) {
  std::string message;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    if (message.empty())
      message = diagnostic.str();
    return mlir::success();
  });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(functionAround(text), mlir::ParserConfig(&context));
  if (!module || mlir::failed(mlir::verify(*module)))
    return message;
  auto function = *module->getOps<mlir::func::FuncOp>().begin();
  std::string printed;
  llvm::raw_string_ostream stream(printed);
  function.getBody().front().front().print(stream, mlir::OpPrintingFlags().printNameLocAsPrefix());
  return printed;
}

/// That the dialect reads `text` and prints the same.
void checkText(llvm::StringRef text) {
  static mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<ir::TessDialect, mlir::func::FuncDialect>();
  CHECK(printedAgain(context, text) == text.str());
}

} // namespace

TEST_CASE("docstrings and the reference page have an example of every record, which the dialect reads") {
  auto buffer = llvm::MemoryBuffer::getFile("ops/Ops.md");
  REQUIRE(buffer);
  llvm::StringRef page = (*buffer)->getBuffer();
  CHECK(!page.contains("@ir"));
  for (const OpInfo &info : allOps()) {
    INFO(info.name);
    std::string example = irExampleOf(info);
    CHECK(llvm::StringRef(example).contains(std::string(" = tess.") + info.name + " "));
    CHECK(llvm::StringRef(docstringOf(info)).contains("\nIR:\n    " + example + "\n\nExample:\n"));
    CHECK(page.contains("```mlir\n" + example + "\n```\n"));
    checkText(example);
  }
}

TEST_CASE("an example is the record's first sample") {
  CHECK(irExampleOf(*findOp("neg")) == "%0 = tess.neg %x : (tensor<f32>) -> tensor<f32>");
  CHECK(irExampleOf(*findOp("topk")) ==
        "%out, %indices = tess.topk %x {k = 3 : si64} : (tensor<7xf32>) -> (tensor<3xf32>, tensor<3xi32>)");
}

TEST_CASE("the text of every sample is what the dialect reads and prints") {
  for (DType dtype : {DType::Float32, DType::BFloat16, DType::UInt8, DType::Bool})
    forEachSample(
        [](const SampleCall &call) {
          INFO(call.name);
          checkText(llvm::cantFail(irTextOf(call.op, call.operands, call.segments)));
        },
        dtype);
}

TEST_CASE("numbers and unknown sizes are written as the dialect prints them") {
  const TensorMeta x(DType::Float32, {kUnknown, 3});
  for (double value : {0.0, -0.0, 0.1, 1.0 / 3, 1e-12, 1e300, 5e-324, 123456789.0, double(INFINITY), double(NAN)}) {
    OpDef op = OpDef::get("full_like").set("value", AttrValue(value));
    checkText(llvm::cantFail(irTextOf(op, {x}, {1u})));
  }
}
