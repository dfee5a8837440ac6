//===- signature.cpp - any operands and attributes for shape inference ----===//
//
// An input is text: an operator as a file writes it, then a line for each operand:
// its dtype and dimensions ("f32 2 3", "i64 ?"); a line of `:` ends a group.
//
//===----------------------------------------------------------------------===//
#include "ops/operator/OpDef.h"
#include "ops/vocabulary/Quantization.h"
#include "ops/vocabulary/SizeExpr.h"
#include "tests/fuzz/Fuzz.h"

using namespace tess;

/// False when the line is none.
static bool readMeta(llvm::StringRef line, TensorMeta &meta) {
  auto [name, rest] = line.split(' ');
  std::optional<DType> dtype = parseDType(name);
  if (!dtype)
    return false;
  meta.dtype = *dtype;
  llvm::SmallVector<llvm::StringRef> dims;
  rest.split(dims, ' ', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef text : dims) {
    int64_t size = kUnknown;
    if (text != "?" && (text.getAsInteger(10, size) || size < 0)) // who calls inference has sizes
      return false;
    meta.shape.push_back(size);
  }
  return true;
}

static bool readOperands(llvm::StringRef text, Metas &operands, llvm::SmallVectorImpl<unsigned> &segments) {
  unsigned inGroup = 0;
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    text = rest;
    if (line == ":") {
      segments.push_back(std::exchange(inGroup, 0));
      continue;
    }
    TensorMeta meta;
    if (!readMeta(line, meta))
      return false;
    operands.push_back(std::move(meta));
    ++inGroup;
  }
  return true;
}

/// What follows inference where the sizes are known: views and upper bounds.
static void useResults(const OpDef &op, const Metas &operands, const Metas &results,
                       llvm::ArrayRef<unsigned> segments) {
  auto isStatic = [](const TensorMeta &meta) { return meta.isStatic(); };
  if (!llvm::all_of(operands, isStatic))
    return;
  if (op.info().boundRule) {
    auto most = op.info().boundRule(op, operands, segments);
    fuzz::passed(most);
  }
  if (op.info().viewRule && llvm::all_of(results, isStatic)) {
    auto layout = op.info().viewRule(op, Layout::contiguous(operands[0].shape), results[0].shape);
    fuzz::passed(layout);
  }
}

void fuzzOne(llvm::StringRef input) {
  auto [text, rest] = input.split('\n');
  auto op = OpDef::parse(text);
  Metas operands;
  llvm::SmallVector<unsigned> segments;
  if (!fuzz::passed(op) || !readOperands(rest, operands, segments))
    return;
  auto results = op->infer(operands, segments);
  if (!fuzz::passed(results))
    return;
  bool isSymbolic = false;
  for (const TensorMeta &meta : *results)
    for (int64_t size : meta.shape) {
      bool isExpression = sizes::isSymbolic(size);
      isSymbolic |= isExpression;
      fuzz::require(size >= 0 || size == kUnknown || isExpression,
                    "a size must not be negative, got " + toString(meta));
    }
  if (!isSymbolic) // an expression becomes a number before anything is viewed
    useResults(*op, operands, *results, segments);
}
