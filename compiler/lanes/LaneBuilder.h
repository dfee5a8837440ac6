//===- LaneBuilder.h - arithmetic on 16 lanes or on one ---------*- C++ -*-===//
//
// What the math expansions are written in: a value that is a vector of 16 lanes
// or a scalar, with operators that append operations of the LLVM dialect: what
// others are converted to would take a tenth of a kernel's time. The same
// expansion on a scalar and on a vector gives the same bits. Splats and constants
// are made where needed; constants live in the entry block. MLIR's dialect
// headers stay in the .cpp.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/schema/KernelAbi.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/SaveAndRestore.h"

#include <algorithm>

namespace tess::compiler {

using runtime::kLanes;

class LaneBuilder;

/// Element types of values in a kernel.
enum class Elem : uint8_t { I1, I8, I16, I32, I64, I128 /*a pair of F64*/, F32, F64, F16 /*memory only*/ };
/// F16 too, though it is no type of computation.
constexpr bool isFloat(Elem e) { return e >= Elem::F32; }
/// Bits of an element; 1 for I1.
unsigned bitWidth(Elem e);
/// Bytes of an element in memory; 1 for I1.
inline unsigned elemBytes(Elem e) { return e == Elem::I1 ? 1 : bitWidth(e) / 8; }
/// What addresses of elements in memory are multiples of.
inline unsigned elemAlignment(Elem e) { return std::min(elemBytes(e), 8u); }

/// A vector of 16 lanes or a scalar. A handle: copy freely; lives as long as its LaneBuilder.
class LaneValue {
public:
  LaneValue() = default;
  LaneValue(LaneBuilder &builder, mlir::Value value, Elem elem, bool vector)
      : builder(&builder), value(value), element(elem), vector(vector) {}

  explicit operator bool() const { return value != nullptr; }
  /// The builder that made it, its MLIR value, the type of its lanes, and whether it is a vector.
  LaneBuilder &b() const { return *builder; }
  mlir::Value get() const { return value; }
  Elem elem() const { return element; }
  bool isVector() const { return vector; }

  /// A constant of this value's type and shape: by number, and by bits of an integer type.
  LaneValue c(double constant) const;
  LaneValue ci(uint64_t constant) const;

private:
  LaneBuilder *builder = nullptr;
  mlir::Value value;
  Elem element = Elem::F32;
  bool vector = false;
};

/// Emits operations of the LLVM dialect at an insertion point, on scalars and on vectors of `width` lanes.
class LaneBuilder {
public:
  /// `entry` takes the constants and stack buffers; it must dominate everything built.
  LaneBuilder(mlir::OpBuilder &ops, mlir::Location loc, mlir::Block *entry) : ops(ops), loc(loc), entry(entry) {}

  /// While it lives, what is built goes before `place`. Then before the operation as now: an operation, not a block,
  /// because control flow moves it.
  class InsertBefore {
  public:
    InsertBefore(LaneBuilder &b, mlir::Operation *place) : b(b), before(b.next()) { b.ops.setInsertionPoint(place); }
    ~InsertBefore() { b.ops.setInsertionPoint(before); }
    InsertBefore(const InsertBefore &) = delete;

  private:
    LaneBuilder &b;
    mlir::Operation *before;
  };
  /// While it lives, vectors have `width` lanes: in the tree that ends a reduction, where a row is short, and twice as
  /// many of half the bits.
  class WithLanes {
  public:
    WithLanes(LaneBuilder &b, unsigned width) : restore(b.width, width) {}

  private:
    llvm::SaveAndRestore<unsigned> restore;
  };

  /// Of a vector.
  unsigned lanes() const { return width; }

  /// For operations that this class has no name for.
  mlir::OpBuilder &opBuilder() { return ops; }
  mlir::Location location() const { return loc; }

