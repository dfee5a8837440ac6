//===- CustomChecks.h - whether libraries' operators are checked -*- C++ -*-===//
#pragma once

namespace tess::runtime {

/// Whether runs of libraries' operators are checked for writes beyond their outputs, from now on. At first what the
/// environment says: TESS_CHECK_CUSTOM_OPS=1.
void setCustomChecks(bool on);
bool hasCustomChecks();

} // namespace tess::runtime
