//===- GradientRecording.cpp - a function and its gradient ---------------===//
#include "eager/tracing/GradientRecording.h"

#include "llvm/ADT/STLExtras.h"

#include <set>

namespace tess::eager {

/// Splits a recording in two; both halves keep its numbers of values.
class RecordingSplitter {
public:
  RecordingSplitter(Recording whole, const Recorder::Boundary &boundary, size_t numArguments, size_t numOutputs)
      : whole(std::move(whole)), boundary(boundary), numArguments(numArguments), numOutputs(numOutputs) {}
  llvm::Expected<GradientRecording> split();

private:
  void findSaved();
  GradientRecording::Saved placeOf(uint32_t number);
  void moveOps();
  void share();

  Recording whole, forward, backward;
  Recorder::Boundary boundary;
  size_t numArguments, numOutputs;
  std::vector<GradientRecording::Saved> saved;
};

/// The place where the forward half keeps value `number`: a computed value becomes an output of it, others are its
/// arguments or captured values.
GradientRecording::Saved RecordingSplitter::placeOf(uint32_t number) {
  auto indexIn = [&](const std::vector<uint32_t> &list) { return unsigned(llvm::find(list, number) - list.begin()); };
  switch (whole.valueList[number].kind) {
  case Recording::ValueKind::Argument:
    return {GradientRecording::Saved::Argument, indexIn(forward.argumentList), number};
  case Recording::ValueKind::Captured:
    return {GradientRecording::Saved::Captured, indexIn(forward.capturedList), number};
  default:
    break;
  }
  if (!llvm::is_contained(forward.outputList, number))
    forward.outputList.push_back(number);
  return {GradientRecording::Saved::Output, indexIn(forward.outputList), number};
}

void RecordingSplitter::findSaved() {
  std::set<uint32_t> read;
  auto note = [&](uint32_t number) {
    if (number < boundary.values && whole.valueList[number].kind != Recording::ValueKind::Constant)
      read.insert(number);
  };
  for (const Recording::Op &op : llvm::drop_begin(whole.opList, boundary.ops))
    llvm::for_each(op.inputs, note);
  llvm::for_each(backward.outputList, note);
  for (uint32_t number : read) {
    saved.push_back(placeOf(number));
    backward.argumentList.push_back(number);
  }
}

void RecordingSplitter::moveOps() {
  for (auto [i, op] : llvm::enumerate(whole.opList))
    (i < boundary.ops ? forward : backward).opList.push_back(std::move(op));
}

void RecordingSplitter::share() {
  auto &arguments = whole.argumentList, &outputs = whole.outputList;
  forward.argumentList.assign(arguments.begin(), arguments.begin() + numArguments);
  forward.outputList.assign(outputs.begin(), outputs.begin() + numOutputs);
  backward.outputList.assign(outputs.begin() + numOutputs, outputs.end());
  for (uint32_t number : whole.capturedList)
    (number < boundary.values ? forward : backward).capturedList.push_back(number);
  findSaved();
  backward.argumentList.insert(backward.argumentList.end(), arguments.begin() + numArguments, arguments.end());
}

llvm::Expected<GradientRecording> RecordingSplitter::split() {
  for (const Recording::Update &update : whole.updateList)
    if (update.value >= boundary.values)
      return invalidArgument("trace: the gradient of a traced function must not update variables, got an update of " +
                             (update.variable ? toString(update.variable->meta()) : "an argument"));
  share();
  moveOps();
  forward.updateList = std::move(whole.updateList);
  forward.numSaved = forward.outputList.size() - numOutputs;
  backward.valueList = whole.valueList;
  for (uint32_t number : forward.capturedList) // they are arguments of the backward half
    backward.valueList[number].tensor = backward.valueList[number].snapshot = nullptr;
  forward.valueList = std::move(whole.valueList);
  GradientRecording halves;
  halves.forward = std::make_shared<const Recording>(std::move(forward));
  halves.backward = std::make_shared<const Recording>(std::move(backward));
  halves.saved = std::move(saved);
  return halves;
}

llvm::Expected<GradientRecording> splitRecording(Recording whole, const Recorder::Boundary &boundary,
                                                 size_t numArguments, size_t numOutputs) {
  return RecordingSplitter(std::move(whole), boundary, numArguments, numOutputs).split();
}

} // namespace tess::eager
