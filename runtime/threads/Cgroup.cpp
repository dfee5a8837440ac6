//===- Cgroup.cpp - what control groups say of this process ---------------===//
#include "runtime/threads/Cgroup.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <unistd.h>

namespace tess::runtime {

static std::string contentOf(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFileAsStream(path);
  return buffer ? (*buffer)->getBuffer().trim().str() : std::string();
}

std::string cgroupContent(const CgroupFiles &files, llvm::StringRef path) {
  return contentOf(files.root + "/" + path.str());
}

void forEachCgroup(const CgroupFiles &files, llvm::StringRef file, llvm::function_ref<void(llvm::StringRef)> visit) {
  std::string groups = contentOf(files.groups);
  llvm::SmallVector<llvm::StringRef, 16> lines;
  llvm::StringRef(groups).split(lines, '\n');
  for (llvm::StringRef line : lines) {
    if (!line.consume_front("0::"))
      continue;
    for (std::string path = line.rtrim('/').str();; path.resize(path.rfind('/'))) {
      if (std::string text = cgroupContent(files, path + "/" + file.str()); !text.empty())
        visit(text);
      if (path.find('/') == std::string::npos)
        break;
    }
  }
}

uint64_t availableMemory(const CgroupFiles &files) {
  uint64_t bytes = uint64_t(::sysconf(_SC_PHYS_PAGES)) * uint64_t(::sysconf(_SC_PAGESIZE));
  auto lower = [&](llvm::StringRef text) { // "max" means no limit
    uint64_t limit = 0;
    if (!text.getAsInteger(10, limit) && limit)
      bytes = std::min(bytes, limit);
  };
  forEachCgroup(files, "memory.max", lower);
  lower(cgroupContent(files, "memory/memory.limit_in_bytes"));
  return bytes;
}

} // namespace tess::runtime
