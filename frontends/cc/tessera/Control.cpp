//===- Control.cpp - branches and loops ----------------------------------===//
#include "tessera/Control.h"

#include "eager/tracing/ControlFlow.h"

#include <exception>

namespace tessera::detail {

namespace eager = tess::eager;

static eager::Tensors refs(llvm::ArrayRef<Tensor> tensors) {
  eager::Tensors list;
  for (const Tensor &tensor : tensors)
    list.push_back(tensor.ref());
  return list;
}

static List tensorsOf(llvm::ArrayRef<eager::TensorRef> refs) {
  List list;
  for (const eager::TensorRef &ref : refs)
    list.emplace_back(ref);
  return list;
}

namespace {

/// Calls functions that throw, for a library that returns errors: what was thrown comes out when the library has ended.
class Functions {
public:
  template <typename F> auto call(F function) -> llvm::Expected<decltype(function())> {
    try {
      return function();
    } catch (...) {
      thrown = std::current_exception();
    }
    return tess::invalidArgument(kThrown);
  }
  template <typename T> T valueOf(llvm::Expected<T> result) const {
    if (result)
      return std::move(*result);
    auto [code, message] = tess::takeError(result.takeError());
    if (message == kThrown)
      std::rethrow_exception(thrown);
    throw Error(code, message);
  }

private:
  static constexpr const char *kThrown = "\x01thrown";

  std::exception_ptr thrown;
};

} // namespace

void checkContainers(const Leaves &made, const Leaves &expected, const char *what) {
  if (made.sizes == expected.sizes)
    return;
  auto text = [](const Leaves &leaves) {
    return tess::toString(llvm::ArrayRef(Shape(leaves.sizes.begin(), leaves.sizes.end())));
  };
  throw Error(ErrorCode::TypeMismatch,
              std::string(what) + " in containers of the same sizes, got " + text(made) + " and " + text(expected));
}

Lists scanLists(const std::function<Lists(const List &, const List &)> &step, const List &carried, const List &xs,
                const ScanOptions &options) {
  Functions functions;
  auto trip = [&](llvm::ArrayRef<eager::TensorRef> now, llvm::ArrayRef<eager::TensorRef> elements) {
    return functions.call([&] {
      Lists made = step(tensorsOf(now), tensorsOf(elements));
      return eager::TripValues{refs(made.first), refs(made.second)};
    });
  };
  eager::TripValues values =
      functions.valueOf(eager::scan(trip, refs(carried), refs(xs), options.length, options.reverse));
  return {tensorsOf(values.carried), tensorsOf(values.stacked)};
}

List condLists(const Tensor &pred, const std::function<List()> &then, const std::function<List()> &otherwise) {
  Functions functions;
  auto branch = [&](const std::function<List()> &function) { return functions.call([&] { return refs(function()); }); };
  return tensorsOf(
      functions.valueOf(eager::cond(pred.ref(), [&] { return branch(then); }, [&] { return branch(otherwise); })));
}

List whileLists(const std::function<Tensor(const List &)> &cond, const std::function<List(const List &)> &body,
                const List &carried, std::optional<int64_t> maxTrips) {
  Functions functions;
  auto holds = [&](llvm::ArrayRef<eager::TensorRef> now) {
    return functions.call([&] { return cond(tensorsOf(now)).ref(); });
  };
  auto trip = [&](llvm::ArrayRef<eager::TensorRef> now) {
    return functions.call([&] { return refs(body(tensorsOf(now))); });
  };
  return tensorsOf(functions.valueOf(eager::whileLoop(holds, trip, refs(carried), maxTrips)));
}

} // namespace tessera::detail
