// tess-tblgen reads the records of ops/records/*.td and writes everything that follows from them.
#include "ops/tblgen/Generators.h"

#include "mlir/TableGen/GenInfo.h"
#include "mlir/Tools/mlir-tblgen/MlirTblgenMain.h"

using namespace tess::tblgen;

template <void (*emit)(const Model &, llvm::raw_ostream &)>
static bool run(const llvm::RecordKeeper &records, llvm::raw_ostream &os) {
  emit(Model(records), os);
  return false;
}

static bool runScalarFns(const llvm::RecordKeeper &records, llvm::raw_ostream &os) {
  emitScalarFns(records, os);
  return false;
}

static bool runRows(const llvm::RecordKeeper &records, llvm::raw_ostream &os) {
  emitRows(records, os);
  return false;
}

static mlir::GenRegistration generators[] = {
    {"gen-tess-scalar-fns", "Functions of one element", runScalarFns},
    {"gen-tess-op-table", "Table of operators with their generated rules", run<emitOpTable>},
    {"gen-tess-ir-glue", "Type inference of the dialect", run<emitIrGlue>},
    {"gen-tess-builtin", "A class for each operator", run<emitBuiltin>},
    {"gen-tess-cc-functions", "Functions of the C++ API", run<emitCcFunctions>},
    {"gen-tess-cc-methods", "Methods and operators of the C++ API's Tensor", run<emitCcMethods>},
    {"gen-tess-docs", "Docstrings", run<emitDocs>},
    {"gen-tess-markdown", "The reference page, but for the examples of IR", run<emitMarkdown>},
    {"gen-tess-python-surface", "What the Python binding reads", run<emitPythonSurface>},
    {"gen-tess-pyi", "The stub of the Python functions", run<emitPyi>},
    {"gen-tess-rows", "Rows of a plug-in, which programs load, as JSON", runRows},
    {"gen-tess-samples", "Samples for tests, as JSON", run<emitSamples>},
};

int main(int argc, char **argv) { return mlir::MlirTblgenMain(argc, argv); }
