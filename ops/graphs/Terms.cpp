//===- Terms.cpp - what the terms of records call -------------------------===//
#include "ops/graphs/Terms.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace tess::terms {

bool mayEqual(Sizes a, Sizes b) {
  return a.size() == b.size() &&
         llvm::all_of(llvm::zip_equal(a, b), [](auto pair) { return mayEqual(std::get<0>(pair), std::get<1>(pair)); });
}

bool mustEqual(Sizes a, Sizes b) {
  return a.size() == b.size() &&
         llvm::all_of(llvm::zip_equal(a, b), [](auto pair) { return mustEqual(std::get<0>(pair), std::get<1>(pair)); });
}

bool mayFit(Sizes a, Sizes b) { return broadcastsTo(a, b); }

bool mayBroadcast(llvm::ArrayRef<Sizes> lists) {
  Shape shape;
  return llvm::all_of(lists, [&](Sizes list) { return broadcastInto(shape, list); });
}

IntList broadcast(llvm::ArrayRef<Sizes> lists) {
  Shape shape;
  for (Sizes list : lists)
    broadcastInto(shape, list);
  return listOf(shape);
}

IntList without(Sizes list, int64_t index) {
  IntList rest = listOf(list);
  rest.erase(rest.begin() + fromFront(index, rest.size()));
  return rest;
}

IntList with(Sizes list, int64_t index, int64_t entry) {
  IntList more = listOf(list);
  more.insert(more.begin() + index, entry);
  return more;
}

IntList merged(Sizes list, int64_t first, int64_t last) {
  IntList rest = listOf(list.take_front(first));
  rest.push_back(product(list.slice(first, last - first + 1)));
  rest.append(list.begin() + last + 1, list.end());
  return rest;
}

IntList joined(llvm::ArrayRef<IntList> lists) {
  IntList all;
  for (const IntList &list : lists)
    all.append(list);
  return all;
}

int64_t sum(Sizes list) {
  int64_t all = 0;
  for (int64_t size : list)
    all = sizes::add(all, size);
  return all;
}

bool unify(IntList &common, Sizes list) {
  if (common.size() != list.size())
    return false;
  for (auto [size, other] : llvm::zip_equal(common, list)) {
    if (size == kUnknown)
      size = other;
    else if (other != kUnknown && sizes::isSymbolic({size, other}))
      size = sizes::agreed(size, other);
    else if (other != kUnknown && size != other)
      return false;
  }
  return true;
}

std::string text(llvm::ArrayRef<TensorMeta> metas) {
  return llvm::join(llvm::map_range(metas, [](const TensorMeta &meta) { return toString(meta); }), ", ");
}

double times(Sizes factors) {
  double product = 1;
  for (int64_t factor : factors)
    product *= isNumber(factor) ? double(factor) : 0;
  return product;
}

int64_t product(Sizes shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(count, size, &count))
      return TensorMeta(DType::Float32, shape).numElements();
  return count;
}

IntList fromFront(Sizes axes, int64_t rank) {
  IntList list = listOf(axes);
  for (int64_t &axis : list)
    axis = fromFront(axis, rank);
  return list;
}

IntList inverse(Sizes permutation) {
  IntList list(permutation.size(), 0);
  for (auto [place, axis] : llvm::enumerate(permutation))
    list[axis] = int64_t(place);
  return list;
}

IntList allAxes(Sizes axes, int64_t rank) {
  if (axes.empty())
    return each(rank, [](int64_t axis) { return axis; });
  IntList list = fromFront(axes, rank);
  llvm::sort(list);
  return list;
}

bool hasElements(Sizes shape, Sizes axes) {
  IntList reduced = allAxes(axes, shape.size());
  bool reducesNothing = false, hasResults = true;
  for (auto [axis, size] : llvm::enumerate(shape)) {
    bool isReduced = llvm::is_contained(reduced, int64_t(axis));
    reducesNothing |= isReduced && size == 0;
    hasResults &= isReduced || size != 0;
  }
  return !reducesNothing || !hasResults;
}

Metas metasOf(llvm::ArrayRef<IntList> shapes) {
  Metas metas;
  for (const IntList &shape : shapes)
    metas.emplace_back(DType::Float32, shape);
  return metas;
}

Metas metasOf(llvm::ArrayRef<IntList> shapes, llvm::ArrayRef<DType> dtypes) {
  Metas metas = metasOf(shapes);
  for (auto [meta, dtype] : llvm::zip_equal(metas, dtypes))
    meta.dtype = dtype;
  return metas;
}

IntList permuted(Sizes x, Sizes order) {
  return each(order.size(), [&](int64_t i) { return x[order[i]]; });
}

Layout permuted(const Layout &x, Sizes order) {
  Layout layout;
  layout.offset = x.offset;
  for (int64_t axis : order) {
    layout.shape.push_back(x.shape[axis]);
    layout.strides.push_back(x.strides[axis]);
  }
  return layout;
}

Layout strided(const Layout &x, Sizes shape, Sizes from, Sizes steps) {
  Layout layout;
  layout.offset = x.offset;
  layout.shape.assign(shape.begin(), shape.end());
  bool isEmpty = llvm::is_contained(shape, 0); // its place would be behind the last element, where memory may end
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    layout.strides.push_back(x.strides[axis] * steps[axis]);
    layout.offset += isEmpty ? 0 : from[axis] * x.strides[axis];
  }
  return layout;
}

} // namespace tess::terms
