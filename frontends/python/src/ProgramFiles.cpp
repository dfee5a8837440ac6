//===- ProgramFiles.cpp - programs in files, for Python -------------------===//
#include "frontends/python/src/ProgramFiles.h"
#include "frontends/python/src/Errors.h"
#include "frontends/python/src/Module.h"
#include "frontends/python/src/Trace.h"

#include "eager/tensor/Location.h"
#include "eager/tracing/DumpProgram.h"
#include "runtime/schema/TestCases.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace tess::python {

ir::KeptNames keptNames(nb::dict names) {
  auto is = [&](const char *name) { return nb::cast<bool>(names[name]); };
  ir::KeptNames kept;
  kept.outputs = is("outputs");
  kept.values = is("values");
  kept.operators = is("operators");
  kept.constants = is("constants");
  kept.outputsByOperators = names.contains("outputs_by_operators") && is("outputs_by_operators");
  return kept;
}

nb::dict describe(const compiler::WrittenProgram &written) {
  nb::dict facts;
  facts["nodes"] = written.graph.numNodes;
  facts["bytes"] = written.file.bytes;
  facts["value_bytes"] = written.graph.valueBytes;
  facts["hash"] = written.file.hash;
  facts["inputs"] = written.graph.inputs;
  facts["outputs"] = written.graph.outputs;
  facts["parameters"] = written.graph.parameters;
  facts["operators"] = written.graph.operators;
  facts["dtypes"] = written.graph.dtypes;
  return facts;
}

namespace {

runtime::TestCase::Arrays arraysOf(nb::handle arrays) {
  runtime::TestCase::Arrays list;
  for (auto [name, bytes] : nb::cast<nb::dict>(arrays)) {
    nb::bytes content = nb::cast<nb::bytes>(bytes);
    list.emplace_back(nb::cast<std::string>(name), std::string(content.c_str(), content.size()));
  }
  return list;
}

/// Copies the program at `source` to `path` with tests: (inputs, expected outputs) of each, arrays as files of NumPy.
nb::tuple addTests(const std::string &source, const std::string &path, const nb::list &cases, double maxError,
                   bool verbose) {
  runtime::TestCases tests;
  tests.maxError = maxError;
  tests.verbose = verbose;
  for (nb::handle each : cases)
    tests.cases.push_back({arraysOf(each[nb::int_(0)]), arraysOf(each[nb::int_(1)])});
  runtime::WrittenFile written;
  auto write = [&]() -> llvm::Error {
    eager::BlockingRegion region(/*computes=*/true);
    auto program = runtime::Container::open(source);
    if (!program)
      return program.takeError();
    return runtime::writeWithTests(**program, path, tests, &written);
  };
  checkOrThrow(write());
  return nb::make_tuple(written.bytes, written.hash);
}

nb::dict recordingToFile(const PyRecording &self, const std::string &name, const std::string &path,
                         const std::vector<std::string> &argumentNames, const std::vector<std::string> &outputNames,
                         const std::vector<FreeDim> &dims, const std::vector<std::string> &targets,
                         const compiler::Metadata &metadata, const nb::dict &names, bool fuse,
                         const std::string &numerics) {
  eager::GraphOptions options;
  options.numerics = valueOrThrow(ir::parseNumerics("dump", numerics));
  options.argumentNames = argumentNames;
  options.outputNames = outputNames;
  addDims(*self.recording, dims, options);
  eager::ProgramFileOptions file{targets, metadata, keptNames(names), fuse};
  return describe(valueOrThrow(eager::dumpProgram(path, self.recording, name, options, file)));
}

} // namespace

void initProgramFiles(nb::module_ &module) {
  module.def("add_tests", &addTests, nb::arg("source"), nb::arg("path"), nb::arg("cases"), nb::arg("max_error"),
             nb::arg("verbose"), "Copies the program at `source` to `path` with tests; bytes and hash of the file.");
  module.def("recording_to_file", &recordingToFile, nb::arg("recording"), nb::arg("name"), nb::arg("path"),
             nb::arg("arg_names"), nb::arg("output_names"), nb::arg("dims"), nb::arg("targets"), nb::arg("metadata"),
             nb::arg("names"), nb::arg("fuse"), nb::arg("numerics"), "What was written.");
}

} // namespace tess::python
