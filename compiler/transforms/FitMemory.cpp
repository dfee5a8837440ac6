//===- FitMemory.cpp - a program within a limit ---------------------------===//
//
// Cheap values are computed again already (Rematerialise.cpp). Where a program
// must take less, whole kernels and calls run again, by a schedule, which begins
// with kernels that are there once: it decides anew how often each runs.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/FusionGroups.h"
#include "compiler/transforms/LiveBytes.h"
#include "compiler/transforms/MemorySchedule.h"
#include "compiler/transforms/Passes.h"
#include "ir/Dialect.h"
#include "ir/OpBridge.h"
#include "ir/Types.h"
#include "ops/inference/Work.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/StringExtras.h"

namespace tess::compiler {
#define GEN_PASS_DEF_FITMEMORYPASS
#include "compiler/transforms/Passes.h.inc"

namespace {
using namespace mlir;

/// Whether `op` gives the same again whenever it runs, with sizes that the program knows.
bool mayRepeat(Operation *op) {
  if (isa<ir::FusionOp>(op))
    return true;
  const OpInfo *info = ir::infoOf(op);
  return info && !info->custom && !info->boundRule && info->lowering != Lowering::Control && op->getNumRegions() == 0;
}

/// Estimated picoseconds; of a kernel or a loop, which does not run again, those of its operands and results.
double costOf(Operation *op) {
  if (ir::infoOf(op) && op->getNumRegions() == 0)
    return picosecondsOf(ir::opDefOf(op), ir::metasOf(op->getOperands()), ir::metasOf(op->getResults()));
  double picoseconds = 0;
  for (const TensorMeta &meta : ir::metasOf(op->getOperands()))
    picoseconds += picosecondsOf(meta);
  for (const TensorMeta &meta : ir::metasOf(op->getResults()))
    picoseconds += picosecondsOf(meta);
  return picoseconds;
}

/// "mul add" of a kernel, "matmul" of a call.
std::string operatorsOf(Operation *op) {
  auto fusion = dyn_cast<ir::FusionOp>(op);
  if (!fusion)
    return op->getName().stripDialect().str();
  std::vector<std::string> names;
  for (Operation &each : fusion.getBody().front().without_terminator())
    names.push_back(each.getName().stripDialect().str());
  return llvm::join(names, " ");
}

/// Removes results that nothing reads from a kernel that was made again.
void dropUnread(ir::FusionOp fusion) {
  if (llvm::none_of(fusion->getResults(), [](Value result) { return result.use_empty(); }))
    return;
  Operation *yield = fusion.getBody().front().getTerminator();
  SmallVector<Value> read, yields;
  for (auto [result, yielded] : llvm::zip(fusion->getResults(), yield->getOperands()))
    if (!result.use_empty()) {
      read.push_back(result);
      yields.push_back(yielded);
    }
  OpBuilder builder(fusion);
  auto made =
      ir::FusionOp::create(builder, fusion.getLoc(), ValueRange(read).getTypes(), fusion.getInputs(), fusion.getAxes());
  yield->setOperands(yields);
  made.getBody().takeBody(fusion.getBody());
  eraseUnread(made.getBody().front(), [](Operation *) { return true; });
  for (auto [old, result] : llvm::zip(read, made.getOutputs()))
    old.replaceAllUsesWith(result);
  fusion->erase();
}

/// The operators of a block, but views, as a problem, and the block by its schedule.
class Program {
public:
  explicit Program(Block &block) {
    LiveBytes live(block);
    for (Operation &op : block)
      if (!isView(&op))
        add(op, live);
  }

  /// Gives the block its schedule, and says what runs again.
  FittedSchedule follow(const Schedule &schedule) {
    FittedSchedule fitted;
    fitted.costAgain = schedule.cost;
    fitted.peak = schedule.peak;
    for (const ScheduledOp &op : problem.ops)
      fitted.costOnce += op.cost;
    for (auto [number, op] : llvm::enumerate(ops)) {
      for (const ScheduledRun &run : schedule.again[number]) {
        runAgain(run, op);
        fitted.repetitions.push_back(repetitionOf(run));
      }
      for (OpOperand &operand : op->getOpOperands())
        if (Value now = presentOf(operand.get(), op); now != operand.get())
          reads.push_back({&operand, now});
    }
    for (auto [operand, value] : reads) // at the end, as operators that are made again read those of the program
      operand->set(value);
    return fitted;
  }

