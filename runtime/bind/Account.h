//===- Account.h - a bound program in facts ---------------------*- C++ -*-===//
#pragma once

#include "runtime/bind/Bind.h"

#include "llvm/Support/JSON.h"

namespace tess::runtime {

/// The values, operators, steps and memory plan of a program that was bound with BindOptions::keepPlan. A program in
/// stages has a part for each stage that is bound, others have one part. Numbers of values, nodes and steps are those
/// of their part. "outputs" are of the whole program. `explain` of the Python package reads it.
llvm::json::Object accountOf(const Bound &bound);

} // namespace tess::runtime
