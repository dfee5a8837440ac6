//===- Rematerialise.cpp - cheap values computed again, not kept ----------===//
//
// A training step keeps what its gradient reads until the gradient is there.
// At the call that finds the most memory in use, this pass decides which values
// to keep: a cheapest cut of the graph between what only calls compute, and what
// is read later. Everything behind the cut is elementwise and computed again, in
// the kernels of the later part. As in the partitioner of torch.compile (H. He
// and Z. Yao, 2022), but over a whole step, and for the peak alone.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/FusionGroups.h"
#include "compiler/transforms/LiveBytes.h"
#include "compiler/transforms/MinCut.h"
#include "compiler/transforms/Passes.h"
#include "ir/OpBridge.h"
#include "runtime/schema/KernelAbi.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

namespace tess::compiler {
#define GEN_PASS_DEF_REMATERIALISEPASS
#include "compiler/transforms/Passes.h.inc"

namespace {
using namespace mlir;

/// Peaks that are looked at, one after the other: microbatches of a step have one each.
constexpr unsigned kMaxPeaks = 16;
/// Bytes of memory that are worth a vector instruction for 16 elements, and an operator more.
constexpr int64_t kBytesOfInstruction = 1, kBytesOfOperator = 4096;
/// The parts of its bytes that writing a value is worth where a kernel would otherwise keep it in registers, and that
/// reading another one is.
constexpr int64_t kShareOfStore = 8, kShareOfLoad = 4;

/// Whether `op` may run again: each element of its result depends on elements of its operands alone.
bool isCheap(Operation *op) {
  const OpInfo *info = op ? ir::infoOf(op) : nullptr;
  return info && !info->stochastic && op->getNumResults() == 1 &&
         (info->lowering == Lowering::View || (info->lowering == Lowering::Elementwise && !readsIndex(*info->scalar)));
}

/// The cost of computing the result of a cheap operator again, in bytes of memory that it is worth.
int64_t costOf(Operation *op) {
  const OpInfo *info = ir::infoOf(op);
  if (info->lowering == Lowering::View || isScalarSource(op))
    return 0;
  int64_t instructions = 0;
  for (const ScalarNode &node : info->scalar->nodes)
    instructions += infoOf(node.fn).cost;
  Value result = op->getResult(0);
  const int64_t elements = bytesOf(result) / byteWidth(ir::metasOf(result).front().dtype);
  int64_t read = 0, most = 0; // beside the largest operand, in whose place the result would be read
  for (Value operand : op->getOperands()) {
    read += bytesOf(operand);
    most = std::max(most, bytesOf(operand));
  }
  return elements / runtime::kLanes * instructions * kBytesOfInstruction + (read - most) / kShareOfLoad +
         kBytesOfOperator;
}

/// Values that the later part of a block reads of the part before one of its operators, and which of them are kept.
class Cut {
public:
  Cut(const LiveBytes &live, unsigned boundary) : live(live), boundary(boundary) {
    live.at(boundary)->walk([&](Operation *op) {
      for (Value operand : op->getOperands())
        needed.insert(rootOf(operand));
    });
    for (Operation *op = live.at(boundary); op; op = op->getNextNode())
      op->walk([&](Operation *reader) { llvm::for_each(reader->getOperands(), [&](Value v) { addRead(v); }); });
    sinkSide = network.sinkSide();
  }

  /// Whether a later reader must have the value computed again.
  bool isComputedAgain(Value value) const {
    const auto *found = nodes.find(value);
    return found != nodes.end() && sinkSide[found->second];
  }

  /// Bytes that need not be kept.
  int64_t savedBytes() const {
    int64_t before = 0, after = 0;
    for (Value root : readRoots)
      before += bytesOf(root);
    for (auto [value, node] : nodes)
      if (!sinkSide[node] && sinkSide[node + 1])
        after += bytesOf(value);
    return before - after;
  }

private:
  /// Whether the value is made before the boundary, in memory that is not needed there for other reasons.
  bool isOpen(Value value) const {
    Operation *made = value.getDefiningOp();
    return made && live.isBefore(made, boundary) && !isScalarSource(made) && !live.isKept(rootOf(value)) &&
           !needed.contains(rootOf(value));
  }

  /// The value's bytes, and what it costs to write it for later readers alone: calls give and read what is in memory.
  int64_t costOfKeeping(Value value) const {
    const int64_t bytes = bytesOf(value);
    auto isEarlierCall = [&](Operation *reader) { return isCall(reader) && live.isBefore(reader, boundary); };
    const bool isStored = isCall(value.getDefiningOp()) || llvm::any_of(value.getUsers(), isEarlierCall);
    return isStored ? bytes : bytes + bytes / kShareOfStore;
  }

