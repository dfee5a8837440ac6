//===- SplitStages.cpp - where data decides sizes, a program is cut -------===//
#include "ops/vocabulary/Error.h"
#include "ops/vocabulary/SizeExpr.h"
#include "runtime/bind/StageBuilder.h"
#include "runtime/bind/ValueMetas.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"

namespace tess::runtime {

/// Whether the sizes of its results are known after a run only.
static bool isDecidedByData(const ProgramNode &node) { return node.op && node.op.info().boundRule; }

void forEachSymbol(const ProgramNode &node, llvm::function_ref<void(uint32_t)> f) {
  if (node.op)
    node.op.forEachSymbol(f);
}

void findLoops(const Executable &exe, size_t first, size_t end, std::vector<int32_t> &loopOf) {
  for (size_t number = first, endOfLoop = first; number < end; ++number) {
    if (number < endOfLoop) {
      loopOf[number] = loopOf[number - 1];
      continue;
    }
    loopOf[number] = exe.nodes[number].loop < 0 ? -1 : int32_t(number);
    if (exe.nodes[number].loop >= 0)
      endOfLoop = number + 1 + exe.loops[exe.nodes[number].loop].numNodes;
  }
}

Splitter::Splitter(Executable &exe)
    : exe(exe), nodeOf(exe.values.size(), -1), stepOf(exe.values.size(), -1), loopOf(exe.nodes.size(), -1),
      stages(exe.steps.size(), 0), readable(exe.values.size(), 0), loopLevels(exe.nodes.size(), 0),
      isStage(exe.nodes.size()), levels(exe.steps.size(), 0) {}

/// The level in which the operands of the node and the sizes of its operator can be read.
int Splitter::levelOf(const ProgramNode &node) const {
  int level = 0;
  for (ValueId operand : node.operands)
    level = std::max(level, readable[operand]);
  forEachSymbol(node, [&](uint32_t symbol) {
    if (symbol >= sizes::kDataSymbols)
      level = std::max(level, readable[exe.dataSizes[symbol - sizes::kDataSymbols].value]);
  });
  return level;
}

/// Notes which nodes belong to a loop: those behind the one that names it.
void Splitter::findLoops() {
  for (auto [number, node] : llvm::enumerate(exe.nodes))
    if (node.loop >= 0)
      for (ValueId argument : exe.loops[node.loop].arguments)
        nodeOf[argument] = int32_t(number);
  runtime::findLoops(exe, 0, exe.nodes.size(), loopOf);
  for (auto [number, node] : llvm::enumerate(exe.nodes))
    if (loopOf[number] >= 0 && isDecidedByData(node))
      isStage[loopOf[number]] = true;
}

/// Takes what the results of a node need into account; true when that puts something into a later level. What trips of
/// a loop that is a stage make can be read in none.
bool Splitter::raise(size_t number) {
  const ProgramNode &node = exe.nodes[number];
  int level = levelOf(node);
  bool isRaised = false;
  int32_t loop = loopOf[number];
  auto raiseTo = [&](int &known, int least) {
    isRaised |= known < least;
    known = std::max(known, least);
  };
  if (loop >= 0) {
    raiseTo(loopLevels[loop], level);
    level = loopLevels[loop];
  }
  bool isOfStage = loop >= 0 && isStage[loop];
  bool isLater = isOfStage || isDecidedByData(node);
  for (ValueId result : node.results) {
    int first = level;
    if (int32_t step = stepOf[result]; step >= 0) {
      raiseTo(levels[step], level);
      for (ValueId operand : exe.steps[step].operands)
        raiseTo(levels[step], readable[operand]);
      if (loop >= 0)
        raiseTo(loopLevels[loop], levels[step]);
      lastLevel = std::max(lastLevel, levels[step]);
      first = levels[step] + isLater;
    }
    if (!isOfStage || size_t(loop) == number)
      raiseTo(readable[result], first);
  }
  return isRaised;
}

/// Finds the level of each step: that of the latest value that its operators read. A kernel's operators follow each
/// other, and each raises all of its results, so that this is repeated until nothing changes.
llvm::Error Splitter::findLevels() {
  for (auto [index, step] : llvm::enumerate(exe.steps))
    for (ValueId result : step.results)
      stepOf[result] = int32_t(index);
  for (auto [index, node] : llvm::enumerate(exe.nodes))
    for (ValueId result : node.results)
      nodeOf[result] = int32_t(index);
  for (const Step &step : exe.steps)
    if (step.loop >= 0 && step.results.empty())
      return makeError(ErrorCode::DataLoss, "program: a loop must have a result where data decides sizes, got none");
  findLoops();
  auto mostLevels = llvm::count_if(exe.nodes, isDecidedByData) + llvm::count(isStage, true) + 1;
  bool isRaised = true;
  while (isRaised) {
    isRaised = false;
    for (size_t number = 0; number < exe.nodes.size(); ++number)
      isRaised |= raise(number);
    if (lastLevel >= mostLevels)
      return makeError(ErrorCode::DataLoss, "program: a step must not read a size that follows from it, got one of " +
                                                llvm::Twine(exe.steps.size()) + " steps that does");
  }
  return llvm::Error::success();
}

/// Numbers the stages: of each level its own steps, then the loops that are stages. An update of an input comes behind
/// all of them.
void Splitter::placeSteps() {
  bool hasUpdates = llvm::any_of(exe.outputs, [](const OutputDecl &output) { return output.donates >= 0; });
  for (const OutputDecl &output : exe.outputs)
    if (stepOf[output.value] < 0)
      lastLevel = std::max(lastLevel, readable[output.value]);
  for (auto [number, level] : llvm::enumerate(loopLevels))
    if (isStage[number] && hasUpdates)
      lastLevel = std::max(lastLevel, level + 1);
  std::vector<std::vector<int32_t>> loops(lastLevel + 1); // by level
  for (auto [index, step] : llvm::enumerate(exe.steps))
    if (step.loop >= 0 && isStage[nodeOf[step.results[0]]])
      loops[levels[index]].push_back(int32_t(index));
  for (llvm::ArrayRef<int32_t> ofLevel : loops) {
    firstOfLevel.push_back(int(loopSteps.size()));
    loopSteps.push_back(-1);
    llvm::append_range(loopSteps, ofLevel);
  }
  for (size_t index = 0; index < exe.steps.size(); ++index)
    stages[index] = firstOfLevel[levels[index]];
  for (auto [stage, loop] : llvm::enumerate(loopSteps))
    if (loop >= 0)
      std::fill_n(stages.begin() + loop, 1 + exe.loops[exe.steps[loop].loop].numSteps, int(stage));
}

/// The operands of a loop that is a stage are inputs of its body, so that they must have memory that stages can share.
llvm::Error Splitter::checkLoops() const {
  for (int32_t loop : loopSteps)
    for (ValueId operand : loop < 0 ? ValueIds() : exe.steps[loop].operands)
      if (ValueKind kind = exe.values[operand].kind; kind != ValueKind::Input && kind != ValueKind::Temp)
        return makeError(
            ErrorCode::DataLoss,
            "program: operands of a loop in whose trips data decides sizes must be inputs or computed, got "
            "value " +
                llvm::Twine(operand));
  return llvm::Error::success();
}

/// An update of an input comes when nothing reads the input any more.
int Splitter::stageOfOutput(const OutputDecl &output) const {
  if (output.donates >= 0)
    return firstOfLevel.back();
  int32_t step = stepOf[output.value];
  return step >= 0 ? stages[step] : firstOfLevel[readable[output.value]];
}

/// Infers the values without the sizes of a call: what later stages read are inputs there, which need a rank.
llvm::Error Splitter::inferRanks() {
  auto sizeOf = [](const DimDecl &dim) { return dim.size < 0 ? kUnknown : dim.size; };
  Metas inputs = llvm::map_to_vector<4>(exe.inputs, [&](const InputDecl &input) {
    return TensorMeta(input.dtype, Shape(llvm::map_range(input.dims, sizeOf)));
  });
  if (llvm::Error e = inferValueMetas(exe, inputs, [](llvm::Error error) { return error; }).moveInto(metas))
    return e;
  for (TensorMeta &meta : metas) // what data decides is no size yet
    for (int64_t &size : meta.shape)
      size = sizes::isSymbolic(size) ? kUnknown : size;
  return llvm::Error::success();
}

/// Gives every stage the constants that it reads. The program keeps those with which state begins.
static void shareConstants(Executable &exe, llvm::MutableArrayRef<StageBuilder> stages) {
  std::vector<bool> isKept(exe.constants.size());
  for (const InputDecl &input : exe.inputs)
    if (input.isState())
      isKept[input.initial] = true;
  std::vector<unsigned> readers(exe.constants.size());
  for (const StageBuilder &stage : stages)
    for (int32_t number : stage.constantsOf)
      ++readers[number];
  for (StageBuilder &stage : stages)
    for (int32_t number : stage.constantsOf) {
      ConstantDecl &own = exe.constants[number];
      bool isLast = --readers[number] == 0 && !isKept[number];
      stage.out.exe.constants.push_back({own.meta, isLast ? std::move(own.bytes) : own.bytes, own.tensor, own.held});
    }
}

/// Finds where among an earlier stage's outputs each value is that a stage reads.
static void linkStages(llvm::MutableArrayRef<StageBuilder> builders, llvm::ArrayRef<std::vector<ValueId>> readLater) {
  for (StageBuilder &stage : builders) {
    size_t crossing = 0;
    for (StageInput &from : stage.out.inputs)
      if (from.stage >= 0)
        from.index = builders[from.stage].indexOf(stage.crossing[crossing++], readLater[from.stage]);
  }
}

/// The stages that do something.
static std::vector<StageCode> codesOf(llvm::MutableArrayRef<StageBuilder> builders) {
  std::vector<int32_t> numbers;
  int32_t next = 0;
  for (const StageBuilder &stage : builders)
    numbers.push_back(stage.isEmpty() ? -1 : next++);
  std::vector<StageCode> codes;
  for (StageBuilder &stage : builders) {
    if (stage.isEmpty())
      continue;
    for (StageInput &from : stage.out.inputs)
      from.stage = from.stage < 0 ? from.stage : numbers[from.stage];
    codes.push_back(std::move(stage.out));
  }
  return codes;
}

llvm::Expected<std::vector<StageCode>> Splitter::run() {
  if (llvm::Error error = findLevels())
    return std::move(error);
  placeSteps();
  if (firstOfLevel.size() == 1 && loopSteps.size() == 1)
    return std::vector<StageCode>();
  if (llvm::Error error = checkLoops())
    return std::move(error);
  if (llvm::Error error = inferRanks())
    return std::move(error);
  std::vector<StageBuilder> builders;
  for (int stage = 0; stage < int(loopSteps.size()); ++stage)
    builders.emplace_back(*this, stage);
  std::vector<std::vector<ValueId>> readLater(builders.size());
  for (int stage = int(builders.size()); stage-- > 0;) {
    builders[stage].run(readLater[stage]);
    size_t crossing = 0;
    for (StageInput from : builders[stage].out.inputs) {
      if (from.stage < 0)
        continue;
      ValueId value = builders[stage].crossing[crossing++];
      std::vector<ValueId> &made = readLater[from.stage];
      if (!llvm::is_contained(made, value))
        made.push_back(value);
    }
  }
  linkStages(builders, readLater);
  shareConstants(exe, builders);
  return codesOf(builders);
}

llvm::Expected<std::vector<StageCode>> splitAtData(Executable &exe) {
  if (llvm::none_of(exe.nodes, isDecidedByData))
    return std::vector<StageCode>();
  return Splitter(exe).run();
}

} // namespace tess::runtime
