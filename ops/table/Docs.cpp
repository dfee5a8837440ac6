//===- Docs.cpp - docstrings of operators --------------------------------===//
#include "ops/table/Docs.h"
#include "ops/vocabulary/Quantization.h"

#include "ops/table/IrText.h"

namespace tess {

namespace {

/// A sample of a record.
struct FirstCall {
  OpDef op;
  Metas operands;
};

#include "ops/table/Docs.inc"

} // namespace

std::string irExampleOf(const OpInfo &info) {
  FirstCall call = firstCallOf(info.id);
  return llvm::cantFail(irTextOf(call.op, call.operands, llvm::cantFail(defaultSegments(info, call.operands.size()))));
}

std::string docstringOf(const OpInfo &info) {
  auto [before, after] = llvm::StringRef(docstrings[info.id]).split("@ir");
  return (before + irExampleOf(info) + after).str();
}

} // namespace tess
