//===- MemorySchedule.cpp - kernels and calls within a limit --------------===//
#include "compiler/transforms/MemorySchedule.h"

#include "compiler/transforms/FusionGroups.h"
#include "compiler/transforms/LiveBytes.h"
#include "ir/Dialect.h"
#include "ir/OpBridge.h"
#include "ir/Types.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SmallSet.h"

#include <cmath>

using namespace mlir;

namespace tess::compiler {

namespace {

/// Operators computed again for each one of the program, at most: beyond, the limit is too small.
constexpr size_t kMostRepetitions = 16;

/// Whether `op` gives the same again whenever it runs, with sizes that the program knows.
bool mayRepeat(Operation *op) {
  if (isa<ir::FusionOp>(op))
    return true;
  const OpInfo *info = ir::infoOf(op);
  return info && !info->custom && !info->boundRule && info->lowering != Lowering::Control && op->getNumRegions() == 0;
}

/// The time that `op` takes, in units of a byte moved: the bytes of operands and results, and an eighth of the
/// multiplications of two float32 matrices with so many elements, which other calls have within a small factor.
int64_t costOf(Operation *op) {
  double bytes = 0, product = 1;
  unsigned matrices = 0;
  for (Value value : llvm::concat<Value>(SmallVector<Value>(op->getOperands()), SmallVector<Value>(op->getResults()))) {
    bytes += double(bytesOf(value));
    if (ir::metaOf(value.getType()).rank() >= 2 && matrices < 3) {
      ++matrices;
      product *= double(bytesOf(value)) / 4;
    }
  }
  const bool isCall = !isa<ir::FusionOp>(op) && matrices == 3;
  return int64_t(bytes + (isCall ? std::sqrt(product) / 8 : 0)) + 1;
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

} // namespace

MemorySchedule::MemorySchedule(Block &block) : block(block) {
  LiveBytes live(block);
  for (Operation &op : block)
    order.push_back(&op);
  for (Operation *op : order)
    for (OpResult result : op->getResults())
      if (!isView(op) && !isa<ir::ConstantOp>(op) && !live.isKept(result)) {
        itemOf[result] = unsigned(items.size());
        items.push_back({result, bytesOf(result), {}, {}});
      }
  for (auto [number, op] : llvm::enumerate(order))
    if (!isView(op))
      for (unsigned item : itemsOf(op->getOperands()))
        items[item].reads.push_back(unsigned(number));
}

/// The items whose memory the values show, each once.
MemorySchedule::Items MemorySchedule::itemsOf(ValueRange values) const {
  Items found;
  for (Value value : values)
    if (auto item = itemOf.find(rootOf(value)); item != itemOf.end() && !llvm::is_contained(found, item->second))
      found.push_back(item->second);
  return found;
}

/// The first reader from the present position on.
std::optional<unsigned> MemorySchedule::nextRead(const Item &item) const {
  const unsigned *found = llvm::lower_bound(item.reads, position);
  return found == item.reads.end() ? std::nullopt : std::optional(*found);
}

void MemorySchedule::fit(int64_t bytes) {
  limit = bytes;
  for (Operation *op : order) {
    if (!isView(op))
      run(op);
    ++position;
  }
  for (auto [operand, value] : reads)
    operand->set(value);
  eraseUnread(block, isView);
  for (auto fusion : llvm::make_early_inc_range(block.getOps<ir::FusionOp>()))
    dropUnread(fusion);
}

void MemorySchedule::run(Operation *op) {
  Items operands = holdOperands(op, op);
  Items results = itemsOf(op->getResults());
  int64_t bytes = 0;
  for (unsigned item : results)
    bytes += items[item].bytes;
  makeRoom(bytes - reusedBytes(op, operands));
  live += bytes;
  for (unsigned item : results) {
    items[item].now = items[item].first;
    items[item].isMade = true;
  }
  for (OpOperand &operand : op->getOpOperands())
    if (Value now = presentOf(operand.get(), op); now != operand.get())
      reads.push_back({&operand, now});
  ++position; // what nothing reads behind this operator goes
  letGo(operands);
  letGo(results);
  --position;
}

/// Bytes of operands of a kernel that nothing reads behind it: its results may take their memory.
int64_t MemorySchedule::reusedBytes(Operation *op, llvm::ArrayRef<unsigned> operands) const {
  auto fusion = dyn_cast<ir::FusionOp>(op);
  if (!fusion || !fusion.getAxes().empty())
    return 0;
  int64_t room = 0, reused = 0;
  for (Value result : op->getResults())
    room += bytesOf(result);
  for (unsigned number : operands)
    if (const Item &item = items[number]; item.pins == 1 && item.reads.back() <= position)
      reused += item.bytes;
  return std::min(room, reused);
}

MemorySchedule::Items MemorySchedule::holdOperands(Operation *op, Operation *reader) {
  Items operands = itemsOf(op->getOperands());
  for (unsigned item : operands) {
    if (!items[item].now)
      computeAgain(item, reader);
    ++items[item].pins;
  }
  return operands;
}

/// Unpins operands, and drops what has no further reader.
void MemorySchedule::letGo(llvm::ArrayRef<unsigned> operands) {
  for (unsigned number : operands) {
    Item &item = items[number];
    item.pins -= item.pins > 0;
    if (item.now && !item.pins && !nextRead(item) && !isNeededToCompute(number))
      drop(item);
  }
}

void MemorySchedule::drop(Item &item) {
  item.now = {};
  live -= item.bytes;
}

/// Whether a value that is not in memory, and has a reader, needs this one, which cannot be computed again.
bool MemorySchedule::isNeededToCompute(unsigned item) const {
  if (mayRepeat(items[item].first.getOwner()))
    return false;
  for (auto [number, other] : llvm::enumerate(items)) {
    llvm::DenseSet<unsigned> seen;
    int64_t cost = 0;
    if (!other.now && other.isMade && nextRead(other) && mayBeComputed(unsigned(number), seen, cost) &&
        seen.contains(item))
      return true;
  }
  return false;
}

bool MemorySchedule::mayBeComputed(unsigned item, llvm::DenseSet<unsigned> &seen, int64_t &cost) const {
  Operation *made = items[item].first.getOwner();
  if (!mayRepeat(made))
    return false;
  cost += costOf(made);
  return llvm::all_of(itemsOf(made->getOperands()), [&](unsigned operand) {
    return !seen.insert(operand).second || items[operand].now || mayBeComputed(operand, seen, cost);
  });
}

/// Drops values until `bytes` fit, while any may go.
void MemorySchedule::makeRoom(int64_t bytes) {
  while (live + bytes > limit && repetitions < kMostRepetitions * order.size()) {
    Item *best = nullptr;
    double least = 0;
    for (auto [number, item] : llvm::enumerate(items)) {
      std::optional<unsigned> next = item.now && !item.pins ? nextRead(item) : std::nullopt;
      llvm::DenseSet<unsigned> seen;
      int64_t cost = 0;
      if (!next || item.bytes == 0 || !mayBeComputed(unsigned(number), seen, cost))
        continue;
      const double score = double(cost) / (double(item.bytes) * (*next - position + 1));
      if (!best || score < least) {
        best = &item;
        least = score;
      }
    }
    if (!best)
      return;
    drop(*best);
  }
}

void MemorySchedule::computeAgain(unsigned number, Operation *reader) {
  Operation *made = items[number].first.getOwner();
  Items operands = holdOperands(made, reader), results = itemsOf(made->getResults());
  Items missing;
  int64_t bytes = 0;
  for (unsigned result : results)
    if (!items[result].now && (result == number || nextRead(items[result]))) {
      missing.push_back(result);
      bytes += items[result].bytes;
    }
  makeRoom(bytes);
  IRMapping mapping;
  for (Value operand : made->getOperands())
    mapping.map(operand, presentOf(operand, reader));
  OpBuilder builder(reader);
  Operation *again = builder.clone(*made, mapping);
  ++repetitions;
  live += bytes;
  for (unsigned result : missing)
    items[result].now = again->getResult(items[result].first.getResultNumber());
  letGo(operands);
}

/// A value as it is in memory now, before `reader`.
Value MemorySchedule::presentOf(Value value, Operation *reader) {
  if (auto item = itemOf.find(value); item != itemOf.end())
    return items[item->second].now;
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

} // namespace tess::compiler
