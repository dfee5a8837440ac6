//===- RowGraphs.h - dags of a plug-in's records as data --------*- C++ -*-===//
#pragma once

#include "ops/tblgen/Model.h"
#include "llvm/Support/JSON.h"

namespace tess::tblgen {

/// The nodes of `dags`, each made once, and the value of each dag. Ends the program at the record for a word that has
/// no meaning in a plug-in.
llvm::json::Object rowGraph(const OpModel &op, llvm::ArrayRef<const llvm::DagInit *> dags);

} // namespace tess::tblgen
