//===- DumpAccount.h - tess-dump --json -------------------------*- C++ -*-===//
#pragma once

#include "frontends/commands/DumpSizes.h"

#include "llvm/Support/raw_ostream.h"

namespace tess::commands {

/// Prints the account of the program in the file `path`, for these sizes, as JSON: an object with "format", "title"
/// and "account" (TracedProgram::account), as `explain` of the Python package has and reads them. The program is
/// compiled where the file has no code for this machine.
llvm::Error printAccount(const std::string &path, const Dims &dims, llvm::raw_ostream &os);

} // namespace tess::commands
