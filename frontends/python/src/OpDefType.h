//===- OpDefType.h - operators as Python values -----------------*- C++ -*-===//
#pragma once

#include <nanobind/nanobind.h>

#include "ops/operator/OpDef.h"

namespace tess::python {

namespace nb = nanobind;

/// The object of core.ops.builtin for an operator.
nb::object wrapOpDef(const OpDef &op);
/// The operator that such an object is; TypeError, which opens with `what`, for another one.
const OpDef &opDefOf(nb::handle object, const char *what);

} // namespace tess::python
