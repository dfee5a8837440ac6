// The main function of every C++ test. `bazel test --test_filter=X` selects
// test cases as Catch2's first argument does.
#define CATCH_CONFIG_RUNNER
#include "tools/bazel/catch2/JUnitListener.h"

using tess_test::JUnitListener;
CATCH_REGISTER_LISTENER(JUnitListener)

int main(int argc, char **argv) {
  Catch::Session session;
  if (int error = session.applyCommandLine(argc, argv))
    return error;
  if (const char *filter = std::getenv("TESTBRIDGE_TEST_ONLY"))
    session.configData().testsOrTags.push_back(filter);
  return session.run();
}
