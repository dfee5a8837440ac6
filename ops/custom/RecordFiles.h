//===- RecordFiles.h - files of records -------------------------*- C++ -*-===//
#pragma once

#include "ops/custom/RecordRow.h"

namespace tess::custom {

/// Reads the file that `tess-tblgen --gen-tess-rows` wrote and adds its operators as rows; a file of equal content is
/// given again. NotFound where there is none, Unimplemented for another version of the format, InvalidArgument for what
/// rows cannot be, and where a name is taken. Then none of them is added. Thread-safe.
llvm::Expected<std::vector<const RecordRow *>> loadRecords(llvm::StringRef path);
/// Adds operators as loadRecords() does, of the text of a file; `path` is for errors and the rows' origin.
llvm::Expected<std::vector<const RecordRow *>> addRecords(llvm::StringRef text, llvm::StringRef path);
/// Loads what is at `path`, by how it begins: a file of records, else a library (Registry.h). Errors are those of each.
llvm::Error loadOperators(llvm::StringRef path);

} // namespace tess::custom
