//===- CompileFile.cpp - tess-compile: add executables to a `.tess` file --===//
#include "frontends/commands/Commands.h"

#include "compiler/GraphGradients.h"
#include "compiler/ProgramFile.h"
#include "eager/classes/HostOptions.h"
#include "ops/vocabulary/Error.h"

#include "llvm/Support/FileSystem.h"

#include <CLI/CLI.hpp>

#include <iostream>

namespace {

struct Arguments {
  std::vector<std::string> inputs;
  std::string output, cache, gradient, numerics;
  std::vector<std::string> targets;
};

llvm::Error compileFile(const Arguments &arguments, llvm::StringRef input) {
  tess::compiler::Metadata metadata;
  llvm::Expected<tess::ir::Graph> graph = tess::compiler::readGraph(input, &metadata);
  if (!graph)
    return graph.takeError();
  if (!arguments.numerics.empty()) {
    llvm::Expected<tess::ir::Numerics> numerics = tess::ir::parseNumerics("tess-compile", arguments.numerics);
    if (!numerics)
      return numerics.takeError();
    graph->setNumerics(*numerics);
  }
  if (!arguments.gradient.empty())
    if (llvm::Error error = tess::compiler::differentiate(*graph, arguments.gradient))
      return error;
  const tess::compiler::CompileOptions options = tess::eager::hostOptions();
  if (!arguments.cache.empty())
    return tess::compiler::compile(*graph, options).takeError();
  std::vector<std::string> targets = arguments.targets;
  if (targets.empty())
    targets.push_back("host");
  return tess::compiler::writeProgram(arguments.output, *graph, targets, metadata, options).takeError();
}

llvm::Error check(const Arguments &arguments) {
  const bool fillsCache = !arguments.cache.empty();
  if (fillsCache != arguments.output.empty())
    return tess::invalidArgument(llvm::Twine("tess-compile: either --output or --cache must be given, got ") +
                                 (fillsCache ? "both" : "neither"));
  if (!fillsCache && arguments.inputs.size() > 1)
    return tess::invalidArgument("tess-compile: --output takes one input, got " + llvm::Twine(arguments.inputs.size()));
  if (fillsCache && arguments.targets.size() > 1)
    return tess::invalidArgument("tess-compile: --cache takes one target, got " +
                                 llvm::Twine(arguments.targets.size()));
  return llvm::Error::success();
}

/// Has what is compiled go to the folder, as code of the one target.
llvm::Error openCache(const Arguments &arguments) {
  if (!arguments.targets.empty() && arguments.targets.front() != "host")
    if (llvm::Error error = tess::compiler::setHostLevel(arguments.targets.front()))
      return error;
  if (std::error_code error = llvm::sys::fs::create_directories(arguments.cache))
    return tess::makeError(tess::ErrorCode::IoError, "tess-compile: " + arguments.cache +
                                                         ": must be able to make the folder, got " + error.message());
  tess::compiler::setObjectCache(arguments.cache, UINT64_MAX);
  return llvm::Error::success();
}

llvm::Error run(const Arguments &arguments) {
  if (llvm::Error error = check(arguments))
    return error;
  if (!arguments.cache.empty())
    if (llvm::Error error = openCache(arguments))
      return error;
  for (const std::string &input : arguments.inputs)
    if (llvm::Error error = compileFile(arguments, input))
      return error;
  return tess::compiler::awaitObjectCache();
}

} // namespace

int tess::commands::runCompile(int argc, char **argv) {
  Arguments arguments;
  CLI::App app("Compile the graph of a .tess file for one or more targets", "tess-compile");
  app.add_option("input", arguments.inputs, "a .tess file with a graph; with --cache as many as you like")->required();
  app.add_option("-o,--output", arguments.output, "the file to write");
  app.add_option("--cache", arguments.cache,
                 "instead of a file: the folder of a disk cache to fill, which serves all machines of the target");
  app.add_option("--target", arguments.targets,
                 "host, x86-64-v3, x86-64-v4, sim or sm_<number>; for a file, it may be repeated");
  app.add_option("--gradient", arguments.gradient,
                 "an output: its gradients for the float inputs become outputs too, grad_<input> each");
  app.add_option(
      "--numerics", arguments.numerics,
      "strict, or fast: constant factors may be joined to weights, which moves bits; default: as the file says");
  CLI11_PARSE(app, argc, argv);
  if (llvm::Error error = run(arguments)) {
    std::cerr << tess::takeError(std::move(error)).second << "\n";
    return 1;
  }
  return 0;
}
