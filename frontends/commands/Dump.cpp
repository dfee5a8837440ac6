//===- Dump.cpp - tess-dump: the contents of a `.tess` file ---------------===//
//
// The graph with user names and lines. For every executable its signature and
// steps, and for sizes of the named dimensions its kernels and memory plan.
//
//===----------------------------------------------------------------------===//
#include "frontends/commands/Commands.h"
#include "frontends/commands/DumpAccount.h"

#include "compiler/Compile.h"
#include "compiler/ProgramFile.h"
#include "ops/vocabulary/Error.h"
#include "runtime/bind/Bind.h"
#include "runtime/bind/ValueMetas.h"
#include "runtime/schema/Container.h"
#include "runtime/schema/ExecutableCodec.h"
#include "runtime/schema/StepText.h"
#include "runtime/schema/TestCases.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <CLI/CLI.hpp>
#include <algorithm>

using namespace tess;
using namespace tess::commands;
using namespace tess::runtime;

namespace {

std::string dimText(const Executable &executable, const DimDecl &dim) {
  if (dim.symbol >= 0)
    return executable.symbols[dim.symbol].name;
  return dim.size < 0 ? "?" : std::to_string(dim.size);
}

void printSignature(const Executable &executable, llvm::raw_ostream &os) {
  for (const SymbolDecl &symbol : executable.symbols)
    os << "dim " << symbol.name << " in " << symbol.min << ".." << symbol.max << "\n";
  for (const InputDecl &input : executable.inputs) {
    auto dims = llvm::map_range(input.dims, [&](const DimDecl &dim) { return dimText(executable, dim); });
    os << (input.isState() ? "state " : "input ") << input.name << ": " << shortName(input.dtype) << "["
       << llvm::join(dims, ", ") << "]\n";
  }
  for (const OutputDecl &output : executable.outputs) {
    bool isUpdate = output.donates >= 0 && executable.inputs[output.donates].isState();
    os << (isUpdate ? "state " + executable.inputs[output.donates].name + " becomes" : "output " + output.name) << ": %"
       << output.value << "\n";
  }
}

/// A value, as in "%5 'logits'".
std::string valueText(const Executable &executable, ValueId id) {
  const std::string &name = executable.values[id].name;
  return "%" + std::to_string(id) + (name.empty() ? "" : " '" + name + "'");
}

std::string valueList(const Executable &executable, llvm::ArrayRef<ValueId> values) {
  return llvm::join(llvm::map_range(values, [&](ValueId id) { return valueText(executable, id); }), ", ");
}

/// "scan of 4 steps, reversed".
std::string loopText(const LoopDecl &loop) {
  return "scan of " + std::to_string(loop.numSteps) + " steps" + (loop.reverse ? ", reversed" : "") +
         (loop.isGuarded ? ", guarded" : "");
}

void printSteps(const Executable &executable, llvm::raw_ostream &os) {
  for (auto [index, step] : llvm::enumerate(executable.steps)) {
    os << llvm::formatv("step {0,3} {1,-8} ", index, nameOf(step.kind))
       << (step.kind == StepKind::Kernel ? fusedOperators(executable, step)
           : step.kind == StepKind::Loop ? loopText(executable.loops[step.loop])
                                         : step.op.toString());
    os << ": " << valueList(executable, step.operands) << " -> " << valueList(executable, step.results);
    if (!step.location.empty())
      os << "  // " << step.location;
    os << "\n";
  }
}

//===----------------------------------------------------------------------===//
// For sizes of the named dimensions
//===----------------------------------------------------------------------===//

std::string sizesText(const Executable &executable, const Sizes &sizes) {
  std::string text;
  for (auto [symbol, size] : llvm::zip(executable.symbols, sizes))
    text += (text.empty() ? "" : ", ") + symbol.name + "=" + std::to_string(size);
  return text.empty() ? "every call" : text;
}

/// The shapes of all values; those that it cannot infer stay empty.
std::vector<TensorMeta> valuesAt(const Executable &executable, llvm::ArrayRef<TensorMeta> inputs) {
  return llvm::cantFail(inferValueMetas(executable, inputs, [](llvm::Error error) {
    llvm::consumeError(std::move(error));
    return llvm::Error::success();
  }));
}

std::string axesText(llvm::ArrayRef<AxisGroup> groups) {
  return llvm::join(
      llvm::map_range(
          groups,
          [](AxisGroup group) { return llvm::formatv("{0}..{1}", unsigned(group.first), unsigned(group.last)).str(); }),
      " ");
}

void printKernels(const Executable &executable, llvm::ArrayRef<TensorMeta> values, llvm::raw_ostream &os) {
  for (auto [index, step] : llvm::enumerate(executable.steps)) {
    if (step.kind != StepKind::Kernel)
      continue;
    const Image &image = executable.images[step.image];
    const KernelEntry &entry = image.entries[step.entry];
    Shape domain;
    for (ValueId value : step.domain)
      (void)broadcastInto(domain, values[value].shape);
    os << llvm::formatv("kernel of step {0}: {1}, domain {2}, parallel axes {3}", index,
                        fusedOperators(executable, step), toString(domain), axesText(step.parallel));
    if (!step.reduced.empty())
      os << ", reduced axes " << axesText(step.reduced);
    os << llvm::formatv(", {0} bytes of code in image {1}\n", codeBytes(image, entry), step.image);
  }
}

void printImages(const Executable &executable, llvm::raw_ostream &os) {
  for (auto [index, image] : llvm::enumerate(executable.images))
    os << llvm::formatv("image {0}: {1} bytes, hash {2}, needs {3}\n", index, image.code().size(), image.hash,
                        image.features);
}

void printPlan(const Executable &executable, const Bound &bound, llvm::raw_ostream &os) {
  std::vector<PlannedMemory> plan = bound.plan().vec();
  llvm::sort(plan, [](const PlannedMemory &a, const PlannedMemory &b) {
    return std::make_tuple(a.first, a.offset, a.value) < std::make_tuple(b.first, b.offset, b.value);
  });
  for (const PlannedMemory &piece : plan)
    os << llvm::formatv("  offset {0,9} bytes {1,9} steps {2}..{3} {4}\n", piece.offset, piece.bytes, piece.first,
                        piece.last, piece.value < 0 ? "scratch" : valueText(executable, piece.value));
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

/// Prints one executable of a file.
class ExecutableDump {
public:
  ExecutableDump(std::shared_ptr<Container> file, const Dims &dims, llvm::raw_ostream &os)
      : file(std::move(file)), dims(dims), os(os) {}
  llvm::Error print(const Container::Section &section);

private:
  llvm::Error printMemory();
  llvm::Error printAt(const Sizes &sizes, bool inFull);

  std::shared_ptr<Container> file;
  const Dims &dims;
  llvm::raw_ostream &os;
  ProgramRef program;
};

llvm::Error ExecutableDump::printAt(const Sizes &sizes, bool inFull) {
  const Executable &executable = program->executable();
  Metas inputs = inputsAt(executable, sizes);
  BindOptions options;
  options.threads = executable.numThreads;
  options.keepPlan = true;
  llvm::Expected<BoundRef> bound = program->bind(inputs, options);
  if (!bound)
    return bound.takeError();
  const MemoryEstimate &memory = (*bound)->memory();
  os << "memory at " << sizesText(executable, sizes) << ": arena " << memory.arena << " bytes, outputs "
     << memory.outputs << ", constants " << memory.constants;
  if (memory.savedPerTrip)
    os << ", " << memory.savedPerTrip << " for each trip of loops without a bound";
  os << ", " << (*bound)->launches() << " launches\n";
  if (!inFull)
    return llvm::Error::success();
  printPlan(executable, **bound, os);
  printKernels(executable, valuesAt(executable, inputs), os);
  printImages(executable, os);
  return llvm::Error::success();
}

/// Prints the memory at the lowest sizes and, if there are upper bounds, at the highest. Sizes that the user asked for
/// start from the lowest and are printed in full.
llvm::Error ExecutableDump::printMemory() {
  Sizes low, high, wanted = sizesFor(program->executable(), dims);
  for (const SymbolDecl &symbol : program->executable().symbols) {
    low.push_back(symbol.min);
    high.push_back(symbol.max == INT64_MAX ? symbol.min : symbol.max);
  }
  if (low != wanted)
    if (llvm::Error error = printAt(low, false))
      return error;
  if (high != low && high != wanted)
    if (llvm::Error error = printAt(high, false))
      return error;
  return printAt(wanted, true);
}

llvm::Error ExecutableDump::print(const Container::Section &section) {
  llvm::Expected<llvm::StringRef> bytes = file->read(section.kind, section.name);
  if (!bytes)
    return bytes.takeError();
  llvm::Expected<Executable> executable = parseExecutable(*bytes, "executable '" + section.name + "'");
  if (!executable)
    return executable.takeError();
  if (llvm::Error error = checkDims(*executable, dims))
    return error;
  os << "\nexecutable " << section.name << ": " << executable->steps.size() << " steps\n";
  printSignature(*executable, os);
  printSteps(*executable, os);
  ProgramOptions options;
  options.name = "tess-dump";
  options.tensor = [this](llvm::StringRef name) { return file->read(SectionKind::Tensor, name); };
  options.kernel = [](unsigned, unsigned) { return KernelFn(); }; // nothing runs, so code for any processor is accepted
  auto made = Program::create(std::move(*executable), std::move(options));
  if (!made)
    return made.takeError();
  program = std::move(*made);
  return printMemory();
}

/// Prints why operators of the graph do not share kernels, if generated kernels could.
llvm::Error printWhy(const ir::Graph &graph, llvm::raw_ostream &os) {
  os << "\nkernels that neighbours do not share:\n";
  compiler::CompileOptions options;
  options.boundary = [&](const compiler::KernelBoundary &boundary) { os << "  " << boundary.text() << "\n"; };
  return compiler::compile(graph, options).takeError();
}

/// Prints what tests the program, if anything does.
llvm::Error printTests(const Container &file, llvm::raw_ostream &os) {
  llvm::Expected<TestCases> tests = readTests(file);
  if (!tests)
    return tests.takeError();
  for (auto [number, each] : llvm::enumerate(tests->cases))
    os << llvm::formatv("test {0}: {1} inputs, {2} outputs within ", number, each.inputs.size(), each.expected.size())
       << llvm::format("%g", tests->maxError) << "\n";
  return llvm::Error::success();
}

llvm::Error run(const std::string &path, const Dims &dims, bool why, llvm::raw_ostream &os) {
  auto container = Container::open(path);
  if (!container)
    return container.takeError();
  compiler::Metadata metadata;
  llvm::Expected<ir::Graph> graph = compiler::readGraph(path, &metadata);
  if (!graph)
    return graph.takeError();
  for (const auto &[key, text] : metadata)
    os << "meta " << key << ": " << text << "\n";
  os << graph->toText();
  if (why)
    if (llvm::Error error = printWhy(*graph, os))
      return error;
  if (llvm::Error error = printTests(**container, os))
    return error;
  for (const Container::Section &section : (*container)->sections())
    if (section.kind == SectionKind::Executable)
      if (llvm::Error error = ExecutableDump(*container, dims, os).print(section))
        return error;
  return llvm::Error::success();
}

} // namespace

int commands::runDump(int argc, char **argv) {
  std::string path;
  std::vector<std::string> texts;
  CLI::App app("Print the graph and the executables of a .tess file", "tess-dump");
  app.add_option("file", path, "a .tess file")->required();
  app.add_option("--dim", texts, "<name>=<size> of a named dimension: for which sizes to print memory and kernels");
  bool why = false;
  auto *asWhy = app.add_flag("--why", why,
                             "compile the graph again, and say where an operator does not share its operand's kernel");
  bool json = false;
  app.add_flag("--json", json, "print the account of the program instead, as `jit.explain` has it")->excludes(asWhy);
  CLI11_PARSE(app, argc, argv);
  llvm::Expected<Dims> dims = parseDims(texts);
  llvm::Error error = !dims  ? dims.takeError()
                      : json ? printAccount(path, *dims, llvm::outs())
                             : run(path, *dims, why, llvm::outs());
  if (!error)
    return 0;
  llvm::outs().flush();
  llvm::errs() << takeError(std::move(error)).second << "\n";
  return 1;
}
