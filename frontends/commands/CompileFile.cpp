//===- CompileFile.cpp - tess-compile: add executables to a `.tess` file --===//
#include "frontends/commands/Commands.h"

#include "compiler/GraphGradients.h"
#include "compiler/ProgramFile.h"
#include "eager/classes/HostOptions.h"
#include "ops/vocabulary/Error.h"

#include <CLI/CLI.hpp>

#include <iostream>

namespace {

struct Arguments {
  std::string input, output, gradient, numerics;
  std::vector<std::string> targets = {"host"};
};

llvm::Error run(const Arguments &arguments) {
  tess::compiler::Metadata metadata;
  llvm::Expected<tess::ir::Graph> graph = tess::compiler::readGraph(arguments.input, &metadata);
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
  return tess::compiler::writeProgram(arguments.output, *graph, arguments.targets, metadata, tess::eager::hostOptions())
      .takeError();
}

} // namespace

int tess::commands::runCompile(int argc, char **argv) {
  Arguments arguments;
  CLI::App app("Compile the graph of a .tess file for one or more targets", "tess-compile");
  app.add_option("input", arguments.input, "a .tess file with a graph")->required();
  app.add_option("-o,--output", arguments.output, "the file to write")->required();
  app.add_option("--target", arguments.targets, "host, x86-64-v3, x86-64-v4, sim or sm_<number>; may be repeated");
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
