//===- Account.cpp - a bound program in facts -----------------------------===//
#include "runtime/bind/Account.h"
#include "ops/inference/Work.h"
#include "runtime/bind/Commands.h"
#include "runtime/bind/Stages.h"
#include "runtime/schema/StepText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace tess::runtime {

namespace {

using llvm::json::Array;
using llvm::json::Object;

template <typename List> Array numbers(const List &list) {
  Array array;
  for (auto number : list)
    array.push_back(int64_t(number));
  return array;
}

llvm::StringRef nameOf(ValueKind kind) {
  switch (kind) {
  case ValueKind::Input:
    return "input";
  case ValueKind::Constant:
    return "constant";
  case ValueKind::Temp:
    return "temporary";
  case ValueKind::View:
    return "view";
  case ValueKind::Fused:
    return "fused";
  case ValueKind::Argument:
    return "argument";
  }
  llvm_unreachable("every value has a kind");
}

/// A count beyond which int64 and JSON's numbers end.
constexpr double kMostOperations = 0x1p53;

/// One program that is no program in stages.
class Part {
public:
  explicit Part(const Commands &commands)
      : commands(commands), exe(commands.program->executable()), nodes(nodesBySteps(exe)), choices(exe.steps.size()) {
    for (const auto &[step, pick] : commands.picks)
      choices[step - exe.steps.data()] = tuning::describe(pick);
  }

  Object json() const {
    return Object{{"shapes", llvm::utohexstr(commands.shapesHash)},
                  {"values", values()},
                  {"nodes", operators()},
                  {"steps", steps()},
                  {"batches", batches()},
                  {"plan", plan()}};
  }

private:
  Object value(size_t index) const {
    const ValueDecl &decl = exe.values[index];
    const TensorMeta &meta = commands.values[index];
    return Object{{"kind", nameOf(decl.kind)},
                  {"dtype", shortName(meta.dtype)},
                  {"shape", numbers(meta.shape)},
                  {"bytes", meta.isStatic() ? int64_t(bytesOf(meta)) : -1},
                  {"name", llvm::json::fixUTF8(decl.name)},
                  {"location", llvm::json::fixUTF8(decl.location)},
                  {"base", decl.base},
                  {"packing", commands.packings[index]}};
  }

  Array values() const {
    Array array;
    for (size_t index = 0; index < exe.values.size(); ++index)
      array.push_back(value(index));
    return array;
  }

  Array operators() const {
    Array array;
    for (const ProgramNode &node : exe.nodes)
      array.push_back(Object{{"op", node.op ? node.op.name() : "scan"},
                             {"operands", numbers(node.operands)},
                             {"results", numbers(node.results)}});
    return array;
  }

  Object step(size_t index) const {
    const Step &step = exe.steps[index];
    Object object{{"kind", nameOf(step.kind)},
                  {"name", step.kind == StepKind::Kernel ? operatorNames(exe, nodes[index])
                           : step.kind == StepKind::Loop ? std::string("scan")
                                                         : step.op.name().str()},
                  {"nodes", numbers(nodes[index])},
                  {"operands", numbers(step.operands)},
                  {"results", numbers(step.results)},
                  {"operations", operations(index)},
                  {"location", llvm::json::fixUTF8(step.location)},
                  {"choice", choices[index]}};
    if (step.kind == StepKind::Loop)
      object["body"] = exe.loops[step.loop].numSteps;
    if (step.kind == StepKind::Kernel)
      object["code_bytes"] = int64_t(codeBytes(exe.images[step.image], exe.images[step.image].entries[step.entry]));
    return object;
  }

  /// Multiplications and additions of one execution; a loop's are not counted.
  int64_t operations(size_t index) const {
    const StepKind kind = exe.steps[index].kind;
    double sum = 0;
    if (kind != StepKind::Movement && kind != StepKind::Loop)
      for (uint32_t number : nodes[index])
        if (const ProgramNode &node = exe.nodes[number]; node.op)
          sum += operationsOf(node.op, metasOf(node.operands), metasOf(node.results));
    return int64_t(std::min(sum, kMostOperations));
  }

  Metas metasOf(llvm::ArrayRef<int32_t> numbers) const {
    Metas metas;
    for (int32_t number : numbers)
      metas.push_back(commands.values[number]);
    return metas;
  }

  Array steps() const {
    Array array;
    for (size_t index = 0; index < exe.steps.size(); ++index)
      array.push_back(step(index));
    return array;
  }

  /// Launches of several kernels: the first step and their number.
  Array batches() const {
    Array array;
    for (const Command &command : commands.commands)
      if (command.kind == Command::Batch)
        array.push_back(Array{int64_t(command.step - exe.steps.data()), command.numLaunches});
    return array;
  }

  Array plan() const {
    Array array;
    for (const PlannedMemory &piece : commands.plan)
      array.push_back(Array{piece.value, piece.offset, piece.bytes, piece.first, piece.last});
    return array;
  }

  const Commands &commands;
  const Executable &exe;
  std::vector<std::vector<uint32_t>> nodes; // by step
  std::vector<std::string> choices;         // by step
};

Object memoryOf(const MemoryEstimate &memory) {
  return Object{{"arena", int64_t(memory.arena)},
                {"outputs", int64_t(memory.outputs)},
                {"constants", int64_t(memory.constants)},
                {"rounding", int64_t(memory.rounding)},
                {"saved_per_trip", int64_t(memory.savedPerTrip)}};
}

/// Results of a run, at the upper bounds of what data decides; -1 bytes: there is none.
Array outputsOf(const Bound &bound) {
  const Executable &exe = bound.program().executable();
  Array array;
  for (auto [output, meta] : llvm::zip_equal(exe.outputs, bound.mostOutputs()))
    array.push_back(Object{{"bytes", meta.isStatic() ? int64_t(bytesOf(meta)) : -1},
                           {"type", toString(meta)},
                           {"location", llvm::json::fixUTF8(exe.values[output.value].location)},
                           {"donated", output.donates >= 0}});
  return array;
}

void addParts(const Bound &bound, Array &parts) {
  const StagedBinding *staged = bound.data().staged.get();
  if (!staged)
    return parts.push_back(Part(bound.data()).json());
  for (size_t stage = 0; stage < staged->stages.size(); ++stage)
    if (const Bound *latest = staged->latest(stage))
      addParts(*latest, parts);
}

} // namespace

Object accountOf(const Bound &bound) {
  const Executable &exe = bound.program().executable();
  Array parts;
  addParts(bound, parts);
  return Object{{"target", exe.target},
                {"launches", int64_t(bound.launches())},
                {"memory", memoryOf(bound.memory())},
                {"outputs", outputsOf(bound)},
                {"parts", std::move(parts)}};
}

} // namespace tess::runtime
