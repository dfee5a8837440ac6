//===- Loops.cpp - bodies of loops for Python -----------------------------===//
#include "frontends/python/src/Errors.h"
#include "frontends/python/src/Module.h"
#include "frontends/python/src/TensorType.h"
#include "frontends/python/src/Trace.h"

#include "eager/Loops.h"
#include "eager/Recomputation.h"
#include "eager/tracing/BodyRecording.h"
#include "ops/Control.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

namespace tess::python {

using namespace eager;

namespace {

/// A scan: its step, recorded once, and how often it is applied.
class PyScan {
public:
  PyScan(nb::handle carried, nb::handle xs, std::optional<int64_t> length, bool reverse, bool guarded)
      : carried(tensorsOf(carried, "scan")), xs(tensorsOf(xs, "scan")), order{length, reverse, guarded},
        body(valueOrThrow(BodyRecording::begin({this->carried, this->xs, order}))) {}

  nb::list arguments() const { return listOf(body->arguments()); }
  void end(nb::handle outputs) {
    std::vector<TensorRef> tensors = tensorsOf(outputs, "scan");
    body->end(tensors);
    if (llvm::Error error = body->check({carried, xs, order}, numTapes() != 0)) {
      mustRun = true;
      body.reset();
      checkOrThrow(std::move(error));
    }
  }
  nb::list apply(nb::handle unread) const {
    std::vector<TensorRef> first = tensorsOf(unread, "scan");
    return listOf(valueOrThrow(body->apply({carried, xs, order, first})));
  }
  nb::list zeros() const { return listOf(valueOrThrow(body->zeros({carried, xs, order}))); }
  /// Gives up a recording that has not ended.
  void abandon() {
    if (!body)
      return; // it has ended
    mustRun = body->mustRun();
    body.reset();
  }
  bool stepMustRun() const { return mustRun; }

private:
  static nb::list listOf(llvm::ArrayRef<TensorRef> tensors) {
    nb::list list;
    for (const TensorRef &tensor : tensors)
      list.append(nb::steal(wrap(tensor)));
    return list;
  }

  std::vector<TensorRef> carried, xs;
  control::ScanOrder order;
  std::unique_ptr<BodyRecording> body;
  bool mustRun = false;
};

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

/// Checks that a trip gives back what it was given, as a recorded one must.
void checkCarried(nb::handle before, nb::handle after, const std::string &name, const std::string &body) {
  Metas given, made;
  for (const TensorRef &tensor : tensorsOf(before, "scan"))
    given.push_back(tensor->meta());
  for (const TensorRef &tensor : tensorsOf(after, "scan"))
    made.push_back(tensor->meta());
  checkOrThrow(control::checkCarried(given, made, name, body));
}

int64_t numTrips(nb::handle xs, std::optional<int64_t> length) {
  Metas metas;
  for (const TensorRef &tensor : tensorsOf(xs, "scan"))
    metas.push_back(tensor->meta());
  return valueOrThrow(control::numTrips(control::scan({}, 0, 0, {length}), metas));
}

nb::object stackElements(nb::handle elements) {
  return nb::steal(wrap(valueOrThrow(eager::stackElements(tensorsOf(elements, "scan")))));
}

nb::object stackNothing(nb::handle element) {
  TensorImpl &like = implOf(element.ptr());
  TensorMeta meta = control::stacked(like.meta(), 0);
  return nb::steal(wrap(valueOrThrow(TensorImpl::allocate(meta.dtype, meta.shape, like.storage().device()))));
}

} // namespace

void initLoops(nb::module_ &module) {
  nb::class_<PyScan>(module, "Scan", "A scan of a step that runs once, while it is recorded by inference.")
      .def(nb::init<nb::handle, nb::handle, std::optional<int64_t>, bool, bool>(), nb::arg("carried"), nb::arg("xs"),
           nb::arg("length").none(), nb::arg("reverse") = false, nb::arg("guarded") = false)
      .def_prop_ro("arguments", &PyScan::arguments, "Carried values and elements of the xs, for the step.")
      .def("end", &PyScan::end, nb::arg("outputs"), "The step has ended with carried values and stacked elements.")
      .def("abandon", &PyScan::abandon)
      .def_prop_ro(
          "step_must_run", &PyScan::stepMustRun,
          "Whether a loop of the step must run trip by trip: of sizes that data decides it does what no body does.")
      .def("zeros", &PyScan::zeros, "Zeros of the dtypes and shapes of the outputs behind the carried values.")
      .def("apply", &PyScan::apply, nb::arg("unread") = nb::tuple(),
           "Carried values at the end, also those of which the step reads none, then stacked results.");
  nb::class_<PyBody>(module, "Body", "A function that is recorded by inference, from now until end().")
      .def(nb::init<nb::handle>(), nb::arg("arguments"))
      .def("end", &PyBody::end, nb::arg("outputs"), "The recording; None when it changes variables or gradients.")
      .def("abandon", &PyBody::abandon);
  module.attr("MANY_TRIPS") = control::kManyTrips; // the length of a loop that data ends
  module.def("scan_trips", &numTrips, nb::arg("xs"), nb::arg("length").none(), "How many trips a scan makes.");
  module.def("scan_check", &checkCarried, nb::arg("before"), nb::arg("after"), nb::arg("name") = "scan",
             nb::arg("body") = "step", "ValueError unless a trip gives back the dtypes and shapes that it was given.");
  module.def("stack_elements", &stackElements, nb::arg("elements"), "Tensors along a new axis 0; nothing records it.");
  module.def("stack_nothing", &stackNothing, nb::arg("like"), "No elements along a new axis 0, of the meta of `like`.");
  module.def(
      "run_eagerly",
      [] {
        if (Recorder *recorder = Recorder::current())
          recorder->noteDataRead();
      },
      "What this thread records becomes no program.");
  module.def("is_recording", [] { return Recorder::current() != nullptr; }, "Whether this thread records a trace.");
}

} // namespace tess::python
