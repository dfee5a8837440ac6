//===- OpParts.h - the records' operators in parts --------------*- C++ -*-===//
//
// Their generated classes are a quarter of a million lines: each part has the
// operators whose names begin alike, and compiles anew when one of these changes.
//
//===----------------------------------------------------------------------===//
#pragma once

namespace tess::ir {

class TessDialect;

/// Registers the operators of part number `part`; ir/OpParts.inc does so for all parts.
template <unsigned part> void registerPart(TessDialect &dialect);

} // namespace tess::ir
