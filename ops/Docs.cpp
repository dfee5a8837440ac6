//===- Docs.cpp - docstrings of operators --------------------------------===//
#include "ops/Docs.h"

namespace tess {

namespace {
#include "ops/Docs.inc"
} // namespace

const char *docstringOf(const OpInfo &info) { return docstrings[info.id]; }

} // namespace tess
