//===- GradientRecording.cpp - a function and its gradient ---------------===//
#include "eager/tracing/GradientRecording.h"

#include "eager/tracing/Recorder.h"
#include "eager/tracing/SymbolicShapes.h"

#include "llvm/ADT/STLExtras.h"

#include <set>

namespace tess::eager {

/// Splits recordings; both halves keep the numbers of values.
class RecordingSplitter {
public:
  static GradientRecording split(Recording whole, const Recorder::Boundary &boundary, size_t numArguments,
                                 size_t numOutputs);

private:
  static GradientRecording::Saved placeOf(uint32_t number, Recording::ValueKind kind, Recording &forward);
};

/// The place where the forward half keeps value `number`: a computed value becomes an output of it, others are its
/// arguments or captured values.
GradientRecording::Saved RecordingSplitter::placeOf(uint32_t number, Recording::ValueKind kind, Recording &forward) {
  using Saved = GradientRecording::Saved;
  auto indexIn = [&](const std::vector<uint32_t> &list) { return unsigned(llvm::find(list, number) - list.begin()); };
  if (kind == Recording::ValueKind::Argument)
    return {Saved::Argument, indexIn(forward.argumentList), number};
  if (kind == Recording::ValueKind::Captured)
    return {Saved::Captured, indexIn(forward.capturedList), number};
  if (!llvm::is_contained(forward.outputList, number))
    forward.outputList.push_back(number);
  return {Saved::Output, indexIn(forward.outputList), number};
}

GradientRecording RecordingSplitter::split(Recording whole, const Recorder::Boundary &boundary, size_t numArguments,
                                           size_t numOutputs) {
  GradientRecording halves;
  Recording forward, backward;
  forward.home = backward.home = whole.home;
  llvm::ArrayRef<uint32_t> arguments = whole.arguments(), outputs = whole.outputs();
  forward.argumentList = arguments.take_front(numArguments);
  forward.outputList = outputs.take_front(numOutputs);
  backward.outputList = outputs.drop_front(numOutputs);
  for (uint32_t number : whole.capturedList)
    (number < boundary.values ? forward : backward).capturedList.push_back(number);
  std::set<uint32_t> read; // by the backward half
  auto note = [&](uint32_t number) {
    if (number < boundary.values && whole.valueList[number].kind != Recording::ValueKind::Constant)
      read.insert(number);
  };
  llvm::for_each(backward.outputList, note);
  for (auto [i, op] : llvm::enumerate(whole.opList)) {
    if (i >= boundary.ops) {
      llvm::for_each(op.inputs, note);
      op.op.forEachSymbol([&](uint32_t symbol) { note(ownerOf(symbol)); });
    }
    (i < boundary.ops ? forward : backward).opList.push_back(std::move(op));
  }
  for (uint32_t number : read)
    halves.saved.push_back(placeOf(number, whole.valueList[number].kind, forward));
  backward.argumentList.assign(read.begin(), read.end());
  llvm::append_range(backward.argumentList, arguments.drop_front(numArguments));
  forward.updateList = std::move(whole.updateList);
  forward.numSaved = forward.outputList.size() - numOutputs;
  backward.valueList = whole.valueList;
  for (uint32_t number : forward.capturedList) // they are arguments of the backward half
    backward.valueList[number].tensor = backward.valueList[number].snapshot = nullptr;
  forward.valueList = std::move(whole.valueList);
  halves.forward = std::make_shared<const Recording>(std::move(forward));
  halves.backward = std::make_shared<const Recording>(std::move(backward));
  return halves;
}

llvm::Expected<GradientRecording> splitRecording(Recording whole, const Recorder::Boundary &boundary,
                                                 size_t numArguments, size_t numOutputs) {
  for (const Recording::Update &update : whole.updates())
    if (update.value >= boundary.values)
      return invalidArgument("trace: the gradient of a traced function must not update variables, got an update of " +
                             (update.variable ? toString(update.variable->meta()) : "an argument"));
  return RecordingSplitter::split(std::move(whole), boundary, numArguments, numOutputs);
}

} // namespace tess::eager
