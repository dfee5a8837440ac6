//===- RecordFiles.cpp - files of records ---------------------------------===//
#include "ops/custom/RecordFiles.h"

#include "ops/custom/Registry.h"
#include "ops/vocabulary/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"

#include <mutex>

namespace tess::custom {

namespace {

using Rows = std::vector<std::unique_ptr<RecordRow>>;

struct Files {
  std::mutex mutex;
  llvm::StringMap<std::vector<const RecordRow *>> byText;
};

Files &files() {
  static Files *files = new Files; // never destroyed: rows live for ever
  return *files;
}

/// Checks that no composite is made of itself. Rows of other files cannot read those of this one.
llvm::Error checkCycles(const Rows &rows) {
  llvm::SmallVector<const RecordRow *> open;
  for (const std::unique_ptr<RecordRow> &row : rows)
    if (row->forward())
      open.push_back(row.get());
  while (!open.empty()) {
    auto isOpen = [&](const RecordRow *row) {
      bool reads = false;
      row->forward()->forEachCallee(
          [&](const OpInfo &callee) { reads |= llvm::is_contained(open, RecordRow::of(callee)); });
      return reads;
    };
    llvm::SmallVector<const RecordRow *> left;
    llvm::copy_if(open, std::back_inserter(left), isOpen);
    if (left.size() == open.size())
      return invalidArgument(llvm::Twine("load_records: a composite must not be made of itself, got ") +
                             open.front()->info().name);
    open = std::move(left);
  }
  return llvm::Error::success();
}

llvm::Expected<Rows> rowsOf(const data::File &file, llvm::StringRef path) {
  const OpOrigin origin = {file.library, file.libraryVersion, path.str()};
  Rows rows;
  for (const data::Row &row : file.rows) {
    llvm::Expected<std::unique_ptr<RecordRow>> made = RecordRow::make(row, origin);
    if (!made)
      return made.takeError();
    rows.push_back(std::move(*made));
  }
  const FindRow find = [&](llvm::StringRef name) -> const OpInfo * {
    for (const std::unique_ptr<RecordRow> &row : rows)
      if (name == row->info().name)
        return &row->info();
    return findOp(name);
  };
  for (auto [row, given] : llvm::zip_equal(rows, file.rows))
    if (llvm::Error error = row->readGraphs(given, find))
      return std::move(error);
  if (llvm::Error error = checkCycles(rows))
    return std::move(error);
  return rows;
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> contentOf(llvm::StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return makeError(ErrorCode::NotFound,
                     "load_records: a file must open, got " + buffer.getError().message() + " for '" + path + "'");
  return std::move(*buffer);
}

} // namespace

llvm::Expected<std::vector<const RecordRow *>> addRecords(llvm::StringRef text, llvm::StringRef path) {
  Files &all = files();
  std::lock_guard<std::mutex> lock(all.mutex);
  if (auto found = all.byText.find(text); found != all.byText.end())
    return found->second;
  llvm::Expected<data::File> file = data::parse(text);
  if (!file)
    return file.takeError();
  llvm::Expected<Rows> rows = rowsOf(*file, path);
  if (!rows)
    return rows.takeError();
  llvm::SmallVector<OpInfo *, 8> added;
  for (const std::unique_ptr<RecordRow> &row : *rows)
    added.push_back(&row->info());
  if (llvm::Error error = addOps(added))
    return std::move(error);
  std::vector<const RecordRow *> &kept = all.byText[text];
  for (std::unique_ptr<RecordRow> &row : *rows)
    kept.push_back(row.release());
  return kept;
}

llvm::Expected<std::vector<const RecordRow *>> loadRecords(llvm::StringRef path) {
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> content = contentOf(path);
  if (!content)
    return content.takeError();
  return addRecords((*content)->getBuffer(), path);
}

llvm::Error loadOperators(llvm::StringRef path) {
  auto begin = llvm::MemoryBuffer::getFileSlice(path, 1, 0);
  if (begin && (*begin)->getBuffer() == "{")
    return loadRecords(path).takeError();
  return loadLibrary(path).takeError();
}

} // namespace tess::custom
