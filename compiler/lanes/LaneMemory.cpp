//===- LaneMemory.cpp - loads, stores and control flow -------------------===//
#include "compiler/lanes/LaneBuilder.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace tess::compiler {

namespace {

/// The element type in memory, where I1 is a byte.
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
  Value loaded = LLVM::LoadOp::create(ops, loc, type(mem, vector), address, elemAlignment(mem));
  LaneValue result = wrap(loaded, mem, vector);
  return elem == Elem::I1 ? compare(Cmp::Ne, result, result.ci(0)) : result;
}

LaneValue LaneBuilder::maskedLoad(Value address, LaneValue mask, Elem elem) {
  Elem mem = memoryElem(elem);
  LaneValue rest = constantBits(mem, true, 0);
  Value loaded = LLVM::MaskedLoadOp::create(ops, loc, type(mem, true), address, mask.get(), rest.get(),
                                            uint32_t(elemAlignment(mem)));
  LaneValue result = wrap(loaded, mem, true);
  return elem == Elem::I1 ? compare(Cmp::Ne, result, result.ci(0)) : result;
}

void LaneBuilder::store(LaneValue value, Value address) {
  if (value.elem() == Elem::I1)
    value = convert(value, Elem::I8);
  LLVM::StoreOp::create(ops, loc, value.get(), address, elemAlignment(value.elem()));
}

void LaneBuilder::maskedStore(LaneValue value, Value address, LaneValue mask) {
  if (value.elem() == Elem::I1)
    value = convert(value, Elem::I8);
  LLVM::MaskedStoreOp::create(ops, loc, value.get(), address, mask.get(), uint32_t(elemAlignment(value.elem())));
}

Value LaneBuilder::loadPointer(Value address) {
  return LLVM::LoadOp::create(ops, loc, LLVM::LLVMPointerType::get(ops.getContext()), address);
}

// Numbers of LLVM's intrinsic.
constexpr unsigned kRead = 0, kWrite = 1, kEveryLevel = 3, kData = 1;

void LaneBuilder::prefetchForWrite(Value address) {
  LLVM::Prefetch::create(ops, loc, address, kWrite, kEveryLevel, kData);
}

void LaneBuilder::prefetchForRead(Value address) {
  LLVM::Prefetch::create(ops, loc, address, kRead, kEveryLevel, kData);
}

LaneValue LaneBuilder::isNull(Value pointer) {
  return eq(wrap(LLVM::PtrToIntOp::create(ops, loc, ops.getI64Type(), pointer), Elem::I64, false), index(0));
}

