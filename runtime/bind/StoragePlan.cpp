//===- StoragePlan.cpp - which memory each value lives in -----------------===//
#include "runtime/bind/StoragePlan.h"
#include "ops/vocabulary/Error.h"
#include "runtime/bind/Bind.h"
#include "runtime/schema/GrownValues.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::runtime {

std::vector<PlannedMemory> describePlan(const Executable &exe, const StoragePlan &storage, const MemoryPlan &plan,
                                        llvm::ArrayRef<ScratchUse> scratch) {
  std::vector<PlannedMemory> pieces;
  auto add = [&](ValueId value, size_t index) {
    const Allocation &allocation = storage.allocations[index];
    pieces.push_back({value, plan.offsets[index], allocation.bytes, allocation.first, allocation.last});
  };
  for (auto [value, place] : llvm::enumerate(storage.places))
    if (place.kind == Place::Arena && exe.values[value].kind == ValueKind::Temp)
      add(ValueId(value), place.index);
  for (const ScratchUse &use : scratch)
    add(-1, use.allocation);
  return pieces;
}

const LookupDecl *scatterOf(const Step &step) {
  auto found =
      llvm::find_if(step.lookups, [&](const LookupDecl &each) { return each.operand >= step.operands.size(); });
  return found == step.lookups.end() ? nullptr : &*found;
}

static bool sameLayout(const Layout &a, const Layout &b) {
  return a.shape == b.shape && a.strides == b.strides && a.offset == b.offset;
}

namespace {

class StoragePlanner {
public:
  StoragePlanner(const Executable &exe, llvm::ArrayRef<TensorMeta> metas, llvm::ArrayRef<Layout> layouts)
      : exe(exe), metas(metas), layouts(layouts), end(int32_t(exe.steps.size())), written(exe.values.size(), -1),
        lastRead(exe.values.size(), -1), isOutput(exe.values.size()), isTakenOver(exe.values.size()),
        loops(
            exe, [this](ValueId value) { return bytesOf(value); },
            [this](const Step &step, ValueId made, ValueId argument) { return overwrites(step, made, argument); }) {
    plan.places.resize(exe.values.size());
  }
  llvm::Expected<StoragePlan> run();

private:
  void scan();
  void noteRead(ValueId value, int32_t step);
  bool overwrites(const Step &step, ValueId made, ValueId before) const;
  void placeFixed();
  llvm::Error placeOutputs();
  bool writesDirectly(const OutputDecl &output) const;
  bool donationSafe(const OutputDecl &output, ValueId root) const;
  void stageCopies();
  Place allocate(ValueId value, int32_t first, int32_t last);
  void allocateTemps();
  void shareInPlace(const Step &step, int32_t index);
  Place finalPlace(ValueId root) const;
  bool mayShare(const Step &step, int32_t index, uint16_t number, ValueId result) const;
  /// Whether `step` may write into the memory of its operand number `operand`: a kernel that reads every other operand
  /// in that memory exactly as it reads this one, or any step that has no other there.
  bool readAlike(const Step &step, uint16_t operand, llvm::function_ref<bool(ValueId)> sameMemory) const;
  int64_t bytesOf(ValueId value) const { return metas[value].numElements() * byteWidth(metas[value].dtype); }

  const Executable &exe;
  llvm::ArrayRef<TensorMeta> metas;
  llvm::ArrayRef<Layout> layouts;
  int32_t end;
  StoragePlan plan;
  std::vector<int32_t> written, lastRead; // step numbers, by root
  std::vector<Place> movedTo;             // by allocation: the output whose memory it takes; None: it keeps its own
  // By root: whether an output shows it; whether it is an input whose memory an output takes over.
  llvm::BitVector isOutput, isTakenOver;
  LoopMemory loops;
};

} // namespace

/// A step reads the value, in each trip of the loops around it.
void StoragePlanner::noteRead(ValueId value, int32_t step) {
  ValueId owner = loops.ownerOf(value);
  lastRead[owner] = std::max(lastRead[owner], loops.lastRead(step, loops.homeOf(owner)));
}

