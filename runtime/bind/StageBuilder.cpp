//===- StageBuilder.cpp - one stage of a program, written -----------------===//
#include "runtime/bind/StageBuilder.h"
#include "ops/vocabulary/SizeExpr.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"

namespace tess::runtime {

void StageBuilder::addInput(ValueId value, InputDecl decl, StageInput from) {
  decl.value = idOf[value];
  decl.initial = -1;
  out.exe.values[decl.value].kind = ValueKind::Input;
  out.exe.inputs.push_back(std::move(decl));
  out.inputs.push_back(from);
}

/// Makes the value an input, which is given `source`: an input of the program, or what an earlier stage made.
void StageBuilder::addInputOf(ValueId value, ValueId source) {
  auto own = llvm::find_if(exe.inputs, [&](const InputDecl &input) { return input.value == source; });
  bool isOwn = own != exe.inputs.end();
  if (isOwn && value == source)
    return addInput(value, *own, {-1, uint32_t(own - exe.inputs.begin())});
  InputDecl decl{exe.values[value].name, -1, exe.values[value].dtype, {}};
  decl.dims.resize(whole.metas[value].rank());
  if (isOwn)
    return addInput(value, std::move(decl), {-1, uint32_t(own - exe.inputs.begin())});
  addInput(value, std::move(decl), {whole.stages[whole.stepOf[source]], 0});
  crossing.push_back(source);
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
    return addInputOf(value, value);
  case ValueKind::Constant:
    return addConstant(value);
  case ValueKind::Temp:
    if (!isMadeHere(value))
      return addInputOf(value, value);
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
  size_t first = unitOf[number] < 0 ? number : size_t(unitOf[number]), end = number + 1;
  if (unitOf[number] >= 0)
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
    if (!hasStep(index))
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
    for (LookupDecl &lookup : copy.lookups)
      lookup.node = uint32_t(nodeNumbers[lookup.node]);
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

/// The arguments of a loop are the first inputs of its body, which are given its operands.
void StageBuilder::beginLoop() {
  const Step &step = exe.steps[loopStep];
  const LoopDecl &loop = ownLoop();
  for (auto [argument, operand] : llvm::zip_equal(loop.arguments, step.operands)) {
    idOf[argument] = ValueId(out.exe.values.size());
    out.exe.values.push_back(exe.values[argument]);
    addInputOf(argument, operand);
  }
  out.loop = StageLoop{loop.numCarried, uint32_t(loop.arguments.size()) - loop.numCarried,
                       loop.length,     loop.reverse,
                       loop.isGuarded,  {}};
}

/// What a trip yields: carried values that change take over the memory of those before.
void StageBuilder::addLoopOutputs() {
  const LoopDecl &loop = ownLoop();
  for (auto [index, result, yield] : llvm::enumerate(exe.steps[loopStep].results, loop.yields)) {
    auto isIt = [value = result](const OutputDecl &output) { return output.value == value && output.donates < 0; };
    auto output = llvm::find_if(exe.outputs, isIt);
    out.outputs.push_back(
        {output == exe.outputs.end() ? -1 : int32_t(output - exe.outputs.begin()), whole.metas[result]});
    bool isCarried = index < loop.numCarried;
    if (isCarried && yield == loop.arguments[index])
      continue;
    out.exe.outputs.push_back({exe.values[result].name, idOf[yield], isCarried ? int32_t(index) : -1});
    out.loop->results.push_back(uint32_t(index));
  }
}

StageBuilder::StageBuilder(const Splitter &whole, int stage)
    : whole(whole), exe(whole.exe), stage(stage), loopStep(whole.loopStepOf(stage)), idOf(exe.values.size(), -1),
      unitOf(whole.loopOf) {
  if (loopStep < 0)
    return;
  size_t first = size_t(whole.nodeOf[exe.steps[loopStep].results[0]]);
  findLoops(exe, first + 1, first + 1 + ownLoop().numNodes, unitOf);
}

ValueIds StageBuilder::remapped(llvm::ArrayRef<ValueId> values) const {
  return llvm::map_to_vector<4>(values, [&](ValueId value) { return idOf[value]; });
}

bool StageBuilder::hasStep(size_t step) const {
  bool isOfBody = loopStep < 0 || (step > size_t(loopStep) && step <= size_t(loopStep) + ownLoop().numSteps);
  return whole.stages[step] == stage && isOfBody;
}

uint32_t StageBuilder::indexOf(ValueId value, llvm::ArrayRef<ValueId> readLater) const {
  if (loopStep >= 0)
    return uint32_t(llvm::find(exe.steps[loopStep].results, value) - exe.steps[loopStep].results.begin());
  auto results = llvm::count_if(out.outputs, [](const StageOutput &output) { return output.result >= 0; });
  return uint32_t(results + (llvm::find(readLater, value) - readLater.begin()));
}

void StageBuilder::needSteps() {
  for (auto [index, step] : llvm::enumerate(exe.steps))
    if (hasStep(index))
      for (const ValueIds *values : {&step.operands, &step.results, &step.domain})
        llvm::for_each(*values, [&](ValueId value) { need(value); });
}

void StageBuilder::needResults() {
  for (const OutputDecl &output : exe.outputs)
    if (whole.stageOfOutput(output) == stage) {
      need(output.value);
      if (output.donates >= 0)
        need(exe.inputs[output.donates].value);
    }
}

void StageBuilder::run(llvm::ArrayRef<ValueId> readLater) {
  if (loopStep >= 0)
    beginLoop();
  needSteps();
  if (loopStep < 0)
    needResults();
  addNodes();
  addSteps();
  if (loopStep < 0)
    addOutputs(readLater);
  else
    addLoopOutputs();
  out.exe.target = exe.target;
  out.exe.numThreads = exe.numThreads;
  out.exe.withoutWinograd = exe.withoutWinograd;
  out.exe.isFast = exe.isFast;
  out.exe.symbols = exe.symbols;
  for (DataSize size : exe.dataSizes)
    out.exe.dataSizes.push_back({size.value < 0 ? -1 : idOf[size.value], size.axis});
  out.exe.numScalars = exe.numScalars;
  out.exe.bitsVersion = exe.bitsVersion;
}

} // namespace tess::runtime
