//===- MiniGraph.cpp - one operator as a program -------------------------===//
#include "eager/classes/MiniGraph.h"

#include "compiler/cache/ExecutableCache.h"
#include "eager/classes/GraphOp.h"
#include "eager/classes/HostOptions.h"
#include "eager/tensor/Counters.h"
#include "eager/tensor/Location.h"
#include "ops/graphs/Control.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::eager {

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

llvm::SmallVector<ir::MemoryLayout, 4> layoutsOfClass(const IterationSpace &space, unsigned numOperands) {
  llvm::SmallVector<ir::MemoryLayout, 4> layouts;
  for (unsigned k = 0; k <= numOperands; ++k)
    layouts.push_back(space.strided >> k & 1 ? ir::MemoryLayout::Strided
                      : space.apart && !k    ? ir::MemoryLayout::RowsApart // one says it for all
                                             : ir::MemoryLayout::RowMajor);
  return layouts;
}

/// The operands as inputs; sizes that stand in the body of a gradient are named dimensions.
static llvm::SmallVector<ir::GraphBuilder::Value, 4> addInputs(ir::GraphBuilder &builder, const OpClass &cls) {
  llvm::ArrayRef<int64_t> symbols = symbolsOf(cls.op);
  for (int64_t i = 0, count = symbols.empty() ? 0 : *llvm::max_element(symbols); i < count; ++i)
    (void)builder.dim({"s" + std::to_string(i), /*min=*/2});
  llvm::SmallVector<ir::GraphBuilder::Value, 4> inputs;
  for (auto [i, meta] : llvm::enumerate(cls.operands)) {
    llvm::SmallVector<int, 4> dims;
    for (int64_t symbol : symbols.take_front(meta.rank()))
      dims.push_back(int(symbol) - 1);
    symbols = symbols.drop_front(dims.size());
    inputs.push_back(builder.input("x" + std::to_string(i), meta, dims));
  }
  return inputs;
}

llvm::Expected<runtime::Executable> compileClass(const OpClass &cls, compiler::CompileOptions options) {
  BlockingRegion region(/*computes=*/true); // takes milliseconds
  options.leastSavedBytes = std::nullopt;   // an operator reads no value so late
  ir::GraphBuilder builder;
  builder.setScalarParameters(true);
  builder.setOnesKnown(cls.op.info().lowering != Lowering::Elementwise && keepsOnes(cls.op.info()));
  llvm::SmallVector<ir::GraphBuilder::Value, 4> inputs = addInputs(builder, cls);
  for (auto [i, input] : llvm::enumerate(inputs))
    builder.setLayout(input, cls.layoutOf(i));
  const Subgraph *body = control::findBody(cls.op);
  auto results = body ? builder.apply(*body, inputs) : builder.apply(cls.op, inputs, cls.segments);
  if (!results)
    return results.takeError();
  for (auto [i, value] : llvm::enumerate(*results))
    builder.output(value, "y" + std::to_string(i), cls.donated, cls.layoutOf(inputs.size()));
  options.evaluate = nullptr; // running a program once costs as much as it would save
  count(Count::Compilations);
  llvm::Expected<runtime::Executable> exe = compiler::compile(builder.finish(), options);
  if (!exe)
    return exe;
  exe->numThreads = 0;
  for (runtime::Step &step : exe->steps)
    step.implementation.clear(); // bind picks the same: entries serve any number of threads, and outlive the machine
  return exe;
}

/// The executable of a class: from the warm set or the disk, or compiled now. `text`: gets cls.toText().
static llvm::Expected<runtime::Executable> executableOf(const OpClass &cls, runtime::Device &device,
                                                        std::string &text) {
  text = cls.toText();
  if (cls.op.info().origin) // a library of the same name may say something else tomorrow
    return compileClass(cls, optionsFor(device));
  if (std::optional<runtime::Executable> known = compiler::findExecutable(device.target(), text))
    return std::move(*known);
  llvm::Expected<runtime::Executable> exe = compileClass(cls, optionsFor(device));
  if (exe)
    compiler::storeExecutable(device.target(), text, *exe);
  return exe;
}

/// The runtime attributes of `op` in the order of the parameters.
static llvm::SmallVector<int, 4> parameterAttrs(const OpInfo &info) {
  llvm::SmallVector<int, 4> attrs;
  for (unsigned i = 0; i < info.attrs.size(); ++i)
    if (info.attrs[i].isRuntime) // none of an elementwise operator is optional
      attrs.push_back(i);
  return attrs;
}

/// Whether the code of `step` walks its pointer number `index` as `layout` asks.
static bool walks(const runtime::Step &step, unsigned index, ir::MemoryLayout layout) {
  auto isOneAxis = [](const runtime::AxisGroup &group) { return group.last - group.first <= 1; };
  if (layout == ir::MemoryLayout::Strided &&
      (index >= step.innerClasses.size() || step.innerClasses[index] == runtime::InnerClass::Contiguous))
    return false;
  return layout == ir::MemoryLayout::RowMajor || llvm::all_of(step.parallel, isOneAxis);
}

