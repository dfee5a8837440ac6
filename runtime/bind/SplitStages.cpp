//===- SplitStages.cpp - where data decides sizes, a program is cut -------===//
#include "ops/Error.h"
#include "ops/SizeExpr.h"
#include "runtime/bind/Stages.h"
#include "runtime/bind/ValueMetas.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"

namespace tess::runtime {
namespace {

/// Whether the sizes of its results are known after a run only.
bool isDecidedByData(const ProgramNode &node) { return node.op && node.op.info().boundRule; }

void forEachSymbol(const ProgramNode &node, llvm::function_ref<void(uint32_t)> f) {
  if (node.op)
    node.op.forEachSymbol(f);
}

class Splitter {
public:
  explicit Splitter(Executable &exe)
      : exe(exe), nodeOf(exe.values.size(), -1), stepOf(exe.values.size(), -1), readable(exe.values.size(), 0),
        loopOf(exe.nodes.size(), -1), loopStages(exe.nodes.size(), 0), stages(exe.steps.size(), 0) {}
  llvm::Expected<std::vector<StageCode>> run();

private:
  void findLoops();
  int stageOf(const ProgramNode &node) const;
  bool raise(size_t number);
  llvm::Error findStages();
  int stageOfOutput(const OutputDecl &output) const;
  llvm::Error inferRanks();
  friend class StageBuilder;

