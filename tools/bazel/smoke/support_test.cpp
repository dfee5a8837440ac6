#include "tools/bazel/catch2/Skip.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"

TEST_CASE("LLVMSupport links and an Error carries its text") {
  llvm::Error error = llvm::createStringError(llvm::formatv("got {0}", 3));
  REQUIRE(llvm::toString(std::move(error)) == "got 3");
}

TEST_CASE("a skipped case has a reason") {
  TESS_SKIP("shows that a skip is counted");
}
