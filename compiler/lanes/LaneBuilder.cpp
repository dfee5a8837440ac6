//===- LaneBuilder.cpp - values, constants, arithmetic -------------------===//
#include "compiler/lanes/LaneBuilder.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace tess::compiler {

unsigned bitWidth(Elem e) {
  static constexpr unsigned widths[] = {1, 8, 16, 32, 64, 128, 32, 64, 16};
  return widths[unsigned(e)];
}

LaneValue LaneValue::c(double constant) const { return builder->constant(element, vector, constant); }
LaneValue LaneValue::ci(uint64_t constant) const { return builder->constantBits(element, vector, constant); }

Type LaneBuilder::type(Elem elem, bool vector) {
  Type scalar;
  switch (elem) {
  case Elem::F16:
    scalar = ops.getF16Type();
    break;
  case Elem::F32:
    scalar = ops.getF32Type();
    break;
  case Elem::F64:
    scalar = ops.getF64Type();
    break;
  default:
    scalar = ops.getIntegerType(bitWidth(elem));
  }
  return vector ? Type(VectorType::get({int64_t(width)}, scalar)) : scalar;
}

LaneValue LaneBuilder::constant(Elem elem, bool vector, double value) {
  if (elem == Elem::F64)
    return constantBits(elem, vector, llvm::bit_cast<uint64_t>(value));
  if (elem == Elem::F32)
    return constantBits(elem, vector, llvm::bit_cast<uint32_t>(float(value)));
  bool isLarge = value >= 0x1p63; // of an unsigned element
  return constantBits(elem, vector, isLarge ? uint64_t(value) : uint64_t(int64_t(value)));
}

LaneValue LaneBuilder::constantBits(Elem elem, bool vector, uint64_t bits) {
  unsigned width = bitWidth(elem);
  bits &= ~uint64_t(0) >> (64 - std::min(width, 64u));
  Type shaped = type(elem, vector), scalar = type(elem, false);
  Value &memo = constants[{const_cast<void *>(shaped.getAsOpaquePointer()), bits}];
  if (memo)
    return wrap(memo, elem, vector);
  OpBuilder::InsertionGuard guard(ops);
  ops.setInsertionPointToStart(entry);
  llvm::APInt word(width, bits);
  TypedAttr one;
  if (isFloat(elem))
    one = FloatAttr::get(scalar, llvm::APFloat(cast<FloatType>(scalar).getFloatSemantics(), word));
  else
    one = IntegerAttr::get(scalar, word);
  if (vector)
    one = SplatElementsAttr::get(cast<VectorType>(shaped), Attribute(one));
  memo = LLVM::ConstantOp::create(ops, loc, shaped, one);
  return wrap(memo, elem, vector);
}

LaneValue LaneBuilder::constantLanes(llvm::ArrayRef<float> lanes) {
  auto shaped = VectorType::get({int64_t(lanes.size())}, ops.getF32Type());
  OpBuilder::InsertionGuard guard(ops);
  ops.setInsertionPointToStart(entry);
  return wrap(LLVM::ConstantOp::create(ops, loc, shaped, DenseFPElementsAttr::get(shaped, lanes)), Elem::F32, true);
}

LaneValue LaneBuilder::iota(Elem elem) {
  auto shaped = cast<VectorType>(type(elem, true));
  Value &memo = iotas[shaped];
  if (memo)
    return wrap(memo, elem, true);
  OpBuilder::InsertionGuard guard(ops);
  ops.setInsertionPointToStart(entry);
  llvm::SmallVector<llvm::APInt> lanes;
  for (unsigned i = 0; i < width; ++i)
    lanes.push_back(llvm::APInt(bitWidth(elem), i));
  memo = LLVM::ConstantOp::create(ops, loc, shaped, DenseIntElementsAttr::get(shaped, lanes));
  return wrap(memo, elem, true);
}

LaneValue LaneBuilder::undef(Elem elem, bool vector) {
  return wrap(LLVM::PoisonOp::create(ops, loc, type(elem, vector)), elem, vector);
}

LaneValue LaneBuilder::splat(LaneValue scalar) {
  if (scalar.isVector())
    return scalar;
  Value constant = scalar.get();
  if (auto op = constant.getDefiningOp<LLVM::ConstantOp>()) {
    llvm::APInt bits = isFloat(scalar.elem()) ? cast<FloatAttr>(op.getValue()).getValue().bitcastToAPInt()
                                              : cast<IntegerAttr>(op.getValue()).getValue();
    return constantBits(scalar.elem(), true, bits.getZExtValue());
  }
  LaneValue start = insert(undef(scalar.elem(), true), scalar, 0);
  return shuffle(start, llvm::SmallVector<int32_t>(width, 0));
}

