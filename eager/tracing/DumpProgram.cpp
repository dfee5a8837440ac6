//===- DumpProgram.cpp - a recording as a file ---------------------------===//
#include "eager/tracing/DumpProgram.h"

#include "eager/HostOptions.h"
#include "eager/Location.h"
#include "eager/tracing/FreeDims.h"
#include "ops/Error.h"
#include "runtime/bind/Bind.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::eager {

/// The metas of all inputs: the arguments, then the state.
static Metas inputMetas(const runtime::Executable &exe, Metas arguments) {
  for (const runtime::InputDecl &input : llvm::drop_begin(exe.inputs, exe.numArguments()))
    arguments.push_back(exe.constants[input.initial].meta);
  return arguments;
}

static llvm::Expected<runtime::ProgramRef> compiled(const ir::Graph &graph) {
  llvm::Expected<runtime::Executable> exe = compiler::compile(graph, hostOptions());
  if (!exe)
    return exe.takeError();
  return runtime::Program::create(std::move(*exe));
}

static llvm::Error checkBinds(const ir::Graph &graph, const RecordingRef &recorded, llvm::StringRef name,
                              const GraphOptions &options) {
  llvm::Expected<FreeDims> free = FreeDims::create(recorded, options);
  if (!free)
    return free.takeError();
  llvm::Expected<runtime::ProgramRef> program = compiled(graph);
  if (!program)
    return free->refused(name, free->neededSizes().front(), takeError(program.takeError()).second);
  for (const FreeDims::Sizes &sizes : free->neededSizes()) {
    Metas inputs = inputMetas((*program)->executable(), free->argumentsAt(sizes));
    if (llvm::Error error = (*program)->bind(inputs).takeError())
      return free->refused(name, sizes, takeError(std::move(error)).second);
  }
  return llvm::Error::success();
}

llvm::Expected<compiler::WrittenProgram> dumpProgram(llvm::StringRef path, const RecordingRef &recorded,
                                                     llvm::StringRef name, GraphOptions options,
                                                     const ProgramFileOptions &file) {
  options.captureAsConstants = options.keepsState = true;
  llvm::Expected<ir::Graph> graph = buildGraph(*recorded, options);
  if (!graph)
    return graph.takeError();
  ir::keepNames(*graph, file.names);
  BlockingRegion region(/*computes=*/true);
  if (!options.dims.empty()) {
    if (llvm::Error error = checkBinds(*graph, recorded, name, options))
      return std::move(error);
  } else if (file.targets.empty() &&
             recorded->hasDataSizes()) { // load() would refuse a composite that needs such a size
    if (llvm::Error error = compiled(*graph).takeError())
      return std::move(error);
  }
  compiler::CompileOptions compile = hostOptions();
  compile.fuse = file.fuse;
  return compiler::writeProgram(path, *graph, file.targets, file.metadata, std::move(compile));
}

} // namespace tess::eager
