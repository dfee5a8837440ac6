//===- InsertCopies.cpp - copies that kernels and calls need --------------===//
//
// A view shows the memory of its operand, and an argument that of a caller. Where
// an operator cannot read that, or a result needs memory of its own, the program
// copies: each such copy is an operator here, so that lowering only translates.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/FusionGroups.h"
#include "compiler/transforms/Layouts.h"
#include "compiler/transforms/Passes.h"
#include "ir/OpBridge.h"

#include "llvm/ADT/DenseSet.h"

namespace tess::compiler {
#define GEN_PASS_DEF_INSERTCOPIESPASS
#include "compiler/transforms/Passes.h.inc"

namespace {
using namespace mlir;

/// Whether data decides the sizes of the operator's results.
bool decidesSizes(Operation *op) { return ir::infoOf(op) && ir::infoOf(op)->boundRule; }

/// Whether data decides sizes in trips of the loop.
bool decidesSizesOfTrips(ir::ScanOp scan) {
  return scan.getBody()
      .walk([](Operation *op) { return decidesSizes(op) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

/// Whether a kernel reads the constant where it lies; what else reads it would copy a strided one in each trip.
bool onlyKernelsRead(Value argument) {
  return llvm::all_of(argument.getUsers(), [](Operation *user) { return isa<ir::FusionOp>(user); });
}

/// Whether an operator of the block makes the value in memory of its own.
bool hasOwnMemory(Value value) {
  Operation *op = value.getDefiningOp();
  return op && !isa<ir::ConstantOp>(op) && !isView(op);
}

/// The value that has the memory of a kernel's result, which may be several results.
Value memoryOf(Value value) {
  auto fusion = value.getDefiningOp<ir::FusionOp>();
  return fusion ? fusion.getBody().front().getTerminator()->getOperand(cast<OpResult>(value).getResultNumber()) : value;
}

class CopyInsertion {
public:
  explicit CopyInsertion(func::FuncOp func) : func(func), layouts(func) {}

  void run() {
    Block &block = func.getBody().front();
    insertIn(block);
    copyOutputs(block.getTerminator());
  }

private:
  void insertIn(Block &block) {
    for (Operation &op : block.without_terminator())
      if (auto scan = dyn_cast<ir::ScanOp>(op))
        insertForLoop(scan);
      else
        insertFor(&op);
  }

  void insertFor(Operation *op) {
    auto fusion = dyn_cast<ir::FusionOp>(op);
    if (fusion && hasOnlyShapeReaders(fusion))
      return;
    if (!fusion && !ir::infoOf(op))
      return; // constants, and names of sizes
    for (OpOperand &operand : op->getOpOperands()) {
      bool reads = fusion       ? readsInPlace(fusion, layouts.of(operand.get()))
                   : isView(op) ? operand.getOperandNumber() > 0 || !layouts.needsCopy(op)
                                : false;
      if (!reads)
        makeContiguous(operand);
    }
    layouts.add(op);
  }

  /// Inserts `value` anew, before `op`.
  Value copy(Value value, Operation *op, Location location) {
    OpBuilder builder(op);
    return ir::createOp(builder, location, OpDef::get("copy"), value, {}, ir::metasOf(value))->getResult(0);
  }

  void makeContiguous(OpOperand &operand) {
    if (layouts.of(operand.get()).contiguous)
      return;
    Value &made = copyOf[operand.get()];
    if (!made)
      made = copy(operand.get(), operand.getOwner(), operand.getOwner()->getLoc());
    operand.set(made);
  }

  //===--------------------------------------------------------------------===//
  // Loops
  //===--------------------------------------------------------------------===//

  void insertForLoop(ir::ScanOp scan) {
    Block &body = scan.getBody().front();
    const bool isStage = decidesSizesOfTrips(scan);
    for (auto [operand, argument] : llvm::zip_equal(scan->getOpOperands(), body.getArguments())) {
      bool stays = operand.getOperandNumber() < scan.getConstants();
      if (!stays || !onlyKernelsRead(argument))
        makeContiguous(operand);
      if (stays)
        sourceOf[argument] = source(operand.get());
      else if (isStage && isOfProgram(operand.get()))
        operand.set(copy(operand.get(), scan, scan.getLoc()));
    }
    layouts.add(scan);
    insertIn(body);
    copyYields(scan);
  }

  /// The value outside of loops that a constant of their bodies is, or the value itself.
  Value source(Value value) const { return sourceOf.lookup_or(value, value); }

  /// Whether the value is a constant of the program or a view: where data decides sizes in trips, the operands of the
  /// loop are inputs of a program of its own.
  bool isOfProgram(Value value) const {
    Operation *op = source(value).getDefiningOp();
    return op && (isa<ir::ConstantOp>(op) || isView(op));
  }

  /// Gives each yielded value memory of its own, made in the trip: arguments, constants, views, and values that are
  /// yielded twice are copied, but a carried value that does not change.
  void copyYields(ir::ScanOp scan) {
    Block &body = scan.getBody().front();
    DenseSet<Value> taken;
    for (OpOperand &yielded : body.getTerminator()->getOpOperands()) {
      unsigned number = yielded.getOperandNumber();
      bool stays = number < scan.getCarried() && yielded.get() == body.getArgument(scan.getConstants() + number);
      if (!stays && (!hasOwnMemory(yielded.get()) || !taken.insert(memoryOf(yielded.get())).second))
        yielded.set(copy(yielded.get(), yielded.getOwner(), scan.getLoc()));
    }
  }

  //===--------------------------------------------------------------------===//
  // Outputs
  //===--------------------------------------------------------------------===//

  /// Gives each output memory of its own: inputs, constants, views, and values that are output twice are copied. The
  /// executor copies one that is output twice and whose size the data decides, because it knows the size.
  void copyOutputs(Operation *ret) {
    DenseSet<Value> taken;
    for (OpOperand &output : ret->getOpOperands()) {
      Value value = output.get();
      bool isFirst = taken.insert(memoryOf(value)).second;
      if (!hasOwnMemory(value) || (!isFirst && !decidesSizes(value.getDefiningOp())))
        output.set(copy(value, ret, value.getLoc()));
    }
  }

  func::FuncOp func;
  Layouts layouts;
  DenseMap<Value, Value> copyOf;   // contiguous ones
  DenseMap<Value, Value> sourceOf; // by argument of a body
};

struct InsertCopies : impl::InsertCopiesPassBase<InsertCopies> {
  void runOnOperation() override { CopyInsertion(getOperation()).run(); }
};

} // namespace
} // namespace tess::compiler
