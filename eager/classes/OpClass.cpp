//===- OpClass.cpp - what a mini-graph is compiled for -------------------===//
#include "eager/classes/OpClass.h"
#include "ops/graphs/Control.h"
#include "ops/vocabulary/Quantization.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"

namespace tess::eager {

/// The first axes, as many as `value` has.
static AttrValue firstAxes(const AttrValue &value) {
  if (value.kind() == AttrKind::I64)
    return AttrValue(0);
  return AttrValue(llvm::to_vector<4>(llvm::seq<int64_t>(0, int64_t(value.ints().size()))));
}

/// Replaces attributes that are read at bind time by axes that exist and by sizes without meaning: none is 1, and no
/// stop equals its start. A default fits all sizes, unless the sizes of a movement say how its pieces lie.
static OpDef withNeutralSizes(const OpDef &op) {
  int64_t neutral = 0;
  const bool keepsDefaults = op.info().lowering != Lowering::Movement && op.info().lowering != Lowering::Elementwise;
  OpDef result = op;
  for (const AttrInfo &attr : op.info().attrs) {
    if (!attr.isBindTime || !op.has(attr.name))
      continue;
    neutral += 7;
    if (attr.axisOf >= 0)
      result.set(attr.name, firstAxes(op.attr(attr.name)));
    else if (attr.hasDefault && keepsDefaults)
      result.set(attr.name, defaultOf(attr));
    else if (attr.kind == AttrKind::I64List)
      result.set(attr.name, IntList(op.ints(attr.name).size(), neutral));
    else if (attr.kind == AttrKind::I64)
      result.set(attr.name, AttrValue(neutral));
  }
  return result;
}

/// Replaces runtime attributes by any valid value, because the program gets them with each run. No rule relates them to
/// anything else, so an operator that accepts the call's values accepts these.
static OpDef withNeutralNumbers(OpDef op) {
  for (const AttrInfo &attr : op.info().attrs)
    if (attr.isRuntime && op.has(attr.name))
      op.set(attr.name, neutralNumber(attr));
  return op;
}

/// Replaces quantized dtypes by their kinds.
static OpDef withKinds(OpDef op) {
  for (const AttrInfo &attr : op.info().attrs)
    if (attr.kind == AttrKind::DType && op.has(attr.name))
      op.set(attr.name, kindOf(op.attr(attr.name).dtype()));
  return op;
}

OpClass OpClass::neutral(bool sizesLater) const {
  OpClass result = *this;
  result.op = withKinds(withNeutralNumbers(sizesLater ? withNeutralSizes(op) : op));
  for (TensorMeta &operand : result.operands)
    operand.dtype = kindOf(operand.dtype);
  return result;
}

/// What follows an operand whose memory the result takes over.
static constexpr const char *kDonated = " donated";

/// What follows an operand, and all of them for the result.
static const char *textOf(ir::MemoryLayout layout) {
  switch (layout) {
  case ir::MemoryLayout::RowMajor:
    return "";
  case ir::MemoryLayout::RowsApart:
    return " rows";
  case ir::MemoryLayout::Strided:
    return " strided";
  }
  llvm_unreachable("covered switch");
}

std::string OpClass::toText() const {
  std::string text = (control::findBody(op) ? op.toString() : op.serialize()) + " (";
  for (auto [i, meta] : llvm::enumerate(operands))
    text += (i ? ", " : "") + toString(meta) + textOf(layoutOf(i)) + (int(i) == donated ? kDonated : "");
  (text += ")") += textOf(layoutOf(operands.size()));
  for (unsigned segment : segments)
    text += " " + std::to_string(segment);
  return text;
}

static llvm::Error malformed(llvm::StringRef text) {
  return makeError(ErrorCode::DataLoss, "class: text must be operator (operands) segments, got '" + text + "'");
}

/// Takes what textOf() gives off the front of `text`.
static ir::MemoryLayout takeLayout(llvm::StringRef &text) {
  for (ir::MemoryLayout layout : {ir::MemoryLayout::RowsApart, ir::MemoryLayout::Strided})
    if (text.consume_front(textOf(layout)))
      return layout;
  return ir::MemoryLayout::RowMajor;
}

/// Takes a meta, as in "f32[?, 3]", off the front of `text`.
static bool takeMeta(llvm::StringRef &text, TensorMeta &meta) {
  auto [name, rest] = text.split('[');
  auto [sizes, after] = rest.split(']');
  std::optional<DType> dtype = parseDType(name.trim());
  if (!dtype || name.size() == text.size() || sizes.size() == rest.size())
    return false;
  meta.dtype = *dtype;
  for (llvm::StringRef size : llvm::split(sizes, ',')) {
    int64_t value = kUnknown;
    if (sizes.empty())
      break;
    if (size.trim() != "?" && size.trim().getAsInteger(10, value))
      return false;
    meta.shape.push_back(value);
  }
  text = after;
  return true;
}

llvm::Expected<OpClass> OpClass::parse(llvm::StringRef text) {
  auto [opText, rest] = text.rsplit(" (");
  auto [metas, segments] = rest.split(')');
  if (opText.size() == text.size() || metas.size() == rest.size())
    return malformed(text);
  OpClass result;
  if (llvm::Error e = OpDef::parse(opText).moveInto(result.op))
    return std::move(e);
  while (!metas.empty()) {
    if (!takeMeta(metas, result.operands.emplace_back()))
      return malformed(text);
    result.layouts.push_back(takeLayout(metas));
    if (metas.consume_front(kDonated))
      result.donated = int(result.operands.size()) - 1;
    metas.consume_front(", ");
  }
  result.layouts.push_back(takeLayout(segments));
  llvm::SmallVector<llvm::StringRef, 4> numbers;
  segments.split(numbers, ' ', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef number : numbers)
    if (number.getAsInteger(10, result.segments.emplace_back()))
      return malformed(text);
  return result;
}

} // namespace tess::eager
