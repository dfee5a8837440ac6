#include <catch2/catch.hpp>

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"

TEST_CASE("LLVMSupport links and an Error carries its text") {
  llvm::Error error = llvm::createStringError(llvm::formatv("got {0}", 3));
  std::string text = llvm::toString(std::move(error));
  REQUIRE(text == "got 3");
}