  /// The MLIR type of an element, or of a vector of `width` of them.
  mlir::Type type(Elem elem, bool vector);
  /// A value of MLIR that has that type.
  LaneValue wrap(mlir::Value value, Elem elem, bool vector) { return {*this, value, elem, vector}; }
  /// The numbers as the lanes of a vector of floats.
  LaneValue constantLanes(llvm::ArrayRef<float> lanes);
  /// Constant of a float (value) or integer (bits) type.
  LaneValue constant(Elem elem, bool vector, double value);
  LaneValue constantBits(Elem elem, bool vector, uint64_t bits);
  /// i64 scalar constant.
  LaneValue index(int64_t value) { return constantBits(Elem::I64, false, uint64_t(value)); }
  /// 0, 1, ..., 15 of an integer type.
  LaneValue iota(Elem elem);
  /// The scalar in every lane; a vector passes.
  LaneValue splat(LaneValue scalar);
  /// Single lanes, by a constant or by a scalar of an integer type; insert() gives the changed vector.
  LaneValue extract(LaneValue vector, unsigned lane);
  LaneValue extractAt(LaneValue vector, LaneValue lane);
  LaneValue insertAt(LaneValue vector, LaneValue scalar, LaneValue lane);
  LaneValue insert(LaneValue vector, LaneValue scalar, unsigned lane);
  /// The named lanes as a vector of as many.
  LaneValue shuffle(LaneValue vector, llvm::ArrayRef<int32_t> lanes) { return shuffle(vector, vector, lanes); }
  LaneValue shuffle(LaneValue first, LaneValue second, llvm::ArrayRef<int32_t> lanes);
  /// A value that must be overwritten before it is read (poison).
  LaneValue undef(Elem elem, bool vector);
  /// Whether any lane is true: a scalar i1.
  LaneValue anyLane(LaneValue mask);

  /// Operations of binary(), unary() and compare(). Div is of floats, SDiv and UDiv of integers; ULt to UGe compare
  /// unsigned; Unordered: either side is NaN.
  enum class Bin : uint8_t { Add, Sub, Mul, Div, SDiv, UDiv, And, Or, Xor, Shl, LShr, AShr };
  enum class Un : uint8_t { Neg, Abs, Sqrt, Floor, Ceil, Trunc, Round, CountLeadingZeros };
  enum class Cmp : uint8_t { Eq, Ne, Lt, Le, Gt, Ge, ULt, UGt, ULe, UGe, Unordered };
  /// Both sides have one element type; a scalar beside a vector is repeated.
  LaneValue binary(Bin op, LaneValue lhs, LaneValue rhs);
  LaneValue unary(Un op, LaneValue x);
  /// a * x + y with one rounding.
  LaneValue fma(LaneValue a, LaneValue x, LaneValue y);
  /// Adds to each lane of `total` (F32) the products of the two bfloat16 numbers in that lane of `a` and `x` (I32): the
  /// upper ones first, each by a multiply-add to which numbers below the normal ones are zeros. Machines with
  /// AVX512_BF16 have it.
  LaneValue dotPairs(LaneValue a, LaneValue x, LaneValue total);
  /// Adds to each lane of `total` the products of the four bytes in that lane of `a`, unsigned ones, and `x`, signed
  /// ones; all are I32. Machines with AVX512_VNNI have it.
  LaneValue dotQuads(LaneValue a, LaneValue x, LaneValue total);
  /// The sum of the products of neighbours, for vectors of 2 * kLanes signed numbers of 16 bits: kLanes of 32 bits.
  /// `isWhole`: in one instruction, of AVX512BW.
  LaneValue dotHalves(LaneValue a, LaneValue x, bool isWhole);
  /// The sums of products of neighbouring bytes, of `a`, unsigned ones, and `x`, signed ones, both kLanes of I32: 2 *
  /// kLanes numbers of 16 bits, which they must fit. `isWhole`: in one instruction, of AVX512BW.
  LaneValue dotBytes(LaneValue a, LaneValue x, bool isWhole);
  /// The element of `table`, kLanes of F32, that the lower four bits of each lane of `index` (I32) name. Machines with
  /// AVX512F have it.
  LaneValue permute(LaneValue table, LaneValue index);
  /// False for NaN, except Ne and Unordered; integers compare signed, except with ULt to UGe. The result is I1.
  LaneValue compare(Cmp op, LaneValue lhs, LaneValue rhs);
  /// Lane by lane, or as a whole for a scalar condition.
  LaneValue select(LaneValue condition, LaneValue yes, LaneValue no);
  /// Same bits, other element type of equal width.
  LaneValue bitcast(LaneValue x, Elem to);
  /// The value as another type; a float outside the range of the integer type gives poison. `isUnsigned`: of the
  /// integer side.
  LaneValue convert(LaneValue x, Elem to, bool isUnsigned = false);
  /// High 64 bits of the 128-bit product of two unsigned i64.
  LaneValue mulHighU64(LaneValue lhs, LaneValue rhs);

