//===- TracePolicy.cpp - which recording serves a call, for Python -------===//
#include "frontends/python/src/Errors.h"
#include "frontends/python/src/Module.h"
#include "frontends/python/src/StateReads.h"
#include "frontends/python/src/TensorObject.h"
#include "frontends/python/src/Trace.h"

#include "eager/tracing/ArgumentIdentity.h"
#include "eager/tracing/FreeDims.h"
#include "eager/tracing/GradEffects.h"
#include "eager/tracing/KeptCalls.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace tess::python {

using namespace eager;

namespace {

void makeIdentity(ArgumentIdentity *self, nb::handle arguments) {
  new (self) ArgumentIdentity(tensorsOf(arguments, "ArgumentIdentity"));
}

/// Whether the recorded call is what Python would do now with these arguments: none, or whether that is certain.
std::optional<bool> matchCall(const ArgumentIdentity &self, const PyRecording &recorded, const GradEffects &grads,
                              nb::handle arguments, const nb::list &state) {
  std::vector<TensorRef> given = tensorsOf(arguments, "match");
  ArgumentIdentity::Match match = self.match(given);
  if (match == ArgumentIdentity::Match::None || !holdsState(state) || !recorded.recording->holds(given) ||
      !grads.holds(given))
    return std::nullopt;
  return match == ArgumentIdentity::Match::Certain;
}

/// For each tensor the first position at which it stands, then the devices of those that are not the host's.
nb::tuple identity(nb::handle tensors) {
  nb::list parts;
  std::vector<TensorRef> given = tensorsOf(tensors, "identity");
  for (unsigned number : aliasesOf(given))
    parts.append(number);
  for (const TensorRef &tensor : given)
    if (runtime::Device &device = tensor->storage().device(); !device.hostAccessible())
      parts.append(nb::str(device.name().c_str()));
  return nb::tuple(parts);
}

/// Whether the exception is the function's refusal of its arguments.
bool isRefusal(const nb::python_error &error) {
  return error.matches(PyExc_ValueError) || error.matches(PyExc_TypeError) || error.matches(PyExc_IndexError) ||
         error.matches(PyExc_NotImplementedError);
}

void checkFree(const PyRecording &recorded, const ArgumentIdentity &identity, const std::string &name,
               const std::vector<FreeDim> &dims, const nb::callable &record) {
  GraphOptions options;
  addDims(*recorded.recording, dims, options);
  FreeDims free = valueOrThrow(FreeDims::create(recorded.recording, options));
  auto again = [&](llvm::ArrayRef<TensorRef> arguments) -> llvm::Expected<RecordingRef> {
    nb::list tensors;
    for (const TensorRef &argument : arguments)
      tensors.append(nb::steal(wrap(argument)));
    try {
      return nb::cast<PyRecording>(record(tensors)).recording;
    } catch (const nb::python_error &error) {
      if (!isRefusal(error))
        throw;
      return invalidArgument(nb::cast<std::string>(nb::str(error.value())));
    }
  };
  checkOrThrow(free.check(name, identity.aliases(), again));
}

void prepareGrads(const GradEffects &self, nb::handle arguments) {
  if (!self.isEmpty())
    self.prepare(tensorsOf(arguments, "prepare"));
}

void applyGrads(const GradEffects &self, nb::handle arguments, nb::handle results) {
  if (!self.isEmpty())
    self.apply(tensorsOf(arguments, "apply"), tensorsOf(results, "apply"));
}

std::string checkedNumerics(const std::string &caller, const std::string &name) {
  return ir::nameOf(valueOrThrow(ir::parseNumerics(caller, name))).str();
}

/// `forget` is told whether the limit in bytes is why.
void makeKeptCall(KeptCall *self, const KeptCall *sibling, nb::callable forget) {
  new (self) KeptCall(sibling,
                      [forget = std::move(forget)](KeptCall::Cause cause) { forget(cause == KeptCall::Cause::Bytes); });
}

} // namespace

void initTracePolicy(nb::module_ &module) {
  module.def(
      "identity", &identity, nb::arg("tensors"),
      "For each tensor the first position at which it stands, then where those are that the host does not have.");
  nb::class_<ArgumentIdentity>(module, "ArgumentIdentity",
                               "The arguments of a recorded call, which it keeps not alive.")
      .def("__init__", &makeIdentity, nb::arg("arguments"))
      .def("match", &matchCall, nb::arg("recording"), nb::arg("grads"), nb::arg("arguments"), nb::arg("state"),
           "None: the call serves not, because Python's state, a variable from outside, a gradient or a tensor is "
           "another; else whether it certainly does: no argument may have been a variable from outside.")
      .def(
          "learn", [](ArgumentIdentity &self, nb::handle arguments) { self.learn(tensorsOf(arguments, "learn")); },
          nb::arg("arguments"), "A call with these recorded the same.")
      .def_prop_ro(
          "aliases",
          [](const ArgumentIdentity &self) {
            return std::vector<unsigned>(self.aliases().begin(), self.aliases().end());
          },
          "For each argument of the recorded call the first position of its tensor.")
      .def(
          "copy", [](const ArgumentIdentity &self) { return ArgumentIdentity(self); },
          "For another recording of the same function.")
      .def(
          "bind_outside",
          [](ArgumentIdentity &self, nb::handle arguments, const PyRecording &again) {
            return self.bindOutside(tensorsOf(arguments, "bind_outside"), *again.recording);
          },
          nb::arg("arguments"), nb::arg("again"),
          "Whether a recording for these uses as variables from outside what were arguments: the call serves the same "
          "tensors only from now on.");
  module.def("check_free", &checkFree, nb::arg("recording"), nb::arg("identity"), nb::arg("name"), nb::arg("dims"),
             nb::arg("record"),
             "ValueError when the recorded call depends on the size of a dimension that `dims`, (argument, axis, name, "
             "min, max or -1), free: record(tensors) gives the recording at other sizes.");
  module.def("checked_numerics", &checkedNumerics, nb::arg("caller"), nb::arg("name"),
             "The name, which must be known.");
  nb::class_<GradEffects>(module, "GradEffects", "What a recorded call does to gradients.")
      .def("prepare", &prepareGrads, nb::arg("arguments"), "The program will run, which reads gradients.")
      .def("apply", &applyGrads, nb::arg("arguments"), nb::arg("results"),
           "It ran: gradients become what the function left.")
      .def("lines", &GradEffects::lines, "What happens to gradients, in words: equal for equal effects.");
  nb::class_<KeptCall>(module, "KeptCall", "One recorded call among all that the process's traces keep.")
      .def("__init__", &makeKeptCall, nb::arg("sibling").none(), nb::arg("forget"))
      .def("keep", &KeptCall::keep, nb::arg("bytes"), "It is kept from now on, and the latest used; others may go.")
      .def("recount", &KeptCall::recount, nb::arg("bytes"), "As keep(), for a call that is still kept.")
      .def("use", &KeptCall::use, "It runs.");
}

} // namespace tess::python
