//===- WarmSetWriter.cpp - a warm set from classes ------------------------===//
#include "eager/classes/WarmSetWriter.h"

#include "compiler/cache/CodeVersion.h"
#include "compiler/cache/WarmSet.h"
#include "eager/classes/HostOptions.h"
#include "eager/classes/MiniGraph.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::eager {
namespace {

/// The file of one level.
struct LevelFile {
  std::string level;
  compiler::WarmSetEntries entries;
  llvm::StringSet<> kernels;
};

} // namespace

/// Adds a class to all files if it takes no more than `room`, and returns the bytes that it took; 0: no room.
static llvm::Expected<uint64_t> addClass(llvm::MutableArrayRef<LevelFile> files, llvm::StringRef text, uint64_t room) {
  llvm::Expected<OpClass> cls = OpClass::parse(text);
  if (!cls)
    return cls.takeError();
  std::vector<runtime::Executable> made;
  uint64_t bytes = 0;
  for (const LevelFile &file : files) {
    compiler::CompileOptions options = hostOptions();
    options.target = file.level;
    if (llvm::Error e = compileClass(*cls, std::move(options)).moveInto(made.emplace_back()))
      return std::move(e);
    bytes += compiler::warmSetBytes(text, made.back(), file.kernels);
  }
  if (bytes > room)
    return 0;
  for (auto [file, exe] : llvm::zip(files, made)) {
    for (const runtime::Image &image : exe.images)
      file.kernels.insert(image.hash);
    file.entries.emplace_back(text.str(), std::move(exe));
  }
  return bytes;
}

llvm::Expected<size_t> writeWarmSet(llvm::StringRef folder, llvm::ArrayRef<std::string> levels,
                                    llvm::ArrayRef<std::string> classes, uint64_t maxBytes) {
  std::vector<LevelFile> files;
  for (const std::string &level : levels)
    files.push_back({level, {}, {}});
  for (llvm::StringRef text : classes) { // no stop at a class without room: a later one may be smaller
    llvm::Expected<uint64_t> bytes = addClass(files, text, maxBytes);
    if (!bytes)
      return bytes.takeError();
    maxBytes -= *bytes;
  }
  for (const LevelFile &file : files)
    if (llvm::Error error = compiler::writeWarmSet((folder + "/" + file.level + ".tess").str(), file.level,
                                                   file.entries, compiler::codeVersion()))
      return std::move(error);
  return files.empty() ? 0 : files.front().entries.size();
}

} // namespace tess::eager