Value LaneBuilder::selectPointer(LaneValue condition, Value yes, Value no) {
  return LLVM::SelectOp::create(ops, loc, condition.get(), yes, no);
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

Block *LaneBuilder::blockBefore(Block *other, llvm::ArrayRef<Value> like) {
  llvm::SmallVector<Type> types(ValueRange(like).getTypes());
  return ops.createBlock(other, types, llvm::SmallVector<Location>(types.size(), loc));
}

LaneBuilder::Values LaneBuilder::forLoop(LaneValue lo, LaneValue hi, LaneValue step, llvm::ArrayRef<LaneValue> init,
                                         LoopBody body, Enter enter) {
  Operation *after = next();
  Block *before = after->getBlock(), *exit = before->splitBlock(after);
  llvm::SmallVector<Value> start = raw(init);
  start.insert(start.begin(), lo.get());
  Block *header = blockBefore(exit, start), *inner = blockBefore(exit);
  ops.setInsertionPointToEnd(before);
  auto branch = LLVM::BrOp::create(ops, loc, start, header);
  ops.setInsertionPointToEnd(header);
  LaneValue iv = wrap(header->getArgument(0), Elem::I64, false);
  Values carried = rewrap(*this, header->getArguments().drop_front(), init);
  LLVM::CondBrOp::create(ops, loc, compare(Cmp::Lt, iv, hi).get(), inner, exit);
  ops.setInsertionPointToEnd(inner);
  auto back = LLVM::BrOp::create(ops, loc, start, header); // its operands become the results of the body
  ops.setInsertionPoint(back);
  if (enter)
    enter(branch, back);
  llvm::SmallVector<Value> out = raw(body(iv, carried));
  out.insert(out.begin(), (iv + step).get());
  back.getDestOperandsMutable().assign(out);
  ops.setInsertionPoint(after);
  return carried;
}

LaneBuilder::Values LaneBuilder::loopWhile(llvm::ArrayRef<LaneValue> init,
                                           llvm::function_ref<Values(llvm::ArrayRef<LaneValue>)> body,
                                           llvm::function_ref<LaneValue(llvm::ArrayRef<LaneValue>)> isMore,
                                           llvm::function_ref<Values(llvm::ArrayRef<LaneValue>)> again, Enter enter) {
  Operation *after = next();
  Block *before = after->getBlock(), *exit = before->splitBlock(after);
  llvm::SmallVector<Value> start = raw(init);
  Block *inner = blockBefore(exit, start), *back = blockBefore(exit);
  ops.setInsertionPointToEnd(before);
  auto branch = LLVM::BrOp::create(ops, loc, start, inner);
  ops.setInsertionPointToEnd(inner);
  auto end = LLVM::BrOp::create(ops, loc, ValueRange(), back); // until the condition is known
  ops.setInsertionPoint(end);
  if (enter)
    enter(branch, end);
  Values values = body(rewrap(*this, inner->getArguments(), init));
  LLVM::CondBrOp::create(ops, loc, isMore(values).get(), back, exit);
  end.erase();
  ops.setInsertionPointToEnd(back);
  auto jump = LLVM::BrOp::create(ops, loc, start, inner); // its operands become the values of again()
  ops.setInsertionPoint(jump);
  jump.getDestOperandsMutable().assign(raw(again(values)));
  ops.setInsertionPoint(after);
  return values;
}

LaneBuilder::Values LaneBuilder::ifThen(LaneValue condition, llvm::ArrayRef<LaneValue> otherwise,
                                        llvm::function_ref<Values()> body, Enter enter) {
  Operation *after = next();
  llvm::SmallVector<Value> values = raw(otherwise);
  Block *before = after->getBlock(), *exit = before->splitBlock(after), *then = blockBefore(exit);
  for (Value value : values)
    exit->addArgument(value.getType(), loc);
  ops.setInsertionPointToEnd(before);
  auto branch = LLVM::CondBrOp::create(ops, loc, condition.get(), then, ValueRange(), exit, values);
  ops.setInsertionPointToEnd(then);
  auto end = LLVM::BrOp::create(ops, loc, values, exit);
  ops.setInsertionPoint(end);
  if (enter)
    enter(branch, end);
  llvm::SmallVector<Value> out = raw(body());
  end.getDestOperandsMutable().assign(out);
  ops.setInsertionPoint(after);
  return rewrap(*this, exit->getArguments(), otherwise);
}

LaneBuilder::Values LaneBuilder::ifElse(LaneValue condition, llvm::function_ref<Values()> yes,
                                        llvm::function_ref<Values()> no) {
  Operation *after = next();
  Block *before = after->getBlock(), *exit = before->splitBlock(after);
  Block *blocks[] = {blockBefore(exit), blockBefore(exit)};
  ops.setInsertionPointToEnd(before);
  LLVM::CondBrOp::create(ops, loc, condition.get(), blocks[0], blocks[1]);
  Values made;
  for (bool isNo : {false, true}) {
    ops.setInsertionPointToEnd(blocks[isNo]);
    auto end = LLVM::BrOp::create(ops, loc, ValueRange(), exit);
    ops.setInsertionPoint(end);
    made = isNo ? no() : yes();
    end.getDestOperandsMutable().assign(raw(made));
  }
  for (LaneValue value : made)
    exit->addArgument(value.get().getType(), loc);
  ops.setInsertionPoint(after);
  return rewrap(*this, exit->getArguments(), made);
}

LaneBuilder::Values LaneBuilder::whileAny(llvm::ArrayRef<LaneValue> init,
                                          llvm::function_ref<LaneValue(llvm::ArrayRef<LaneValue>)> condition,
                                          llvm::function_ref<Values(llvm::ArrayRef<LaneValue>)> body) {
  Operation *after = next();
  Block *before = after->getBlock(), *exit = before->splitBlock(after);
  llvm::SmallVector<Value> start = raw(init);
  Block *header = blockBefore(exit, start), *inner = blockBefore(exit);
  ops.setInsertionPointToEnd(before);
  LLVM::BrOp::create(ops, loc, start, header);
  ops.setInsertionPointToEnd(inner);
  auto back = LLVM::BrOp::create(ops, loc, start, header);
  Values carried = rewrap(*this, header->getArguments(), init);
  ops.setInsertionPointToEnd(header);
  auto end = LLVM::UnreachableOp::create(ops, loc); // marks the end of the condition while that is built
  ops.setInsertionPoint(end);
  LaneValue go = anyLane(condition(carried));
  LLVM::CondBrOp::create(ops, loc, go.get(), inner, exit);
  end.erase();
  ops.setInsertionPoint(back);
  back.getDestOperandsMutable().assign(raw(body(carried)));
  ops.setInsertionPoint(after);
  return carried;
}

} // namespace tess::compiler
