//===- Jit.cpp - functions compiled whole --------------------------------===//
#include "tessera/Jit.h"

#include "compiler/ProgramFile.h"
#include "eager/HostOptions.h"
#include "eager/Tape.h"
#include "eager/TracedProgram.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace tessera::jit {

namespace eager = tess::eager;

/// Signatures that one function keeps.
static constexpr size_t kMaxVariants = 16;

/// One recorded call.
struct Calls::Variant {
  tess::Metas metas;
  std::vector<unsigned> aliases;
  eager::RecordingRef recording;
  size_t numResults = 0;
  tessera::detail::Replay replay;
  std::shared_ptr<eager::TracedProgram> program;
};

static bool runsEagerly() {
  return eager::isTraceDisabled() || eager::Recorder::current() || !eager::activeTapes().empty();
}

static std::vector<eager::TensorRef> refs(llvm::ArrayRef<Tensor> tensors) {
  std::vector<eager::TensorRef> list;
  for (const Tensor &tensor : tensors)
    list.push_back(tensor.ref());
  return list;
}

static tess::Metas metasOf(llvm::ArrayRef<Tensor> tensors) {
  tess::Metas metas;
  for (const Tensor &tensor : tensors)
    metas.push_back(tensor.ref()->meta());
  return metas;
}

/// For each tensor the first position at which it stands.
static std::vector<unsigned> aliasesOf(llvm::ArrayRef<Tensor> tensors) {
  std::vector<unsigned> first;
  for (const Tensor &tensor : tensors) {
    auto same = [&](const Tensor &other) { return other.ref() == tensor.ref(); };
    first.push_back(llvm::find_if(tensors, same) - tensors.begin());
  }
  return first;
}

std::vector<Tensor> Calls::call(std::vector<Tensor> arguments, const Function &function) {
  if (runsEagerly())
    return function(arguments);
  for (Tensor &argument : arguments)
    argument = Tensor(argument.ref()); // numbers become tensors
  tess::Metas metas = metasOf(arguments);
  std::vector<unsigned> aliases = aliasesOf(arguments);
  auto known = llvm::find_if(variants, [&](const std::shared_ptr<Variant> &variant) {
    return variant->metas == metas && variant->aliases == aliases && variant->replay.holds(arguments);
  });
  if (known == variants.end())
    return record(std::move(arguments), function);
  variants.splice(variants.begin(), variants, known);
  return run(*variants.front(), arguments);
}

std::vector<Tensor> Calls::record(std::vector<Tensor> arguments, const Function &function) {
  auto variant = std::make_shared<Variant>();
  variant->metas = metasOf(arguments);
  variant->aliases = aliasesOf(arguments);
  tessera::detail::Effects effects(arguments);
  auto recorder = valueOrThrow(eager::Recorder::begin(refs(arguments)));
  std::vector<Tensor> results, all;
  try {
    results = function(arguments);
    all = results;
    variant->replay = effects.finish(all);
    variant->recording = valueOrThrow(recorder->end(refs(all)));
  } catch (...) {
    recorder->abandon();
    throw;
  }
  variant->numResults = results.size();
  variants.push_front(std::move(variant));
  if (variants.size() > kMaxVariants)
    variants.pop_back();
  return results;
}

std::vector<Tensor> Calls::run(Variant &variant, llvm::ArrayRef<Tensor> arguments) {
  if (!variant.program)
    variant.program = valueOrThrow(eager::TracedProgram::compile(variant.recording, {}, fuse));
  variant.replay.prepare(arguments);
  std::vector<Tensor> results;
  for (eager::TensorRef &result : valueOrThrow(variant.program->run(refs(arguments))))
    results.emplace_back(std::move(result));
  variant.replay.apply(arguments, llvm::ArrayRef(results).drop_front(variant.numResults));
  results.resize(variant.numResults);
  return results;
}