  Executable &exe;
  std::vector<int32_t> nodeOf, stepOf; // by value; -1: none
  std::vector<int> readable;           // by value: the first stage that can read it
  std::vector<int32_t> loopOf;         // by node: the outermost loop that it is or is in, as its node; -1: none
  std::vector<int> loopStages;         // by node of a loop: the stage of all its steps
  std::vector<int> stages;             // by step
  std::vector<TensorMeta> metas;       // by value, with unknown sizes
  int last = 0;
};

/// The stage in which the operands of the node and the sizes of its operator can be read.
int Splitter::stageOf(const ProgramNode &node) const {
  int stage = 0;
  for (ValueId operand : node.operands)
    stage = std::max(stage, readable[operand]);
  forEachSymbol(node, [&](uint32_t symbol) {
    if (symbol >= sizes::kDataSymbols)
      stage = std::max(stage, readable[exe.dataSizes[symbol - sizes::kDataSymbols].value]);
  });
  return stage;
}

/// Notes which nodes belong to a loop: those behind the one that names it.
void Splitter::findLoops() {
  size_t end = 0;
  for (auto [number, node] : llvm::enumerate(exe.nodes)) {
    if (node.loop >= 0)
      for (ValueId argument : exe.loops[node.loop].arguments)
        nodeOf[argument] = int32_t(number);
    if (number < end) {
      loopOf[number] = loopOf[number - 1];
    } else if (node.loop >= 0) {
      loopOf[number] = int32_t(number);
      end = number + 1 + exe.loops[node.loop].numNodes;
    }
  }
}

/// Takes what the results of a node need into account; true when that puts something into a later stage.
bool Splitter::raise(size_t number) {
  const ProgramNode &node = exe.nodes[number];
  int stage = stageOf(node);
  bool isRaised = false;
  int *loopStage = loopOf[number] < 0 ? nullptr : &loopStages[loopOf[number]];
  auto raiseTo = [&](int &known, int least) {
    isRaised |= known < least;
    known = std::max(known, least);
  };
  if (loopStage) {
    raiseTo(*loopStage, stage);
    stage = *loopStage;
  }
  for (ValueId result : node.results) {
    if (int32_t step = stepOf[result]; step >= 0) {
      raiseTo(stages[step], stage);
      for (ValueId operand : exe.steps[step].operands)
        raiseTo(stages[step], readable[operand]);
      if (loopStage)
        raiseTo(*loopStage, stages[step]);
      raiseTo(readable[result], stages[step] + isDecidedByData(node));
      last = std::max(last, stages[step]);
    } else {
      raiseTo(readable[result], stage);
    }
  }
  return isRaised;
}

/// Finds the stage of each step: that of the latest value that its operators read. A kernel's operators follow each
/// other, and each raises all of its results, so that this is repeated until nothing changes.
llvm::Error Splitter::findStages() {
  for (auto [index, step] : llvm::enumerate(exe.steps))
    for (ValueId result : step.results)
      stepOf[result] = int32_t(index);
  for (auto [index, node] : llvm::enumerate(exe.nodes))
    for (ValueId result : node.results)
      nodeOf[result] = int32_t(index);
  findLoops();
  auto mostStages = llvm::count_if(exe.nodes, isDecidedByData) + 1;
  bool isRaised = true;
  while (isRaised) {
    isRaised = false;
    for (size_t number = 0; number < exe.nodes.size(); ++number)
      isRaised |= raise(number);
    if (last >= mostStages)
      return makeError(ErrorCode::DataLoss, "program: a step must not read a size that follows from it, got one of " +
                                                llvm::Twine(exe.steps.size()) + " steps that does");
  }
  return llvm::Error::success();
}

/// An update of an input comes last, when nothing reads the input any more.
int Splitter::stageOfOutput(const OutputDecl &output) const {
  if (output.donates >= 0)
    return last;
  int32_t step = stepOf[output.value];
  return step >= 0 ? stages[step] : readable[output.value];
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

/// Writes one stage.
class StageBuilder {
public:
  StageBuilder(const Splitter &whole, int stage)
      : whole(whole), exe(whole.exe), stage(stage), idOf(exe.values.size(), -1) {}
  /// `readLater`: values that it makes for later stages.
  void run(llvm::ArrayRef<ValueId> readLater);

  StageCode out;
  std::vector<int32_t> constantsOf; // by constant of the stage: that of the program
  std::vector<ValueId> crossing;    // values of earlier stages that it reads, in the order of its inputs

private:
  ValueId ownerOf(uint32_t symbol) const;
  void need(ValueId value);
  void addValue(ValueId value);
  void addInput(ValueId value, InputDecl decl, StageInput from);
  void addInputOf(ValueId value);
  void addConstant(ValueId value);
  void needNode(size_t number);
  void addNodes();
  int32_t addLoop(int32_t loop);
  void addSteps();
  void addOutputs(llvm::ArrayRef<ValueId> readLater);
  int32_t imageOf(int32_t image);
  ValueIds remapped(llvm::ArrayRef<ValueId> values) const {
    return llvm::map_to_vector<4>(values, [&](ValueId value) { return idOf[value]; });
  }
  bool isMadeHere(ValueId value) const {
    return whole.stepOf[value] >= 0 && whole.stages[whole.stepOf[value]] == stage;
  }

  const Splitter &whole;
  Executable &exe;
  int stage;
  std::vector<ValueId> idOf; // by value of the program
  std::vector<ValueId> pending;
  std::vector<uint64_t> nodeNumbers; // by node of the program
  std::vector<int32_t> loopNumbers;  // by loop of the program
};

void StageBuilder::addInput(ValueId value, InputDecl decl, StageInput from) {
  decl.value = idOf[value];
  decl.initial = -1;
  out.exe.values[decl.value].kind = ValueKind::Input;
  out.exe.inputs.push_back(std::move(decl));
  out.inputs.push_back(from);
}

/// Makes the value an input: one of the program, or what an earlier stage made.
void StageBuilder::addInputOf(ValueId value) {
  auto own = llvm::find_if(exe.inputs, [&](const InputDecl &input) { return input.value == value; });
  if (own != exe.inputs.end())
    return addInput(value, *own, {-1, uint32_t(own - exe.inputs.begin())});
  InputDecl decl{exe.values[value].name, -1, exe.values[value].dtype, {}};
  decl.dims.resize(whole.metas[value].rank());
  addInput(value, std::move(decl), {whole.stages[whole.stepOf[value]], 0});
  crossing.push_back(value);
}

/// Adds the constant without its bytes, which shareConstants() brings.
void StageBuilder::addConstant(ValueId value) {
  int32_t number = exe.values[value].constant;
  out.exe.values[idOf[value]].constant = int32_t(constantsOf.size());
  constantsOf.push_back(number);
}

/// The value that has the size for which a symbol stands.
ValueId StageBuilder::ownerOf(uint32_t symbol) const {
  if (symbol >= sizes::kDataSymbols)
    return exe.dataSizes[symbol - sizes::kDataSymbols].value;
  auto hasIt = [&](DimDecl dim) { return dim.symbol == int32_t(symbol); };
  return llvm::find_if(exe.inputs, [&](const InputDecl &input) { return llvm::any_of(input.dims, hasIt); })->value;
}

void StageBuilder::addValue(ValueId value) {
  idOf[value] = ValueId(out.exe.values.size());
  out.exe.values.push_back(exe.values[value]);
  switch (exe.values[value].kind) {
  case ValueKind::Input:
    return addInputOf(value);
  case ValueKind::Constant:
    return addConstant(value);
  case ValueKind::Temp:
    if (!isMadeHere(value))
      return addInputOf(value);
    break;
  case ValueKind::View:
  case ValueKind::Fused:
  case ValueKind::Argument:
    break;
  }
  needNode(size_t(whole.nodeOf[value]));
}

/// Adds what a node reads and gives, of a loop that of its whole body.
void StageBuilder::needNode(size_t number) {
  size_t first = whole.loopOf[number] < 0 ? number : size_t(whole.loopOf[number]), end = number + 1;
  if (whole.loopOf[number] >= 0)
    end = first + 1 + exe.loops[exe.nodes[first].loop].numNodes;
  for (const ProgramNode &node : llvm::ArrayRef(exe.nodes).slice(first, end - first)) {
    llvm::append_range(pending, node.operands);
    llvm::append_range(pending, node.results);
    forEachSymbol(node, [&](uint32_t symbol) { pending.push_back(ownerOf(symbol)); });
    if (node.loop < 0)
      continue;
    llvm::append_range(pending, exe.loops[node.loop].arguments);
    llvm::append_range(pending, exe.loops[node.loop].yields);
  }
}

/// Adds the value, and all that its shape follows from.
void StageBuilder::need(ValueId value) {
  pending.push_back(value);
  while (!pending.empty()) {
    ValueId next = pending.back();
    pending.pop_back();
    if (idOf[next] < 0)
      addValue(next);
  }
}

int32_t StageBuilder::addLoop(int32_t loop) {
  LoopDecl copy = exe.loops[loop];
  copy.arguments = remapped(copy.arguments);
  copy.yields = remapped(copy.yields);
  out.exe.loops.push_back(std::move(copy));
  loopNumbers.resize(exe.loops.size());
  return loopNumbers[loop] = int32_t(out.exe.loops.size()) - 1;
}

void StageBuilder::addNodes() {
  nodeNumbers.resize(exe.nodes.size());
  for (auto [index, node] : llvm::enumerate(exe.nodes)) {
    if (node.results.empty() || idOf[node.results[0]] < 0 ||
        out.exe.values[idOf[node.results[0]]].kind == ValueKind::Input)
      continue;
    ProgramNode copy = node;
    copy.operands = remapped(node.operands);
    copy.results = remapped(node.results);
    if (node.loop >= 0)
      copy.loop = addLoop(node.loop);
    nodeNumbers[index] = out.exe.nodes.size();
    out.exe.nodes.push_back(std::move(copy));
  }
  for (auto [value, id] : llvm::enumerate(idOf))
    if (id >= 0 && out.exe.values[id].kind == ValueKind::View)
      out.exe.values[id].base = idOf[exe.values[value].base];
}

int32_t StageBuilder::imageOf(int32_t image) {
  if (image < 0)
    return image;
  auto known = llvm::find(out.images, image);
  int32_t index = int32_t(known - out.images.begin());
  if (known == out.images.end()) {
    out.images.push_back(image);
    out.exe.images.push_back(exe.images[image]);
  }
  return index;
}

void StageBuilder::addSteps() {
  for (auto [index, step] : llvm::enumerate(exe.steps)) {
    if (whole.stages[index] != stage)
      continue;
    Step copy = step;
    copy.operands = remapped(step.operands);
    copy.results = remapped(step.results);
    copy.domain = remapped(step.domain);
    copy.image = imageOf(step.image);
    copy.loop = step.loop < 0 ? -1 : loopNumbers[step.loop];
    for (ScalarSource &scalar : copy.scalars)
      if (scalar.kind == ScalarSource::Size)
        scalar.bits = nodeNumbers[scalar.bits];
    out.exe.steps.push_back(std::move(copy));
  }
}

void StageBuilder::addOutputs(llvm::ArrayRef<ValueId> readLater) {
  for (auto [index, output] : llvm::enumerate(exe.outputs)) {
    if (whole.stageOfOutput(output) != stage)
      continue;
    OutputDecl copy = output;
    copy.value = idOf[output.value];
    if (output.donates >= 0) {
      ValueId donor = idOf[exe.inputs[output.donates].value];
      auto isDonor = [&](const InputDecl &input) { return input.value == donor; };
      copy.donates = int32_t(llvm::find_if(out.exe.inputs, isDonor) - out.exe.inputs.begin());
    }
    out.exe.outputs.push_back(std::move(copy));
    out.outputs.push_back({int32_t(index), whole.metas[output.value]});
  }
  for (ValueId value : readLater) {
    out.exe.outputs.push_back({exe.values[value].name, idOf[value], -1});
    out.outputs.push_back({-1, whole.metas[value]});
  }
}

void StageBuilder::run(llvm::ArrayRef<ValueId> readLater) {
  for (auto [index, step] : llvm::enumerate(exe.steps))
    if (whole.stages[index] == stage)
      for (const ValueIds *values : {&step.operands, &step.results, &step.domain})
        llvm::for_each(*values, [&](ValueId value) { need(value); });
  for (const OutputDecl &output : exe.outputs)
    if (whole.stageOfOutput(output) == stage) {
      need(output.value);
      if (output.donates >= 0)
        need(exe.inputs[output.donates].value);
    }
  addNodes();
  addSteps();
  addOutputs(readLater);
  out.exe.target = exe.target;
  out.exe.numThreads = exe.numThreads;
  out.exe.symbols = exe.symbols;
  for (DataSize size : exe.dataSizes)
    out.exe.dataSizes.push_back({size.value < 0 ? -1 : idOf[size.value], size.axis});
  out.exe.numScalars = exe.numScalars;
  out.exe.bitsVersion = exe.bitsVersion;
}

/// Gives every stage the constants that it reads. The program keeps those with which state begins.
void shareConstants(Executable &exe, llvm::MutableArrayRef<StageBuilder> stages) {
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
      stage.out.exe.constants.push_back({own.meta, isLast ? std::move(own.bytes) : own.bytes, own.tensor});
    }
}

llvm::Expected<std::vector<StageCode>> Splitter::run() {
  if (llvm::Error error = findStages())
    return std::move(error);
  if (last == 0 && llvm::all_of(exe.outputs, [&](const OutputDecl &output) { return stageOfOutput(output) == 0; }))
    return std::vector<StageCode>();
  for (const OutputDecl &output : exe.outputs)
    last = std::max(last, stageOfOutput(output));
  if (llvm::Error error = inferRanks())
    return std::move(error);
  std::vector<StageBuilder> builders;
  for (int stage = 0; stage <= last; ++stage)
    builders.emplace_back(*this, stage);
  std::vector<std::vector<ValueId>> readLater(builders.size());
  for (int stage = last; stage >= 0; --stage) {
    builders[stage].run(readLater[stage]);
    size_t crossing = 0;
    for (StageInput &from : builders[stage].out.inputs) {
      if (from.stage < 0)
        continue;
      ValueId value = builders[stage].crossing[crossing++];
      std::vector<ValueId> &made = readLater[from.stage];
      if (!llvm::is_contained(made, value))
        made.push_back(value);
    }
  }
  // Where among an earlier stage's outputs each value is: behind its results of the program.
  for (StageBuilder &stage : builders) {
    size_t crossing = 0;
    for (StageInput &from : stage.out.inputs) {
      if (from.stage < 0)
        continue;
      const std::vector<ValueId> &made = readLater[from.stage];
      auto results = llvm::count_if(builders[from.stage].out.outputs,
                                    [](const StageOutput &output) { return output.result >= 0; });
      from.index = uint32_t(results + (llvm::find(made, stage.crossing[crossing++]) - made.begin()));
    }
  }
  shareConstants(exe, builders);
  std::vector<StageCode> codes;
  for (StageBuilder &stage : builders)
    codes.push_back(std::move(stage.out));
  return codes;
}

} // namespace

llvm::Expected<std::vector<StageCode>> splitAtData(Executable &exe) {
  if (llvm::none_of(exe.nodes, isDecidedByData))
    return std::vector<StageCode>();
  return Splitter(exe).run();
}

} // namespace tess::runtime
