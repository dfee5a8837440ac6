//===- FittedSchedule.h - what a limit of memory costs ----------*- C++ -*-===//
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tess::compiler {

/// A kernel or a call that runs once more, because its results were dropped.
struct Repetition {
  std::string operators; // "mul add"
  std::string location;  // "model.py:12 (Net.conv1)"
  int64_t bytes = 0;     // of the results that it makes again
};

/// A program's kernels and calls within a limit. Costs have one unit, by which they compare.
struct FittedSchedule {
  double costOnce = 0, costAgain = 0; // of the program, and of its repetitions
  int64_t peak = 0;                   // bytes of values at once
  std::vector<Repetition> repetitions;

  double cost() const { return costOnce + costAgain; }
};

/// Receives the schedule of a program.
using ReportSchedule = std::function<void(const FittedSchedule &)>;

} // namespace tess::compiler
