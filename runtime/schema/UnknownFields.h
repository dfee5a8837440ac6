//===- UnknownFields.h - fields of a newer writer ---------------*- C++ -*-===//
//
// Protobuf keeps fields that it does not know. A program read without them could
// mean something else, so a file that has any is refused.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace google::protobuf {
class Message;
}

namespace tess::runtime {

/// Unimplemented, with the names of both, when `message` or a message in it has a field that this build does not know.
/// `what` opens the text.
llvm::Error refuseUnknownFields(const google::protobuf::Message &message, llvm::StringRef what);

} // namespace tess::runtime
