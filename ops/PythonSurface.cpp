//===- PythonSurface.cpp - operators as Python sees them -----------------===//
#include "ops/PythonSurface.h"

namespace tess {

namespace {
#include "ops/PythonSurface.inc"
} // namespace

const PythonSurface &pythonSurfaceOf(const OpInfo &info) { return pythonSurfaces[info.id]; }

} // namespace tess
