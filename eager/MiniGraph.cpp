//===- MiniGraph.cpp - one operator as a program -------------------------===//
#include "eager/MiniGraph.h"

#include "compiler/Compile.h"
#include "eager/HostOptions.h"
#include "eager/Location.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::eager {

bool looksAtAxes(const OpInfo &info) {
  return llvm::any_of(info.scalar->nodes, [](const ScalarNode &node) { return node.fn == ScalarFn::DimIndex; });
}

bool mayBeDirect(const OpInfo &info, size_t numOperands) {
  return info.lowering == Lowering::Elementwise && numOperands + info.results.size() <= kMaxDirectOperands;
}

Metas metasOfClass(llvm::ArrayRef<Operand> operands, const IterationSpace &space, bool keepScalars) {
  Metas metas;
  for (auto [k, operand] : llvm::enumerate(operands)) {
    TensorMeta meta(operand.tensor->dtype(), {});
    bool isScalar = keepScalars && operand.tensor->rank() == 0;
    for (unsigned axis = 0; axis < space.numAxes && !isScalar; ++axis)
      meta.shape.push_back(space.broadcast[axis] >> k & 1 ? 1 : kUnknown);
    metas.push_back(std::move(meta));
  }
  return metas;
}

/// Attributes that decide shapes only get sizes that say nothing: no axis of size 1.
static OpDef withNeutralShape(const OpDef &op) {
  constexpr int64_t neutral = 7;
  OpDef result = op;
  for (const AttrInfo &attr : op.info().attrs) {
    if (!attr.shapeOnly || !op.has(attr.name))
      continue;
    if (attr.kind == AttrKind::I64List)
      result.set(attr.name, IntList(op.ints(attr.name).size(), neutral));
    else if (attr.kind == AttrKind::I64)
      result.set(attr.name, AttrValue(neutral));
  }
  return result;
}

static llvm::Expected<runtime::Executable> compileOne(const OpDef &op, llvm::ArrayRef<TensorMeta> operands,
                                                      llvm::ArrayRef<unsigned> segments) {
  BlockingRegion region; // takes milliseconds
  ir::GraphBuilder builder;
  builder.setScalarParameters(op.info().lowering == Lowering::Elementwise);
  llvm::SmallVector<ir::GraphBuilder::Value, 4> inputs;
  for (auto [i, meta] : llvm::enumerate(operands))
    inputs.push_back(builder.input("x" + std::to_string(i), meta));
  auto results = builder.apply(op, inputs, segments);
  if (!results)
    return results.takeError();
  for (auto [i, value] : llvm::enumerate(*results))
    builder.output(value, "y" + std::to_string(i));
  compiler::CompileOptions options = hostOptions();
  options.evaluate = nullptr; // a program made to run once would cost as much as what it saves
  return compiler::compile(builder.finish(), options);
}

/// Runtime attributes of `op` in the order in which they are parameters.
static llvm::SmallVector<int, 4> parameterAttrs(const OpInfo &info) {
  llvm::SmallVector<int, 4> attrs;
  for (unsigned i = 0; i < info.attrs.size(); ++i)
    if (info.attrs[i].isRuntime)
      attrs.push_back(i);
  return attrs;
}

/// The one elementwise step of `exe` as a kernel to launch; null when it is more than that.
static std::unique_ptr<DirectKernel> directOf(const runtime::Executable &exe, const OpInfo &info, size_t numOperands) {
  if (exe.steps.size() != 1 || exe.steps[0].kind != runtime::StepKind::Kernel)
    return nullptr;
  const runtime::Step &step = exe.steps[0];
  if (!step.reduced.empty() || step.vectorOnReduced || step.parallel.empty())
    return nullptr;
  auto direct = std::make_unique<DirectKernel>();
  auto numberOf = [&](runtime::ValueId value, bool isResult) -> int {
    for (unsigned i = 0; !isResult && i < exe.inputs.size(); ++i)
      if (exe.inputs[i].value == value)
        return i;
    for (unsigned i = 0; isResult && i < exe.outputs.size(); ++i)
      if (exe.outputs[i].value == value)
        return numOperands + i;
    return -1;
  };
  unsigned numWritten = 0;
  for (bool isResult : {false, true})
    for (runtime::ValueId value : isResult ? step.results : step.operands) {
      int number = numberOf(value, isResult);
      if (number < 0)
        return nullptr; // a constant of the program, or a value of its own
      direct->values.push_back(uint8_t(number));
      numWritten += isResult;
    }
  if (numWritten != exe.outputs.size())
    return nullptr;
  direct->groups.assign(step.parallel.begin(), step.parallel.end());
  llvm::SmallVector<int, 4> attrs = parameterAttrs(info);
  for (const runtime::ScalarSource &source : step.scalars) {
    DirectKernel::Scalar scalar;
    scalar.bits = source.bits;
    if (source.kind == runtime::ScalarSource::Parameter) {
      scalar.attr = attrs[source.parameter];
      scalar.isInt = info.attrs[scalar.attr].kind != AttrKind::F64;
    }
    direct->scalars.push_back(scalar);
  }
  return direct;
}

static uint64_t bytesOf(const runtime::Executable &exe) {
  uint64_t bytes = 1024 + exe.values.size() * sizeof(runtime::ValueDecl) + exe.steps.size() * sizeof(runtime::Step);
  for (const runtime::Image &image : exe.images)
    bytes += image.bytes.size();
  return bytes;
}

llvm::Expected<OpEntryRef> buildEntry(const OpKey &key, const OpDef &op, llvm::ArrayRef<TensorMeta> operands,
                                      llvm::ArrayRef<unsigned> segments, bool direct) {
  OpDef compiled = direct ? withNeutralShape(op) : op;
  llvm::Expected<Metas> results = compiled.infer(operands, segments);
  if (!results)
    return results.takeError();
  llvm::Expected<runtime::Executable> exe = compileOne(compiled, operands, segments);
  if (!exe)
    return exe.takeError();
  OpEntryRef entry(new OpEntry);
  entry->key = key;
  entry->op = op;
  entry->bytes = bytesOf(*exe);
  for (const TensorMeta &result : *results)
    entry->resultDTypes.push_back(result.dtype);
  if (direct)
    entry->direct = directOf(*exe, op.info(), operands.size());
  if (entry->direct) {
    const runtime::Step &step = exe->steps[0];
    auto image = runtime::CodeImage::map(exe->images[step.image]);
    if (!image)
      return image.takeError();
    entry->direct->fn = (*image)->entry(step.entry);
    entry->direct->picosecondsPerElement = exe->images[step.image].entries[step.entry].picosecondsPerElement;
    entry->direct->image = std::move(*image);
    return entry;
  }
  runtime::ProgramOptions options;
  options.name = op.name().str();
  auto program = runtime::Program::create(std::move(*exe), std::move(options));
  if (!program)
    return program.takeError();
  entry->program = std::move(*program);
  return entry;
}

} // namespace tess::eager
