//===- Docs.h - docstrings of operators --------------------------*- C++ -*-===//
#pragma once

#include "ops/OpInfo.h"

namespace tess {

/// The generated docstring: summary, operands with shapes, attributes, dtypes, errors by label, an example.
const char *docstringOf(const OpInfo &info);

} // namespace tess
