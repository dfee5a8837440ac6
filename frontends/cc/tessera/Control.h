//===- Control.h - branches and loops ---------------------------*- C++ -*-===//
//
//     auto [last, sums] = scan(
//         [](const Tensor &sum, const Tensor &x) { return std::pair(sum + x, sum); }, Tensor(0.0f), xs);
//
// Loops of the language where nothing is traced; in a traced function one
// operator of the program, however many trips there are. What a function reads
// from outside and changes (a running mean, the state of random numbers) goes
// from trip to trip as it does in a loop.
//
// Values are trees: a Tensor, or a vector, array, pair, tuple or map of such.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tessera/Trees.h"

#include <functional>

namespace tessera {

/// How a scan goes through its trips.
struct ScanOptions {
  /// The number of trips where there are no xs.
  std::optional<int64_t> length = {};
  /// The last element comes first; each y stands where its x does.
  bool reverse = false;
};

namespace detail {

using List = std::vector<Tensor>;
/// Carried values, and elements or what they are stacked to.
using Lists = std::pair<List, List>;

Lists scanLists(const std::function<Lists(const List &, const List &)> &step, const List &carried, const List &xs,
                const ScanOptions &options);
List condLists(const Tensor &pred, const std::function<List()> &then, const std::function<List()> &otherwise);
List whileLists(const std::function<Tensor(const List &)> &cond, const std::function<List(const List &)> &body,
                const List &carried, std::optional<int64_t> maxTrips);
/// TypeMismatch: `what` must be in the containers `expected`.
void checkContainers(const Leaves &made, const Leaves &expected, const char *what);

/// `function` of a tree, or of its parts where it takes these.
template <typename F, typename Tree> decltype(auto) callWith(F &function, const Tree &tree) {
  if constexpr (std::is_invocable_v<F &, const Tree &>)
    return function(tree);
  else
    return std::apply(function, tree);
}

/// The scan whose trips are `step(carried, elements)`, which returns carried values or a pair of these and of y.
template <typename Step, typename Carried>
auto scanTrees(Step step, const Carried &carried, const List &xs, const ScanOptions &options) {
  using Result = std::decay_t<decltype(step(carried, xs))>;
  constexpr bool hasNoY = std::is_same_v<Result, Carried>;
  Leaves first(carried);
  if constexpr (hasNoY) {
    auto trip = [&](const List &now, const List &elements) {
      Leaves made(step(rebuilt(carried, now), elements));
      checkContainers(made, first, "scan: step must return carried values");
      return Lists(made.tensors, {});
    };
    return rebuilt(carried, scanLists(trip, first.tensors, xs, options).first);
  } else {
    static_assert(std::is_same_v<typename Result::first_type, Carried>,
                  "a step returns the carried values in the types that it takes, alone or in a pair with y");
    std::optional<typename Result::second_type> y;
    auto trip = [&](const List &now, const List &elements) {
      Result result = step(rebuilt(carried, now), elements);
      Leaves made(result.first);
      checkContainers(made, first, "scan: step must return carried values");
      y = result.second;
      return Lists(made.tensors, Leaves(result.second).tensors);
    };
    Lists results = scanLists(trip, first.tensors, xs, options);
    return std::pair(rebuilt(carried, results.first), rebuilt(*y, results.second));
  }
}

} // namespace detail

/// Applies `step(carried, x)` to each element of `xs` along axis 0. A step returns what the next one gets as `carried`,
/// with dtypes and shapes that stay, alone or in a pair with y. The result is what the last step carried, in a pair
/// with the ys stacked along a new axis 0.
///
/// Where a step returns what data gave its size it is the operators of every trip; with more than 256 trips, or where
/// a step looks at such a size as a number, the traced function runs eagerly.
///
/// InvalidArgument: xs must have one size of axis 0; a step must return carried values with the dtypes and shapes that
/// it takes. TypeMismatch: and in the containers.
template <typename Step, typename Carried, typename Xs>
auto scan(Step step, const Carried &carried, const Xs &xs, const ScanOptions &options = {}) {
  auto trip = [&](const Carried &now, const detail::List &elements) {
    return step(now, detail::rebuilt(xs, elements));
  };
  return detail::scanTrees(trip, carried, detail::Leaves(xs).tensors, options);
}
/// The same of `step(carried)` where there are no xs: `options.length` is the number of trips.
template <typename Step, typename Carried> auto scan(Step step, const Carried &carried, const ScanOptions &options) {
  return detail::scanTrees([&](const Carried &now, const detail::List &) { return step(now); }, carried, {}, options);
}

/// `then(operands...)` where `pred` holds, else `otherwise(operands...)`, of one type. In a traced function both are
/// parts of the program, of which a run takes one: the other computes nothing, draws no random numbers and changes no
/// variable. One that looks at a size that data decides, or returns such, runs eagerly.
///
/// InvalidArgument: pred must have rank 0; both must return the same dtypes and shapes. TypeMismatch: pred must be a
/// bool; both must return the same containers.
template <typename Then, typename Otherwise, typename... Operands>
auto cond(const Tensor &pred, Then then, Otherwise otherwise, const Operands &...operands) {
  using Result = std::decay_t<decltype(then(operands...))>;
  std::optional<Result> result;
  auto branch = [&](auto &function) {
    Result made = function(operands...);
    detail::Leaves leaves(made);
    if (result)
      detail::checkContainers(leaves, detail::Leaves(*result), "cond: both branches must return values");
    result = std::move(made);
    return leaves.tensors;
  };
  detail::List results = detail::condLists(pred, [&] { return branch(then); }, [&] { return branch(otherwise); });
  return detail::rebuilt(*result, results);
}

/// Applies `body` to what it returned before as long as `cond` of it holds, `maxTrips` times at most. The functions
/// take the carried values, of which a tuple or pair may be several arguments; body returns them anew. What the trips
/// save for a gradient is planned for `maxTrips` of them, or grows as the loop goes on.
///
/// InvalidArgument: cond must return rank 0; body must return carried values with the dtypes and shapes that it takes;
/// maxTrips must be at least 0, and be given in a traced function for gradients of third order, and for those of two
/// gradients through the same loop. TypeMismatch: cond must return a bool. ResourceExhausted: there is no memory for
/// what another trip saves.
template <typename Cond, typename Step, typename Carried>
Carried whileLoop(Cond cond, Step body, const Carried &carried, std::optional<int64_t> maxTrips = std::nullopt) {
  detail::Leaves first(carried);
  auto holds = [&](const detail::List &now) -> Tensor { return detail::callWith(cond, detail::rebuilt(carried, now)); };
  auto trip = [&](const detail::List &now) {
    const Carried next = detail::callWith(body, detail::rebuilt(carried, now));
    detail::Leaves made(next);
    detail::checkContainers(made, first, "while_loop: body must return carried values");
    return made.tensors;
  };
  return detail::rebuilt(carried, detail::whileLists(holds, trip, first.tensors, maxTrips));
}

} // namespace tessera
