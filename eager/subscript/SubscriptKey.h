//===- SubscriptKey.h - what x[key] asks for --------------------*- C++ -*-===//
//
// A frontend reads a key into items; here these become what the operators know:
// slices, axes to remove and to add, index arrays, masks.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/stack/Apply.h"

namespace tess::eager {

/// A stop behind the last element, whatever the size.
constexpr int64_t kOpenStop = INT64_MAX;

/// A slice's bounds: negative ones count from the end, and those beyond it are limited to the axis.
struct SliceBounds {
  int64_t start = 0, stop = kOpenStop, step = 1;
};

/// One item of a key whose axis is not known yet.
struct KeyItem {
  enum class Kind : uint8_t { NewAxis, Ellipsis, Slice, Int, Indices, Mask };
  explicit KeyItem(Kind kind, SliceBounds bounds = {}, SliceBounds given = {})
      : kind(kind), bounds(bounds), given(given) {}
  KeyItem(Kind kind, TensorRef array, bool isKnown) : kind(kind), array(std::move(array)), isKnown(isKnown) {}

  Kind kind;
  SliceBounds bounds; // Slice; of an Int the start is the index
  /// The same as it was said, where a size of a recording or a network may be an expression.
  SliceBounds given;
  TensorRef array; // Indices, of int32 or int64; Mask
  /// The array was made of data, so that a trace knows how many elements a mask takes; else it is a tensor.
  bool isKnown = false;

  static KeyItem newAxis() { return KeyItem(Kind::NewAxis); }
  static KeyItem ellipsis() { return KeyItem(Kind::Ellipsis); }
  static KeyItem slice(SliceBounds bounds, SliceBounds given);
  /// `given` is the index or its expression.
  static KeyItem integer(int64_t index, int64_t given);
  /// OutOfRange unless the array is of integers or bools, which make a mask.
  static llvm::Expected<KeyItem> ofArray(TensorRef array, bool isKnown, llvm::StringRef user);
  /// The axes of x that it takes.
  unsigned numAxes() const { return kind < Kind::Slice ? 0 : kind == Kind::Mask ? array->rank() : 1; }
};

/// What a key says about the axes of x, and the axes of the result.
struct Key {
  /// A boolean array over the axes of x from `axis` on.
  struct Mask {
    int64_t axis;
    TensorRef array;
    bool isKnown; // as of its item
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
  llvm::SmallVector<std::pair<int64_t, TensorRef>, 2> indices;
  llvm::SmallVector<Mask, 1> masks;
  /// Masks of rank 0, and the index arrays that they become. Each has an axis of size 1 of its own, the one at place
  /// `axis` of `added`.
  llvm::SmallVector<Mask, 1> scalarMasks;
  llvm::SmallVector<std::pair<int64_t, TensorRef>, 1> scalarIndices;
  bool isSliced = false;
  bool isWrittenDown = false; // isWrittenDown(x)

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

/// OutOfRange with the name of `user`, "getitem", where an item does not fit the tensor.
llvm::Expected<Key> readKey(TensorImpl &tensor, llvm::ArrayRef<KeyItem> items, llvm::StringRef user);

} // namespace tess::eager
