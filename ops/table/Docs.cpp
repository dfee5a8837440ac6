//===- Docs.cpp - docstrings of operators --------------------------------===//
#include "ops/table/Docs.h"
#include "ops/vocabulary/Quantization.h"

#include "ops/table/IrText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace tess {

namespace {

/// A sample of a record.
struct FirstCall {
  OpDef op;
  Metas operands;
};

#include "ops/table/Docs.inc"

/// "(2, 3)", "(4,)", "()": as Python writes it.
std::string shapeText(const TensorMeta &meta) {
  auto sizes = llvm::map_range(meta.shape, [](int64_t size) { return std::to_string(size); });
  return "(" + llvm::join(sizes, ", ") + (meta.shape.size() == 1 ? ",)" : ")");
}

/// The shape of one result, or a list of those of several.
std::string shapesText(const OpInfo &info) {
  FirstCall call = firstCallOf(info.id);
  Metas results =
      llvm::cantFail(call.op.infer(call.operands, llvm::cantFail(defaultSegments(info, call.operands.size()))));
  size_t hidden = llvm::count_if(info.results, [](const ResultInfo &r) { return r.hidden; });
  results.truncate(results.size() - hidden);
  if (info.results.size() - hidden == 1 && info.results.front().arity == Arity::One)
    return shapeText(results.front());
  return "[" + llvm::join(llvm::map_range(results, shapeText), ", ") + "]";
}

} // namespace

std::string irExampleOf(const OpInfo &info) {
  FirstCall call = firstCallOf(info.id);
  return llvm::cantFail(irTextOf(call.op, call.operands, llvm::cantFail(defaultSegments(info, call.operands.size()))));
}

std::string docstringOf(const OpInfo &info) {
  auto [before, after] = llvm::StringRef(docstrings[info.id]).split("@ir");
  auto [example, rest] = after.split("@shape");
  bool hasShape = example.size() != after.size();
  return (before + irExampleOf(info) + example + (hasShape ? shapesText(info) : "") + rest).str();
}

} // namespace tess
