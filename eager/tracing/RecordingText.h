//===- RecordingText.h - recordings in words --------------------*- C++ -*-===//
//
// One line for each operator, result and update. Two recordings of one function
// with equal lines make equal programs; where lines differ, they say to people
// what Python did otherwise.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/tracing/Recording.h"

namespace tess::eager {

/// One operator, result or update of a recording.
struct RecordingLine {
  /// "%1 = mul(arg0, 2) -> f32[3]".
  std::string text;
  /// Of the operator; null for results and updates.
  const Location *location = nullptr;
};

/// Writes recordings that are to be compared: one variable has one name in all of them.
class RecordingWriter {
public:
  /// `shapes`: whether lines have the results' shapes; without them recordings at other sizes can be compared.
  explicit RecordingWriter(bool shapes = true) : shapes(shapes) {}
  /// The lines of `recording`; locations point into it. `at`: a recording of the function, for whose arguments' sizes
  /// they say numbers, of which tensors of a size are constants; null: expressions.
  llvm::Expected<std::vector<RecordingLine>> write(const Recording &recording, const Recording *at = nullptr);

private:
  std::string nameOf(const TensorImpl &variable);
  llvm::Expected<std::string> nameOf(const Recording &recording, uint32_t number);
  llvm::Error append(const Recording &recording, llvm::ArrayRef<uint32_t> numbers, std::string &text);
  llvm::Expected<std::string> describe(const Recording &recording, const Recording::Op &op, const Recording *at);
  llvm::Error writeEnds(const Recording &recording, std::vector<RecordingLine> &lines);

  bool shapes;
  std::map<const TensorImpl *, unsigned> variables;
  std::vector<std::string> names; // of the values of the present recording
};

} // namespace tess::eager
