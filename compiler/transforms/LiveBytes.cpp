//===- LiveBytes.cpp - how much memory values need, and when --------------===//
#include "compiler/transforms/LiveBytes.h"

#include "compiler/transforms/FusionGroups.h"
#include "ir/Dialect.h"
#include "ir/OpBridge.h"
#include "ir/Types.h"

using namespace mlir;

namespace tess::compiler {

int64_t bytesOf(Value value) {
  TensorMeta meta = ir::metaOf(value.getType());
  int64_t bytes = byteWidth(meta.dtype);
  for (int64_t size : meta.shape)
    bytes *= size == kUnknown ? kAssumedSize : size;
  return bytes;
}

Value rootOf(Value value) {
  while (isView(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

bool isCall(Operation *op) { return !isFusible(op) && !isView(op); }

LiveBytes::LiveBytes(Block &block) {
  unsigned calls = 0;
  for (Operation &op : block) {
    positions[&op] = unsigned(order.size());
    order.push_back(&op);
    numCalls.push_back(calls);
    calls += isCall(&op);
  }
  for (auto [position, op] : llvm::enumerate(order))
    op->walk([&](Operation *inner) { noteReads(inner, unsigned(position)); });
}

void LiveBytes::noteReads(Operation *op, unsigned position) {
  for (Value operand : op->getOperands()) {
    unsigned &read = last[rootOf(operand)];
    read = std::max(read, position);
  }
}

bool LiveBytes::isBefore(Operation *op, unsigned position) const {
  auto found = positions.find(op);
  return found != positions.end() && found->second < position;
}

bool LiveBytes::isKept(Value root) const {
  return isa<BlockArgument>(root) || isa<ir::ConstantOp>(root.getDefiningOp()) ||
         (last.contains(root) && lastReadOf(root) + 1 == order.size());
}

/// Whether the value has memory: one that a kernel makes and whose readers may all be in that kernel has none.
bool LiveBytes::isInMemory(Value root) const {
  const unsigned made = positions.lookup(root.getDefiningOp()), read = lastReadOf(root);
  return isCall(order[made]) || isCall(order[read]) || numCalls[read] > numCalls[made];
}

void eraseUnread(Block &block, function_ref<bool(Operation *)> mayGo) {
  SmallVector<Operation *> ops = llvm::map_to_vector(block.without_terminator(), [](Operation &op) { return &op; });
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty() && mayGo(op))
      op->erase();
}

std::pair<unsigned, int64_t> LiveBytes::peak() const {
  std::vector<int64_t> changes(order.size() + 1);
  for (auto [position, op] : llvm::enumerate(order))
    for (Value result : op->getResults())
      if (rootOf(result) == result && last.contains(result) && !isKept(result) && isInMemory(result)) {
        changes[position + 1] += bytesOf(result);
        changes[lastReadOf(result) + 1] -= bytesOf(result);
      }
  std::pair<unsigned, int64_t> most = {0, 0};
  int64_t bytes = 0;
  for (auto [position, op] : llvm::enumerate(order)) {
    bytes += changes[position];
    if (isCall(op) && bytes > most.second)
      most = {unsigned(position), bytes};
  }
  return most;
}

} // namespace tess::compiler
