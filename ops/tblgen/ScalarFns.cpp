//===- ScalarFns.cpp - the table of scalar functions ----------------------===//
#include "ops/tblgen/Generators.h"

using namespace llvm;

namespace tess::tblgen {

void emitScalarFns(const RecordKeeper &records, raw_ostream &os) {
  banner(os, "gen-tess-scalar-fns");
  auto functions = records.getAllDerivedDefinitions("ScalarFn");
  os << "enum class ScalarFn : uint8_t {\n";
  for (const Record *fn : functions)
    os << "  " << fn->getValueAsString("enumerator") << ",\n";
  os << "};\n\ninline constexpr ScalarFnInfo kScalarFns[] = {\n";
  for (const Record *fn : functions)
    os << "    {" << cppString(scalarFnName(fn)) << ", " << fn->getValueAsInt("arity")
       << ", ScalarArgs::" << fn->getValueAsString("args") << ", ScalarType::" << fn->getValueAsString("type") << ", "
       << fn->getValueAsInt("cost") << ", " << fn->getValueAsBit("isLeaf") << ", " << fn->getValueAsBit("readsIndex")
       << ", " << fn->getValueAsString("ulp32") << ", " << fn->getValueAsString("ulp64") << "},\n";
  os << "};\n\n// Float functions of one argument that have an expansion, with the name that it has.\n"
     << "#define TESS_EXPANSIONS(FUNCTION)";
  for (const Record *fn : records.getAllDerivedDefinitions("ExpansionFn"))
    if (fn->getValueAsInt("arity") == 1)
      os << " \\\n  FUNCTION(" << fn->getValueAsString("enumerator") << ", " << scalarFnName(fn) << ")";
  os << "\n";
}

} // namespace tess::tblgen
