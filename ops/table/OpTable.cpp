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
#include "ops/vocabulary/Error.h"

#include "llvm/ADT/StringMap.h"

#include <limits>
#include <mutex>
#include <shared_mutex>

namespace tess {

namespace {
#include "ops/table/OpTable.inc"

/// Rows that no record made.
struct AddedOps {
  std::shared_mutex mutex;
  llvm::StringMap<const OpInfo *> byName;
};

AddedOps &addedOps() {
  static AddedOps *added = new AddedOps; // never destroyed: rows live for ever
  return *added;
}
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
  if (const OpInfo *found = byName->lookup(name))
    return found;
  if (!name.contains('.'))
    return nullptr;
  std::shared_lock<std::shared_mutex> lock(addedOps().mutex);
  return addedOps().byName.lookup(name);
}

llvm::Error addOps(llvm::ArrayRef<OpInfo *> rows) {
  AddedOps &added = addedOps();
  std::unique_lock<std::shared_mutex> lock(added.mutex);
  for (size_t i = 0; i < rows.size(); ++i) {
    auto isSame = [&](const OpInfo *other) { return llvm::StringRef(rows[i]->name) == other->name; };
    if (added.byName.contains(rows[i]->name) || llvm::any_of(rows.take_front(i), isSame))
      return invalidArgument("custom_op: names of operators must differ, got '" + llvm::Twine(rows[i]->name) +
                             "' twice");
  }
  const size_t first = allOps().size() + controlOps().size() + added.byName.size();
  for (auto [i, row] : llvm::enumerate(rows)) {
    row->id = uint16_t(first + i);
    added.byName[row->name] = row;
  }
  return llvm::Error::success();
}

const OpInfo *findOpDef(llvm::StringRef opdefName) {
  for (const OpInfo &info : allOps())
    if (opdefName == info.opdefName)
      return &info;
  return opdefName.contains('.') ? findOp(opdefName) : nullptr; // of rows that no record made both names are one
}

llvm::ArrayRef<Split> splitsOf(const OpInfo &info) {
  llvm::ArrayRef<Split> all = splits();
  return all.drop_while([&](const Split &split) { return split.op != &info; }).take_while([&](const Split &split) {
    return split.op == &info;
  });
}

} // namespace tess