  ScheduleProblem problem;

private:
  void add(Operation &op, const LiveBytes &live) {
    ops.push_back(&op);
    ScheduledOp &scheduled = problem.ops.emplace_back();
    scheduled.operands = numbersOf(op.getOperands());
    scheduled.cost = costOf(&op);
    scheduled.mayRepeat = mayRepeat(&op);
    auto fusion = dyn_cast<ir::FusionOp>(op);
    scheduled.reusesOperands = fusion && fusion.getAxes().empty();
    if (isa<ir::ConstantOp>(op))
      return;
    for (OpResult result : op.getResults())
      if (!live.isKept(result)) {
        scheduled.results.push_back(unsigned(values.size()));
        problem.bytes.push_back(bytesOf(result));
        numbers[result] = unsigned(values.size());
        values.push_back(result);
        present.push_back(result);
      }
  }

  /// The values whose memory these show, each once.
  Numbers numbersOf(ValueRange shown) const {
    Numbers found;
    for (Value value : shown)
      if (auto number = numbers.find(rootOf(value));
          number != numbers.end() && !llvm::is_contained(found, number->second))
        found.push_back(number->second);
    return found;
  }

  Repetition repetitionOf(const ScheduledRun &run) const {
    int64_t bytes = 0;
    for (unsigned result : run.results)
      bytes += problem.bytes[result];
    return {operatorsOf(ops[run.op]), ir::locationText(ops[run.op]->getLoc()), bytes};
  }

  void runAgain(const ScheduledRun &run, Operation *reader) {
    Operation *op = ops[run.op];
    IRMapping mapping;
    for (Value operand : op->getOperands())
      mapping.map(operand, presentOf(operand, reader));
    OpBuilder builder(reader);
    Operation *again = builder.clone(*op, mapping);
    for (unsigned result : run.results)
      present[result] = again->getResult(values[result].getResultNumber());
  }

  /// A value as it is in memory now, before `reader`.
  Value presentOf(Value value, Operation *reader) {
    if (auto number = numbers.find(value); number != numbers.end())
      return present[number->second];
    Operation *view = value.getDefiningOp();
    if (!view || !isView(view))
      return value;
    Value base = presentOf(view->getOperand(0), reader);
    if (base == view->getOperand(0))
      return value;
    Value &made = views[{view, base}];
    if (!made) {
      OpBuilder builder(reader);
      Operation *again = builder.clone(*view);
      again->setOperand(0, base);
      made = again->getResult(0);
    }
    return made;
  }

  std::vector<Operation *> ops;
  std::vector<OpResult> values; // by number, as they were made first
  std::vector<Value> present;   // by number
  llvm::DenseMap<Value, unsigned> numbers;
  llvm::DenseMap<std::pair<Operation *, Value>, Value> views; // made again, of other memory
  std::vector<std::pair<OpOperand *, Value>> reads;           // those that change
};

struct FitMemory : impl::FitMemoryPassBase<FitMemory> {
  using FitMemoryPassBase::FitMemoryPassBase;
  FitMemory(int64_t limit, ReportSchedule report)
      : FitMemoryPassBase(FitMemoryPassOptions{limit}), report(std::move(report)) {}

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance;
    eliminateCommonSubExpressions(rewriter, dominance, getOperation());
    Block &block = getOperation().getBody().front();
    Program program(block);
    const FittedSchedule fitted = program.follow(scheduleWithin(program.problem, limit));
    if (report)
      report(fitted);
    eraseUnread(block, isView);
    for (auto fusion : llvm::make_early_inc_range(block.getOps<ir::FusionOp>()))
      dropUnread(fusion);
  }

private:
  ReportSchedule report;
};

} // namespace

std::unique_ptr<mlir::Pass> createFitMemoryPass(int64_t limit, ReportSchedule report) {
  return std::make_unique<FitMemory>(limit, std::move(report));
}

} // namespace tess::compiler
