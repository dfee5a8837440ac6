//===- BindingFront.cpp - bindings that a thread used last ----------------===//
#include "eager/classes/BindingFront.h"
#include "ops/vocabulary/Hash.h"

#include "llvm/ADT/STLExtras.h"

namespace tess::eager {

BindingFront &BindingFront::own() {
  static thread_local const auto front = std::make_unique<BindingFront>();
  return *front;
}

BindingFront::Entry &BindingFront::entryOf(const OpDef &op, llvm::ArrayRef<Operand> operands, bool isInPlace) {
  uint64_t hash = op.hash() + isInPlace;
  for (const Operand &operand : operands)
    for (int64_t size : operand.tensor->shape())
      hash = mixHash(hash, uint64_t(size));
  return entries[hash % kEntries];
}

BoundShapesRef BindingFront::find(const OpDef &op, llvm::ArrayRef<Operand> operands, const runtime::Device &device,
                                  const runtime::BindSettings &settings, bool isInPlace) {
  constexpr unsigned kRefresh = 1024; // hits, after which the caches are asked once
  Entry &entry = entryOf(op, operands, isInPlace);
  if (entry.device != &device)
    return nullptr;
  BoundShapesRef bound = entry.bound.lock();
  if (!bound || !(bound->settings == settings) || bound->isInPlace != isInPlace ||
      bound->inputs.size() != operands.size() || !entry.op.isSame(op) || ++entry.hits % kRefresh == 0)
    return nullptr;
  for (auto [meta, operand] : llvm::zip(bound->inputs, operands))
    if (!operand.tensor->hasMeta(meta))
      return nullptr;
  return bound;
}

void BindingFront::insert(const OpDef &op, llvm::ArrayRef<Operand> operands, const BoundShapesRef &bound) {
  Entry &entry = entryOf(op, operands, bound->isInPlace);
  entry.op = op;
  entry.device = &bound->bound->program().device();
  entry.bound = bound;
}

} // namespace tess::eager
