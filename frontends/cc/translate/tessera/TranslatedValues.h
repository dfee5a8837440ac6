//===- TranslatedValues.h - Python's values ---------------------*- C++ -*-===//
//
// None, numbers, tuples and lists as Python has them, and their functions. For
// generated files only.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tessera/Sizes.h"
#include "tessera/Texts.h"

#include <array>
#include <cmath>
#include <numeric>

namespace tessera::texts {
/// The numbers as they were given.
inline std::string shown(const Sizes &x) { return x.isOne() ? shown(x.list()[0]) : shown(x.list()); }
} // namespace tessera::texts

namespace tessera::translated {

using namespace texts;

//===----------------------------------------------------------------------===//
// None, truth
//===----------------------------------------------------------------------===//

/// Python's None, as a tensor, an option or a string.
struct None {
  operator Tensor() const { return Tensor(); }
  operator States() const { return {}; }
  template <typename T> operator std::optional<T>() const { return std::nullopt; }
};
inline constexpr None none;

/// `x is None`.
inline bool isNone(const Tensor &x) { return !x.isDefined(); }
/// The same of a state that is not given.
inline bool isNone(const States &x) { return !x[0].isDefined(); }
/// The same of an option.
template <typename T> bool isNone(const std::optional<T> &x) { return !x; }
/// The same of None itself.
inline bool isNone(None) { return true; }

/// `bool(x)`.
template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>> bool truth(T x) { return x != 0; }
/// The same of a list.
template <typename T> bool truth(const std::vector<T> &x) { return !x.empty(); }
/// The same of an option.
template <typename T> bool truth(const std::optional<T> &x) { return x && truth(*x); }

/// `x or other`.
template <typename T> T either(const std::optional<T> &x, T other) { return truth(x) ? *x : other; }
inline bool either(bool x, bool other) { return x || other; }
inline int64_t either(int64_t x, int64_t other) { return x ? x : other; }

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

template <typename T> constexpr bool isNumber = std::is_arithmetic_v<T>;

/// True division.
template <typename X, typename Y> auto divide(const X &x, const Y &y) {
  if constexpr (isNumber<X> && isNumber<Y>)
    return double(x) / double(y);
  else
    return x / y;
}
/// `x // y`.
inline int64_t floorDivide(int64_t x, int64_t y) { return x / y - (x % y != 0 && (x < 0) != (y < 0)); }
/// `x % y`, of the sign of y.
inline int64_t modulo(int64_t x, int64_t y) { return x - floorDivide(x, y) * y; }
/// `x ** y`.
inline double power(double x, double y) { return std::pow(x, y); }

namespace math {
/// The functions of Python's math.
inline double sqrt(double x) { return std::sqrt(x); }
inline double log(double x) { return std::log(x); }
inline double cos(double x) { return std::cos(x); }
/// The product of all.
inline int64_t prod(const Shape &sizes) {
  int64_t product = 1;
  for (int64_t size : sizes)
    product *= size;
  return product;
}
} // namespace math

//===----------------------------------------------------------------------===//
// Tuples and lists
//===----------------------------------------------------------------------===//

/// `*x` within a tuple.
template <typename T> struct Spread {
  std::vector<T> parts;
};
/// See Spread.
template <typename T> Spread<T> spread(const std::vector<T> &parts) { return {parts}; }

/// The type of one part.
template <typename T> struct PartOf {
  using Type = T;
};
template <typename T> struct PartOf<Spread<T>> {
  using Type = T;
};
/// Whether all parts are values of a type, or spread lists of them.
template <typename T, typename... Parts>
constexpr bool areAll = (std::is_convertible_v<typename PartOf<Parts>::Type, T> && ...);

/// Appends a part, or the parts of a spread list.
template <typename T, typename P> void add(std::vector<T> &list, const P &part) { list.push_back(part); }
template <typename T, typename P> void add(std::vector<T> &list, const Spread<P> &part) {
  list.insert(list.end(), part.parts.begin(), part.parts.end());
}
/// All parts in one list.
template <typename T, typename... Parts> std::vector<T> listed(const Parts &...parts) {
  std::vector<T> list;
  (add(list, parts), ...);
  return list;
}
/// `(a, b, *c)`: a list of numbers, of lists or of texts, else a tuple.
template <typename... Parts> auto pack(const Parts &...parts) {
  if constexpr (areAll<int64_t, Parts...> && !(std::is_floating_point_v<Parts> || ...))
    return listed<int64_t>(parts...);
  else if constexpr (areAll<Shape, Parts...>)
    return listed<Shape>(parts...);
  else if constexpr (areAll<std::string, Parts...>)
    return listed<std::string>(parts...);
  else if constexpr ((std::is_same_v<Spread<Tensor>, Parts> || ...))
    return listed<Tensor>(parts...);
  else if constexpr ((std::is_same_v<Tensor, Parts> && ...))
    return std::array<Tensor, sizeof...(Parts)>{parts...};
  else
    return std::tuple<Parts...>(parts...);
}
/// `()`.
struct Empty {
  template <typename T> operator std::vector<T>() const { return {}; }
  const std::string *begin() const { return nullptr; }
  const std::string *end() const { return nullptr; }
};
inline Empty pack() { return {}; }
/// `(size,)` of a number that may be one of several.
inline Shape pack(const Sizes &x) { return x.list(); }

/// `list * count`.
template <typename T> std::vector<T> repeated(const std::vector<T> &list, int64_t count) {
  std::vector<T> result;
  for (int64_t i = 0; i < count; ++i)
    result.insert(result.end(), list.begin(), list.end());
  return result;
}
/// `[function(part) for part in list]`.
template <typename List, typename F> auto mapped(const List &list, F function) {
  std::vector<std::decay_t<decltype(function(list[0]))>> result;
  for (const auto &part : list)
    result.push_back(function(part));
  return result;
}
/// As many parts, for a structured binding.
template <size_t N, typename T> std::array<T, N> unpack(const std::vector<T> &list) {
  std::array<T, N> parts;
  for (size_t i = 0; i < N; ++i)
    parts[i] = list.at(i);
  return parts;
}
/// A tuple is in parts already.
template <size_t, typename T> T unpack(T parts) { return parts; }

/// `list[index]`, from the end where it is negative.
inline int64_t at(const Shape &list, int64_t index) { return list.at(index < 0 ? index + list.size() : index); }
template <size_t N> const Tensor &at(const std::array<Tensor, N> &list, size_t index) { return list.at(index); }
template <typename T> const T &at(const std::vector<T> &list, size_t index) { return list.at(index); }
/// `x[index]` of a tensor.
inline Tensor at(const Tensor &x, int64_t index) { return x.index({index}); }
/// `list[start:stop]`, ends from the end where they are negative.
template <typename T>
std::vector<T> part(const std::vector<T> &list, std::optional<int64_t> start, std::optional<int64_t> stop) {
  auto place = [&](int64_t end) {
    int64_t size = int64_t(list.size());
    return list.begin() + std::clamp<int64_t>(end < 0 ? end + size : end, 0, size);
  };
  auto first = place(start.value_or(0)), last = place(stop.value_or(INT64_MAX));
  return {first, std::max(first, last)};
}
/// How many of the sorted numbers are at most `value`.
inline int64_t bisectRightOf(const Shape &sorted, int64_t value) {
  return std::ranges::upper_bound(sorted, value) - sorted.begin();
}
/// `sorted(list)`.
inline Shape sortedOf(Shape list) {
  std::ranges::sort(list);
  return list;
}
/// `min(x, y)`, `max(x, y)`.
inline int64_t minOf(int64_t x, int64_t y) { return std::min(x, y); }
inline int64_t maxOf(int64_t x, int64_t y) { return std::max(x, y); }
/// `sum(list)`, and the sums up to each number.
inline int64_t sumOf(const Shape &list) { return std::accumulate(list.begin(), list.end(), int64_t(0)); }
inline Shape accumulateOf(const Shape &list) {
  Shape sums;
  std::partial_sum(list.begin(), list.end(), std::back_inserter(sums));
  return sums;
}
/// `bool(x)`, `float(x)`.
inline bool boolOf(bool x) { return x; }
inline double floatOf(double x) { return x; }
/// `value in list`.
template <typename T, typename V> bool contains(const std::vector<T> &list, const V &value) {
  return std::ranges::find(list, value) != list.end();
}

/// `isinstance(x, int)`.
inline bool isinstanceOf(int64_t) { return true; }
inline bool isinstanceOf(const Sizes &x) { return x.isOne(); }
/// `tuple(x)`.
inline Shape tupleOf(const Sizes &x) { return x.list(); }
inline Widths tupleOf(const Widths &x) { return x; }
inline States tupleOf(const States &x) { return x; }
inline Shape listOf(const Shape &x) { return x; }
template <typename T> int64_t lenOf(const std::vector<T> &list) { return int64_t(list.size()); }
/// As many different numbers; duplicates are gone.
inline Shape setOf(Shape list) {
  std::ranges::sort(list);
  const auto repeated = std::ranges::unique(list);
  list.erase(repeated.begin(), repeated.end());
  return list;
}
/// `range(stop)`, `range(start, stop)`.
inline Shape rangeOf(int64_t start, int64_t stop) {
  Shape list;
  for (int64_t i = start; i < stop; ++i)
    list.push_back(i);
  return list;
}
inline Shape rangeOf(int64_t stop) { return rangeOf(0, stop); }
/// `zip(...)`.
template <typename... T> auto zipOf(const T &...lists) {
  std::vector<std::tuple<typename T::value_type...>> result;
  for (size_t i = 0; i < std::min({lists.size()...}); ++i)
    result.push_back({lists[i]...});
  return result;
}

} // namespace tessera::translated
