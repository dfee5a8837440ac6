//===- InferenceCount.h - how often results were inferred -------*- C++ -*-===//
#pragma once

#include <cstdint>

namespace tess {

/// Calls of OpDef::infer() since the process began; any thread may ask.
uint64_t inferenceCount();

} // namespace tess
