//===- FusionGroups.cpp - which operators share a kernel ------------------===//
#include "compiler/transforms/FusionGroups.h"
#include "ir/OpBridge.h"
#include "ir/Types.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace tess::compiler {

/// Kernels beyond this compile slowly and spill registers without moving fewer bytes.
static constexpr size_t kMaxOps = 96;
static constexpr size_t kMaxOperands = 24;
/// A kernel that reduces every axis and then passes over everything again runs on one thread; beyond this many elements
/// the consumers are better off in a second kernel that uses all of them.
static constexpr int64_t kMaxSerialElements = 16384;
/// Operators that the search for a loop finds between two groups; beyond them it assumes one. A reader that comes so
/// much later nearly always closes a loop, as a gradient does with a value of the forward part, and looking at all
/// operators in between would take time quadratic in the program.
static constexpr size_t kMaxVisited = 512;
/// Uses that the search looks at, whether they lie between the groups or not: a value may have any number of readers.
static constexpr size_t kMaxUses = 4096;

bool isFusible(Operation *op) {
  const OpInfo *info = ir::infoOf(op);
  return info && (info->lowering == Lowering::Elementwise || info->lowering == Lowering::Reduction || info->scan ||
                  info->lowering == Lowering::Lookup || info->lowering == Lowering::Scatter);
}

static bool hasLowering(Operation *op, Lowering lowering) {
  const OpInfo *info = op ? ir::infoOf(op) : nullptr;
  return info && info->lowering == lowering;
}

bool isView(Operation *op) { return hasLowering(op, Lowering::View); }

bool isLookup(Operation *op) { return hasLowering(op, Lowering::Lookup); }

bool isScatter(Operation *op) { return hasLowering(op, Lowering::Scatter); }

bool countsByIndices(Operation *op) { return isLookup(op) || isScatter(op); }

Value domainOf(Operation *op) {
  return isScatter(op) ? op->getOperand(1) : reducedAxesOf(op).empty() ? op->getResult(0) : op->getOperand(0);
}

static bool isReduction(Operation *op) { return ir::infoOf(op)->lowering == Lowering::Reduction; }

SmallVector<int64_t, 4> reducedAxesOf(Operation *op) {
  const ScanInfo *scan = ir::infoOf(op)->scan;
  if (!isReduction(op) && !scan)
    return {};
  OpDef def = ir::opDefOf(op);
  if (scan)
    return {scan->axisOf(def, cast<RankedTensorType>(op->getResult(0).getType()).getRank())};
  if (givesIndex(def.info().reduceKind))
    return {def.i64("axis")};
  return SmallVector<int64_t, 4>(def.ints("axes"));
}

int64_t phaseOf(Operation *op) {
  auto phase = op->getAttrOfType<IntegerAttr>(ir::kPhaseAttr);
  return phase ? phase.getInt() : 0;
}

void setPhase(Operation *op, int64_t phase) {
  op->setAttr(ir::kPhaseAttr, Builder(op->getContext()).getI64IntegerAttr(phase));
}

void setComputedAgain(Operation *op) { op->setAttr(ir::kAgainAttr, UnitAttr::get(op->getContext())); }

void forgetPhase(Operation *op) {
  op->removeAttr(ir::kPhaseAttr);
  op->removeAttr(ir::kAgainAttr);
}

SmallVector<std::pair<unsigned, unsigned>, 4> runsOf(ArrayRef<int64_t> axes) {
  SmallVector<std::pair<unsigned, unsigned>, 4> runs;
  for (int64_t axis : axes)
    if (!runs.empty() && runs.back().second == axis)
      ++runs.back().second;
    else
      runs.push_back({unsigned(axis), unsigned(axis) + 1});
  return runs;
}

static bool readsIndex(Operation *op) {
  const ScalarProgram *program = ir::infoOf(op)->scalar;
  return program && tess::readsIndex(*program);
}

static Walk walkOf(Operation *op) {
  const ScanInfo *scan = ir::infoOf(op)->scan;
  if (!scan)
    return Walk::Free;
  return scan->isReverse(ir::opDefOf(op)) ? Walk::Backward : Walk::Forward;
}

/// `domain` with 1 at the reduced axes.
static SmallVector<int64_t, 6> rowShape(const FusionGroup &group) {
  SmallVector<int64_t, 6> shape(group.domain);
  for (int64_t axis : group.axes)
    shape[axis] = 1;
  return shape;
}

bool isScalarSource(Operation *op) {
  return op && isFusible(op) && !isReduction(op) && op->getNumOperands() == 0 && op->getNumResults() == 1 &&
         cast<RankedTensorType>(op->getResult(0).getType()).getRank() == 0 && !readsIndex(op);
}

/// Whether `op` gives the same elements again. A gradient that computes values a second time starts from copies: a
/// kernel that also made the first ones would keep them in memory from then on.
static bool isCopy(Operation *op) {
  const ScalarProgram *program = ir::infoOf(op)->scalar;
  return program && program->results.size() == 1 && program->nodes[program->results.front()].fn == ScalarFn::Operand;
}

