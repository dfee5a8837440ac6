//===- Expect.h - llvm::Error in Catch2 tests -------------------*- C++ -*-===//
#pragma once

#include "ops/vocabulary/Error.h"

#include <catch2/catch.hpp>
#include <string>

namespace tess::test {

/// The value; a test failure with the message when there is none.
template <typename T> T get(llvm::Expected<T> value) {
  if (!value)
    FAIL(tess::takeError(value.takeError()).second);
  return std::move(*value);
}

/// A test failure with the message when there is an error.
inline void ok(llvm::Error error) {
  if (error)
    FAIL(tess::takeError(std::move(error)).second);
}

/// The message of an error; "" when there is none.
inline std::string messageOf(llvm::Error error) { return error ? tess::takeError(std::move(error)).second : ""; }
template <typename T> std::string messageOf(llvm::Expected<T> value) {
  return value ? "" : tess::takeError(value.takeError()).second;
}

/// The code of an error that there must be.
template <typename T> tess::ErrorCode codeOf(llvm::Expected<T> value) {
  REQUIRE(!value);
  return tess::takeError(value.takeError()).first;
}

} // namespace tess::test
