//===- MessageMemory.h - what a Protobuf message would take -----*- C++ -*-===//
//
// A submessage of two bytes becomes an object of hundreds. A reader of a message
// that may be hostile asks first how much memory its objects would take.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace google::protobuf {
class Message;
}

namespace tess::runtime {

/// DataLoss when the messages in `bytes`, of the type of `prototype`, would take more than 3 times the bytes and 12
/// MiB: no writer makes so many that say so little. What a reader makes of them takes some times as much again. `what`
/// opens the text. Bytes that do not parse pass: parsing them is the error.
llvm::Error checkMessageMemory(llvm::StringRef bytes, const google::protobuf::Message &prototype, llvm::StringRef what);

} // namespace tess::runtime
