//===- PythonSurface.cpp - operators as Python sees them -----------------===//
#include "ops/table/PythonSurface.h"

namespace tess {

namespace {
#include "ops/table/PythonSurface.inc"
} // namespace

const PythonSurface &pythonSurfaceOf(const OpInfo &info) { return pythonSurfaces[info.id]; }

llvm::ArrayRef<const char *> parametersOf(const OpInfo &info) {
  if (!info.origin)
    return pythonSurfaceOf(info).parameters;
  auto *names = new std::vector<const char *>; // as long as the row, whose callable is made once
  for (const OperandInfo &operand : info.operands)
    names->push_back(operand.name);
  for (const AttrInfo &attr : info.attrs)
    names->push_back(attr.name);
  return *names;
}

} // namespace tess
