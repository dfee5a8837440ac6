//===- MessageParse.cpp - bytes -> a Protobuf message ---------------------===//
#include "runtime/schema/MessageParse.h"
#include "ops/vocabulary/Error.h"
#include "runtime/schema/MessageMemory.h"

#include <google/protobuf/message.h>
#include <google/protobuf/stubs/logging.h>

namespace tess::runtime {

llvm::Error parseMessage(llvm::StringRef bytes, google::protobuf::Message &message, llvm::StringRef what) {
  if (llvm::Error error = checkMessageMemory(bytes, message, what))
    return error;
  google::protobuf::LogSilencer silencer;
  if (bytes.size() > INT32_MAX || !message.ParseFromArray(bytes.data(), int(bytes.size())))
    return makeError(ErrorCode::DataLoss, what + ": must be a Protobuf message, got " + llvm::Twine(bytes.size()) +
                                              " bytes that are not one");
  message.DiscardUnknownFields();
  return llvm::Error::success();
}

} // namespace tess::runtime
