//===- Lineage.h - how values were made, to make them again -----*- C++ -*-===//
//
// While tensors may be evicted, each storage that a call read or gave has a Cell,
// and each call a Recipe. Recipes refer to cells, not to storages: a value that
// nobody refers to any more frees its memory and can still be made again as long
// as another value needs it. All of this is guarded by a lineage::Guard.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/tensor/Storage.h"
#include "ops/operator/OpDef.h"
#include "ops/vocabulary/TensorMeta.h"
#include "runtime/device/KernelSettings.h"

#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace tess::eager {

struct Cell;
struct Recipe;
/// Counted references; the last one goes under a lineage::Guard.
using CellRef = llvm::IntrusiveRefCntPtr<Cell>;
using RecipeRef = llvm::IntrusiveRefCntPtr<Recipe>;

/// Settings of the process that bits of a call depend on.
struct CallSettings {
  unsigned threads = 1;
  runtime::KernelSettings kernels;

  /// The settings that hold now.
  static CallSettings now();
  bool operator==(const CallSettings &) const = default;
};

/// A call that can be repeated: no operand was written since, and the results are whole storages of their own.
struct Recipe : llvm::ThreadSafeRefCountedBase<Recipe> {
  /// An operand: a view of the memory of a cell, which had `version` then.
  struct Input {
    CellRef cell;
    DType dtype;
    Layout layout;
    uint32_t version;
  };
  /// A result; null cell: it is too small to be evicted, or it is gone.
  struct Result {
    Cell *cell;
    TensorMeta meta;
  };
  OpDef op;
  llvm::SmallVector<unsigned, 2> segments;
  llvm::SmallVector<uint64_t, 2> scalars; // as DispatchCall has them
  bool isProgram = false;                 // of a graph: it has no other way to run
  runtime::Device *device = nullptr;
  CallSettings settings;
  llvm::SmallVector<Input, 2> inputs;
  llvm::SmallVector<Result, 1> results;
  double cost = 0;    // estimated picoseconds
  unsigned depth = 0; // calls on the longest way from a value that has no recipe

  ~Recipe();
};

/// A class of evicted neighbours, by union-find; the root has the sum of their costs.
struct EvictedSet : llvm::RefCountedBase<EvictedSet> {
  llvm::IntrusiveRefCntPtr<EvictedSet> parent; // null: a root
  double cost = 0;

  EvictedSet *root();
};

/// Facts about the value of one storage.
struct Cell : llvm::ThreadSafeRefCountedBase<Cell> {
  Storage *user = nullptr; // what tensors refer to; null: nobody does
  StorageRef own;          // else the value, while a call that runs again, or an evicted value, needs it
  RecipeRef recipe;        // null: a source, which cannot be made again
  std::vector<Recipe *> readers;
  runtime::Device *device = nullptr;
  uint64_t id = 0;
  int64_t bytes = 0;
  double lastUse = 0;     // by lineage::clock
  unsigned pins = 0;      // of calls that use it now
  bool isEvicted = false; // a user refers to it, and its memory is gone
  unsigned depth = 0;
  llvm::IntrusiveRefCntPtr<EvictedSet> set; // null unless it is evicted

  ~Cell();
  Storage *memory() const { return user ? user : own.get(); }
  bool isResident() const { return memory() && !memory()->isEvicted(); }
  /// Whether a user may ask for the value.
  bool isVisible() const { return user; }
};

namespace lineage {

/// Holds the mutex of all cells and recipes. Its holder waits for nothing and takes no mutex but an allocator's.
class Guard {
public:
  Guard();
  ~Guard();
  Guard(const Guard &) = delete;
  /// Lets others in, and frees foreign memory that was dropped meanwhile, whose owner may want a frontend's lock.
  void unlock();
  void lock();

private:
  bool holds = true;
};

/// Bytes of a value from which on it may be evicted; a smaller source stays as long as something is made from it.
int64_t leastBytes();
void setLeastBytes(int64_t bytes);
/// Whether new calls are kept, and values evicted.
bool isEnabled();

// The rest needs a guard.

void setEnabled(bool enabled);
/// Leaves the hot path alone again where it is not enabled and nothing is evicted: forgets all calls.
void restWhereDone();

/// The cells that have a recipe, by their number.
std::map<uint64_t, Cell *> &candidates();
/// The cost of making the evicted neighbours of the value again, those of each class once.
double neighbourhoodCost(const Cell &cell);
/// Adds to the time that recorded calls took, by their costs, and returns it: the clock of staleness.
double advanceClock(double by);
/// Counts the evicted values that users refer to.
uint64_t &numEvicted();

/// The cell of the storage; makes one where it has none.
Cell &cellOf(Storage &storage);
/// Gives the recipe to the cells of its results, and to those of its operands.
void add(const RecipeRef &recipe);
/// Whether an evicted value that a user refers to is made from this one.
bool isNeeded(const Cell &cell);
/// The evicted values of users that are made from this one.
std::vector<CellRef> neededBy(const Cell &cell);
/// Takes the recipes that read `lost` from their results. No evicted value of a user may need it.
void cut(Cell &lost);
/// Makes the value a source.
void loseRecipe(Cell &cell);
/// Notes that the memory of the value is gone, and that it is there again.
void noteEvicted(Cell &cell);
void noteResident(Cell &cell);
/// Drops sources that nobody refers to once no evicted value needs them.
void sweepOrphans();
/// Drops what can be dropped of a value that calls alone needed: one made again, or a source.
void releaseOwn(Cell &cell);
/// Tells the cell of a storage that its last reference is gone; makes a guard of its own.
void noteDeath(Storage &dying);

} // namespace lineage
} // namespace tess::eager
