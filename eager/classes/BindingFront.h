//===- BindingFront.h - bindings that a thread used last --------*- C++ -*-===//
//
// The short way of a call that a program answers: what the calling thread ran
// before on operands of the same shapes. A hit makes no metas, takes no lock and
// looks nothing up in the operator cache.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/classes/CompiledOp.h"
#include "eager/tensor/Operator.h"

#include <array>

namespace tess::eager {

/// Bindings of one thread, by operator and shapes. It keeps none alive: what the caches drop is gone here, too.
class BindingFront {
public:
  /// Of the calling thread.
  static BindingFront &own();

  /// The binding for exactly this operator, operands' dtypes and shapes, device, settings and whether the result lies
  /// where an operand lay; null when the thread did not use it lately. Now and then it is null all the same, so that
  /// the caches learn which bindings are in use.
  BoundShapesRef find(const OpDef &op, llvm::ArrayRef<Operand> operands, const runtime::Device &device,
                      const runtime::BindSettings &settings, bool isInPlace);
  /// Remembers what find() did not have.
  void insert(const OpDef &op, llvm::ArrayRef<Operand> operands, const BoundShapesRef &bound);

private:
  struct Entry {
    OpDef op;
    const runtime::Device *device = nullptr; // of the binding
    std::weak_ptr<BoundShapes> bound;
    unsigned hits = 0;
  };
  static constexpr size_t kEntries = 512;

  Entry &entryOf(const OpDef &op, llvm::ArrayRef<Operand> operands, bool isInPlace);

  std::array<Entry, kEntries> entries;
};

} // namespace tess::eager