  // Memory. Addresses are !llvm.ptr; offsets count elements of `elem`.
  /// The address of the element `offset` behind `base`.
  mlir::Value address(mlir::Value base, LaneValue offset, Elem elem);
  mlir::Value addressConst(mlir::Value base, int64_t offset, Elem elem);
  /// Consecutive elements; addresses need the alignment of an element only. Lanes outside a mask touch no memory.
  LaneValue load(mlir::Value address, Elem elem, bool vector);
  LaneValue maskedLoad(mlir::Value address, LaneValue mask, Elem elem);
  void store(LaneValue value, mlir::Value address);
  void maskedStore(LaneValue value, mlir::Value address, LaneValue mask);
  mlir::Value loadPointer(mlir::Value address);
  /// Has the machine fetch the line of this address, which is about to be written or read; any address is allowed.
  void prefetchForWrite(mlir::Value address);
  void prefetchForRead(mlir::Value address);
  LaneValue isNull(mlir::Value pointer);
  mlir::Value selectPointer(LaneValue condition, mlir::Value yes, mlir::Value no);
  /// `count` vectors (or scalars) on the stack, allocated in the entry block.
  mlir::Value stackBuffer(Elem elem, unsigned count, bool vector);
  /// Address of a constant table of the module, made on first use.
  mlir::Value table(llvm::StringRef name, llvm::ArrayRef<uint64_t> words);

  // Control flow. Every block has its last operation from the beginning, so there is always an operation to build
  // before: control flow moves that one, with all that follow, to a block of their own. Bodies get and return
  // loop-carried values.
  /// A list of loop-carried values.
  using Values = llvm::SmallVector<LaneValue, 4>;
  /// One iteration: the values for the next one.
  using LoopBody = llvm::function_ref<Values(LaneValue iv, llvm::ArrayRef<LaneValue> carried)>;
  /// Called before a body is built with the operation that branches to it and the end of its last block.
  using Enter = llvm::function_ref<void(mlir::Operation *branch, mlir::Operation *end)>;
  /// for (iv = lo; iv < hi; iv += step), i64.
  Values forLoop(LaneValue lo, LaneValue hi, LaneValue step, llvm::ArrayRef<LaneValue> init, LoopBody body,
                 Enter enter = nullptr);
  /// do { values = body(carried) } while (isMore(values) && (carried = again(values))): returns the last values.
  Values loopWhile(llvm::ArrayRef<LaneValue> init, llvm::function_ref<Values(llvm::ArrayRef<LaneValue>)> body,
                   llvm::function_ref<LaneValue(llvm::ArrayRef<LaneValue>)> isMore,
                   llvm::function_ref<Values(llvm::ArrayRef<LaneValue>)> again, Enter enter = nullptr);
  /// The values of `body` where `condition` holds, else `otherwise`.
  Values ifThen(LaneValue condition, llvm::ArrayRef<LaneValue> otherwise, llvm::function_ref<Values()> body,
                Enter enter = nullptr);
  /// The values of `yes` or `no`, which must have the same types.
  Values ifElse(LaneValue condition, llvm::function_ref<Values()> yes, llvm::function_ref<Values()> no);
  /// while (any lane of condition(carried)) carried = body(carried).
  Values whileAny(llvm::ArrayRef<LaneValue> init, llvm::function_ref<LaneValue(llvm::ArrayRef<LaneValue>)> condition,
                  llvm::function_ref<Values(llvm::ArrayRef<LaneValue>)> body);

private:
  mlir::Operation *next() { return &*ops.getInsertionPoint(); }
  /// An empty block before `other` with an argument for each of the values.
  mlir::Block *blockBefore(mlir::Block *other, llvm::ArrayRef<mlir::Value> like = {});
  void unify(LaneValue &lhs, LaneValue &rhs);
  /// A vector of `elem` that an intrinsic of LLVM gives.
  LaneValue call(llvm::StringRef intrinsic, mlir::Type result, llvm::ArrayRef<mlir::Value> args, Elem elem);

