//===- OpTable.cpp - the table of all operators --------------------------===//
#include "ops/Checks.h"
#include "ops/ForwardRules.h"
#include "ops/GradientRules.h"
#include "ops/GraphPieces.h"
#include "ops/Normalise.h"
#include "ops/RegionRules.h"
#include "ops/ShapeRules.h"
#include "ops/ViewRules.h"
#include "ops/WindowRules.h"

#include <limits>

namespace tess {

namespace {
#include "ops/OpTable.inc"
} // namespace

llvm::ArrayRef<OpInfo> allOps() { return table; }

} // namespace tess
