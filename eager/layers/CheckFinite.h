//===- CheckFinite.h - a layer that users ask for ---------------*- C++ -*-===//
#pragma once

namespace tess::eager {

/// While on, for all threads, every operator waits for its results and fails if it made a NaN or an infinity.
void setCheckFinite(bool on);
bool checksFinite();

} // namespace tess::eager
