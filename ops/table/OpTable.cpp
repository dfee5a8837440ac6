//===- OpTable.cpp - the table of all operators --------------------------===//
#include "ops/graphs/Control.h"
#include "ops/graphs/ForwardRules.h"
#include "ops/graphs/GradientRules.h"
#include "ops/graphs/GraphPieces.h"
#include "ops/graphs/NotationGraph.h"
#include "ops/graphs/PixelPieces.h"
#include "ops/graphs/Terms.h"
#include "ops/inference/ChannelRules.h"
#include "ops/inference/Checks.h"
#include "ops/inference/Normalise.h"
#include "ops/inference/RegionRules.h"
#include "ops/inference/ShapeRules.h"
#include "ops/inference/ViewRules.h"
#include "ops/inference/WindowRules.h"
#include "ops/table/Upgrades.h"

#include "llvm/ADT/StringMap.h"

#include <limits>

namespace tess {

namespace {
#include "ops/table/OpTable.inc"
} // namespace

llvm::ArrayRef<OpInfo> allOps() { return table; }

const OpInfo *findOp(llvm::StringRef name) {
  static const auto *byName = [] { // a linear search would read records all over memory
    auto *table = new llvm::StringMap<const OpInfo *>;
    for (llvm::ArrayRef<OpInfo> ops : {allOps(), controlOps()})
      for (const OpInfo &info : ops)
        table->try_emplace(info.name, &info);
    return table;
  }();
  return byName->lookup(name);
}

const OpInfo *findOpDef(llvm::StringRef opdefName) {
  for (const OpInfo &info : allOps())
    if (opdefName == info.opdefName)
      return &info;
  return nullptr;
}

llvm::ArrayRef<Split> splitsOf(const OpInfo &info) {
  llvm::ArrayRef<Split> all = splits();
  return all.drop_while([&](const Split &split) { return split.op != &info; }).take_while([&](const Split &split) {
    return split.op == &info;
  });
}

} // namespace tess
