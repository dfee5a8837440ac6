//===- executable.cpp - any bytes as the `exec` section of a file ---------===//
#include "runtime/schema/ExecutableCodec.h"
#include "tests/fuzz/Programs.h"

void fuzzOne(llvm::StringRef input) {
  using namespace tess;
  auto executable = runtime::parseExecutable(input, "input: executable");
  if (!fuzz::passed(executable))
    return;
  fuzz::requireRoundTrip(*executable, runtime::serializeExecutable,
                         [](llvm::StringRef bytes) { return runtime::parseExecutable(bytes, "input: executable"); });
  fuzz::bindSmall(std::move(*executable), /*isValidated=*/false);
}
