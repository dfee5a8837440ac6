//===- SubscriptKey.h - what x[key] asks for --------------------*- C++ -*-===//
//
// A key is read item by item into what the operators know: slices, axes to
// remove and to add, index arrays, masks.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontends/python/src/TensorType.h"

namespace tess::python {

/// What a key says about the axes of x, and the axes of the result.
struct Key {
  /// A boolean array over the axes of x from `axis` on.
  struct Mask {
    int64_t axis;
    eager::TensorRef array;
    bool isKnown; // it was made of Python data: a trace knows how many elements it takes
  };
  IntList starts, stops, steps; // per axis of x, limited to its size
  /// The bounds as the key says them, which a recording or a network keeps: they hold at other sizes.
  IntList givenStarts, givenStops;
  IntList removed; // axes of x that an int took, but for those that are index arrays beside others
  IntList atInts;  // axes of x that an int took
  IntList added;   // axes of the result (before index arrays) that None made
  IntList addedAt; // axes of x read before each of them
  /// The one of `added` that stands for an ellipsis without axes, which parts index arrays on both sides of it; -1:
  /// none.
  int parting = -1;
  /// Index arrays by axis of x, in its order.
  llvm::SmallVector<std::pair<int64_t, eager::TensorRef>, 2> indices;
  llvm::SmallVector<Mask, 1> masks;
  /// Masks of rank 0, and the index arrays that they become. Each has an axis of size 1 of its own, the one at place
  /// `axis` of `added`.
  llvm::SmallVector<Mask, 1> scalarMasks;
  llvm::SmallVector<std::pair<int64_t, eager::TensorRef>, 1> scalarIndices;
  bool isSliced = false;
  bool isWrittenDown = false; // isWrittenDown(x) in SymInt.h

  /// Only slices, ints and Nones: a view.
  bool isBasic() const { return indices.empty() && masks.empty() && scalarMasks.empty(); }
  /// The slice of every axis, for operators: where it is written down as the key says it.
  const IntList &opStarts() const;
  const IntList &opStops() const;
  /// The axes that an int took, where it is written down: at other sizes it must be an index there, too.
  IntList opInBounds() const;
  /// Takes the whole of an axis.
  void setWhole(unsigned axis, int64_t size);
  /// The key says of some axis that it is not taken whole. No size is asked: eager calls and recordings then apply the
  /// same operators, and gradients are summed in the same order.
  void findSliced();
  /// One mask over the first axes, and nothing else.
  bool isMask() const {
    return masks.size() == 1 && masks[0].axis == 0 && indices.empty() && removed.empty() && added.empty() && !isSliced;
  }
  /// Each mask becomes index arrays: the positions of its true elements.
  llvm::Error masksToIndices();
};

/// An error names the item, and the tensor where it does not fit.
llvm::Expected<Key> readKey(eager::TensorImpl &tensor, PyObject *key);

} // namespace tess::python