LaneValue LaneBuilder::extract(LaneValue vector, unsigned lane) { return extractAt(vector, index(lane)); }

LaneValue LaneBuilder::extractAt(LaneValue vector, LaneValue lane) {
  return wrap(LLVM::ExtractElementOp::create(ops, loc, vector.get(), lane.get()), vector.elem(), false);
}

LaneValue LaneBuilder::insert(LaneValue vector, LaneValue scalar, unsigned lane) {
  return insertAt(vector, scalar, index(lane));
}

LaneValue LaneBuilder::insertAt(LaneValue vector, LaneValue scalar, LaneValue lane) {
  Value result = LLVM::InsertElementOp::create(ops, loc, vector.get(), scalar.get(), lane.get());
  return wrap(result, vector.elem(), true);
}

LaneValue LaneBuilder::shuffle(LaneValue first, LaneValue second, llvm::ArrayRef<int32_t> lanes) {
  Value result = LLVM::ShuffleVectorOp::create(ops, loc, first.get(), second.get(), lanes);
  return wrap(result, first.elem(), true);
}

LaneValue LaneBuilder::anyLane(LaneValue mask) {
  if (!mask.isVector())
    return mask;
  LaneValue word = wrap(LLVM::BitcastOp::create(ops, loc, ops.getI16Type(), mask.get()), Elem::I16, false);
  return compare(Cmp::Ne, word, word.ci(0));
}

void LaneBuilder::unify(LaneValue &lhs, LaneValue &rhs) {
  if (lhs.isVector() == rhs.isVector())
    return;
  lhs = splat(lhs);
  rhs = splat(rhs);
}

LaneValue LaneBuilder::binary(Bin op, LaneValue lhs, LaneValue rhs) {
  assert(lhs.elem() == rhs.elem() && "operands must have one type");
  unify(lhs, rhs);
  bool real = isFloat(lhs.elem());
  auto make = [&](auto tag) {
    return wrap(decltype(tag)::create(ops, loc, lhs.get(), rhs.get()), lhs.elem(), lhs.isVector());
  };
  switch (op) {
  case Bin::Add:
    return real ? make(LLVM::FAddOp()) : make(LLVM::AddOp());
  case Bin::Sub:
    return real ? make(LLVM::FSubOp()) : make(LLVM::SubOp());
  case Bin::Mul:
    return real ? make(LLVM::FMulOp()) : make(LLVM::MulOp());
  case Bin::Div:
    return real ? make(LLVM::FDivOp()) : make(LLVM::SDivOp());
  case Bin::SDiv:
    return make(LLVM::SDivOp());
  case Bin::UDiv:
    return make(LLVM::UDivOp());
  case Bin::And:
    return make(LLVM::AndOp());
  case Bin::Or:
    return make(LLVM::OrOp());
  case Bin::Xor:
    return make(LLVM::XOrOp());
  case Bin::Shl:
    return make(LLVM::ShlOp());
  case Bin::LShr:
    return make(LLVM::LShrOp());
  case Bin::AShr:
    return make(LLVM::AShrOp());
  }
  llvm_unreachable("covered switch");
}

LaneValue LaneBuilder::unary(Un op, LaneValue x) {
  Value v = x.get();
  auto make = [&](auto tag) { return wrap(decltype(tag)::create(ops, loc, v), x.elem(), x.isVector()); };
  switch (op) {
  case Un::Neg:
    return isFloat(x.elem()) ? make(LLVM::FNegOp()) : x.ci(0) - x;
  case Un::Abs:
    return isFloat(x.elem()) ? make(LLVM::FAbsOp()) : select(compare(Cmp::Lt, x, x.ci(0)), x.ci(0) - x, x);
  case Un::Sqrt:
    return make(LLVM::SqrtOp());
  case Un::Floor:
    return make(LLVM::FFloorOp());
  case Un::Ceil:
    return make(LLVM::FCeilOp());
  case Un::Trunc:
    return make(LLVM::FTruncOp());
  case Un::Round:
    return make(LLVM::RoundEvenOp());
  case Un::CountLeadingZeros:
    return wrap(LLVM::CountLeadingZerosOp::create(ops, loc, v.getType(), v, /*is_zero_poison=*/false), x.elem(),
                x.isVector());
  }
  llvm_unreachable("covered switch");
}

