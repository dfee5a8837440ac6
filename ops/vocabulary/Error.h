//===- Error.h - the one error class ----------------------------*- C++ -*-===//
//
// A canonical code and a message `<op or tool>: <what must hold>, got <values>`,
// carried by llvm::Error at every library boundary.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <string>

namespace tess {

/// Canonical codes; the Python frontend maps each to an exception type.
enum class ErrorCode : uint8_t {
  InvalidArgument,   // ValueError
  TypeMismatch,      // TypeError
  OutOfRange,        // IndexError
  NotFound,          // FileNotFoundError / KeyError
  Unimplemented,     // NotImplementedError
  ResourceExhausted, // MemoryError
  DataLoss,          // a damaged or foreign file: ValueError
  IoError,           // OSError
  Internal,          // RuntimeError: our own bug, or a failed kernel
};

/// The one error class of the project: a code, and one line of text for the user.
class TessError : public llvm::ErrorInfo<TessError> {
public:
  static char ID;
  TessError(ErrorCode code, std::string message) : code(code), message(std::move(message)) {}
  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override;
  /// What makeError was given; takeError() reads both at once.
  ErrorCode getCode() const { return code; }
  const std::string &getMessage() const { return message; }

private:
  ErrorCode code;
  std::string message;
};

/// A TessError. The message reads "<op or tool>: <what must hold>, got <values>".
llvm::Error makeError(ErrorCode code, const llvm::Twine &message);
inline llvm::Error invalidArgument(const llvm::Twine &message) {
  return makeError(ErrorCode::InvalidArgument, message);
}
/// `error` with the user's line appended to its message; an empty `location` changes nothing. `error` must be set.
llvm::Error at(llvm::Error error, llvm::StringRef location);
/// Consumes `error` and returns its code and message; foreign error classes become Internal.
std::pair<ErrorCode, std::string> takeError(llvm::Error error);

} // namespace tess
