//===- executable.cpp - any bytes as the `exec` section of a file ---------===//
#include "runtime/schema/ExecutableCodec.h"
#include "tests/fuzz/Programs.h"

void fuzzOne(llvm::StringRef input) {
  using namespace tess;
  auto executable = runtime::parseExecutable(input, "input: executable");
  if (!fuzz::passed(executable))
    return;
  std::string bytes = runtime::serializeExecutable(*executable);
  auto again = runtime::parseExecutable(bytes, "input: executable");
  fuzz::require(fuzz::passed(again) && runtime::serializeExecutable(*again) == bytes,
                "what was read must survive its encoding");
  fuzz::bindSmall(std::move(*executable));
}
