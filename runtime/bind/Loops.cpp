//===- Loops.cpp - trips, and what goes from one to the next --------------===//
//
// The body of a loop is bound once, for all trips: its shapes do not change, and
// its memory is that of one trip. What lies elsewhere in each trip is a pointer
// that moves.
//
//===----------------------------------------------------------------------===//
#include "runtime/bind/Binder.h"
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
  command.firstMove = uint32_t(bound->moves.size());
  command.numMoves = uint32_t(moves.size());
  llvm::append_range(bound->moves, moves);
  return llvm::Error::success();
}

} // namespace tess::runtime
