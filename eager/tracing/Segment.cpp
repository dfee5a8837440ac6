//===- Segment.cpp - parts of a function that run later ------------------===//
#include "eager/tracing/Segment.h"

#include "eager/tracing/Recorder.h"
#include "eager/tracing/RecordingText.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::eager {

Segment Recorder::endSegment() {
  leave();
  Segment segment;
  for (uint32_t number : recording.capturedList)
    recording.argumentList.push_back(number);
  recording.capturedList.clear();
  for (uint32_t number : recording.argumentList)
    segment.inputs.push_back(recording.valueList[number].snapshot);
  for (auto &[storage, number] : pending)
    if (!storage->isUnique()) {
      recording.outputList.push_back(number);
      segment.pending.push_back(std::move(storage));
    }
  pending.clear();
  for (uint32_t number : recording.argumentList) {
    Recording::Value &value = recording.valueList[number];
    value.kind = Recording::ValueKind::Argument;
    value.tensor = value.snapshot = nullptr;
  }
  segment.recording = std::make_shared<const Recording>(std::move(recording));
  return segment;
}

llvm::Expected<std::string> Segment::key() const {
  RecordingWriter writer;
  auto lines = writer.write(*recording);
  if (!lines)
    return lines.takeError();
  std::string key;
  for (const TensorRef &input : inputs)
    key += toString(input->meta()) + "\n";
  for (const RecordingLine &line : *lines)
    key += line.text + "\n";
  return key;
}

llvm::Error Segment::run(TracedProgram &program) const {
  llvm::Expected<Tensors> results = program.run(inputs);
  if (!results)
    return results.takeError();
  for (auto [storage, result] : llvm::zip_equal(pending, *results))
    storage->take(result->storage());
  return llvm::Error::success();
}

} // namespace tess::eager
