//===- Lineage.cpp - how values were made, to make them again -------------===//
//
// The equivalence classes of evicted neighbours are those of M. Kirisame et al.:
// Dynamic Tensor Rematerialization, ICLR 2021, arXiv:2006.09616, section 4.1. A
// value that is made again takes its cost from the class and leaves it, which
// approximates the split that union-find cannot do (their appendix C.2).
//
//===----------------------------------------------------------------------===//
#include "eager/eviction/Lineage.h"

#include "eager/tensor/MemoryHooks.h"
#include "runtime/threads/Fork.h"
#include "runtime/threads/ParallelFor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace tess::eager {

namespace {

struct State {
  State();
  std::mutex mutex;
  std::map<uint64_t, Cell *> candidates;
  std::map<uint64_t, CellRef> orphans; // values without a user that an evicted value or a call needs
  std::vector<StorageRef> dropped;     // foreign ones
  uint64_t lastId = 0, numEvicted = 0;
  double clock = 0;
  std::atomic<bool> enabled = false;
  std::atomic<int64_t> leastBytes = 1 << 20;
};
State &state() {
  static State *instance = new State; // never destroyed: threads may outlive main
  return *instance;
}

/// A fork waits for the mutex before it takes those of allocators, which come behind it here, too.
State::State() {
  runtime::callAcrossFork([] { state().mutex.lock(); }, [] { state().mutex.unlock(); }, [] { state().mutex.unlock(); });
}
const runtime::MadeAtLoad<state> kMade;

} // namespace

CallSettings CallSettings::now() { return {runtime::numThreads(), runtime::kernelSettings()}; }

EvictedSet *EvictedSet::root() {
  EvictedSet *at = this;
  while (at->parent) {
    if (at->parent->parent)
      at->parent = at->parent->parent;
    at = at->parent.get();
  }
  return at;
}

Recipe::~Recipe() {
  for (Input &input : inputs)
    if (auto it = llvm::find(input.cell->readers, this); it != input.cell->readers.end())
      input.cell->readers.erase(it);
}

/// Drops the value that no user refers to.
static void dropOwn(Cell &cell) {
  if (cell.own && cell.own->isForeign())
    state().dropped.push_back(cell.own);
  cell.own.reset();
}

Cell::~Cell() {
  if (recipe)
    lineage::loseRecipe(*this);
  dropOwn(*this);
}

