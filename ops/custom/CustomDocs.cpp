//===- CustomDocs.cpp - the docstring of a library's operator -------------===//
#include "ops/custom/CustomOp.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace tess::custom {

static std::string dtypesText(DTypeMask mask) {
  llvm::SmallVector<std::string, 8> names;
  if (mask == kAnyMask)
    return "any dtype";
  for (unsigned i = 0; i < kNumDTypes; ++i)
    if (mask & maskOf(DType(i)))
      names.push_back(numpyName(DType(i)).str());
  return llvm::join(names, ", ");
}

/// ", at least 0.001 and at most 1000.0", or what a text may be.
static std::string limitsText(const TessParameter &parameter, const AttrInfo &attr) {
  std::string text;
  if (parameter.least)
    text += std::string(", at least ") + parameter.least;
  if (parameter.most)
    text += std::string(", at most ") + parameter.most;
  if (!attr.cases.empty())
    text += ", one of " + llvm::join(attr.cases, ", ");
  return text;
}

std::string Operator::documentation() const {
  std::string text = std::string(forwardRow.summary) + "\n";
  if (op.doc && *op.doc)
    text += std::string("\n") + op.doc + "\n";
  text += "\nArgs:\n";
  for (const OperandInfo &operand : operands)
    text += std::string("    ") + operand.name + ": " + dtypesText(operand.dtypes) + "\n";
  for (unsigned i = 0; i < op.num_parameters; ++i)
    text += std::string("    ") + attrs[i].name + ": " + attrs[i].doc + limitsText(op.parameters[i], attrs[i]) + "\n";
  text += "\nReturns:\n";
  for (const ResultInfo &result : llvm::ArrayRef(results).take_front(numVisible))
    text += std::string("    ") + result.name + ": " + dtypesText(result.dtypes) + "\n";
  return text + "\nOf library " + from.library + ", version " + from.version +
         (op.backward ? "; it has a gradient.\n" : "; it has no gradient.\n");
}

} // namespace tess::custom
