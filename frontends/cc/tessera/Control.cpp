//===- Control.cpp - branches and loops ----------------------------------===//
#include "tessera/Control.h"

#include "eager/tracing/ControlFlow.h"
#include "eager/tracing/UserFunctions.h"
#include "tessera/Apply.h"

namespace tessera::detail {

namespace eager = tess::eager;

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
  eager::UserFunctions functions;
  auto trip = [&](llvm::ArrayRef<eager::TensorRef> now, llvm::ArrayRef<eager::TensorRef> elements) {
    return functions.call([&] {
      Lists made = step(tensorsOf(eager::Tensors(now)), tensorsOf(eager::Tensors(elements)));
      return eager::TripValues{refs(made.first), refs(made.second)};
    });
  };
  eager::TripValues values =
      valueOrThrow(functions.outcome(eager::scan(trip, refs(carried), refs(xs), options.length, options.reverse)));
  return {tensorsOf(std::move(values.carried)), tensorsOf(std::move(values.stacked))};
}

List condLists(const Tensor &pred, const std::function<List()> &then, const std::function<List()> &otherwise) {
  eager::UserFunctions functions;
  auto branch = [&](const std::function<List()> &function) { return functions.call([&] { return refs(function()); }); };
  return tensorsOf(valueOrThrow(
      functions.outcome(eager::cond(pred.ref(), [&] { return branch(then); }, [&] { return branch(otherwise); }))));
}

List whileLists(const std::function<Tensor(const List &)> &cond, const std::function<List(const List &)> &body,
                const List &carried, std::optional<int64_t> maxTrips) {
  eager::UserFunctions functions;
  auto holds = [&](llvm::ArrayRef<eager::TensorRef> now) {
    return functions.call([&] { return cond(tensorsOf(eager::Tensors(now))).ref(); });
  };
  auto trip = [&](llvm::ArrayRef<eager::TensorRef> now) {
    return functions.call([&] { return refs(body(tensorsOf(eager::Tensors(now)))); });
  };
  return tensorsOf(valueOrThrow(functions.outcome(eager::whileLoop(holds, trip, refs(carried), maxTrips))));
}

} // namespace tessera::detail