void StoragePlanner::scan() {
  for (int32_t index = 0; index < end; ++index) {
    const Step &step = exe.steps[index];
    for (ValueId operand : step.operands)
      noteRead(operand, index);
    for (ValueId result : step.results)
      written[result] = index;
    if (step.loop < 0)
      continue;
    const LoopDecl &loop = exe.loops[step.loop];
    for (ValueId yield : loop.yields)
      lastRead[loops.ownerOf(yield)] = std::max(lastRead[loops.ownerOf(yield)], loops.endOf(index));
    for (ValueId x : llvm::ArrayRef<ValueId>(step.operands).drop_front(loop.numCarried))
      lastRead[loops.ownerOf(x)] = std::max(lastRead[loops.ownerOf(x)], loops.endOf(index));
    for (ValueId result : step.results)
      lastRead[loops.ownerOf(result)] = std::max(lastRead[loops.ownerOf(result)], loops.endOf(index));
  }
  for (const OutputDecl &output : exe.outputs) {
    isOutput.set(rootOf(exe, output.value));
    if (output.donates >= 0)
      isTakenOver.set(exe.inputs[output.donates].value);
  }
}

void StoragePlanner::placeFixed() {
  for (auto [index, input] : llvm::enumerate(exe.inputs))
    plan.places[input.value] = {Place::Input, uint32_t(index)};
  for (auto [index, value] : llvm::enumerate(exe.values))
    if (value.kind == ValueKind::Constant)
      plan.places[index] = {Place::Constant, uint32_t(value.constant)};
  for (auto [value, isGrown] : llvm::enumerate(grownValues(exe)))
    if (isGrown) {
      plan.places[value] = {Place::Grown, uint32_t(plan.grown.size())};
      plan.grown.push_back(ValueId(value));
    }
}

bool StoragePlanner::readAlike(const Step &step, uint16_t operand, llvm::function_ref<bool(ValueId)> sameMemory) const {
  const Layout &layout = layouts[step.operands[operand]];
  return llvm::all_of(llvm::enumerate(step.operands), [&](auto other) {
    if (other.index() == operand || !sameMemory(rootOf(exe, other.value())))
      return true;
    return step.kind == StepKind::Kernel && sameLayout(layouts[other.value()], layout);
  });
}

/// Whether the step, which reads `before` last, may make its result in that memory, as an in-place pair says.
bool StoragePlanner::overwrites(const Step &step, ValueId made, ValueId before) const {
  return llvm::any_of(step.inplace, [&](auto pair) {
    ValueId operand = step.operands[pair.first];
    return step.results[pair.second] == made && rootOf(exe, operand) == before &&
           sameLayout(layouts[operand], layouts[made]) &&
           readAlike(step, pair.first, [&](ValueId other) { return other == before; });
  });
}

/// Whether the step that makes the output may write into the input's buffer, because nothing reads that later.
bool StoragePlanner::donationSafe(const OutputDecl &output, ValueId root) const {
  ValueId input = exe.inputs[output.donates].value;
  if (isOutput[input])
    return false;
  int32_t step = written[root];
  if (lastRead[input] != step)
    return lastRead[input] < step;
  return overwrites(exe.steps[step], root, input);
}

bool StoragePlanner::writesDirectly(const OutputDecl &output) const {
  ValueId root = rootOf(exe, output.value);
  if (exe.values[root].kind != ValueKind::Temp || plan.places[root].kind != Place::None || loops.isShared(root))
    return false;
  const Layout &layout = layouts[output.value];
  if (!layout.isContiguous() || layout.offset != 0 || bytesOf(output.value) != bytesOf(root))
    return false;
  return output.donates < 0 || donationSafe(output, root);
}

llvm::Error StoragePlanner::placeOutputs() {
  for (auto [index, output] : llvm::enumerate(exe.outputs)) {
    const InputDecl *donor = output.donates < 0 ? nullptr : &exe.inputs[output.donates];
    if (donor && !(metas[output.value] == metas[donor->value]))
      return invalidArgument("bind: output " + output.name + " must have the shape of input " + donor->name +
                             ", whose memory it takes over, got " + toString(metas[output.value]) + " and " +
                             toString(metas[donor->value]));
    if (plan.places[rootOf(exe, output.value)].kind == Place::Grown)
      continue;
    Place place{Place::Output, uint32_t(index)};
    if (writesDirectly(output))
      plan.places[rootOf(exe, output.value)] = place;
    else if (!donor || donor->value != output.value)
      plan.copies.push_back({output.value, uint32_t(index), {}, place});
  }
  return llvm::Error::success();
}