LaneValue LaneBuilder::fma(LaneValue a, LaneValue x, LaneValue y) {
  unify(a, x);
  unify(a, y);
  unify(a, x);
  return wrap(LLVM::FMAOp::create(ops, loc, a.get(), x.get(), y.get()), a.elem(), a.isVector());
}

LaneValue LaneBuilder::call(llvm::StringRef intrinsic, Type result, llvm::ArrayRef<Value> args, Elem elem) {
  auto made = LLVM::CallIntrinsicOp::create(ops, loc, result, ops.getStringAttr(intrinsic), args);
  return wrap(made.getResults(), elem, true);
}

LaneValue LaneBuilder::dotPairs(LaneValue a, LaneValue x, LaneValue total) {
  Type pairs = VectorType::get({2 * int64_t(width)}, ops.getBF16Type());
  Value args[] = {total.get(), LLVM::BitcastOp::create(ops, loc, pairs, a.get()),
                  LLVM::BitcastOp::create(ops, loc, pairs, x.get())};
  return call("llvm.x86.avx512bf16.dpbf16ps.512", type(Elem::F32, true), args, Elem::F32);
}

LaneValue LaneBuilder::dotQuads(LaneValue a, LaneValue x, LaneValue total) {
  Type quads = VectorType::get({4 * int64_t(width)}, ops.getI8Type());
  Value args[] = {total.get(), LLVM::BitcastOp::create(ops, loc, quads, a.get()),
                  LLVM::BitcastOp::create(ops, loc, quads, x.get())};
  return call("llvm.x86.avx512.vpdpbusd.512", type(Elem::I32, true), args, Elem::I32);
}

LaneValue LaneBuilder::dotHalves(LaneValue a, LaneValue x, bool isWhole) {
  if (isWhole)
    return call("llvm.x86.avx512.pmaddw.d.512", type(Elem::I32, true), {a.get(), x.get()}, Elem::I32);
  llvm::SmallVector<LaneValue, 2> parts;
  for (int32_t first : {0, int32_t(kLanes)}) {
    auto lanes = llvm::to_vector(llvm::seq(first, first + int32_t(kLanes)));
    Type half = VectorType::get({int64_t(kLanes) / 2}, ops.getI32Type());
    parts.push_back(
        call("llvm.x86.avx2.pmadd.wd", half, {shuffle(a, lanes).get(), shuffle(x, lanes).get()}, Elem::I32));
  }
  return shuffle(parts[0], parts[1], llvm::to_vector(llvm::seq(0, int32_t(kLanes))));
}

LaneValue LaneBuilder::dotBytes(LaneValue a, LaneValue x, bool isWhole) {
  auto multiply = [&](llvm::StringRef intrinsic, LaneValue left, LaneValue right, int64_t lanes) {
    Type bytes = VectorType::get({4 * lanes}, ops.getI8Type());
    Value args[] = {LLVM::BitcastOp::create(ops, loc, bytes, left.get()),
                    LLVM::BitcastOp::create(ops, loc, bytes, right.get())};
    return call(intrinsic, VectorType::get({2 * lanes}, ops.getI16Type()), args, Elem::I16);
  };
  if (isWhole)
    return multiply("llvm.x86.avx512.pmaddubs.w.512", a, x, kLanes);
  constexpr int32_t kHalf = kLanes / 2;
  llvm::SmallVector<LaneValue, 2> parts;
  for (int32_t first : {0, kHalf}) {
    auto lanes = llvm::to_vector(llvm::seq(first, first + kHalf));
    LaneValue left = shuffle(a, lanes), right = shuffle(x, lanes);
    parts.push_back(multiply("llvm.x86.avx2.pmadd.ub.sw", left, right, kHalf));
  }
  return shuffle(parts[0], parts[1], llvm::to_vector(llvm::seq(0, 2 * int32_t(kLanes))));
}

LaneValue LaneBuilder::permute(LaneValue table, LaneValue index) {
  return call("llvm.x86.avx512.permvar.sf.512", type(Elem::F32, true), {table.get(), index.get()}, Elem::F32);
}