/// The only step of `exe`, an elementwise kernel, ready for launches; null when `exe` is anything else.
static std::unique_ptr<DirectKernel> directOf(const runtime::Executable &exe, const OpInfo &info, size_t numOperands,
                                              llvm::ArrayRef<ir::MemoryLayout> layouts) {
  if (exe.steps.size() != 1 || exe.steps[0].kind != runtime::StepKind::Kernel)
    return nullptr;
  const runtime::Step &step = exe.steps[0];
  if (!step.reduced.empty() || step.vectorOnReduced || step.parallel.empty())
    return nullptr;
  auto direct = std::make_unique<DirectKernel>();
  auto numberIn = [](const auto &list, runtime::ValueId value, size_t first) {
    auto found = llvm::find_if(list, [&](const auto &each) { return each.value == value; });
    return found == list.end() ? -1 : int(first + (found - list.begin()));
  };
  unsigned numWritten = 0;
  for (bool isResult : {false, true})
    for (runtime::ValueId value : isResult ? step.results : step.operands) {
      int number = isResult ? numberIn(exe.outputs, value, numOperands) : numberIn(exe.inputs, value, 0);
      if (number < 0)
        return nullptr; // a constant of the program, or a value of its own
      if (number < int(layouts.size()) && !walks(step, direct->values.size(), layouts[number]))
        return nullptr;
      direct->values.push_back(uint8_t(number));
      numWritten += isResult;
    }
  if (numWritten != exe.outputs.size())
    return nullptr;
  direct->groups.assign(step.parallel.begin(), step.parallel.end());
  direct->isStrided = llvm::is_contained(step.innerClasses, runtime::InnerClass::Strided);
  llvm::SmallVector<int, 4> attrs = parameterAttrs(info);
  for (const runtime::ScalarSource &source : step.scalars) {
    DirectKernel::Scalar scalar;
    scalar.bits = source.bits;
    if (source.kind == runtime::ScalarSource::Parameter)
      scalar.attr = attrs[source.parameter];
    direct->scalars.push_back(scalar);
  }
  return direct;
}

/// Whether `exe` is only one step of that operator, whose attributes are read when it is bound and may come from any
/// call.
static bool readsAttrsWhenBound(const runtime::Executable &exe, const OpInfo &info) {
  return exe.nodes.size() == 1 && &exe.nodes[0].op.info() == &info && exe.steps.size() == 1 &&
         exe.steps[0].kind != runtime::StepKind::Kernel;
}

static uint64_t bytesOf(const runtime::Executable &exe) {
  uint64_t bytes = 1024 + exe.values.size() * sizeof(runtime::ValueDecl) + exe.steps.size() * sizeof(runtime::Step);
  for (const runtime::Image &image : exe.images)
    bytes += image.bytes.size();
  return bytes;
}

/// Loads the code of `kernel`, which is the one step of `exe`.
static llvm::Error addCode(DirectKernel &kernel, const runtime::Executable &exe, runtime::Device &device) {
  for (const runtime::OutputDecl &output : exe.outputs)
    kernel.resultDTypes.push_back(exe.values[output.value].dtype);
  const runtime::Step &step = exe.steps[0];
  if (llvm::Error e = device.load(exe.images[step.image]).moveInto(kernel.image))
    return e;
  kernel.fn = kernel.image->entry(step.entry);
  kernel.picosecondsPerElement = exe.images[step.image].entries[step.entry].picosecondsPerElement;
  return llvm::Error::success();
}

BuiltOp buildOp(const OpKey &key, const OpClass &call, bool direct, runtime::Device &device) {
  const OpInfo &info = call.op.info();
  bool sizesLater = readsSizesLater(info, direct);
  std::string text;
  llvm::Expected<runtime::Executable> exe = executableOf(call.neutral(sizesLater), device, text);
  bool bindsAttrs = exe && !direct && sizesLater && readsAttrsWhenBound(*exe, info);
  if (!direct && sizesLater && !bindsAttrs) { // nothing is moved along no axis: the attributes are compiled in
    llvm::consumeError(exe.takeError());
    exe = executableOf(call.neutral(/*sizesLater=*/false), device, text);
  }
  if (!exe)
    return exe.takeError();
  auto made = std::make_unique<CompiledOp>(key, call.op);
  made->bindsAttrs = bindsAttrs;
  made->bytes = bytesOf(*exe) + text.size();
  made->text = std::move(text);
  if (direct)
    made->direct = directOf(*exe, info, call.operands.size(), call.layouts);
  if (made->direct) {
    if (llvm::Error e = addCode(*made->direct, *exe, device))
      return std::move(e);
    return made;
  }
  runtime::ProgramOptions options;
  options.name = call.op.name().str();
  options.device = &device;
  options.isValidated = true; // by the reader of the cache, or just compiled
  if (llvm::Error e = runtime::Program::create(std::move(*exe), std::move(options)).moveInto(made->program))
    return std::move(e);
  return made;
}

} // namespace tess::eager