/// Copies each source that is an input which another output takes over to a buffer before any output is written.
void StoragePlanner::stageCopies() {
  std::vector<OutputCopy> staged;
  for (OutputCopy &copy : plan.copies) {
    ValueId root = loops.ownerOf(copy.value);
    lastRead[root] = end;
    if (!isTakenOver[root])
      continue;
    copy.from = allocate(copy.value, end, end);
    staged.push_back({copy.value, copy.output, {}, copy.from});
  }
  plan.copies.insert(plan.copies.begin(), staged.begin(), staged.end());
}

Place StoragePlanner::allocate(ValueId value, int32_t first, int32_t last) {
  plan.allocations.push_back({bytesOf(value), first, last});
  return {Place::Arena, uint32_t(plan.allocations.size() - 1)};
}

void StoragePlanner::allocateTemps() {
  for (auto [index, value] : llvm::enumerate(exe.values)) {
    if (value.kind != ValueKind::Temp || written[index] < 0 || plan.places[index].kind != Place::None ||
        loops.isShared(ValueId(index)))
      continue;
    plan.places[index] = allocate(ValueId(index), written[index], std::max(written[index], lastRead[index]));
  }
}

bool StoragePlanner::mayShare(const Step &step, int32_t index, uint16_t number, ValueId result) const {
  ValueId operand = step.operands[number];
  ValueId root = loops.ownerOf(operand);
  if (loops.homeOf(root) != loops.loopOf(index)) // the next trip reads it again
    return false;
  Place from = plan.places[root], to = plan.places[result];
  // An update of an output is made there from the start; a kernel that reads one memory and writes another copies
  // nothing, unless it writes at indices.
  bool copies = step.kind != StepKind::Kernel || scatterOf(step);
  bool intoOutput = to.kind == Place::Output && exe.outputs[to.index].donates < 0 && copies;
  if (from.kind != Place::Arena || !(intoOutput || (to.kind == Place::Arena && from.index != to.index)))
    return false;
  if (plan.allocations[from.index].last != index || !sameLayout(layouts[operand], layouts[result]))
    return false;
  if (bytesOf(result) != plan.allocations[from.index].bytes)
    return false;
  return readAlike(step, number, [&](ValueId other) {
    Place place = plan.places[loops.ownerOf(other)];
    return place.kind == Place::Arena && place.index == from.index;
  });
}

void StoragePlanner::shareInPlace(const Step &step, int32_t index) {
  llvm::SmallVector<uint32_t, 4> taken; // a memory goes to one result, and a result takes one memory
  llvm::SmallVector<ValueId, 4> placed;
  for (auto [operandIndex, resultIndex] : step.inplace) {
    ValueId operand = step.operands[operandIndex], result = step.results[resultIndex];
    if (!mayShare(step, index, operandIndex, result))
      continue;
    uint32_t kept = plan.places[loops.ownerOf(operand)].index;
    if (llvm::is_contained(taken, kept) || llvm::is_contained(placed, result))
      continue;
    taken.push_back(kept);
    placed.push_back(result);
    Place &to = plan.places[result];
    if (to.kind == Place::Output) {
      movedTo[kept] = to;
      plan.allocations[kept].bytes = 0;
      continue;
    }
    plan.allocations[kept].last = plan.allocations[to.index].last;
    plan.allocations[to.index].bytes = 0;
    to.index = kept;
  }
}

/// The place of a value that is no view, once all memory is shared.
Place StoragePlanner::finalPlace(ValueId root) const {
  Place place = plan.places[root];
  bool isMoved = place.kind == Place::Arena && movedTo[place.index].kind != Place::None;
  return isMoved ? movedTo[place.index] : place;
}

llvm::Expected<StoragePlan> StoragePlanner::run() {
  scan();
  placeFixed();
  if (llvm::Error error = placeOutputs())
    return std::move(error);
  stageCopies();
  allocateTemps();
  movedTo.resize(plan.allocations.size());
  for (auto [index, step] : llvm::enumerate(exe.steps))
    shareInPlace(step, int32_t(index));
  std::vector<Place> places;
  places.reserve(exe.values.size());
  for (size_t value = 0; value < exe.values.size(); ++value)
    places.push_back(finalPlace(loops.ownerOf(ValueId(value))));
  plan.places = std::move(places);
  plan.loops.emplace(std::move(loops));
  return std::move(plan);
}

llvm::Expected<StoragePlan> planStorage(const Executable &exe, llvm::ArrayRef<TensorMeta> metas,
                                        llvm::ArrayRef<Layout> layouts) {
  return StoragePlanner(exe, metas, layouts).run();
}

} // namespace tess::runtime
