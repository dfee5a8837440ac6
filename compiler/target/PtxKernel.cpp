//===- PtxKernel.cpp - a KernelSpec as one GPU kernel ---------------------===//
//
// A thread computes one element at a time: no lanes, so no masks and no tail.
// Values, operands and roundings are those of the CPU's kernels (KernelEmitter);
// a row is reduced by the threads that a vector's lanes are there.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/PtxKernel.h"

#include "compiler/emit/KernelEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tess::compiler {

using runtime::GpuParameter;

namespace {

Value argumentOf(Block *entry, GpuParameter parameter) { return entry->getArgument(unsigned(parameter)); }

/// Reads `llvm.nvvm.read.ptx.sreg.<name>` as i64.
V specialRegister(LaneBuilder &b, llvm::StringRef name) {
  auto intrinsic = b.opBuilder().getStringAttr("llvm.nvvm.read.ptx.sreg." + name);
  auto call =
      LLVM::CallIntrinsicOp::create(b.opBuilder(), b.location(), b.opBuilder().getI32Type(), intrinsic, ValueRange());
  return b.convert(b.wrap(call.getResults(), Elem::I32, false), Elem::I64, /*isUnsigned=*/true);
}

/// Adds the kernel's function with its by-value arrays, and leaves the builder's insertion point before its return.
Block *addFunction(OpBuilder &ops, llvm::StringRef name, const KernelSpec &spec) {
  MLIRContext *context = ops.getContext();
  Location loc = ops.getUnknownLoc();
  Type ptr = LLVM::LLVMPointerType::get(context), i64 = ops.getI64Type();
  Type types[runtime::kNumGpuParameters] = {ptr, ptr, i64};
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), types);
  auto function = LLVM::LLVMFuncOp::create(ops, loc, name, type);
  function.setCConv(LLVM::CConv::PTX_Kernel);
  auto passByValue = [&](GpuParameter parameter, Type element, unsigned count) {
    auto array = TypeAttr::get(LLVM::LLVMArrayType::get(element, count));
    function.setArgAttr(unsigned(parameter), LLVM::LLVMDialect::getByValAttrName(), array);
    function.setArgAttr(unsigned(parameter), LLVM::LLVMDialect::getAlignAttrName(), ops.getI64IntegerAttr(8));
  };
  passByValue(GpuParameter::Pointers, ptr, spec.operands.size());
  passByValue(GpuParameter::Dims, i64, spec.dims().count(spec.numAttrs));
  Block *entry = function.addEntryBlock(ops);
  ops.setInsertionPointToStart(entry);
  LLVM::ReturnOp::create(ops, loc, ValueRange());
  ops.setInsertionPoint(entry->getTerminator());
  return entry;
}

/// A team of a warp's threads: shuffles among 16 lanes.
class WarpTeam : public ThreadTeam {
public:
  explicit WarpTeam(LaneBuilder &b) : b(b), thread(specialRegister(b, "tid.x")) {}

  V lane() override { return thread & b.index(kLanes - 1); }
  V fromBehind(V value, unsigned distance) override { return shuffle(value, "down", distance); }
  V fromFirst(V value) override { return shuffle(value, "idx", 0); }

private:
  /// Registers have 32 bits: narrow values are widened, wide ones go in halves.
  V shuffle(V value, llvm::StringRef mode, unsigned by) {
    Elem elem = value.elem();
    if (isFloat(elem))
      return fromBits(shuffle(toBits(value), mode, by));
    if (elem != Elem::I64)
      return narrowed(
          shuffleWord(elem == Elem::I32 ? value : b.convert(value, Elem::I32, /*isUnsigned=*/true), mode, by), elem);
    V low = shuffleWord(b.convert(value, Elem::I32), mode, by);
    V high = shuffleWord(b.convert(lshr(value, 32), Elem::I32), mode, by);
    return b.convert(low, Elem::I64, /*isUnsigned=*/true) | shl(b.convert(high, Elem::I64, /*isUnsigned=*/true), 32);
  }

  V narrowed(V word, Elem elem) {
    if (elem == Elem::I32)
      return word;
    return elem == Elem::I1 ? ne(word, b.constantBits(Elem::I32, false, 0)) : b.convert(word, elem);
  }

  V shuffleWord(V word, llvm::StringRef mode, unsigned by) {
    // The threads of this half of the warp, and segments of 16 lanes; the other half may be in another row.
    constexpr uint64_t kHalf = 0xffff, kSegments = (32 - kLanes) << 8 | 31;
    V shift = b.convert(thread & b.index(kLanes), Elem::I32);
    V mask = b.binary(LaneBuilder::Bin::Shl, b.constantBits(Elem::I32, false, kHalf), shift);
    Value operands[] = {mask.get(), word.get(), b.constantBits(Elem::I32, false, by).get(),
                        b.constantBits(Elem::I32, false, kSegments).get()};
    auto intrinsic = b.opBuilder().getStringAttr("llvm.nvvm.shfl.sync." + mode.str() + ".i32");
    auto call =
        LLVM::CallIntrinsicOp::create(b.opBuilder(), b.location(), b.opBuilder().getI32Type(), intrinsic, operands);
    return b.wrap(call.getResults(), Elem::I32, false);
  }

  LaneBuilder &b;
  V thread;
};

} // namespace

void emitPtxKernel(ModuleOp module, llvm::StringRef name, const KernelSpec &spec) {
  OpBuilder ops(module.getBodyRegion());
  ops.setInsertionPointToEnd(module.getBody());
  Block *entry = addFunction(ops, name, spec);
  LaneBuilder b(ops, ops.getUnknownLoc(), entry);
  V threads = specialRegister(b, "ntid.x");
  V first = specialRegister(b, "ctaid.x") * threads + specialRegister(b, "tid.x");
  V step = specialRegister(b, "nctaid.x") * threads;
  V count = b.wrap(argumentOf(entry, GpuParameter::Count), Elem::I64, false);
  WarpTeam team(b);
  unsigned shift = llvm::Log2_32(teamOf(spec));
  emitGridBody(spec, b, argumentOf(entry, GpuParameter::Pointers), argumentOf(entry, GpuParameter::Dims),
               {lshr(first, shift), count, lshr(step, shift)}, entry->getTerminator(), {}, &team);
}

} // namespace tess::compiler
