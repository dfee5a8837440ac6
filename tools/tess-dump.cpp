//===- tess-dump.cpp - what a `.tess` file holds --------------------------===//
//
// The graph with user names and lines, its signature, and for every executable
// its steps and kernels; with sizes for the named dimensions, its memory plan.
//
//===----------------------------------------------------------------------===//
#include "compiler/ProgramFile.h"
#include "ops/Error.h"
#include "runtime/schema/Container.h"
#include "runtime/schema/ExecutableCodec.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <CLI/CLI.hpp>

using namespace tess;
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
    os << "input " << input.name << ": " << shortName(input.dtype) << "[" << llvm::join(dims, ", ") << "]\n";
  }
  for (const OutputDecl &output : executable.outputs)
    os << "output " << output.name << ": %" << output.value << "\n";
}

llvm::StringRef kindName(StepKind kind) {
  switch (kind) {
  case StepKind::Kernel:
    return "kernel";
  case StepKind::Movement:
    return "movement";
  case StepKind::Library:
    return "library";
  }
  llvm_unreachable("every step has a kind");
}

std::string valueList(const Executable &executable, llvm::ArrayRef<ValueId> values) {
  return llvm::join(llvm::map_range(values,
                                    [&](ValueId id) {
                                      const std::string &name = executable.values[id].name;
                                      return "%" + std::to_string(id) + (name.empty() ? "" : " '" + name + "'");
                                    }),
                    ", ");
}

void printSteps(const Executable &executable, llvm::raw_ostream &os) {
  for (auto [index, step] : llvm::enumerate(executable.steps)) {
    os << llvm::formatv("step {0,3} {1,-8} ", index, kindName(step.kind));
    if (step.kind == StepKind::Kernel)
      os << "image " << step.image;
    else
      os << step.op.toString();
    os << ": " << valueList(executable, step.operands) << " -> " << valueList(executable, step.results);
    if (!step.location.empty())
      os << "  // " << step.location;
    os << "\n";
  }
}

void printImages(const Executable &executable, llvm::raw_ostream &os) {
  for (auto [index, image] : llvm::enumerate(executable.images))
    os << llvm::formatv("image {0,3} {1,6} bytes, {2} kernels, {3}, {4}\n", index, image.bytes.size(),
                        image.entries.size(), image.hash, image.features);
}

llvm::Error printExecutable(const Container &container, const Container::Section &section, llvm::raw_ostream &os) {
  llvm::Expected<llvm::StringRef> bytes = container.read(section.kind, section.name);
  if (!bytes)
    return bytes.takeError();
  llvm::Expected<Executable> executable = parseExecutable(*bytes, "executable '" + section.name + "'");
  if (!executable)
    return executable.takeError();
  os << "\nexecutable " << section.name << ": " << executable->steps.size() << " steps\n";
  printSignature(*executable, os);
  printSteps(*executable, os);
  printImages(*executable, os);
  return llvm::Error::success();
}

llvm::Error run(const std::string &path, llvm::raw_ostream &os) {
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
  for (const Container::Section &section : (*container)->sections())
    if (section.kind == SectionKind::Executable)
      if (llvm::Error error = printExecutable(**container, section, os))
        return error;
  return llvm::Error::success();
}

} // namespace

int main(int argc, char **argv) {
  std::string path;
  CLI::App app("Print the graph and the executables of a .tess file", "tess-dump");
  app.add_option("file", path, "a .tess file")->required();
  CLI11_PARSE(app, argc, argv);
  if (llvm::Error error = run(path, llvm::outs())) {
    llvm::errs() << takeError(std::move(error)).second << "\n";
    return 1;
  }
  return 0;
}
