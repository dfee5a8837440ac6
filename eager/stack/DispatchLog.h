//===- DispatchLog.h - which layers an operator goes through ----*- C++ -*-===//
#pragma once

#include "eager/stack/Call.h"

namespace tess::eager {

/// True in `--config=dbg`: the log costs nothing elsewhere.
#ifdef TESS_DEBUG
inline constexpr bool kLogsDispatch = true;
#else
inline constexpr bool kLogsDispatch = false;
#endif

/// "add(f32[2, 3], 1.5): Scalar > Grad > Interpreter, at train.py:12".
std::string describeStack(const Call &call);
/// Writes describeStack() to stderr when the list TESS_LOG has "dispatch".
void logDispatch(const Call &call);

} // namespace tess::eager
