//===- ProgramFile.h - graphs and executables in `.tess` files --*- C++ -*-===//
//
// trace.dump, jit.load and tess-compile: a file holds one graph, its large
// tensors once, and an executable for each target.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/Compile.h"
#include "ir/GraphSummary.h"
#include "runtime/schema/Container.h"

#include <map>
#include <string>
#include <vector>

namespace tess::compiler {

/// Text by key that is kept in the file ("user_info", "trained_on").
using Metadata = std::map<std::string, std::string>;

/// What was written: the graph, and the file around it.
struct WrittenProgram {
  ir::GraphSummary graph;
  runtime::WrittenFile file;
};

/// Compiles `graph` for each target ("host", "x86-64-v3", "x86-64-v4"; none: graph only) and writes the file in one
/// piece: on failure an old file at `path` stays as it was. `options.target` is ignored.
llvm::Expected<WrittenProgram> writeProgram(llvm::StringRef path, const ir::Graph &graph,
                                            llvm::ArrayRef<std::string> targets, const Metadata &metadata = {},
                                            CompileOptions options = {});
/// The graph of a file, and its metadata where `metadata` is not null. DataLoss says what is wrong with a damaged or
/// foreign file. Large constants stay in the file, which is mapped as long as they are used.
llvm::Expected<ir::Graph> readGraph(llvm::StringRef path, Metadata *metadata = nullptr);
llvm::Expected<ir::Graph> readGraph(const std::shared_ptr<runtime::Container> &file, Metadata *metadata = nullptr);

} // namespace tess::compiler
