//===- Archive.h - zip files with stored members ----------------*- C++ -*-===//
//
// As much of the format as Python's zipfile writes without compression: local
// headers, data, a directory, the 64-bit forms. Members carry a CRC-32.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tessera::detail {

/// The archive of these members (name, bytes), in order.
std::string writeArchive(const std::vector<std::pair<std::string, std::string>> &members);
/// Members by name, pointing into `file`. DataLoss when the file is not a whole archive of stored members; `path` opens
/// the message.
llvm::Expected<std::map<std::string, llvm::StringRef>> readArchive(llvm::StringRef file, llvm::StringRef path);

} // namespace tessera::detail
