//===- Error.h - what the C++ API throws ------------------------*- C++ -*-===//
//
// The library itself returns llvm::Expected. The C++ API is its outermost edge:
// here an error becomes an exception, once, with the code and the message that
// the Python API raises too.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/vocabulary/Error.h"

#include <stdexcept>

namespace tessera {

using tess::ErrorCode;

/// The one exception of the C++ API. what(): `<op or tool>: <what must hold>, got <values>`.
class Error : public std::runtime_error {
public:
  Error(ErrorCode code, const std::string &message) : std::runtime_error(message), errorCode(code) {}
  /// What Python's exception type follows from.
  ErrorCode code() const { return errorCode; }

private:
  ErrorCode errorCode;
};

/// Throws `error`.
[[noreturn]] inline void throwError(llvm::Error error) {
  auto [code, message] = tess::takeError(std::move(error));
  throw Error(code, message);
}

/// Throws `error` unless it is a success.
inline void checkOrThrow(llvm::Error error) {
  if (error)
    throwError(std::move(error));
}

/// The value; throws when there is an error instead.
template <typename T> T valueOrThrow(llvm::Expected<T> value) {
  if (!value)
    throwError(value.takeError());
  return std::move(*value);
}

} // namespace tessera