  mlir::OpBuilder &ops;
  mlir::Location loc;
  mlir::Block *entry;
  unsigned width = kLanes; // of a vector
  llvm::DenseMap<std::pair<void *, uint64_t>, mlir::Value> constants;
  llvm::DenseMap<mlir::Type, mlir::Value> iotas;
};

/// Short, because the expansions are formulas. Operands of the functions below are as those of binary() and compare().
using V = LaneValue;
inline V operator+(V a, V b) { return a.b().binary(LaneBuilder::Bin::Add, a, b); }
inline V operator-(V a, V b) { return a.b().binary(LaneBuilder::Bin::Sub, a, b); }
inline V operator*(V a, V b) { return a.b().binary(LaneBuilder::Bin::Mul, a, b); }
/// Floats only; integers divide by Bin::SDiv and Bin::UDiv.
inline V operator/(V a, V b) { return a.b().binary(LaneBuilder::Bin::Div, a, b); }
inline V operator&(V a, V b) { return a.b().binary(LaneBuilder::Bin::And, a, b); }
inline V operator|(V a, V b) { return a.b().binary(LaneBuilder::Bin::Or, a, b); }
inline V operator^(V a, V b) { return a.b().binary(LaneBuilder::Bin::Xor, a, b); }
inline V operator+(V a, double c) { return a + a.c(c); }
inline V operator-(V a, double c) { return a - a.c(c); }
inline V operator*(V a, double c) { return a * a.c(c); }
inline V operator+(double c, V a) { return a.c(c) + a; }
inline V operator-(double c, V a) { return a.c(c) - a; }
inline V operator/(double c, V a) { return a.c(c) / a; }
inline V operator-(V a) { return a.b().unary(LaneBuilder::Un::Neg, a); }
inline V shl(V a, unsigned n) { return a.b().binary(LaneBuilder::Bin::Shl, a, a.ci(n)); }
inline V lshr(V a, unsigned n) { return a.b().binary(LaneBuilder::Bin::LShr, a, a.ci(n)); }
inline V ashr(V a, unsigned n) { return a.b().binary(LaneBuilder::Bin::AShr, a, a.ci(n)); }
inline V bitNot(V a) { return a ^ a.ci(~uint64_t(0)); }
inline V fabs(V a) { return a.b().unary(LaneBuilder::Un::Abs, a); }
inline V sqrt(V a) { return a.b().unary(LaneBuilder::Un::Sqrt, a); }
inline V floor(V a) { return a.b().unary(LaneBuilder::Un::Floor, a); }
inline V ceil(V a) { return a.b().unary(LaneBuilder::Un::Ceil, a); }
inline V trunc(V a) { return a.b().unary(LaneBuilder::Un::Trunc, a); }
inline V roundEven(V a) { return a.b().unary(LaneBuilder::Un::Round, a); }
inline V fma(V a, V x, V y) { return a.b().fma(a, x, y); }
inline V fma(V a, V x, double y) { return a.b().fma(a, x, a.c(y)); }
inline V fma(V a, double x, V y) { return a.b().fma(a, a.c(x), y); }
inline V eq(V a, V b) { return a.b().compare(LaneBuilder::Cmp::Eq, a, b); }
inline V ne(V a, V b) { return a.b().compare(LaneBuilder::Cmp::Ne, a, b); }
inline V lt(V a, V b) { return a.b().compare(LaneBuilder::Cmp::Lt, a, b); }
inline V le(V a, V b) { return a.b().compare(LaneBuilder::Cmp::Le, a, b); }
inline V gt(V a, V b) { return a.b().compare(LaneBuilder::Cmp::Gt, a, b); }
inline V ge(V a, V b) { return a.b().compare(LaneBuilder::Cmp::Ge, a, b); }
inline V eq(V a, double c) { return eq(a, a.c(c)); }
inline V ne(V a, double c) { return ne(a, a.c(c)); }
inline V lt(V a, double c) { return lt(a, a.c(c)); }
inline V le(V a, double c) { return le(a, a.c(c)); }
inline V gt(V a, double c) { return gt(a, a.c(c)); }
inline V ge(V a, double c) { return ge(a, a.c(c)); }
inline V isNan(V a) { return a.b().compare(LaneBuilder::Cmp::Unordered, a, a); }
inline V select(V m, V a, V b) { return a.b().select(m, a, b); }
inline V select(V m, double a, V b) { return b.b().select(m, b.c(a), b); }
inline V select(V m, V a, double b) { return a.b().select(m, a, a.c(b)); }
/// Magnitude of `a`, sign of `s`.
V copySign(V a, V s);
/// Sign bit of a float as its integer, other bits zero.
V signBit(V a);
/// The integer with the float's bits, and back.
V toBits(V a);
V fromBits(V a);
/// c[0]*x^(n-1) + ... + c[n-1] by Horner's rule, with fma.
V polynomial(V x, llvm::ArrayRef<double> coefficients);

} // namespace tess::compiler
