//===- KernelBoundary.h - neighbours in kernels of their own ----*- C++ -*-===//
#pragma once

#include <functional>
#include <string>

namespace tess::compiler {

/// An operator that reads another's result and does not share its kernel.
struct KernelBoundary {
  std::string reader, readerLocation; // operator, "model.py:12 (Net.conv1)"
  std::string producer, producerLocation;
  std::string why;

  /// "max: has a kernel of its own beside sum of model.py:3: reason".
  std::string message() const {
    return reader + ": has a kernel of its own beside " + producer +
           (producerLocation.empty() ? "" : " of " + producerLocation) + ": " + why;
  }
  /// The message, with the reader's line in the form of errors.
  std::string text() const { return message() + (readerLocation.empty() ? "" : " (at " + readerLocation + ")"); }
};

/// Receives the boundaries of a graph's kernels.
using ReportBoundary = std::function<void(const KernelBoundary &)>;

} // namespace tess::compiler
