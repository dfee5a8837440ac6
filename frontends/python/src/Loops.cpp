//===- Loops.cpp - branches and loops of Python functions ------------------===//
#include "frontends/python/src/Errors.h"
#include "frontends/python/src/Module.h"
#include "frontends/python/src/TensorObject.h"
#include "frontends/python/src/Trace.h"

#include "eager/gradients/Recomputation.h"
#include "eager/tracing/ControlFlow.h"
#include "eager/tracing/Recorder.h"
#include "eager/tracing/UserFunctions.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

namespace tess::python {

using namespace eager;

namespace {

nb::list listOf(llvm::ArrayRef<TensorRef> tensors) {
  nb::list list;
  for (const TensorRef &tensor : tensors)
    list.append(nb::steal(wrap(tensor)));
  return list;
}

Tensors tensorsIn(nb::handle sequence, const char *name) {
  std::vector<TensorRef> tensors = tensorsOf(sequence, name);
  return Tensors(tensors.begin(), tensors.end());
}

/// Ctrl-C is no reason to try in another way.
ErrorCode codeOfThrown() {
  try {
    throw;
  } catch (nb::python_error &error) {
    return error.matches(PyExc_Exception) ? ErrorCode::InvalidArgument : ErrorCode::Internal;
  } catch (...) {
    return ErrorCode::InvalidArgument;
  }
}

/// Carried values and stacked results; `step` takes and returns two lists.
nb::tuple scan(nb::callable step, nb::handle carried, nb::handle xs, std::optional<int64_t> length, bool reverse) {
  UserFunctions functions(codeOfThrown);
  auto trip = [&](llvm::ArrayRef<TensorRef> now, llvm::ArrayRef<TensorRef> elements) {
    return functions.call([&] {
      nb::object result = step(listOf(now), listOf(elements));
      return TripValues{tensorsIn(result[0], "scan"), tensorsIn(result[1], "scan")};
    });
  };
  TripValues values = valueOrThrow(
      functions.outcome(eager::scan(trip, tensorsIn(carried, "scan"), tensorsIn(xs, "scan"), length, reverse)));
  return nb::make_tuple(listOf(values.carried), listOf(values.stacked));
}

nb::list cond(nb::handle pred, nb::callable then, nb::callable orelse) {
  UserFunctions functions(codeOfThrown);
  auto branch = [&](nb::callable &function) { return functions.call([&] { return tensorsIn(function(), "cond"); }); };
  return listOf(valueOrThrow(functions.outcome(
      eager::cond(TensorRef(&implOf(pred.ptr())), [&] { return branch(then); }, [&] { return branch(orelse); }))));
}

nb::list whileLoop(nb::callable holds, nb::callable body, nb::handle carried, std::optional<int64_t> maxTrips) {
  UserFunctions functions(codeOfThrown);
  auto predicate = [&](llvm::ArrayRef<TensorRef> values) {
    return functions.call([&] { return tensorsIn(nb::make_tuple(holds(listOf(values))), "while_loop").front(); });
  };
  auto trip = [&](llvm::ArrayRef<TensorRef> values) {
    return functions.call([&] { return tensorsIn(body(listOf(values)), "while_loop"); });
  };
  return listOf(
      valueOrThrow(functions.outcome(eager::whileLoop(predicate, trip, tensorsIn(carried, "while_loop"), maxTrips))));
}

nb::list apart(nb::handle values) { return listOf(valueOrThrow(eager::apart(tensorsIn(values, "apart")))); }

/// A function that is recorded by inference, within another recording too; tapes of its caller record nothing of it.
class PyBody {
public:
  explicit PyBody(nb::handle arguments) : isFollowed(numTapes()) {
    std::vector<TensorRef> tensors = tensorsOf(arguments, "vmap");
    tapes.emplace();
    recorder = Recorder::beginBody(tensors, std::vector<Recorder::Axes>(tensors.size()), Recorder::Mode::InferOnly);
  }
  ~PyBody() { abandon(); }
  /// None when a call does more than its operators: it changes variables or gradients, or leaves some behind that a
  /// tape of its caller's would follow.
  nb::object end(nb::handle outputs) {
    std::vector<TensorRef> tensors = tensorsOf(outputs, "vmap");
    bool doesMore = !recorder->gradsBefore().empty() || (isFollowed && recorder->leavesGradients());
    RecordingRef recording = std::exchange(recorder, nullptr)->end(tensors);
    tapes->start();
    if (doesMore || !recording->updates().empty())
      return nb::none();
    return nb::cast(PyRecording{recording});
  }
  void abandon() {
    if (recorder)
      std::exchange(recorder, nullptr)->abandon();
    tapes->start();
  }

private:
  bool isFollowed;
  std::optional<StoppedTapes> tapes;
  std::shared_ptr<Recorder> recorder; // null: it has ended
};

} // namespace

void initLoops(nb::module_ &module) {
  module.def("scan", &scan, nb::arg("step"), nb::arg("carried"), nb::arg("xs"), nb::arg("length").none(),
             nb::arg("reverse"), "(carried, stacked) of a step that takes and returns two lists of tensors.");
  module.def("cond", &cond, nb::arg("pred"), nb::arg("then"), nb::arg("orelse"),
             "What one of two functions returns, a list of tensors.");
  module.def("while_loop", &whileLoop, nb::arg("holds"), nb::arg("body"), nb::arg("carried"),
             nb::arg("max_trips").none(), "The last carried values; both functions take a list of tensors.");
  module.def("apart", &apart, nb::arg("values"), "The values as variables of their own, with gradients of their own.");
  nb::class_<PyBody>(module, "Body", "A function that is recorded by inference, from now until end().")
      .def(nb::init<nb::handle>(), nb::arg("arguments"))
      .def("end", &PyBody::end, nb::arg("outputs"), "The recording; None when it changes variables or gradients.")
      .def("abandon", &PyBody::abandon);
  module.def("is_recording", [] { return Recorder::current() != nullptr; }, "Whether this thread records a trace.");
}

} // namespace tess::python
