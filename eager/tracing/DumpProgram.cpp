//===- DumpProgram.cpp - a recording as a file ---------------------------===//
#include "eager/tracing/DumpProgram.h"

#include "eager/classes/HostOptions.h"
#include "eager/tensor/Location.h"
#include "eager/tracing/FreeDims.h"
#include "ops/vocabulary/Error.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::eager {

static llvm::Error checkBinds(const ir::Graph &graph, const RecordingRef &recorded, llvm::StringRef name,
                              const GraphOptions &options) {
  llvm::Expected<FreeDims> free = FreeDims::create(recorded, options);
  if (!free)
    return free.takeError();
  llvm::Expected<runtime::ProgramRef> program = compiledHere(graph);
  if (!program)
    return free->refused(name, free->neededSizes().front(), takeError(program.takeError()).second);
  for (const FreeDims::Sizes &sizes : free->neededSizes())
    if (llvm::Error error = (*program)->bind(free->inputsAt((*program)->executable(), sizes)).takeError())
      return free->refused(name, sizes, takeError(std::move(error)).second);
  return llvm::Error::success();
}

llvm::Expected<compiler::WrittenProgram> dumpProgram(llvm::StringRef path, const RecordingRef &recorded,
                                                     llvm::StringRef name, GraphOptions options,
                                                     const ProgramFileOptions &file) {
  options.captureAsConstants = options.keepsState = options.checksSizes = true;
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
    if (llvm::Error error = compiledHere(*graph).takeError())
      return std::move(error);
  }
  compiler::CompileOptions compile = hostOptions();
  compile.fuse = file.fuse;
  return compiler::writeProgram(path, *graph, file.targets, file.metadata, std::move(compile));
}

} // namespace tess::eager
