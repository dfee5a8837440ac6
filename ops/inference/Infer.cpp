//===- Infer.cpp - result metas from operand metas -----------------------===//
//
// The verifier, eager mode and Python all infer through this file. Plain
// broadcasting operators take a fast path that allocates only the result.
//
//===----------------------------------------------------------------------===//
#include "ops/inference/InferenceCount.h"
#include "ops/inference/QuantizedMetas.h"
#include "ops/inference/SignatureShapes.h"
#include "ops/operator/OpDef.h"
#include "llvm/ADT/STLExtras.h"

#include <atomic>

namespace tess {

namespace {

using Operands = llvm::ArrayRef<TensorMeta>;
using Segments = llvm::ArrayRef<unsigned>;

std::string shown(const OpInfo &info, unsigned group, const TensorMeta &meta) {
  return std::string(info.operands[group].name) + " " + toString(meta);
}

std::string dtypeNames(DTypeMask mask) {
  switch (mask) {
  case kFloatMask:
    return "a float";
  case kIntMask:
    return "an integer";
  case kFloatMask | kBoolMask:
    return "a float or bool";
  case kIntMask | kBoolMask:
    return "an integer or bool";
  case kNumberMask:
    return "a number";
  case kNumberMask | kBoolMask:
    return "a number or bool";
  case kComplexMask:
    return "complex";
  case kFloatMask | kComplexMask:
    return "a float or complex";
  case kNumberMask | kComplexMask:
    return "a number or complex";
  case kNumberMask | kBoolMask | kComplexMask:
    return "a number, bool or complex";
  case kQuantizedMask:
    return "quantized";
  case kQuantizedMask | kIntMask:
    return "quantized or an integer";
  case kByteMask:
    return "of 8 bits, an integer or quantized";
  case kSignedByteMask:
    return "int8, or quantized to int8";
  case kUnquantizedMask:
    return "unquantized";
  case kAnyMask:
    return "neither quantized nor intb";
  default:
    break;
  }
  std::string names;
  for (unsigned i = 0; i < kNumDTypes; ++i)
    if (mask & maskOf(DType(i)))
      names += (names.empty() ? "" : " or ") + shortName(DType(i)).str();
  return names;
}

/// Calls `f(group, operand)` for every operand of every group, until it returns an error.
template <typename F> llvm::Error forEachOperand(const OpInfo &info, Segments segments, F f) {
  unsigned operand = 0;
  for (unsigned group = 0; group < info.operands.size(); ++group)
    for (unsigned i = 0, n = segments.empty() ? 1 : segments[group]; i < n; ++i)
      if (llvm::Error e = f(group, operand++))
        return e;
  return llvm::Error::success();
}

llvm::Error checkOperands(const OpInfo &info, Operands operands, Segments segments) {
  return forEachOperand(info, segments, [&](unsigned group, unsigned i) -> llvm::Error {
    const TensorMeta &meta = operands[i];
    if (!(info.operands[group].dtypes & maskOf(meta.dtype)))
      return makeError(ErrorCode::TypeMismatch, llvm::Twine(info.name) + ": " + info.operands[group].name +
                                                    " must be " + dtypeNames(info.operands[group].dtypes) + ", got " +
                                                    toString(meta));
    if (meta.rank() > kMaxRank)
      return invalidArgument(llvm::Twine(info.name) + ": " + info.operands[group].name +
                             " must have rank <= " + llvm::Twine(kMaxRank) + ", got " + toString(meta));
    return llvm::Error::success();
  });
}

llvm::Error checkAxis(const OpInfo &info, const AttrInfo &attr, const AttrValue &value, int64_t rank) {
  bool isList = attr.kind == AttrKind::I64List;
  int64_t single = isList ? 0 : value.i64(), n = rank + attr.axisExtra;
  if (isList)
    n = rank + (attr.axisExtra ? int64_t(value.ints().size()) : 0);
  llvm::ArrayRef<int64_t> axes = isList ? llvm::ArrayRef<int64_t>(value.ints()) : llvm::ArrayRef<int64_t>(single);
  llvm::SmallVector<bool, 2 * kMaxRank> seen(n);
  for (int64_t axis : axes) {
    if (axis < -n || axis >= n)
      return invalidArgument(llvm::Twine(info.name) + ": " + attr.name +
                             (n ? " must be in [" + llvm::Twine(-n) + ", " + llvm::Twine(n - 1) + "], got "
                                : llvm::Twine(" must not be given for rank 0, got ")) +
                             llvm::Twine(axis));
    bool &isSeen = seen[axis < 0 ? axis + n : axis];
    if (isSeen)
      return invalidArgument(llvm::Twine(info.name) + ": " + attr.name + " must be distinct, got " + value.toText());
    isSeen = true;
  }
  return llvm::Error::success();
}

llvm::Error checkAttrs(const OpDef &op, Operands operands, Segments segments) {
  const OpInfo &info = op.info();
  for (unsigned i = 0; i < info.attrs.size(); ++i) {
    const AttrInfo &attr = info.attrs[i];
    if (llvm::Error e = checkAttr(info.name, attr, op.attr(i)))
      return e;
    if (attr.axisOf < 0 || op.attr(i).kind() == AttrKind::None)
      continue;
    unsigned operand = uint8_t(attr.axisOf);
    if (!segments.empty()) {
      operand = 0;
      for (int g = 0; g < attr.axisOf; ++g)
        operand += segments[g];
    }
    if (operand < operands.size())
      if (llvm::Error e = checkAxis(info, attr, op.attr(i), operands[operand].rank()))
        return e;
  }
  return llvm::Error::success();
}

/// The dtype on which the operands named by the rule's mask agree.
llvm::Expected<DType> agreed(const OpInfo &info, Operands operands, Segments segments) {
  int first = -1;
  unsigned firstGroup = 0;
  llvm::Error error = forEachOperand(info, segments, [&](unsigned group, unsigned i) -> llvm::Error {
    if (!(info.dtypes.operandMask >> group & 1))
      return llvm::Error::success();
    if (first < 0) {
      first = i;
      firstGroup = group;
    } else if (operands[i].dtype != operands[first].dtype) {
      return makeError(ErrorCode::TypeMismatch, llvm::Twine(info.name) + ": operands must have one dtype, got " +
                                                    shown(info, firstGroup, operands[first]) + " and " +
                                                    shown(info, group, operands[i]));
    }
    return llvm::Error::success();
  });
  if (error)
    return std::move(error);
  return first < 0 ? DType::Float32 : operands[first].dtype;
}

/// The dtype that an attribute gives, which the result must allow.
llvm::Expected<DType> givenDType(const OpDef &op) {
  const OpInfo &info = op.info();
  DType dtype = op.attr(unsigned(info.dtypes.attr)).dtype();
  if (info.results[0].dtypes & maskOf(dtype))
    return dtype;
  return makeError(ErrorCode::TypeMismatch, llvm::Twine(info.name) + ": " + info.attrs[info.dtypes.attr].name +
                                                " must be " + dtypeNames(info.results[0].dtypes) + ", got " +
                                                shortName(dtype));
}

/// The dtype of PromoteOr: the given one, which is as wide as what sums are kept in.
llvm::Expected<DType> givenOrAgreed(const OpDef &op, Operands operands, Segments segments) {
  const OpInfo &info = op.info();
  const AttrValue &given = op.attr(unsigned(info.dtypes.attr));
  if (given.kind() == AttrKind::None)
    return agreed(info, operands, segments);
  if (given.dtype() != DType::Float32)
    return makeError(ErrorCode::TypeMismatch, llvm::Twine(info.name) + ": " + info.attrs[info.dtypes.attr].name +
                                                  " must be float32 or none, got " + shortName(given.dtype()));
  llvm::Error error = forEachOperand(info, segments, [&](unsigned group, unsigned i) -> llvm::Error {
    const DType dtype = operands[i].dtype;
    if (!(info.dtypes.operandMask >> group & 1) || dtype == DType::Float32 || isNarrowFloat(dtype))
      return llvm::Error::success();
    return makeError(ErrorCode::TypeMismatch, llvm::Twine(info.name) + ": " + info.operands[group].name +
                                                  " must be float16, bfloat16 or float32 where " +
                                                  info.attrs[info.dtypes.attr].name + " is given, got " +
                                                  toString(operands[i]));
  });
  if (error)
    return std::move(error);
  return given.dtype();
}

llvm::Expected<DType> resultDType(const OpDef &op, Operands operands, Segments segments) {
  const DTypeRule &rule = op.info().dtypes;
  switch (rule.kind) {
  case DTypeRuleKind::Sum:
  case DTypeRuleKind::Part:
  case DTypeRuleKind::Same: {
    unsigned flat = 0;
    for (unsigned g = 0; g < rule.operand; ++g)
      flat += segments.empty() ? 1 : segments[g];
    DType dtype = operands[flat].dtype;
    if (rule.kind == DTypeRuleKind::Part)
      return partOf(dtype);
    return rule.kind == DTypeRuleKind::Sum && isBool(dtype) ? DType::Int32 : dtype;
  }
  case DTypeRuleKind::Promote:
  case DTypeRuleKind::PromoteFloat:
    return agreed(op.info(), operands, segments);
  case DTypeRuleKind::PromoteOr:
    return givenOrAgreed(op, operands, segments);
  case DTypeRuleKind::Complex: {
    llvm::Expected<DType> part = agreed(op.info(), operands, segments);
    return part ? llvm::Expected<DType>(complexOf(*part)) : std::move(part);
  }
  case DTypeRuleKind::Fixed: {
    if (rule.operandMask)
      if (llvm::Expected<DType> d = agreed(op.info(), operands, segments); !d)
        return d;
    return rule.fixed;
  }
  case DTypeRuleKind::FromAttr:
    return givenDType(op);
  case DTypeRuleKind::Rule:
    break;
  }
  return DType::Float32;
}

/// The dtype of a result. One that allows a single dtype only (a mask, indices) has that dtype, whatever the rule says;
/// one that allows no half float has float32 in the place of it.
DType allowed(DType d, DTypeMask mask) {
  if (isNarrowFloat(d) && !(maskOf(d) & mask) && (maskOf(DType::Float32) & mask))
    return DType::Float32;
  bool single = (mask & (mask - 1)) == 0;
  return single && !(maskOf(d) & mask) ? DType(llvm::countr_zero(mask)) : d;
}

llvm::Error broadcastError(const OpInfo &info, Operands operands) {
  std::string list;
  for (unsigned i = 0; i < operands.size(); ++i)
    list += (i ? " and " : "") + shown(info, i, operands[i]);
  return invalidArgument(llvm::Twine(info.name) + ": operands must broadcast, got " + list);
}

/// Refuses sizes that a program could not even count, so that no later code has to check for them.
llvm::Error checkSizes(const OpInfo &info, llvm::ArrayRef<TensorMeta> metas) {
  for (const TensorMeta &meta : metas)
    if (meta.rank() > kMaxRank || meta.numElements() > kMaxElements)
      return invalidArgument(llvm::Twine(info.name) + ": results must have rank <= " + llvm::Twine(kMaxRank) +
                             " and at most 2^59 elements, got " + toString(meta));
  return llvm::Error::success();
}

llvm::Expected<Metas> inferElementwise(const OpInfo &info, DType dtype, Operands operands) {
  llvm::Expected<Metas> metas{Metas()}; // filled in place: a move costs as much as the inference
  bool broadcasts = false;
  for (const ResultInfo &result : info.results) {
    TensorMeta &meta = metas->emplace_back();
    meta.dtype = allowed(dtype, result.dtypes);
    meta.shape.append(operands[0].shape.begin(), operands[0].shape.end());
    for (const TensorMeta &operand : operands.drop_front())
      if (!broadcastInto(meta.shape, operand.shape)) {
        metas = broadcastError(info, operands);
        return metas;
      }
    broadcasts |= meta.shape != operands[0].shape;
  }
  if (broadcasts)
    if (llvm::Error e = checkSizes(info, *metas))
      metas = std::move(e);
  return metas;
}

llvm::Expected<Metas> inferByRule(const OpDef &op, Operands operands, Segments segments, DType dtype) {
  const OpInfo &info = op.info();
  llvm::Expected<Metas> metas = info.shapeRule(op, operands, segments);
  if (!metas)
    return metas;
  if (llvm::Error e = checkSizes(info, *metas))
    return std::move(e);
  if (info.dtypes.kind == DTypeRuleKind::Rule)
    return metas;
  for (unsigned i = 0; i < metas->size(); ++i)
    (*metas)[i].dtype = allowed(dtype, info.results[std::min<size_t>(i, info.results.size() - 1)].dtypes);
  return metas;
}

llvm::Error countError(const OpInfo &info, unsigned count) {
  unsigned least = llvm::count_if(info.operands, [](const OperandInfo &o) { return o.arity == Arity::One; });
  bool open = llvm::any_of(info.operands, [](const OperandInfo &o) { return o.arity == Arity::Variadic; });
  std::string want = open ? ">= " + std::to_string(least) : std::to_string(least);
  if (!open && least != info.operands.size())
    want += " to " + std::to_string(info.operands.size());
  return makeError(ErrorCode::TypeMismatch,
                   llvm::Twine(info.name) + ": number of operands must be " + want + ", got " + llvm::Twine(count));
}

/// Rules see the operands that are given in a row: an optional one cannot be left out before another.
llvm::Error checkOrder(const OpInfo &info, Segments segments) {
  const OperandInfo *missing = nullptr;
  for (unsigned g = 0; g < segments.size(); ++g) {
    const OperandInfo &operand = info.operands[g];
    if (operand.arity != Arity::Optional)
      continue;
    if (segments[g] && missing)
      return makeError(ErrorCode::TypeMismatch, llvm::Twine(info.name) + ": " + missing->name +
                                                    " must be given where " + operand.name + " is, got none");
    missing = segments[g] ? missing : &operand;
  }
  return llvm::Error::success();
}

llvm::Error checkSegments(const OpInfo &info, Segments segments, unsigned count) {
  unsigned sum = 0;
  bool fits = segments.size() == info.operands.size();
  for (unsigned g = 0; fits && g < segments.size(); ++g) {
    Arity arity = info.operands[g].arity;
    fits = arity == Arity::Variadic || segments[g] == 1 || (arity == Arity::Optional && segments[g] == 0);
    sum += segments[g];
  }
  return fits && sum == count ? checkOrder(info, segments) : countError(info, count);
}

} // namespace

llvm::Expected<llvm::SmallVector<unsigned, 4>> defaultSegments(const OpInfo &info, unsigned count) {
  llvm::SmallVector<unsigned, 4> segments(info.operands.size(), 1);
  int open = -1;
  unsigned optional = 0;
  for (unsigned g = 0; g < info.operands.size(); ++g) {
    if (info.operands[g].arity == Arity::Variadic)
      open = g;
    optional += info.operands[g].arity == Arity::Optional;
  }
  unsigned singles = info.operands.size() - optional - (open >= 0);
  if (count < singles || (open < 0 && count > singles + optional))
    return countError(info, count);
  // Optional operands are filled from the left.
  unsigned left = count - singles;
  for (unsigned g = 0; g < info.operands.size(); ++g)
    if (info.operands[g].arity == Arity::Optional) {
      segments[g] = left > 0;
      left -= segments[g];
    }
  if (open >= 0)
    segments[open] = left;
  return segments;
}

static std::atomic<uint64_t> inferences{0};

uint64_t inferenceCount() { return inferences.load(std::memory_order_relaxed); }

namespace {

/// As OpDef::infer, with the dtypes of the operands where channels have scales of their own.
llvm::Expected<Metas> inferOf(const OpDef &op, Operands operands, Segments segments) {
  const OpInfo &info = op.info();
  llvm::SmallVector<unsigned, 4> computed;
  if (info.simple) {
    if (operands.size() != info.operands.size())
      return countError(info, operands.size());
    segments = {};
  } else if (segments.empty()) {
    llvm::Expected<llvm::SmallVector<unsigned, 4>> found = defaultSegments(info, operands.size());
    if (!found)
      return found.takeError();
    computed = std::move(*found);
    segments = computed;
  } else if (llvm::Error e = checkSegments(info, segments, operands.size())) {
    return std::move(e);
  }
  if (llvm::Error e = checkOperands(info, operands, segments))
    return std::move(e);
  if (llvm::Error e = checkAttrs(op, operands, segments))
    return std::move(e);
  llvm::Expected<DType> dtype = resultDType(op, operands, segments);
  if (!dtype)
    return dtype.takeError();
  if (!info.signature)
    return inferByRule(op, operands, segments, *dtype);
  if (info.signature->elementwise && info.simple && !operands.empty() && !info.check)
    return inferElementwise(info, *dtype, operands);
  llvm::Expected<llvm::SmallVector<Shape, 4>> shapes = inferBySignature(op, operands, segments);
  if (!shapes)
    return shapes.takeError();
  if (info.check)
    if (llvm::Error e = info.check(op, operands, segments))
      return std::move(e);
  Metas metas;
  for (unsigned i = 0; i < shapes->size(); ++i)
    metas.emplace_back(allowed(*dtype, info.results[i].dtypes), (*shapes)[i]);
  if (llvm::Error e = checkSizes(info, metas))
    return std::move(e);
  return metas;
}

} // namespace

llvm::Expected<Metas> OpDef::infer(llvm::ArrayRef<TensorMeta> operands, llvm::ArrayRef<unsigned> segments) const {
  inferences.fetch_add(1, std::memory_order_relaxed);
  llvm::Expected<Metas> metas = inferOf(*this, operands, segments);
  if (metas && llvm::any_of(*metas, [](const TensorMeta &meta) { return parametersOf(meta.dtype) != 0; }))
    if (llvm::Error e = settleQuantized(*this, operands, *metas))
      metas = std::move(e); // one object is returned, never moved
  return metas;
}

} // namespace tess