/// Whether only kernels read `op` and each makes it itself, so that it needs no kernel of its own.
static bool isOnlyReadByKernels(Operation *op) { return isScalarSource(op) && llvm::all_of(op->getUsers(), isFusible); }

std::unique_ptr<FusionGroup> FusionGroups::alone(Operation *op) const {
  auto group = std::make_unique<FusionGroup>();
  group->ops.push_back(op);
  llvm::append_range(group->domain, sizes.of(domainOf(op)));
  group->axes = reducedAxesOf(op);
  group->walk = walkOf(op);
  group->firstPhase = phaseOf(op);
  group->againPhase = op->hasAttr(ir::kAgainAttr) ? group->firstPhase : 0;
  group->usesIndex = readsIndex(op);
  if (countsByIndices(op))
    group->inMemory.push_back(op->getOperand(0));
  group->scatters = isScatter(op);
  return group;
}

FusionGroup *FusionGroups::groupOf(Operation *op) const { return op ? owner.lookup(op) : nullptr; }

FusionGroups::FusionGroups(Block &block, bool fuse, Apart apart)
    : sizes(block), sizeReaders(sizeReadersOf(block)), fuse(fuse), apart(std::move(apart)) {
  unsigned next = 0;
  for (Operation &op : block)
    position[&op] = next++;
  for (Operation &op : block)
    if (isFusible(&op) && !(fuse && isOnlyReadByKernels(&op)))
      place(&op);
  llvm::erase_if(all, [](const auto &group) { return group->ops.empty(); });
}

void FusionGroups::place(Operation *op) {
  all.push_back(alone(op));
  owner[op] = all.back().get();
  if (!fuse)
    return;
  for (Value operand : op->getOperands().drop_front(countsByIndices(op))) {
    Operation *made = operand.getDefiningOp();
    FusionGroup *producer = groupOf(made);
    if (!producer || producer == owner[op] || isScalarSource(made))
      continue;
    const char *why = isCopy(op) ? "a copy must not share a kernel with what it copies" : merge(*producer, *owner[op]);
    if (why && apart)
      apart(op, made, why);
  }
}

//===----------------------------------------------------------------------===//
// Whether two groups may be one
//===----------------------------------------------------------------------===//

/// Whether every value made in `group` has the shape of the full domain or of a row of it.
bool FusionGroups::fitsDomain(const FusionGroup &group, ArrayRef<int64_t> row) const {
  ArrayRef<int64_t> domain = group.domain;
  return llvm::all_of(group.ops, [&](Operation *op) {
    if (isScatter(op)) // its result is no part of the domain
      return sizes.of(domainOf(op)) == domain;
    return llvm::all_of(op->getResults(), [&](Value v) { return sizes.of(v) == domain || sizes.of(v) == row; });
  });
}

/// Whether every operand varies along all axes or along none in each run of reduced axes, so that it sees the run as
/// one size.
bool FusionGroups::collapsesRuns(const FusionGroup &group, const llvm::DenseSet<Operation *> &members) const {
  auto runs = runsOf(group.axes);
  for (Operation *op : group.ops)
    for (Value operand : op->getOperands()) {
      ArrayRef<int64_t> shape = sizes.of(operand);
      if (members.contains(operand.getDefiningOp()))
        continue;
      unsigned missing = group.domain.size() - shape.size();
      for (auto [first, last] : runs) {
        unsigned varying = 0, open = 0;
        for (unsigned axis = first; axis < last; ++axis) {
          open += group.domain[axis] != 1;
          varying += group.domain[axis] != 1 && axis >= missing && shape[axis - missing] != 1;
        }
        if (varying != 0 && varying != open)
          return false;
      }
    }
  return true;
}

static bool reducesEverything(const FusionGroup &group) {
  int64_t count = 1;
  for (auto [axis, size] : llvm::enumerate(group.domain)) {
    if (!llvm::is_contained(group.axes, int64_t(axis)) && size != 1)
      return false;
    count = size < 0 || count > kMaxSerialElements ? kMaxSerialElements + 1 : count * size;
  }
  return count > kMaxSerialElements;
}

/// Whether some value of the full domain needs a reduction of the group.
bool FusionGroups::expandsAfterReduction(const FusionGroup &group, ArrayRef<int64_t> row) const {
  llvm::DenseSet<Operation *> after;
  for (Operation *op : group.ops) {
    bool depends = isReduction(op);
    for (Value operand : op->getOperands())
      depends |= after.contains(operand.getDefiningOp());
    if (!depends)
      continue;
    after.insert(op);
    if (!isReduction(op) && sizes.of(op->getResult(0)) != row)
      return true;
  }
  return false;
}

