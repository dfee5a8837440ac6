//===- Terms.h - what the terms of records call ------------------*- C++ -*-===//
//
// tess-tblgen turns terms of records (ops/tblgen/TermParser.h) into C++ over
// these functions. A comparison that a size leaves open holds: the run finds out.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/inference/RuleErrors.h"
#include "ops/vocabulary/AttrValue.h"
#include "ops/vocabulary/BroadcastCounts.h"

namespace tess::terms {

using Sizes = llvm::ArrayRef<int64_t>;

/// Whether a size is a number.
inline bool isNumber(int64_t size) { return size != kUnknown && !sizes::isSymbolic(size); }
/// Whether a size is a number or an expression.
inline bool hasSize(int64_t size) { return size != kUnknown; }

// Comparisons of which one that is open holds.
inline bool mayEqual(int64_t a, int64_t b) { return !isNumber(a) || !isNumber(b) || a == b; }
inline bool mayDiffer(int64_t a, int64_t b) { return !isNumber(a) || !isNumber(b) || a != b; }
inline bool mayBeBelow(int64_t a, int64_t b) { return !isNumber(a) || !isNumber(b) || a < b; }
inline bool mayBeAtMost(int64_t a, int64_t b) { return !isNumber(a) || !isNumber(b) || a <= b; }
bool mayEqual(Sizes a, Sizes b);
/// The same of what a record demands: that expressions are equal is taken for granted, and told (sizes::agreed).
inline bool mustEqual(int64_t a, int64_t b) { return !shapes::differs(a, b); }
bool mustEqual(Sizes a, Sizes b);
/// Whether both are the same numbers, expressions and unknown sizes.
inline bool isSame(Sizes a, Sizes b) { return a == b; }
/// Whether a number that is no size may divide a size.
inline bool mayDivide(int64_t a, int64_t size) { return !isNumber(size) || size % a == 0; }
/// Whether `a` may broadcast to `b`; whether all may broadcast together.
bool mayFit(Sizes a, Sizes b);
bool mayBroadcast(llvm::ArrayRef<Sizes> lists);

/// Entry `index` of a list, which counts from its end below 0.
inline int64_t at(Sizes list, int64_t index) { return list[index < 0 ? index + int64_t(list.size()) : index]; }
inline IntList listOf(Sizes list) { return IntList(list.begin(), list.end()); }
inline IntList listOf(IntList &&list) { return std::move(list); }
/// The list without the entry `index`; with `entry` before it.
IntList without(Sizes list, int64_t index);
IntList with(Sizes list, int64_t index, int64_t entry);
/// The list with the product of its entries from `first` to `last` in their place.
IntList merged(Sizes list, int64_t first, int64_t last);
/// The entries of all lists.
IntList joined(llvm::ArrayRef<IntList> lists);
/// The first `count` entries of a list.
inline Sizes start(Sizes list, int64_t count) { return list.take_front(count); }
/// The sum of the entries.
int64_t sum(Sizes list);
/// The shape to which lists that may broadcast do; to which those of indices do, whose sizes data may decide.
IntList broadcast(llvm::ArrayRef<Sizes> lists);
template <typename Lists> IntList broadcastAll(const Lists &lists) {
  Shape shape;
  for (size_t i = 0; i < lists.size(); ++i)
    broadcastCounts(shape, lists[i]);
  return listOf(shape);
}
/// The number of elements of a shape.
int64_t product(Sizes shape);
/// The product of numbers that int64 may not hold; 0 where one is a size that data or a run decides.
double times(Sizes factors);

/// An axis of `rank` ones, or axes, counted from the front.
using shapes::fromFront;
IntList fromFront(Sizes axes, int64_t rank);
/// The permutation that undoes one.
IntList inverse(Sizes permutation);
/// The axes in ascending order, counted from the front; of an empty list all of them.
IntList allAxes(Sizes axes, int64_t rank);
/// Whether each result of a reduction over `axes` (empty: all) has elements, or there is no result.
bool hasElements(Sizes shape, Sizes axes);

/// What `term` gives for those of 0, 1, ... below `count` that `isTaken`.
template <typename Term, typename Condition> auto each(int64_t count, Term term, Condition isTaken) {
  std::conditional_t<std::is_same_v<decltype(term(0)), IntList>, llvm::SmallVector<IntList, 4>, IntList> list;
  for (int64_t i = 0; i < count; ++i)
    if (isTaken(i))
      list.push_back(term(i));
  return list;
}
/// The same for all of them.
template <typename Term> auto each(int64_t count, Term term) {
  return each(count, term, [](int64_t) { return true; });
}
/// For how many of them `condition` holds.
template <typename Condition> int64_t count(int64_t count, Condition condition) {
  int64_t held = 0;
  for (int64_t i = 0; i < count; ++i)
    held += condition(i);
  return held;
}
/// Whether `condition` holds for all of them.
template <typename Condition> bool all(int64_t count, Condition condition) {
  for (int64_t i = 0; i < count; ++i)
    if (!condition(i))
      return false;
  return true;
}

/// The shapes of operands, or of their layouts.
template <typename Values> struct Shapes {
  Values values;
  size_t size() const { return values.size(); }
  Sizes operator[](int64_t i) const { return values[i].shape; }
};
template <typename Values> Shapes<Values> shapesOf(Values values) { return {values}; }

/// Lets `common` have the known ones of its entries and those of `list`; false where they differ.
bool unify(IntList &common, Sizes list);
/// Whether lists may be the same, of at least one the entries that all agree on: that expressions are equal is taken
/// for granted, and told (sizes::agreed).
template <typename Lists> bool alike(const Lists &lists) {
  IntList common = lists.size() ? listOf(lists[0]) : IntList();
  for (size_t i = 1; i < lists.size(); ++i)
    if (!unify(common, lists[i]))
      return false;
  return true;
}
template <typename Lists> IntList unified(const Lists &lists) {
  IntList common = listOf(lists[0]);
  for (size_t i = 1; i < lists.size(); ++i)
    unify(common, lists[i]);
  return common;
}

inline bool contains(llvm::StringRef text, llvm::StringRef part) { return text.contains(part); }

/// The dtype that computes for `dtype`: float32 for narrow floats.
inline DType wide(DType dtype) { return isNarrowFloat(dtype) ? DType::Float32 : dtype; }

/// Values in messages.
inline std::string text(llvm::StringRef value) { return value.str(); }
inline std::string text(int64_t value) { return std::to_string(value); }
inline std::string text(Sizes list) { return toString(list); }
inline std::string text(const TensorMeta &meta) { return toString(meta); }
inline std::string text(DType dtype) { return shortName(dtype).str(); }
std::string text(llvm::ArrayRef<TensorMeta> metas);

/// Results of these shapes; Infer sets their dtypes.
Metas metasOf(llvm::ArrayRef<IntList> shapes);
Metas metasOf(llvm::ArrayRef<IntList> shapes, llvm::ArrayRef<DType> dtypes);
/// A shape, or a layout, whose axes are those of `x` in `order`.
IntList permuted(Sizes x, Sizes order);
Layout permuted(const Layout &x, Sizes order);
/// The layout of elements of `x`, in a shape: the first at `from`, the next ones `steps` further along each axis.
Layout strided(const Layout &x, Sizes shape, Sizes from, Sizes steps);

} // namespace tess::terms
