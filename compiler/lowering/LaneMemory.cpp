//===- LaneMemory.cpp - loads, stores and control flow -------------------===//
#include "compiler/lowering/LaneBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace tess::compiler {

namespace {

/// Element type in memory: I1 is a byte.
Elem memoryElem(Elem elem) { return elem == Elem::I1 ? Elem::I8 : elem; }

llvm::SmallVector<Value> raw(llvm::ArrayRef<LaneValue> values) {
  return llvm::map_to_vector(values, [](LaneValue v) { return v.get(); });
}

LaneBuilder::Values rewrap(LaneBuilder &b, ValueRange values, llvm::ArrayRef<LaneValue> like) {
  LaneBuilder::Values result;
  for (auto [value, old] : llvm::zip_equal(values, like))
    result.push_back(b.wrap(value, old.elem(), old.isVector()));
  return result;
}

} // namespace

Value LaneBuilder::address(Value base, LaneValue offset, Elem elem) {
  Type ptr = LLVM::LLVMPointerType::get(ops.getContext());
  return LLVM::GEPOp::create(ops, loc, ptr, type(memoryElem(elem), false), base,
                             llvm::ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(offset.get())});
}

Value LaneBuilder::addressConst(Value base, int64_t offset, Elem elem) {
  if (!offset)
    return base;
  Type ptr = LLVM::LLVMPointerType::get(ops.getContext());
  return LLVM::GEPOp::create(ops, loc, ptr, type(memoryElem(elem), false), base,
                             llvm::ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(int32_t(offset))});
}

LaneValue LaneBuilder::load(Value address, Elem elem, bool vector) {
  Elem mem = memoryElem(elem);
  Value loaded = LLVM::LoadOp::create(ops, loc, type(mem, vector), address, elemBytes(mem));
  LaneValue result = wrap(loaded, mem, vector);
  return elem == Elem::I1 ? compare(Cmp::Ne, result, result.ci(0)) : result;
}

LaneValue LaneBuilder::maskedLoad(Value address, LaneValue mask, Elem elem) {
  Elem mem = memoryElem(elem);
  LaneValue rest = constantBits(mem, true, 0);
  Value loaded =
      LLVM::MaskedLoadOp::create(ops, loc, type(mem, true), address, mask.get(), rest.get(), uint32_t(elemBytes(mem)));
  LaneValue result = wrap(loaded, mem, true);
  return elem == Elem::I1 ? compare(Cmp::Ne, result, result.ci(0)) : result;
}

void LaneBuilder::store(LaneValue value, Value address) {
  if (value.elem() == Elem::I1)
    value = convert(value, Elem::I8);
  LLVM::StoreOp::create(ops, loc, value.get(), address, elemBytes(value.elem()));
}

void LaneBuilder::maskedStore(LaneValue value, Value address, LaneValue mask) {
  if (value.elem() == Elem::I1)
    value = convert(value, Elem::I8);
  LLVM::MaskedStoreOp::create(ops, loc, value.get(), address, mask.get(), uint32_t(elemBytes(value.elem())));
}

Value LaneBuilder::loadPointer(Value address) {
  return LLVM::LoadOp::create(ops, loc, LLVM::LLVMPointerType::get(ops.getContext()), address);
}

Value LaneBuilder::stackBuffer(Elem elem, unsigned count, bool vector) {
  LaneValue size = index(count);
  OpBuilder::InsertionGuard guard(ops);
  ops.setInsertionPointAfterValue(size.get());
  Type ptr = LLVM::LLVMPointerType::get(ops.getContext());
  return LLVM::AllocaOp::create(ops, loc, ptr, type(memoryElem(elem), vector), size.get(), 64);
}