LaneValue LaneBuilder::compare(Cmp op, LaneValue lhs, LaneValue rhs) {
  assert(lhs.elem() == rhs.elem() && "operands must have one type");
  unify(lhs, rhs);
  using F = LLVM::FCmpPredicate;
  using I = LLVM::ICmpPredicate;
  static constexpr F floats[] = {F::oeq, F::une, F::olt, F::ole, F::ogt, F::oge,
                                 F::olt, F::ogt, F::ole, F::oge, F::uno};
  static constexpr I ints[] = {I::eq, I::ne, I::slt, I::sle, I::sgt, I::sge, I::ult, I::ugt, I::ule, I::uge};
  Value result;
  if (isFloat(lhs.elem()))
    result = LLVM::FCmpOp::create(ops, loc, floats[unsigned(op)], lhs.get(), rhs.get());
  else
    result = LLVM::ICmpOp::create(ops, loc, ints[unsigned(op)], lhs.get(), rhs.get());
  return wrap(result, Elem::I1, lhs.isVector());
}

LaneValue LaneBuilder::select(LaneValue condition, LaneValue yes, LaneValue no) {
  assert(yes.elem() == no.elem() && "operands must have one type");
  unify(yes, no);
  if (condition.isVector()) {
    yes = splat(yes);
    no = splat(no);
  }
  return wrap(LLVM::SelectOp::create(ops, loc, condition.get(), yes.get(), no.get()), yes.elem(), yes.isVector());
}

LaneValue LaneBuilder::bitcast(LaneValue x, Elem to) {
  return wrap(LLVM::BitcastOp::create(ops, loc, type(to, x.isVector()), x.get()), to, x.isVector());
}

LaneValue LaneBuilder::convert(LaneValue x, Elem to, bool isUnsigned) {
  if (x.elem() == to)
    return x;
  Type target = type(to, x.isVector());
  auto make = [&](auto tag) -> Value { return decltype(tag)::create(ops, loc, target, x.get()); };
  bool wider = bitWidth(to) > bitWidth(x.elem());
  Value result;
  if (isFloat(x.elem()) && isFloat(to))
    result = wider ? make(LLVM::FPExtOp()) : Value(LLVM::FPTruncOp::create(ops, loc, target, x.get()));
  else if (isFloat(x.elem()))
    result = isUnsigned ? make(LLVM::FPToUIOp()) : make(LLVM::FPToSIOp());
  else if (isFloat(to))
    result = isUnsigned ? make(LLVM::UIToFPOp()) : make(LLVM::SIToFPOp());
  else if (!wider)
    result = Value(LLVM::TruncOp::create(ops, loc, target, x.get()));
  else
    result = isUnsigned || x.elem() == Elem::I1 ? make(LLVM::ZExtOp()) : make(LLVM::SExtOp());
  return wrap(result, to, x.isVector());
}

LaneValue LaneBuilder::mulHighU64(LaneValue lhs, LaneValue rhs) {
  Type scalar = ops.getIntegerType(128);
  Type wide = lhs.isVector() ? Type(VectorType::get({int64_t(width)}, scalar)) : scalar;
  Value product = LLVM::MulOp::create(ops, loc, LLVM::ZExtOp::create(ops, loc, wide, lhs.get()),
                                      LLVM::ZExtOp::create(ops, loc, wide, rhs.get()));
  TypedAttr shift = IntegerAttr::get(scalar, 64);
  if (lhs.isVector())
    shift = SplatElementsAttr::get(cast<VectorType>(wide), Attribute(shift));
  Value high = LLVM::LShrOp::create(ops, loc, product, LLVM::ConstantOp::create(ops, loc, wide, shift));
  return wrap(LLVM::TruncOp::create(ops, loc, lhs.get().getType(), high), Elem::I64, lhs.isVector());
}

V toBits(V a) { return a.b().bitcast(a, bitWidth(a.elem()) == 64 ? Elem::I64 : Elem::I32); }
V fromBits(V a) { return a.b().bitcast(a, bitWidth(a.elem()) == 64 ? Elem::F64 : Elem::F32); }

V signBit(V a) {
  V bits = toBits(a);
  return bits & bits.ci(uint64_t(1) << (bitWidth(a.elem()) - 1));
}

V copySign(V a, V s) { return fromBits(toBits(fabs(a)) | signBit(s)); }

V polynomial(V x, llvm::ArrayRef<double> coefficients) {
  V p = x.c(coefficients[0]);
  for (double c : coefficients.drop_front())
    p = fma(p, x, c);
  return p;
}

} // namespace tess::compiler
