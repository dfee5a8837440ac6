//===- Commands.cpp - programs of the command line --------------------------===//
#include "frontends/commands/Commands.h"
#include "frontends/python/src/Module.h"

#include "compiler/Opt.h"
#include "eager/classes/HostOptions.h"

#include "llvm/ADT/StringSwitch.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace tess::python {

namespace {

using Main = int (*)(int argc, char **argv);

int runOpt(int argc, char **argv) { return compiler::runOpt(argc, argv, eager::hostOptions()); }

int runCommand(std::vector<std::string> arguments) {
  Main command = llvm::StringSwitch<Main>(arguments.front())
                     .Case("tess-compile", commands::runCompile)
                     .Case("tess-dump", commands::runDump)
                     .Case("tess-opt", runOpt)
                     .Default(nullptr);
  if (!command)
    throw nb::value_error(("run_command: name must be that of a program, got " + arguments.front()).c_str());
  std::vector<char *> argv;
  for (std::string &argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr); // as main has it
  return command(int(arguments.size()), argv.data());
}

} // namespace

void initCommands(nb::module_ &module) {
  module.def("run_command", &runCommand, nb::arg("arguments"),
             "The exit status of a program; the first argument is its name.");
}

} // namespace tess::python
