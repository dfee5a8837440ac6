//===- Loops.cpp - trips, and what goes from one to the next --------------===//
//
// The body of a loop is bound once, for all trips: its shapes do not change, and
// its memory is that of one trip. What lies elsewhere in each trip is a pointer
// that moves.
//
//===----------------------------------------------------------------------===//
#include "runtime/bind/Binder.h"
#include "runtime/schema/GrownValues.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::runtime {

void Binder::addMoves(ValueId value) {
  if (value < 0 || open.empty())
    return;
  for (TripMove move : storage.loops->movesOf(value))
    for (auto &[loop, moves] : open)
      if (loop == move.loop)
        moves.push_back({uint32_t(bound->pointers.size()) - 1, move.bytes});
}

/// A copy, unless both lie in one memory.
void Binder::addCarriedCopy(const Step &step, ValueId from, ValueId to) {
  Place source = storage.places[from], target = storage.places[to];
  if (source.kind == target.kind && source.index == target.index)
    return;
  addCopy(&step, "carry", byteWidth(metas[to].dtype), placed(from, layouts[from]), placed(to, layouts[to]));
}

/// Notes which grown values a loop without a bound stacks and reads.
void Binder::addGrown(const Step &step, Command &command) {
  const LoopDecl &loop = exe.loops[step.loop];
  if (!hasNoBound(loop))
    return;
  command.firstGrown = uint32_t(bound->grownOfLoops.size());
  command.numGrownResults = uint32_t(step.results.size() - loop.numCarried);
  command.numGrownXs = uint32_t(step.operands.size() - loop.numCarried);
  for (const ValueIds *list : {&step.results, &step.operands})
    for (ValueId value : llvm::ArrayRef<ValueId>(*list).drop_front(loop.numCarried))
      bound->grownOfLoops.push_back(storage.places[value].index);
}

/// Grown values have memory of their own, of which the inputs of a run bring some.
void Binder::listGrown() {
  for (ValueId value : storage.grown) {
    GrownValue &grown = bound->grown.emplace_back();
    grown.bytes = metas[value].numElements() * int64_t(byteWidth(metas[value].dtype));
    for (auto [index, input] : llvm::enumerate(exe.inputs))
      grown.input = input.value == value ? int32_t(index) : grown.input;
    bound->memory.savedPerTrip += grown.input < 0 ? uint64_t(grown.bytes) : 0;
    for (auto [index, output] : llvm::enumerate(exe.outputs))
      if (output.value == value) {
        grown.output = int32_t(index);
        bound->isOutputGrown.resize(exe.outputs.size());
        bound->isOutputGrown[index] = true;
      }
  }
}

llvm::Error Binder::addLoop(const Step &step) {
  if (llvm::Error error = checkRowMajor(step))
    return error;
  const LoopDecl &loop = exe.loops[step.loop];
  for (unsigned number = 0; number < loop.numCarried; ++number)
    addCarriedCopy(step, step.operands[number], step.results[number]);
  size_t index = size_t(&step - exe.steps.data()), place = bound->commands.size();
  newCommand(Command::Loop, &step, "scan");
  if (loop.isGuarded)
    addPointer(step.results[0], layouts[step.results[0]]);
  open.push_back({int32_t(index), {}});
  if (llvm::Error error = addSteps(index + 1, index + 1 + loop.numSteps))
    return error;
  for (unsigned number = 0; number < loop.numCarried; ++number)
    if (loop.yields[number] != loop.arguments[number])
      addCarriedCopy(step, loop.yields[number], step.results[number]);
  std::vector<PointerMove> moves = std::move(open.back().second);
  open.pop_back();
  Command &command = bound->commands[place];
  command.numCommands = uint32_t(bound->commands.size() - place - 1);
  command.trips = trips[step.loop];
  command.reverse = loop.reverse;
  command.guard = control::guardOf(loop.isGuarded, loop.numCarried ? metas[step.results[0]].dtype : DType());
  addGrown(step, command);
  command.firstMove = uint32_t(bound->moves.size());
  command.numMoves = uint32_t(moves.size());
  llvm::append_range(bound->moves, moves);
  return llvm::Error::success();
}

} // namespace tess::runtime
