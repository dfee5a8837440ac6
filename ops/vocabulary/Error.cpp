//===- Error.cpp - the one error class -----------------------------------===//
#include "ops/vocabulary/Error.h"

#include "llvm/Support/raw_ostream.h"

namespace tess {

char TessError::ID = 0;

void TessError::log(llvm::raw_ostream &os) const { os << message; }

std::error_code TessError::convertToErrorCode() const { return llvm::inconvertibleErrorCode(); }

llvm::Error makeError(ErrorCode code, const llvm::Twine &message) {
  return llvm::make_error<TessError>(code, message.str());
}

std::pair<ErrorCode, std::string> takeError(llvm::Error error) {
  std::pair<ErrorCode, std::string> result(ErrorCode::Internal, "");
  llvm::handleAllErrors(
      std::move(error), [&](const TessError &e) { result = {e.getCode(), e.getMessage()}; },
      [&](const llvm::ErrorInfoBase &e) { result = {ErrorCode::Internal, e.message()}; });
  return result;
}

llvm::Error at(llvm::Error error, llvm::StringRef location) {
  if (location.empty())
    return error;
  auto [code, message] = takeError(std::move(error));
  return makeError(code, message + " at " + location);
}

} // namespace tess
