//===- Eviction.cpp - tensors whose memory is given up for a while --------===//
#include "eager/eviction/Eviction.h"

#include "eager/tensor/Queue.h"
#include "runtime/device/Allocator.h"
#include "runtime/threads/Worker.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <limits>

namespace tess::eager::eviction {

namespace {

/// A longer chain of calls ends in a value that stays.
constexpr unsigned kMostDepth = 1024;

std::atomic<bool> samples = false;
std::atomic<uint64_t> threshold = 0;
std::atomic<Rerun> rerun = nullptr;

// Guarded by a lineage::Guard.
Stats counted;
uint64_t lastSample = 0; // of a sequence that is the same in every process

using lineage::Guard;

/// The score of a value that could be evicted, the lowest first: cost / (size * staleness), with the cost of evicted
/// neighbours (Kirisame et al., the heuristic h_DTR^eq).
double scoreOf(const Cell &cell, double now) {
  constexpr double kSoon = 1; // of a value that was used just now
  return (cell.recipe->cost + lineage::neighbourhoodCost(cell)) / (double(cell.bytes) * (now - cell.lastUse + kSoon));
}

bool mayEvict(const Cell &cell) {
  const Storage *memory = cell.memory();
  return cell.recipe && cell.isResident() && !cell.pins && cell.bytes >= lineage::leastBytes() && !memory->isHeld() &&
         !isPending(*memory) && !memory->failure() && !memory->isForeign();
}

void evict(Cell &cell) {
  ++counted.evictions;
  counted.evictedBytes += uint64_t(cell.bytes);
  if (cell.isVisible()) {
    cell.user->evict();
    cell.isEvicted = true;
    ++lineage::numEvicted();
    lineage::noteEvicted(cell);
  } else {
    lineage::releaseOwn(cell);
  }
}

/// The value to evict next; null: none can be.
Cell *choose(const runtime::Device &device) {
  std::vector<Cell *> pool;
  for (auto &[id, cell] : lineage::candidates())
    if (cell->device == &device && mayEvict(*cell))
      pool.push_back(cell);
  size_t step = 1, first = 0;
  if (samples && !pool.empty()) {
    step = size_t(std::sqrt(double(pool.size())));
    lastSample = lastSample * 6364136223846793005u + 1442695040888963407u; // D. Knuth's MMIX
    first = (lastSample >> 33) % step;
  }
  double now = lineage::advanceClock(0), lowest = std::numeric_limits<double>::infinity();
  Cell *best = nullptr;
  for (size_t i = first; i < pool.size(); i += step)
    if (double score = scoreOf(*pool[i], now); score < lowest) {
      lowest = score;
      best = pool[i];
    }
  return best;
}

bool exceeds(size_t bytes, runtime::Device &device) {
  return device.allocator().stats().inUse + runtime::Allocator::roundUp(bytes) > threshold;
}

/// The operands of a recipe, all of which are there.
Tensors operandsOf(const Recipe &recipe) {
  Tensors operands;
  for (const Recipe::Input &input : recipe.inputs)
    operands.push_back(TensorImpl::create(input.dtype, input.layout, StorageRef(input.cell->memory())));
  return operands;
}

/// Makes values again, the operands of each first.
class Rematerialisation {
public:
  Rematerialisation() = default;
  ~Rematerialisation();
  Rematerialisation(const Rematerialisation &) = delete;
  llvm::Error run(const CellRef &wanted);

private:
  /// A value that is wanted, and those of its operands that are there by now, which are pinned.
  struct Frame {
    CellRef cell;
    RecipeRef recipe;
    unsigned pinned = 0;
  };
  llvm::Error step();
  llvm::Error compute(Guard &guard);
  void install(Cell *cell, TensorImpl &value);
  void unpin(Frame &frame);

