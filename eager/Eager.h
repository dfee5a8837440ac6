//===- Eager.h - the start of eager mode ------------------------*- C++ -*-===//
#pragma once

namespace tess::eager {

/// Fills the stack with its layers. Every frontend calls it before its first operator; further calls do nothing.
void start();

} // namespace tess::eager
