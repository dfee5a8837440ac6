//===- PtxKernel.cpp - a KernelSpec as one GPU kernel ---------------------===//
//
// A thread computes one element at a time: no lanes, so no masks and no tail.
// Values, operands and roundings are those of the CPU's kernels
// (KernelBuilder).
//
//===----------------------------------------------------------------------===//
#include "compiler/target/PtxKernel.h"

#include "compiler/lanes/LaneConversion.h"
#include "compiler/lowering/KernelBuilder.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/STLExtras.h"

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

/// Enters element `linear` of the row-major domain.
void enterElement(KernelBuilder &k, unsigned numGroups, V linear) {
  V rest = linear;
  for (unsigned group = numGroups - 1; group > 0; --group) {
    V size = k.size(group), quotient = rest.b().binary(LaneBuilder::Bin::UDiv, rest, size);
    k.enterGroup(group, rest - quotient * size);
    rest = quotient;
  }
  k.enterGroup(0, rest);
}

void emitElement(KernelBuilder &k, const KernelSpec &spec, V linear) {
  enterElement(k, spec.numParallel, linear);
  for (auto [index, node] : llvm::enumerate(spec.nodes))
    if (node.kind == NodeKind::Apply && node.fn == ScalarFn::Index)
      k.define(index, castValue(linear, DType::Int64, node.dtype));
  for (const KernelStore &store : spec.stores)
    k.store(store.node, store.operand);
}

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

  KernelPlan plan = planKernel(spec);
  KernelBuilder::Arguments args;
  args.ptrs = argumentOf(entry, GpuParameter::Pointers);
  args.dims = argumentOf(entry, GpuParameter::Dims);
  KernelBuilder k(spec, plan, b, args, /*narrowMasks=*/false, entry->getTerminator());
  k.loop(first, count, step, {}, [&](V linear, llvm::ArrayRef<V>) {
    emitElement(k, spec, linear);
    return LaneBuilder::Values();
  });
}

} // namespace tess::compiler