std::shared_ptr<eager::TracedProgram> Calls::program() const {
  return variants.empty() ? nullptr : variants.front()->program;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// The number of the named dimension, which is added when it is new.
static int numberOf(const Dim &dim, eager::GraphOptions &options) {
  auto known = llvm::find_if(options.dims, [&](const tess::ir::NamedDim &each) { return each.name == dim.name; });
  if (known == options.dims.end()) {
    options.dims.push_back({dim.name, dim.min, dim.max});
    return options.dims.size() - 1;
  }
  if (known->min != dim.min || known->max != dim.max)
    throw Error(ErrorCode::InvalidArgument,
                "dump: a dimension must have the same bounds everywhere, got two of " + dim.name);
  return known - options.dims.begin();
}

static void addDims(const DumpOptions &dump, llvm::ArrayRef<tess::TensorMeta> metas, eager::GraphOptions &options) {
  options.argumentDims.resize(metas.size());
  for (const auto &[input, axes] : dump.dims) {
    size_t argument = llvm::find(dump.inputs, input) - dump.inputs.begin();
    if (argument >= metas.size())
      throw Error(ErrorCode::InvalidArgument,
                  "dump: dims must be of inputs [" + llvm::join(dump.inputs, ", ") + "], got " + input);
    eager::ArgumentDims &numbers = options.argumentDims[argument];
    numbers.assign(metas[argument].rank(), -1);
    for (const auto &[axis, dim] : axes) {
      if (axis < 0 || axis >= int64_t(numbers.size()) || dim.min < 0 || dim.max < dim.min)
        throw Error(ErrorCode::InvalidArgument, "dump: a dimension must be an axis of " + input +
                                                    " with 0 <= min <= max, got axis " + std::to_string(axis) + ", " +
                                                    std::to_string(dim.min) + ".." + std::to_string(dim.max));
      numbers[axis] = numberOf(dim, options);
    }
  }
}

void Calls::dump(const std::string &path, const DumpOptions &dump) const {
  if (variants.empty())
    throw Error(ErrorCode::InvalidArgument, "dump: the function must have been called once traced, got no call");
  const Variant &variant = *variants.front();
  if (size_t updates = variant.recording->updates().size())
    throw Error(ErrorCode::InvalidArgument, "dump: a dumped function must not update tensors from outside, got " +
                                                std::to_string(updates) + " updates (modules in training mode?)");
  if (dump.inputs.size() > variant.metas.size() || dump.outputs.size() > variant.numResults)
    throw Error(ErrorCode::InvalidArgument,
                "dump: names must not be more than " + std::to_string(variant.metas.size()) + " inputs and " +
                    std::to_string(variant.numResults) + " outputs, got " + std::to_string(dump.inputs.size()) +
                    " and " + std::to_string(dump.outputs.size()));
  eager::GraphOptions options;
  options.captureAsConstants = true;
  options.argumentNames = dump.inputs;
  options.outputNames = dump.outputs;
  addDims(dump, variant.metas, options);
  tess::ir::Graph graph = valueOrThrow(eager::buildGraph(*variant.recording, options));
  checkOrThrow(tess::compiler::writeProgram(path, graph, dump.targets, dump.metadata, eager::hostOptions()));
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

std::vector<Tensor> Program::operator()(const std::vector<Tensor> &inputs) const {
  std::vector<Tensor> results;
  for (eager::TensorRef &result : valueOrThrow(program->run(refs(inputs))))
    results.emplace_back(std::move(result));
  return results;
}

std::map<std::string, Tensor> Program::run(const std::map<std::string, Tensor> &given) const {
  std::vector<std::string> names = inputs();
  std::vector<Tensor> list;
  for (const std::string &name : names)
    if (auto it = given.find(name); it != given.end())
      list.push_back(it->second);
  if (list.size() != names.size() || given.size() != names.size()) {
    std::vector<std::string> got;
    for (const auto &[name, tensor] : given)
      got.push_back(name);
    throw Error(ErrorCode::NotFound,
                "run: inputs must be [" + llvm::join(names, ", ") + "], got [" + llvm::join(got, ", ") + "]");
  }
  std::map<std::string, Tensor> results;
  for (auto [name, result] : llvm::zip(outputs(), (*this)(list)))
    results[name] = result;
  return results;
}

std::vector<std::string> Program::inputs() const {
  std::vector<std::string> names;
  for (size_t i = 0; i < program->numArguments(); ++i)
    names.push_back(program->executable().inputs[i].name);
  return names;
}

std::vector<std::string> Program::outputs() const {
  std::vector<std::string> names;
  for (const auto &output : program->executable().outputs)
    names.push_back(output.name);
  return names;
}

std::vector<Dim> Program::dims() const {
  std::vector<Dim> dims;
  for (const auto &symbol : program->executable().symbols)
    dims.push_back({symbol.name, symbol.min, symbol.max});
  return dims;
}

uint64_t Program::plannedBytes() const { return program->plannedBytes(); }
std::string Program::graphText() const { return program->graphText(); }

Program load(const std::string &path, bool allowCode) {
  return Program(valueOrThrow(eager::TracedProgram::load(path, allowCode)));
}

} // namespace tessera::jit