Value LaneBuilder::table(llvm::StringRef name, llvm::ArrayRef<uint64_t> words) {
  auto module = entry->getParentOp()->getParentOfType<ModuleOp>();
  OpBuilder::InsertionGuard guard(ops);
  Type array = LLVM::LLVMArrayType::get(ops.getI64Type(), words.size());
  if (!module.lookupSymbol(name)) {
    ops.setInsertionPointToStart(module.getBody());
    auto values = DenseElementsAttr::get(RankedTensorType::get({int64_t(words.size())}, ops.getI64Type()), words);
    LLVM::GlobalOp::create(ops, loc, array, /*isConstant=*/true, LLVM::Linkage::Internal, name, values);
  }
  ops.setInsertionPointToStart(entry);
  return LLVM::AddressOfOp::create(ops, loc, LLVM::LLVMPointerType::get(ops.getContext()), name);
}

LaneBuilder::Values LaneBuilder::forLoop(LaneValue lo, LaneValue hi, LaneValue step, llvm::ArrayRef<LaneValue> init,
                                         LoopBody body, llvm::function_ref<void(Operation *, Block *)> enter) {
  auto loop = scf::ForOp::create(ops, loc, lo.get(), hi.get(), step.get(), raw(init));
  OpBuilder::InsertionGuard guard(ops);
  Block *block = loop.getBody();
  if (init.empty())
    ops.setInsertionPoint(block->getTerminator());
  else
    ops.setInsertionPointToEnd(block);
  if (enter)
    enter(loop, block);
  LaneValue iv = wrap(loop.getInductionVar(), Elem::I64, false);
  Values out = body(iv, rewrap(*this, loop.getRegionIterArgs(), init));
  if (!init.empty()) {
    ops.setInsertionPointToEnd(block);
    scf::YieldOp::create(ops, loc, raw(out));
  }
  return rewrap(*this, loop.getResults(), init);
}

LaneBuilder::Values LaneBuilder::ifThen(LaneValue condition, llvm::ArrayRef<LaneValue> otherwise,
                                        llvm::function_ref<Values()> body,
                                        llvm::function_ref<void(Operation *, Block *)> enter) {
  bool yields = !otherwise.empty();
  auto op = scf::IfOp::create(ops, loc, TypeRange(ValueRange(raw(otherwise))), condition.get(), yields);
  OpBuilder::InsertionGuard guard(ops);
  Block *then = op.thenBlock();
  if (yields)
    ops.setInsertionPointToEnd(then);
  else
    ops.setInsertionPoint(then->getTerminator());
  if (enter)
    enter(op, then);
  Values out = body();
  if (yields) {
    ops.setInsertionPointToEnd(then);
    scf::YieldOp::create(ops, loc, raw(out));
    ops.setInsertionPointToEnd(op.elseBlock());
    scf::YieldOp::create(ops, loc, raw(otherwise));
  }
  return rewrap(*this, op.getResults(), otherwise);
}

LaneBuilder::Values LaneBuilder::ifElse(LaneValue condition, llvm::function_ref<Values()> yes,
                                        llvm::function_ref<Values()> no) {
  Values made;
  auto branch = [&](llvm::function_ref<Values()> body) {
    return [&, body](OpBuilder &, Location) {
      made = body();
      scf::YieldOp::create(ops, loc, raw(made));
    };
  };
  auto op = scf::IfOp::create(ops, loc, condition.get(), branch(yes), branch(no));
  return rewrap(*this, op.getResults(), made);
}

LaneBuilder::Values LaneBuilder::whileAny(llvm::ArrayRef<LaneValue> init,
                                          llvm::function_ref<LaneValue(llvm::ArrayRef<LaneValue>)> condition,
                                          llvm::function_ref<Values(llvm::ArrayRef<LaneValue>)> body) {
  llvm::SmallVector<Value> start = raw(init);
  auto before = [&](OpBuilder &, Location, ValueRange args) {
    LaneValue go = anyLane(condition(rewrap(*this, args, init)));
    scf::ConditionOp::create(ops, loc, go.get(), args);
  };
  auto after = [&](OpBuilder &, Location, ValueRange args) {
    scf::YieldOp::create(ops, loc, raw(body(rewrap(*this, args, init))));
  };
  auto loop = scf::WhileOp::create(ops, loc, TypeRange(ValueRange(start)), start, before, after);
  return rewrap(*this, loop.getResults(), init);
}

} // namespace tess::compiler
