//===- OpTable.cpp - the table of all operators --------------------------===//
#include "ops/ChannelRules.h"
#include "ops/Checks.h"
#include "ops/ForwardRules.h"
#include "ops/GradientRules.h"
#include "ops/GraphPieces.h"
#include "ops/Normalise.h"
#include "ops/NotationGraph.h"
#include "ops/PixelPieces.h"
#include "ops/RegionRules.h"
#include "ops/ShapeRules.h"
#include "ops/Terms.h"
#include "ops/Upgrades.h"
#include "ops/ViewRules.h"
#include "ops/WindowRules.h"

#include <limits>

namespace tess {

namespace {
#include "ops/OpTable.inc"
} // namespace

llvm::ArrayRef<OpInfo> allOps() { return table; }

llvm::ArrayRef<Split> splitsOf(const OpInfo &info) {
  llvm::ArrayRef<Split> all = splits();
  return all.drop_while([&](const Split &split) { return split.op != &info; }).take_while([&](const Split &split) {
    return split.op == &info;
  });
}

} // namespace tess
