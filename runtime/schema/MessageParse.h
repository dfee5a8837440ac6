//===- MessageParse.h - bytes -> a Protobuf message -------------*- C++ -*-===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace google::protobuf {
class Message;
}

namespace tess::runtime {

/// Reads bytes that may be hostile into `message`. DataLoss when they do not parse or would take too much memory
/// (MessageMemory.h); `what` opens the text. Fields that the message does not have are skipped. Protobuf itself prints
/// nothing.
llvm::Error parseMessage(llvm::StringRef bytes, google::protobuf::Message &message, llvm::StringRef what);

} // namespace tess::runtime
