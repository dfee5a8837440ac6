//===- UserFunctions.h - functions that throw, for ControlFlow --*- C++ -*-===//
//
// The library returns errors; a frontend's functions of the user throw. Only what
// compiles with exceptions includes this.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/vocabulary/Error.h"

#include <exception>

namespace tess::eager {

/// Calls functions of the user: what one throws comes out when the library has ended.
class UserFunctions {
public:
  /// The code of an exception, which is being handled; Internal ends every loop at once (ControlFlow.h).
  using CodeOfThrown = ErrorCode (*)();
  explicit UserFunctions(CodeOfThrown codeOf = [] { return ErrorCode::InvalidArgument; }) : codeOf(codeOf) {}

  template <typename F> auto call(F function) -> llvm::Expected<decltype(function())> {
    try {
      return function();
    } catch (...) {
      thrown = std::current_exception();
      return makeError(codeOf(), kThrown);
    }
  }
  /// What the library returned, unless a function ended it by throwing.
  template <typename T> llvm::Expected<T> outcome(llvm::Expected<T> result) const {
    if (result)
      return result;
    auto [code, message] = takeError(result.takeError());
    if (message == kThrown)
      std::rethrow_exception(thrown);
    return makeError(code, message);
  }

private:
  static constexpr const char *kThrown = "\x01thrown";

  CodeOfThrown codeOf;
  std::exception_ptr thrown;
};

} // namespace tess::eager
