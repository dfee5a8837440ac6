//===- Batches.cpp - independent kernels as one launch --------------------===//
#include "runtime/bind/Batches.h"
#include "runtime/threads/ParallelFor.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::runtime {

namespace {

class Batches {
public:
  Batches(Commands &bound, const Executable &exe, const StoragePlan &storage, const MemoryPlan &plan, unsigned threads)
      : bound(bound), exe(exe), storage(storage), plan(plan), threads(threads) {}

  int64_t run() {
    if (bound.commands.size() < 2)
      return 0;
    std::vector<Command> commands = std::move(bound.commands);
    bound.commands.clear();
    bound.commands.reserve(commands.size());
    batch(commands);
    return shared;
  }

private:
  /// Appends `commands`, batched; a loop's are batched by themselves.
  void batch(llvm::MutableArrayRef<Command> commands) {
    for (size_t begin = 0; begin < commands.size();) {
      size_t end = std::max(endOfBatch(commands, begin), begin + 1);
      if (end - begin > 1) {
        addBatch(commands.slice(begin, end - begin));
      } else {
        size_t place = bound.commands.size(), numCommands = commands[begin].numCommands;
        bound.commands.push_back(std::move(commands[begin]));
        batch(commands.slice(end, numCommands));
        bound.commands[place].numCommands = uint32_t(bound.commands.size() - place - 1);
        end += numCommands;
      }
      begin = end;
    }
  }

  /// Memory that a command touches: bytes of the arena, or a whole buffer.
  struct Extent {
    Place::Kind kind;
    uint32_t index;
    int64_t begin, end;

    bool meets(const Extent &other) const {
      return kind == other.kind && index == other.index && begin < other.end && other.begin < end;
    }
  };

  /// The memory of `value`. An output that takes over an input has the input's extent.
  Extent extentOf(ValueId value) const {
    Place place = storage.places[value];
    if (place.kind == Place::Arena) {
      int64_t begin = plan.offsets[place.index];
      return {place.kind, 0, begin, begin + storage.allocations[place.index].bytes};
    }
    if (place.kind == Place::Output && exe.outputs[place.index].donates >= 0)
      return {Place::Input, uint32_t(exe.outputs[place.index].donates), 0, 1};
    return {place.kind, place.index, 0, 1};
  }

  static bool mayJoin(const Command &command) {
    return command.kind == Command::Launch && command.step->kind == StepKind::Kernel && command.step->reduced.empty() &&
           command.launch.scratchStride == 0 && !command.looksUp;
  }

  bool conflicts(llvm::ArrayRef<ValueId> written, llvm::ArrayRef<ValueId> touched) const {
    return llvm::any_of(written, [&](ValueId a) {
      return llvm::any_of(touched, [&](ValueId b) { return extentOf(a).meets(extentOf(b)); });
    });
  }

  bool independent(const Step &a, const Step &b) const {
    return !conflicts(a.results, b.operands) && !conflicts(a.results, b.results) && !conflicts(b.results, a.operands);
  }

  size_t endOfBatch(llvm::ArrayRef<Command> commands, size_t begin) const {
    constexpr size_t kMost = 64;
    size_t end = begin;
    auto joins = [&](const Command &command) {
      return mayJoin(command) && llvm::all_of(commands.slice(begin, end - begin), [&](const Command &mate) {
               return independent(*mate.step, *command.step);
             });
    };
    while (end < commands.size() && end - begin < kMost && joins(commands[end]))
      ++end;
    return end;
  }

  /// Appends one command for `mates`. A large kernel is split as it would be alone; a small one goes to the part with
  /// the least work.
  void addBatch(llvm::ArrayRef<Command> mates) {
    Command &batch = bound.commands.emplace_back();
    batch.kind = Command::Batch;
    batch.step = mates.front().step;
    batch.label = mates.front().label;
    batch.firstLaunch = uint32_t(bound.batched.size());
    batch.numLaunches = uint32_t(mates.size());
    int64_t total = 0;
    for (const Command &mate : mates)
      total += mate.launch.picoseconds;
    batch.parts = total < kSplitPicoseconds ? 1 : threads;
    std::vector<int64_t> load(batch.parts);
    for (const Command &mate : mates) {
      KernelLaunch launch = mate.launch;
      if (launch.parts <= 1) {
        auto least = llvm::min_element(load);
        launch.owner = unsigned(least - load.begin());
        *least += launch.picoseconds;
        shared += batch.parts > 1 ? launch.picoseconds : 0;
      }
      bound.batched.push_back(launch);
    }
  }

  Commands &bound;
  const Executable &exe;
  const StoragePlan &storage;
  const MemoryPlan &plan;
  unsigned threads;
  int64_t shared = 0;
};

} // namespace

int64_t batchLaunches(Commands &bound, const Executable &exe, const StoragePlan &storage, const MemoryPlan &plan,
                      unsigned threads) {
  return Batches(bound, exe, storage, plan, threads).run();
}

} // namespace tess::runtime
