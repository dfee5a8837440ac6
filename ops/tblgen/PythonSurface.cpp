//===- PythonSurface.cpp - gen-tess-python-surface -----------------------===//
#include "ops/tblgen/Generators.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace tess::tblgen {

/// Writes an array of strings and returns the expression that refers to it.
static std::string emitList(StringRef name, const std::vector<std::string> &list, raw_ostream &os) {
  if (list.empty())
    return "{}";
  os << "constexpr const char *" << name << "[] = {";
  for (const std::string &text : list)
    os << cppString(text) << ", ";
  os << "};\n";
  return name.str();
}

void emitPythonSurface(const Model &model, raw_ostream &os) {
  banner(os, "gen-tess-python-surface");
  std::string rows;
  for (const OpModel &op : model.ops()) {
    std::string parameters = emitList(op.name + "_parameters", op.pyParameters(), os);
    std::string methods = emitList(op.name + "_methods", op.pyMethods, os);
    rows += "    {" + parameters + ", " + methods + ", " + std::to_string(op.pyOperator) + "}, // " + op.name + "\n";
  }
  os << "constexpr PythonSurface pythonSurfaces[] = {\n" << rows << "};\n";
}

} // namespace tess::tblgen