namespace lineage {

Guard::Guard() { state().mutex.lock(); }

Guard::~Guard() {
  if (holds)
    unlock();
}

void Guard::unlock() {
  std::vector<StorageRef> dropped;
  dropped.swap(state().dropped);
  holds = false;
  state().mutex.unlock();
}

void Guard::lock() {
  state().mutex.lock();
  holds = true;
}

int64_t leastBytes() { return state().leastBytes; }
void setLeastBytes(int64_t bytes) { state().leastBytes = bytes; }
bool isEnabled() { return state().enabled; }
std::map<uint64_t, Cell *> &candidates() { return state().candidates; }
double advanceClock(double by) { return state().clock += by; }
uint64_t &numEvicted() { return state().numEvicted; }

Cell &cellOf(Storage &storage) {
  if (Cell *known = storage.lineage())
    return *known;
  CellRef cell(new Cell);
  cell->user = &storage;
  cell->device = &storage.device();
  cell->bytes = storage.bytes();
  cell->id = ++state().lastId;
  cell->lastUse = state().clock;
  cell->Retain(); // by the storage
  storage.setLineage(cell.get());
  return *cell;
}

void add(const RecipeRef &recipe) {
  for (Recipe::Input &input : recipe->inputs)
    input.cell->readers.push_back(recipe.get());
  for (Recipe::Result &result : recipe->results) {
    if (!result.cell)
      continue;
    result.cell->recipe = recipe;
    result.cell->depth = recipe->depth;
    state().candidates.emplace(result.cell->id, result.cell);
  }
}

/// Calls `visit` for each result that is lost with `cell`, and for those that are lost with these; stops at the first
/// for which it returns false.
template <typename Visit> static void walkLost(const Cell &cell, Visit visit) {
  llvm::SmallVector<const Cell *, 16> left{&cell};
  llvm::SmallPtrSet<const Cell *, 16> seen;
  while (!left.empty()) {
    const Cell *each = left.pop_back_val();
    for (Recipe *reader : each->readers)
      for (Recipe::Result &result : reader->results) {
        Cell *made = result.cell;
        if (!made || !seen.insert(made).second || (made->isVisible() && made->isResident()))
          continue;
        if (!visit(*made))
          return;
        if (!made->isVisible())
          left.push_back(made);
      }
  }
}

bool isNeeded(const Cell &cell) {
  bool found = false;
  walkLost(cell, [&](Cell &made) {
    found = made.isVisible();
    return !found;
  });
  return found;
}

std::vector<CellRef> neededBy(const Cell &cell) {
  std::vector<CellRef> found;
  walkLost(cell, [&](Cell &made) {
    if (made.isVisible())
      found.emplace_back(&made);
    return true;
  });
  return found;
}

void loseRecipe(Cell &cell) {
  if (cell.set)
    noteResident(cell); // it takes its cost from the class
  state().candidates.erase(cell.id);
  for (Recipe::Result &result : cell.recipe->results)
    if (result.cell == &cell)
      result.cell = nullptr;
  cell.depth = 0;
  cell.recipe.reset();
}

void cut(Cell &lost) {
  llvm::SmallVector<CellRef, 8> left{CellRef(&lost)};
  while (!left.empty()) {
    CellRef each = left.pop_back_val();
    llvm::SmallVector<RecipeRef, 8> readers;
    for (Recipe *reader : each->readers)
      readers.emplace_back(reader);
    for (const RecipeRef &reader : readers)
      for (size_t i = 0; i < reader->results.size(); ++i)
        if (CellRef made(reader->results[i].cell); made) {
          loseRecipe(*made);
          if (!made->isVisible())
            left.push_back(made);
        }
  }
}

/// Calls `visit` for the evicted values that a call joins with this one.
template <typename Visit> static void eachEvictedNeighbour(const Cell &cell, Visit visit) {
  if (cell.recipe)
    for (const Recipe::Input &input : cell.recipe->inputs)
      if (input.cell->set)
        visit(*input.cell);
  for (const Recipe *reader : cell.readers)
    for (const Recipe::Result &result : reader->results)
      if (result.cell && result.cell->set)
        visit(*result.cell);
}

double neighbourhoodCost(const Cell &cell) {
  double sum = 0;
  llvm::SmallPtrSet<EvictedSet *, 8> seen;
  eachEvictedNeighbour(cell, [&](Cell &other) {
    if (EvictedSet *root = other.set->root(); seen.insert(root).second)
      sum += root->cost;
  });
  return sum;
}

void noteEvicted(Cell &cell) {
  if (!cell.recipe || cell.set)
    return;
  cell.set = new EvictedSet;
  cell.set->cost = cell.recipe->cost;
  eachEvictedNeighbour(cell, [&](Cell &other) {
    EvictedSet *root = cell.set->root(), *joined = other.set->root();
    if (root == joined)
      return;
    joined->cost += root->cost;
    root->parent = joined;
  });
}

void noteResident(Cell &cell) {
  if (!cell.set)
    return;
  cell.set->root()->cost -= cell.recipe->cost;
  cell.set.reset();
}

void releaseOwn(Cell &cell) {
  if (cell.pins || !cell.own || !(cell.recipe || cell.readers.empty()))
    return;
  dropOwn(cell);
  noteEvicted(cell);
}

void sweepOrphans() {
  std::vector<CellRef> unneeded;
  for (auto &[id, cell] : state().orphans)
    if (!cell->pins && (cell->recipe || !isNeeded(*cell)))
      unneeded.push_back(cell);
  for (const CellRef &cell : unneeded) {
    state().orphans.erase(cell->id);
    if (cell->recipe) {
      releaseOwn(*cell);
      continue;
    }
    cut(*cell);
    dropOwn(*cell);
  }
}

/// Takes all recipes away: nothing is evicted.
static void clear() {
  while (!state().candidates.empty())
    loseRecipe(*CellRef(state().candidates.begin()->second));
  sweepOrphans();
}

void setEnabled(bool enabled) {
  state().enabled = enabled;
  if (enabled)
    eviction::active = true;
  else
    restWhereDone();
}

void restWhereDone() {
  if (state().enabled || !eviction::isActive() || state().numEvicted)
    return;
  eviction::active = false;
  clear();
}

/// Keeps the memory of a source that nobody refers to any more, which some evicted value is made from.
static void keepSource(Cell &cell, Storage &dying) {
  constexpr int64_t kSmall = 4096; // numbers among the operands of a call: they must not decide
  bool isSmall = cell.bytes < std::max(leastBytes(), kSmall);
  if (!isSmall && !isNeeded(cell))
    return cut(cell);
  cell.own = Storage::takeFrom(dying);
  if (!isSmall)
    state().orphans.emplace(cell.id, CellRef(&cell));
}

void noteDeath(Storage &dying) {
  Guard guard;
  CellRef cell(dying.lineage());
  dying.setLineage(nullptr);
  cell->Release(); // the storage's reference
  cell->user = nullptr;
  const bool wasEvicted = std::exchange(cell->isEvicted, false);
  if (wasEvicted)
    --state().numEvicted;
  if (cell->pins) { // a call reads it, and a queued operator had the last reference
    cell->own = Storage::takeFrom(dying);
    state().orphans.emplace(cell->id, cell);
  } else if (!cell->readers.empty()) {
    if (cell->recipe)
      noteEvicted(*cell); // its memory is freed now, and it can be made again
    else
      keepSource(*cell, dying);
  }
  cell.reset();
  if (wasEvicted)
    sweepOrphans();
  restWhereDone();
}

} // namespace lineage
} // namespace tess::eager
