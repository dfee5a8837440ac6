//===- LibraryFile.h - a .tess file without generated code ------*- C++ -*-===//
#pragma once

#include "runtime/schema/Container.h"
#include "runtime/schema/ExecutableCodec.h"
#include "tests/runtime/Expect.h"

namespace tess::test {

/// logits = x[batch, 3] * w, w = 1..6 as [3, 2]: one library call, so that no compiler is needed. `w` is a tensor
/// section.
inline runtime::Executable productProgram() {
  using namespace runtime;
  Executable exe;
  exe.symbols = {{"batch", 1, 512}};
  exe.values = {{ValueKind::Input, DType::Float32, -1, -1, "x", ""},
                {ValueKind::Constant, DType::Float32, -1, 0, "w", ""},
                {ValueKind::Temp, DType::Float32, -1, -1, "logits", "model.py:7 (Net.fc)"}};
  exe.constants = {{TensorMeta(DType::Float32, {3, 2}), "", "fc.weight"}};
  exe.inputs = {{"x", 0, DType::Float32, {{-1, 0}, {3, -1}}}};
  exe.nodes = {{OpDef::get("matmul"), {0, 1}, {}, {2}}};
  Step step;
  step.kind = StepKind::Library;
  step.operands = {0, 1};
  step.results = {2};
  step.op = OpDef::get("matmul");
  step.location = "model.py:7 (Net.fc)";
  exe.steps = {step};
  exe.outputs = {{"logits", 2, -1}};
  return exe;
}

/// The program, and its parameter, at `path`; `executables` by target.
inline void writeProductFile(const std::string &path,
                             const std::vector<std::pair<std::string, runtime::Executable>> &executables) {
  using namespace runtime;
  static const float weight[] = {1, 2, 3, 4, 5, 6};
  std::vector<std::string> bytes;
  for (const auto &[target, exe] : executables)
    bytes.push_back(serializeExecutable(exe));
  std::vector<SectionData> sections = {{SectionKind::Graph, "", "not read by the runtime"},
                                       {SectionKind::Meta, "author", "somebody"}};
  for (size_t i = 0; i < executables.size(); ++i)
    sections.push_back({SectionKind::Executable, executables[i].first, bytes[i]});
  sections.push_back({SectionKind::Tensor, "fc.weight", {reinterpret_cast<const char *>(weight), sizeof weight}});
  ok(writeContainer(path, sections));
}

/// y = x[batch, 2] * state, then state = state * w: state starts as the identity, w doubles.
inline runtime::Executable doublingProgram() {
  using namespace runtime;
  auto diagonal = [](float value) {
    const float matrix[] = {value, 0, 0, value};
    return ConstantDecl{TensorMeta(DType::Float32, {2, 2}),
                        std::string(reinterpret_cast<const char *>(matrix), sizeof matrix), ""};
  };
  Executable exe;
  exe.symbols = {{"batch", 1, 512}};
  exe.values = {{ValueKind::Input, DType::Float32, -1, -1, "x", ""},
                {ValueKind::Input, DType::Float32, -1, -1, "state", ""},
                {ValueKind::Constant, DType::Float32, -1, 0, "w", ""},
                {ValueKind::Temp, DType::Float32, -1, -1, "y", ""},
                {ValueKind::Temp, DType::Float32, -1, -1, "next", ""}};
  exe.constants = {diagonal(2), diagonal(1)};
  exe.inputs = {{"x", 0, DType::Float32, {{-1, 0}, {2, -1}}}, {"state", 1, DType::Float32, {{2, -1}, {2, -1}}, 1}};
  exe.nodes = {{OpDef::get("matmul"), {0, 1}, {}, {3}}, {OpDef::get("matmul"), {1, 2}, {}, {4}}};
  for (const ProgramNode &node : exe.nodes) {
    Step &step = exe.steps.emplace_back();
    step.kind = StepKind::Library;
    step.operands = node.operands;
    step.results = node.results;
    step.op = node.op;
  }
  exe.outputs = {{"y", 3, -1}, {"update0", 4, 1}};
  return exe;
}

/// productProgram, needing a feature that no processor has.
inline runtime::Executable impossibleProgram() {
  runtime::Executable exe = productProgram();
  runtime::Image image;
  image.bytes = "code";
  image.features = "+avx2,+avx9000";
  exe.images.push_back(image);
  return exe;
}

} // namespace tess::test
