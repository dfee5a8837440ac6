//===- CheckOperands.h - a layer that users ask for -------------*- C++ -*-===//
#pragma once

namespace tess::eager {

/// While on, for all threads, every operator waits for its results and fails if the memory of an operand changed since
/// an operator read it first.
void setCheckOperands(bool on);
bool checksOperands();

} // namespace tess::eager