const char *FusionGroups::combine(const FusionGroup &a, const FusionGroup &b, FusionGroup &group) const {
  group.firstPhase = std::min(a.firstPhase, b.firstPhase);
  group.againPhase = std::max(a.againPhase, b.againPhase);
  if (group.againPhase > group.firstPhase)
    return "a value that is not kept must not share a kernel with what is computed so much earlier";
  // The producer decides the domain unless it holds rows of the consumer's reduction.
  const FusionGroup &wide = !a.axes.empty() ? a : !b.axes.empty() ? b : a;
  const FusionGroup &other = &wide == &a ? b : a;
  group.domain = wide.domain;
  group.axes = wide.axes;
  group.walk = wide.walk;
  if (!other.axes.empty() && (other.axes != group.axes || other.domain != group.domain))
    return "reductions and scans of one kernel must be over the same axes of one shape";
  if (!other.axes.empty() && other.walk != group.walk)
    return "scans of one kernel must go in one direction, and beside no reduction";
  group.usesIndex = a.usesIndex || b.usesIndex;
  if (group.usesIndex && !group.axes.empty())
    return "a kernel that reduces must not ask where an element stands";
  group.ops = a.ops;
  group.ops.append(b.ops);
  group.inMemory = a.inMemory;
  group.inMemory.append(b.inMemory);
  group.scatters = a.scatters || b.scatters;
  if (!group.inMemory.empty() && !group.axes.empty())
    return "a kernel that reduces or scans must not take elements at indices";
  if (group.scatters && (a.scatters || group.usesIndex || group.inMemory.size() > 1))
    return "a kernel that writes at indices must end with it, look nothing up, and not ask where an element stands";
  auto isMade = [&](Value value) { return llvm::is_contained(group.ops, value.getDefiningOp()); };
  if (llvm::any_of(group.inMemory, isMade))
    return "elements at indices must be in memory";
  SmallVector<int64_t, 6> row = rowShape(group);
  if (!fitsDomain(group, row))
    return "every value must have the shape of the whole kernel, or of what its reductions leave";
  if (group.axes.empty())
    return nullptr;
  llvm::DenseSet<Operation *> members(group.ops.begin(), group.ops.end());
  if (!collapsesRuns(group, members))
    return "an operand must vary along all neighbouring reduced axes or along none";
  if (reducesEverything(group) && expandsAfterReduction(group, row))
    return "what follows a large reduction over everything must use all threads";
  return nullptr;
}

static size_t countOperands(const FusionGroup &group) {
  llvm::DenseSet<Value> outside;
  llvm::DenseSet<Operation *> members(group.ops.begin(), group.ops.end());
  for (Operation *op : group.ops) {
    for (Value operand : op->getOperands())
      if (!members.contains(operand.getDefiningOp()))
        outside.insert(operand);
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !members.contains(user); }))
        outside.insert(result);
  }
  return outside.size();
}

const char *FusionGroups::merge(FusionGroup &into, FusionGroup &other) {
  if (into.ops.size() + other.ops.size() > kMaxOps)
    return "a kernel must not have so many operators";
  FusionGroup group;
  if (const char *why = combine(into, other, group))
    return why;
  if (countOperands(group) > kMaxOperands)
    return "a kernel must not have so many operands";
  if (closesLoop(into, other))
    return "nothing outside must read of a kernel and be read by it";
  llvm::sort(group.ops, [&](Operation *a, Operation *b) { return position[a] < position[b]; });
  for (Operation *op : other.ops)
    owner[op] = &into;
  other.ops.clear();
  into = std::move(group);
  return nullptr;
}

bool FusionGroups::closesLoop(const FusionGroup &a, const FusionGroup &b) const {
  llvm::DenseSet<Operation *> members(a.ops.begin(), a.ops.end());
  members.insert(b.ops.begin(), b.ops.end());
  unsigned last = 0;
  for (Operation *op : members)
    last = std::max(last, position.lookup(op));
  SmallVector<Operation *> work;
  llvm::DenseSet<Operation *> seen;
  llvm::DenseSet<FusionGroup *> entered;
  size_t uses = 0;
  auto takesLong = [&] { return seen.size() > kMaxVisited || uses > kMaxUses; };
  auto visit = [&](auto &&users, bool leaves) { // looks at no more users than it may
    for (Operation *user : users) {
      if (takesLong())
        return;
      ++uses;
      bool counts = position.lookup(user) <= last && !(leaves && members.contains(user));
      if (counts && seen.insert(user).second)
        work.push_back(user);
    }
  };
  auto visitUsers = [&](Operation *op) {
    visit(op->getUsers(), members.contains(op));
    if (auto named = sizeReaders.find(op); named != sizeReaders.end())
      visit(named->second, members.contains(op));
  };
  for (Operation *op : members) // leaving the group by any member counts
    visitUsers(op);
  while (!work.empty() && !takesLong()) {
    Operation *op = work.pop_back_val();
    if (members.contains(op))
      return true;
    FusionGroup *group = groupOf(op);
    if (!group)
      visitUsers(op);
    else if (entered.insert(group).second)
      llvm::for_each(group->ops, visitUsers);
  }
  return takesLong();
}

} // namespace tess::compiler