  std::vector<Frame> frames;
  std::vector<CellRef> made; // that no user refers to
};

/// Unpins what an error left, and drops what only the recomputation needed.
Rematerialisation::~Rematerialisation() {
  Guard guard;
  for (Frame &frame : frames)
    unpin(frame);
  frames.clear();
  for (const CellRef &cell : made)
    lineage::releaseOwn(*cell);
  made.clear();
  lineage::sweepOrphans();
  lineage::restWhereDone();
}

void Rematerialisation::unpin(Frame &frame) {
  for (unsigned i = 0; i < frame.pinned; ++i)
    --frame.recipe->inputs[i].cell->pins;
  frame.pinned = 0;
}

void Rematerialisation::install(Cell *cell, TensorImpl &value) {
  if (!cell || cell->isResident())
    return;
  if (cell->isVisible()) {
    cell->user->take(value.storage());
    cell->user->setWriter(0);
    cell->isEvicted = false;
    --lineage::numEvicted();
  } else {
    cell->own = value.storageRef();
    made.emplace_back(cell);
  }
  cell->lastUse = lineage::advanceClock(0);
  lineage::noteResident(*cell);
}

llvm::Error Rematerialisation::compute(Guard &guard) {
  Frame &frame = frames.back();
  const Recipe &recipe = *frame.recipe;
  for (const Recipe::Input &input : recipe.inputs)
    if (input.cell->isVisible() && input.cell->user->version() != input.version)
      return makeError(ErrorCode::Internal, recipe.op.name() + ": operands of a value that is made again must be "
                                                               "unwritten, got a write that nobody told of");
  Tensors operands = operandsOf(recipe);
  guard.unlock();
  llvm::Expected<Tensors> results = rerun.load()(recipe, operands);
  operands.clear();
  guard.lock();
  if (!results)
    return results.takeError();
  ++counted.recomputations;
  lineage::advanceClock(recipe.cost);
  for (auto [result, value] : llvm::zip_equal(recipe.results, *results))
    install(result.cell, *value);
  unpin(frame);
  frames.pop_back();
  guard.unlock(); // results that nobody took may die now
  results->clear();
  guard.lock();
  return llvm::Error::success();
}

/// Goes on with the innermost value: with an operand that is not there, or by its call.
llvm::Error Rematerialisation::step() {
  Guard guard;
  Frame &frame = frames.back();
  if (frame.cell->isResident()) {
    unpin(frame);
    frames.pop_back();
    return llvm::Error::success();
  }
  if (!frame.recipe)
    frame.recipe = frame.cell->recipe;
  if (!frame.recipe)
    return makeError(ErrorCode::Internal, "dtr: a value that was evicted must have its call, got none");
  for (; frame.pinned < frame.recipe->inputs.size(); ++frame.pinned) {
    const CellRef &input = frame.recipe->inputs[frame.pinned].cell;
    if (!input->isResident()) {
      frames.push_back({input, nullptr});
      return llvm::Error::success();
    }
    ++input->pins;
  }
  return compute(guard);
}

llvm::Error Rematerialisation::run(const CellRef &wanted) {
  {
    Guard guard;
    frames.push_back({wanted, nullptr});
  }
  while (!frames.empty())
    if (llvm::Error e = step())
      return e;
  return llvm::Error::success();
}

} // namespace

//===----------------------------------------------------------------------===//
// Settings
//===----------------------------------------------------------------------===//

Settings settings() { return {threshold, lineage::leastBytes(), samples}; }

void set(const Settings &settings) {
  threshold = settings.threshold;
  lineage::setLeastBytes(settings.leastBytes);
  samples = settings.samples;
}

bool isEnabled() { return lineage::isEnabled(); }

void enable() {
  Guard guard;
  lineage::setEnabled(true);
}

void disable() {
  Guard guard;
  lineage::setEnabled(false);
}

Stats stats() {
  Guard guard;
  Stats now = counted;
  now.evictedNow = lineage::numEvicted();
  return now;
}

//===----------------------------------------------------------------------===//
// Uses
//===----------------------------------------------------------------------===//

Use::~Use() {
  if (cells.empty())
    return;
  Guard guard;
  for (const CellRef &cell : cells)
    --cell->pins;
  cells.clear();
  lineage::sweepOrphans();
}

llvm::Error Use::add(Storage &storage) {
  CellRef cell;
  for (bool isThere = false; !isThere;) {
    {
      Guard guard;
      if (!storage.lineage())
        return llvm::Error::success();
      cell = storage.lineage();
      cell->lastUse = lineage::advanceClock(0);
      isThere = cell->isResident();
      if (isThere) {
        ++cell->pins;
        cells.push_back(cell);
      }
    }
    if (!isThere)
      if (llvm::Error e = Rematerialisation().run(cell))
        return e;
  }
  return llvm::Error::success();
}

llvm::Error Use::addWritten(Storage &storage) {
  if (llvm::Error e = add(storage))
    return e;
  while (true) {
    CellRef next;
    {
      Guard guard;
      Cell *cell = storage.lineage();
      if (!cell)
        return llvm::Error::success();
      std::vector<CellRef> needing = lineage::neededBy(*cell);
      if (needing.empty()) {
        lineage::cut(*cell);
        if (cell->recipe)
          lineage::loseRecipe(*cell);
        return llvm::Error::success();
      }
      next = needing.front();
    }
    llvm::Error error = Rematerialisation().run(next);
    Guard guard;
    if (!error && next->isResident() && next->recipe)
      lineage::loseRecipe(*next); // else it could be evicted again
    next.reset();
    if (error)
      return error;
  }
}

llvm::Error restore(Storage &storage) { return Use().add(storage); }

llvm::Error expose(Storage &storage) {
  storage.noteExposed();
  return Use().addWritten(storage);
}

llvm::Expected<bool> drop(Storage &storage) {
  if (llvm::Error e = awaitAll()) // queued operators may read it
    return std::move(e);
  Guard guard;
  Cell *cell = storage.lineage();
  if (!cell || !mayEvict(*cell))
    return cell && cell->recipe && storage.isEvicted();
  evict(*cell);
  return true;
}

/// Whether results of a call with this operand can be made again: nobody else may write its memory.
static bool isSteady(const Storage &storage) {
  return !storage.failure() && !storage.isExposed() && (!storage.isForeign() || storage.isReadOnly());
}

/// Whether the tensor is all of a storage that nothing else is known of.
static bool isWhole(const TensorImpl &result, llvm::ArrayRef<TensorImpl *> operands) {
  const Storage &storage = result.storage();
  int64_t bytes = result.numElements() * byteWidth(result.dtype());
  return result.isContiguous() && !result.offset() && bytes == storage.bytes() && !storage.isForeign() &&
         !storage.lineage() && !storage.failure() &&
         llvm::none_of(operands, [&](TensorImpl *each) { return &each->storage() == &storage; });
}

/// Adds the operands to the recipe; false where the results must stay.
static bool addInputs(Recipe &recipe, llvm::ArrayRef<TensorImpl *> operands) {
  for (TensorImpl *operand : operands) {
    Storage &storage = operand->storage();
    Cell &cell = lineage::cellOf(storage);
    recipe.inputs.push_back({CellRef(&cell), operand->dtype(), operand->layout(), storage.version()});
    recipe.depth = std::max(recipe.depth, cell.depth + 1);
  }
  return recipe.depth <= kMostDepth;
}

void record(const Recipe &recipe, llvm::ArrayRef<TensorImpl *> operands, llvm::ArrayRef<TensorRef> results) {
  auto isKept = [](const TensorRef &result) {
    return result && result->numElements() * byteWidth(result->dtype()) >= lineage::leastBytes();
  };
  if (!lineage::isEnabled() || llvm::none_of(results, isKept) ||
      !llvm::all_of(operands, [](TensorImpl *each) { return isSteady(each->storage()); }))
    return;
  Guard guard;
  RecipeRef kept(new Recipe(recipe));
  lineage::advanceClock(kept->cost);
  if (!addInputs(*kept, operands))
    return;
  for (const TensorRef &result : results) {
    bool isEvictable = isKept(result) && isWhole(*result, operands);
    Cell *cell = isEvictable ? &lineage::cellOf(result->storage()) : nullptr;
    kept->results.push_back({cell, result ? result->meta() : TensorMeta()});
  }
  lineage::add(kept);
}

//===----------------------------------------------------------------------===//
// Evictions
//===----------------------------------------------------------------------===//

llvm::Error makeRoom(size_t bytes, runtime::Device &device) {
  runtime::Worker &worker = runtime::Worker::global();
  if (!lineage::isEnabled() || !threshold || worker.onWorkerThread() || !exceeds(bytes, device))
    return llvm::Error::success();
  // Memory of calls that have run is free, and all values can be looked at: the choice does not depend on the time.
  if (llvm::Error e = awaitCommand(worker.last()))
    return e;
  Guard guard;
  while (exceeds(bytes, device)) {
    Cell *next = choose(device);
    if (!next)
      break;
    evict(*next);
  }
  return llvm::Error::success();
}

bool evictFor(size_t bytes, runtime::Device &device) {
  Guard guard;
  if (!lineage::isEnabled())
    return false;
  int64_t freed = 0;
  while (freed < int64_t(bytes)) {
    Cell *next = choose(device);
    if (!next)
      break;
    freed += next->bytes;
    evict(*next);
  }
  return freed > 0;
}

void start(Rerun function) {
  rerun = function;
  memoryHooks.makeRoom = makeRoom;
  memoryHooks.evictFor = evictFor;
  memoryHooks.restore = restore;
  memoryHooks.noteDeath = lineage::noteDeath;
}

} // namespace tess::eager::eviction