  /// Something later reads the value.
  void addRead(Value value) {
    if (!isOpen(value))
      return;
    readRoots.insert(rootOf(value));
    if (read.insert(value).second)
      network.addEdge(nodeOf(value) + 1, MinCut::kSink, MinCut::kUnlimited);
  }

  /// The node before keeping the value; the next one is behind it.
  unsigned nodeOf(Value value) {
    if (const auto *found = nodes.find(value); found != nodes.end())
      return found->second;
    const unsigned node = network.addNode(), kept = network.addNode();
    nodes[value] = node;
    Operation *made = value.getDefiningOp();
    const bool isCheapHere = isCheap(made), isOfView = rootOf(value) != value;
    network.addEdge(node, kept, isOfView ? MinCut::kUnlimited : costOfKeeping(value));
    network.addEdge(MinCut::kSource, node, isCheapHere ? costOf(made) : MinCut::kUnlimited);
    if (isCheapHere)
      for (Value operand : made->getOperands())
        if (isOpen(operand))
          network.addEdge(nodeOf(operand) + 1, node, MinCut::kUnlimited);
    return node;
  }

  const LiveBytes &live;
  const unsigned boundary;
  MinCut network;
  llvm::MapVector<Value, unsigned> nodes;
  llvm::SetVector<Value> readRoots;
  llvm::DenseSet<Value> read, needed; // by later operators, at the boundary
  llvm::BitVector sinkSide;
};

/// Lets the operators from a boundary on read values that are computed again, each before its first reader.
class Later {
public:
  Later(const Cut &cut, const LiveBytes &live, unsigned boundary) : cut(cut), live(live), boundary(boundary) {}

  void visit(Operation *op) {
    setPhase(op, phaseOf(op) + 1);
    op->walk([&](Operation *reader) {
      for (OpOperand &operand : reader->getOpOperands())
        if (cut.isComputedAgain(operand.get()))
          operand.set(again(operand.get(), op));
    });
    if (needsEarlierOnly(op))
      addAgain(op);
  }

private:
  /// The value computed again, before `reader` at the latest.
  Value again(Value value, Operation *reader) {
    if (!cut.isComputedAgain(value))
      return value;
    if (Value made = computed.lookup(value))
      return made;
    Operation *op = value.getDefiningOp();
    IRMapping mapping;
    for (Value operand : op->getOperands())
      mapping.map(operand, again(operand, reader));
    OpBuilder builder(reader);
    Operation *clone = builder.clone(*op, mapping);
    setPhase(clone, phaseOf(reader));
    addAgain(clone);
    return computed[value] = clone->getResult(0);
  }

  /// Whether an operator could run before the boundary, and keep its result over it.
  bool needsEarlierOnly(Operation *op) const {
    auto isEarlier = [&](Value value) {
      Operation *made = value.getDefiningOp();
      return !made || againValues.contains(value) || live.isBefore(made, boundary);
    };
    return isCheap(op) && llvm::all_of(op->getOperands(), isEarlier);
  }

  void addAgain(Operation *op) {
    setComputedAgain(op);
    againValues.insert(op->result_begin(), op->result_end());
  }

  const Cut &cut;
  const LiveBytes &live;
  const unsigned boundary;
  llvm::DenseMap<Value, Value> computed;
  llvm::DenseSet<Value> againValues;
};

struct Rematerialise : impl::RematerialisePassBase<Rematerialise> {
  using RematerialisePassBase::RematerialisePassBase;

  void runOnOperation() override {
    Block &block = getOperation().getBody().front();
    for (unsigned number = 0; number < kMaxPeaks; ++number)
      if (!lowerPeak(block))
        return;
  }

  /// Whether the peak is lower now, so that there may be another one.
  bool lowerPeak(Block &block) const {
    LiveBytes live(block);
    auto [boundary, bytes] = live.peak();
    if (bytes < leastBytes)
      return false;
    Cut cut(live, boundary);
    const bool savesEnough = cut.savedBytes() >= leastBytes;
    SmallVector<Operation *> later;
    for (Operation *op = live.at(boundary); op; op = op->getNextNode())
      later.push_back(op);
    Later part(cut, live, boundary);
    llvm::for_each(later, [&](Operation *op) { part.visit(op); });
    eraseUnread(block, isCheap); // all their readers may be later
    return savesEnough;
  }
};

} // namespace
} // namespace tess::compiler
