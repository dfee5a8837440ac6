//===- GridKernel.cpp - a KernelSpec as the host's code of a grid ---------===//
//
// What a GPU reads from its registers, where a thread stands in the grid, comes
// as arguments. The threads of a team are the lanes of one vector.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/GridKernel.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tess::compiler {

namespace {

/// The parameters of a GridKernelFn, in their order.
enum class GridParameter : uint8_t { Pointers, Dims, Count, Block, Blocks, Thread, Threads };
constexpr unsigned kNumGridParameters = 7;

Block *addFunction(OpBuilder &ops, llvm::StringRef name) {
  Location loc = ops.getUnknownLoc();
  Type ptr = LLVM::LLVMPointerType::get(ops.getContext()), i64 = ops.getI64Type();
  Type types[kNumGridParameters] = {ptr, ptr, i64, i64, i64, i64, i64};
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(ops.getContext()), types);
  Block *entry = LLVM::LLVMFuncOp::create(ops, loc, name, type).addEntryBlock(ops);
  ops.setInsertionPointToStart(entry);
  LLVM::ReturnOp::create(ops, loc, ValueRange());
  ops.setInsertionPoint(entry->getTerminator());
  return entry;
}

} // namespace

void emitGridKernel(ModuleOp module, llvm::StringRef name, const KernelSpec &spec, const KernelEmitOptions &options) {
  OpBuilder ops(module.getBodyRegion());
  ops.setInsertionPointToEnd(module.getBody());
  Block *entry = addFunction(ops, name);
  LaneBuilder b(ops, ops.getUnknownLoc(), entry);
  auto argument = [&](GridParameter parameter) { return entry->getArgument(unsigned(parameter)); };
  auto number = [&](GridParameter parameter) { return b.wrap(argument(parameter), Elem::I64, false); };
  V threads = number(GridParameter::Threads);
  V first = number(GridParameter::Block) * threads + number(GridParameter::Thread);
  V step = number(GridParameter::Blocks) * threads;
  unsigned shift = llvm::Log2_32(teamOf(spec));
  GridWalk walk{lshr(first, shift), number(GridParameter::Count), lshr(step, shift)};
  emitGridBody(spec, b, argument(GridParameter::Pointers), argument(GridParameter::Dims), walk, entry->getTerminator(),
               options, nullptr);
}

} // namespace tess::compiler
