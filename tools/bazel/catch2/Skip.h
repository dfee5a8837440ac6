// Skipping a test case with a reason, which Catch2 2 lacks.
#ifndef TESSERA_TOOLS_BAZEL_CATCH2_SKIP_H
#define TESSERA_TOOLS_BAZEL_CATCH2_SKIP_H

#include <catch2/catch.hpp>

/// Ends the enclosing TEST_CASE; the test's XML lists it as skipped for
/// `reason`. Use in the test function itself, not in one it calls.
#define TESS_SKIP(reason)                                                                                              \
  do {                                                                                                                 \
    WARN("skipped: " << reason);                                                                                       \
    return;                                                                                                            \
  } while (false)

#endif // TESSERA_TOOLS_BAZEL_CATCH2_SKIP_H
