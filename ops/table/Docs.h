//===- Docs.h - docstrings of operators --------------------------*- C++ -*-===//
#pragma once

#include "ops/operator/OpInfo.h"

#include <string>

namespace tess {

/// The generated docstring: summary, description, operands with shapes, attributes, dtypes, errors, irExampleOf() and
/// a doctest.
std::string docstringOf(const OpInfo &info);
/// The record's first sample as text of the `tess` dialect.
std::string irExampleOf(const OpInfo &info);

} // namespace tess
