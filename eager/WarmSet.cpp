//===- WarmSet.cpp - mini-graphs compiled before they are asked for ------===//
#include "eager/WarmSet.h"

#include "compiler/CodeVersion.h"
#include "compiler/WarmSet.h"
#include "eager/MiniGraph.h"

namespace tess::eager {

llvm::Expected<size_t> writeWarmSet(llvm::StringRef path, llvm::StringRef level, llvm::ArrayRef<std::string> classes,
                                    uint64_t maxBytes) {
  compiler::WarmSetEntries entries;
  uint64_t bytes = 0;
  for (llvm::StringRef text : classes) {
    llvm::Expected<OpClass> cls = OpClass::parse(text);
    if (!cls)
      return cls.takeError();
    llvm::Expected<runtime::Executable> exe = compileClass(*cls, level);
    if (!exe)
      return exe.takeError();
    uint64_t size = compiler::warmSetBytes(text, *exe);
    if (bytes + size > maxBytes)
      continue; // a smaller one may fit
    bytes += size;
    entries.emplace_back(text.str(), std::move(*exe));
  }
  if (llvm::Error error = compiler::writeWarmSet(path, level, entries, compiler::codeVersion()))
    return std::move(error);
  return entries.size();
}

} // namespace tess::eager
