//===- PythonSurface.cpp - operators as Python sees them -----------------===//
#include "ops/table/PythonSurface.h"

namespace tess {

namespace {
#include "ops/table/PythonSurface.inc"
} // namespace

const PythonSurface &pythonSurfaceOf(const OpInfo &info) { return pythonSurfaces[info.id]; }

} // namespace tess
