//===- Commands.h - programs of the command line, as functions --*- C++ -*-===//
//
// The mains in tools/ and the Python package call them, so that a wheel needs one
// library for all.
//
//===----------------------------------------------------------------------===//
#pragma once

namespace tess::commands {

/// Runs tess-dump with the arguments of a main function: prints what a `.tess` file has. Returns the exit status.
int runDump(int argc, char **argv);
/// Runs tess-compile with the arguments of a main function: adds executables to a `.tess` file. Returns the exit
/// status.
int runCompile(int argc, char **argv);

} // namespace tess::commands
