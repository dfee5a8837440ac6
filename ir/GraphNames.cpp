//===- GraphNames.cpp - the names that a graph keeps ----------------------===//
#include "ir/GraphNames.h"
#include "ir/Dialect.h"
#include "ir/OpBridge.h"
#include "ir/OutputEntry.h"
#include "ir/Types.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace tess::ir {
namespace {

/// The module path in a location, "net.fc1" in "train.py:12 (net.fc1)" and in "net.fc1"; empty when it has none.
llvm::StringRef modulePath(llvm::StringRef location) {
  if (location.consume_back(")"))
    return location.rsplit(" (").second;
  return location.contains(':') ? "" : location;
}

std::string nameOf(Operation *op) {
  std::string location = locationText(op->getLoc());
  llvm::StringRef path = modulePath(location);
  return (path.empty() ? "" : path.str() + ".") + infoOf(op)->name;
}

std::string numberedName(size_t index) { return "output" + std::to_string(index); }

/// The operators of results of a call that have the names of the outputs, which the user gave.
llvm::DenseSet<Operation *> operatorsOfOutputs(func::FuncOp func, bool byOperators) {
  llvm::DenseSet<Operation *> found;
  auto values = func.getBody().front().getTerminator()->getOperands();
  for (auto [index, value, entry] : llvm::enumerate(values, func->getAttrOfType<ArrayAttr>(kOutputsAttr))) {
    auto fields = cast<DictionaryAttr>(entry);
    bool isNumbered = byOperators && fields.getAs<StringAttr>("name").str() == numberedName(index);
    if (!updatesState(func, fields) && !isNumbered)
      found.insert(value.getDefiningOp());
  }
  return found;
}

/// Names the outputs that have numbers only by the operators that give them.
void nameOutputs(func::FuncOp func) {
  Builder builder(func.getContext());
  SmallVector<Attribute> entries;
  llvm::DenseSet<Operation *> named;
  auto values = func.getBody().front().getTerminator()->getOperands();
  for (auto [index, value, entry] : llvm::enumerate(values, func->getAttrOfType<ArrayAttr>(kOutputsAttr))) {
    NamedAttrList fields(cast<DictionaryAttr>(entry));
    Operation *op = value.getDefiningOp();
    bool isNumbered = cast<StringAttr>(fields.get("name")).str() == numberedName(index);
    if (isNumbered && op && op->hasAttr(kNameAttr) && value == op->getResult(0) && named.insert(op).second)
      fields.set("name", op->getAttr(kNameAttr));
    entries.push_back(fields.getDictionary(func.getContext()));
  }
  func->setAttr(kOutputsAttr, builder.getArrayAttr(entries));
}

/// Names the operators that have none.
void nameOperators(func::FuncOp func, bool byOperators) {
  llvm::DenseSet<Operation *> ofOutputs = operatorsOfOutputs(func, byOperators);
  llvm::StringMap<unsigned> counts, numbers;
  std::vector<std::pair<Operation *, std::string>> unnamed;
  for (Operation &op : func.getBody().front())
    if (infoOf(&op) && !op.hasAttr(kNameAttr) && !ofOutputs.contains(&op)) {
      unnamed.emplace_back(&op, nameOf(&op));
      ++counts[unnamed.back().second];
    }
  for (auto &[op, name] : unnamed) {
    if (counts[name] > 1)
      name += "[" + std::to_string(numbers[name]++) + "]";
    op->setAttr(kNameAttr, StringAttr::get(op->getContext(), name));
  }
}

/// Names the outputs by their numbers; updates of state keep their names.
void numberOutputs(func::FuncOp func) {
  Builder builder(func.getContext());
  SmallVector<Attribute> entries;
  for (auto [index, entry] : llvm::enumerate(func->getAttrOfType<ArrayAttr>(kOutputsAttr))) {
    NamedAttrList fields(cast<DictionaryAttr>(entry));
    if (!updatesState(func, cast<DictionaryAttr>(entry)))
      fields.set("name", builder.getStringAttr(numberedName(index)));
    entries.push_back(fields.getDictionary(func.getContext()));
  }
  func->setAttr(kOutputsAttr, builder.getArrayAttr(entries));
}

/// Takes the name of a constant, which its bytes have in the text, too; they stay where they are.
void forgetName(ConstantOp constant) {
  auto content = cast<DenseResourceElementsAttr>(constant.getValue());
  constant.setKey("");
  constant.setValueAttr(DenseResourceElementsAttr::get(
      content.getType(), "constant",
      UnmanagedAsmResourceBlob::allocateWithAlign(content.getRawHandle().getBlob()->getData(), 64)));
}

} // namespace

void keepNames(Graph &graph, const KeptNames &kept) {
  std::lock_guard lock(graph.impl().mutex);
  func::FuncOp func = graph.impl().main();
  for (Operation &op : func.getBody().front()) {
    if (auto constant = dyn_cast<ConstantOp>(op); constant && !kept.constants)
      forgetName(constant);
    else if (infoOf(&op) && !kept.values)
      op.removeAttr(kNameAttr);
  }
  if (kept.operators)
    nameOperators(func, kept.outputsByOperators);
  if (kept.operators && kept.outputsByOperators)
    nameOutputs(func);
  if (!kept.outputs)
    numberOutputs(func);
}

} // namespace tess::ir
