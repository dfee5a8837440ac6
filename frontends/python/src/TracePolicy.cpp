//===- TracePolicy.cpp - how long recordings are kept, for Python ---------===//
#include "frontends/python/src/Module.h"

#include "eager/KeptCalls.h"

namespace tess::python {

using namespace eager;

namespace {

/// `forget` is told whether the limit in bytes is why.
void makeKeptCall(KeptCall *self, const KeptCall *sibling, nb::callable forget) {
  new (self) KeptCall(sibling,
                      [forget = std::move(forget)](KeptCall::Cause cause) { forget(cause == KeptCall::Cause::Bytes); });
}

} // namespace

void initTracePolicy(nb::module_ &module) {
  nb::class_<KeptCall>(module, "KeptCall", "One recorded call among all that the process's traces keep.")
      .def("__init__", &makeKeptCall, nb::arg("sibling").none(), nb::arg("forget"))
      .def("keep", &KeptCall::keep, nb::arg("bytes"), "It is kept from now on, and the latest used; others may go.")
      .def("recount", &KeptCall::recount, nb::arg("bytes"), "As keep(), for a call that is still kept.")
      .def("use", &KeptCall::use, "It runs.");
}

} // namespace tess::python
