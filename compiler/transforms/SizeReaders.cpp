//===- SizeReaders.cpp - operators that read sizes of data ----------------===//
#include "compiler/transforms/SizeReaders.h"
#include "ir/Dialect.h"
#include "ir/OpBridge.h"
#include "ops/graphs/Control.h"
#include "ops/vocabulary/SizeExpr.h"

#include <queue>

using namespace mlir;
using namespace tess::ir;

namespace tess::compiler {

SizeReaders sizeReadersOf(Block &block) {
  SizeReaders readers;
  DenseMap<uint32_t, Operation *> named;
  for (auto size : block.getOps<NamedSizeOp>())
    named[uint32_t(size.getNumber())] = size;
  if (named.empty())
    return readers;
  for (Operation &op : block)
    op.walk([&](Operation *inner) {
      if (inner->hasAttr(kSizesAttr))
        opDefOf(inner).forEachSymbol([&](uint32_t symbol) {
          auto found = symbol >= sizes::kDataSymbols ? named.find(symbol - sizes::kDataSymbols) : named.end();
          // A loop within has its own names for the sizes of its trips.
          bool isOwn = !control::isBodySymbol(symbol) || inner->getParentOfType<ScanOp>() == block.getParentOp();
          if (found != named.end() && isOwn)
            readers[found->second].push_back(&op);
        });
    });
  return readers;
}

namespace {

/// Kahn's algorithm; of what is ready, the first in the old order goes next.
class Sorter {
public:
  explicit Sorter(Block &block) : readers(sizeReadersOf(block)) {
    for (Operation &op : block.without_terminator())
      order.push_back(&op);
    for (auto [index, op] : llvm::enumerate(order))
      position[op] = index;
    for (Operation *op : order)
      forEachReader(op, [&](Operation *reader) { ++missing[reader]; });
  }

  void run(Operation *end) {
    std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
    for (auto [index, op] : llvm::enumerate(order))
      if (!missing.lookup(op))
        ready.push(index);
    while (!ready.empty()) {
      Operation *next = order[ready.top()];
      ready.pop();
      next->moveBefore(end);
      forEachReader(next, [&](Operation *reader) {
        if (--missing[reader] == 0)
          ready.push(position.lookup(reader));
      });
    }
  }

private:
  void forEachReader(Operation *op, function_ref<void(Operation *)> f) const {
    for (Operation *user : op->getUsers())
      if (position.contains(user))
        f(user);
    if (auto found = readers.find(op); found != readers.end())
      llvm::for_each(found->second, f);
  }

  SizeReaders readers;
  std::vector<Operation *> order;
  DenseMap<Operation *, size_t> position;
  DenseMap<Operation *, unsigned> missing; // reads that have not been placed
};

} // namespace

void sortByReads(Block &block) { Sorter(block).run(block.getTerminator()); }

} // namespace tess::compiler
