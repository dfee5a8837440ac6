//===- TestCases.h - what tests a program, in its file ----------*- C++ -*-===//
//
// Inputs, what the outputs must be for them, and how far these may be off. A
// section for each array, named "0/in/x" and "0/out/y" by case and by input or
// output; "max_error" and "verbose" are texts.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/schema/Container.h"

#include <utility>

namespace tess::runtime {

/// A case. Each array is the bytes of NumPy's file, by the name of an input or an output.
struct TestCase {
  using Arrays = std::vector<std::pair<std::string, std::string>>;
  Arrays inputs, expected; // nothing is expected: the case is run only
};

/// All of a program.
struct TestCases {
  std::vector<TestCase> cases;
  double maxError = 0;
  bool verbose = true;
};

/// Writes the sections of `program` and those of `tests` to `path`, in the place of tests that it had.
llvm::Error writeWithTests(const Container &program, llvm::StringRef path, const TestCases &tests,
                           WrittenFile *written = nullptr);
/// The tests in a file; no cases where it has none. DataLoss for sections that are no tests.
llvm::Expected<TestCases> readTests(const Container &file);

} // namespace tess::runtime
