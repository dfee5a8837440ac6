//===- Cgroup.h - what control groups say of this process -------*- C++ -*-===//
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace tess::runtime {

/// Where the kernel shows the control groups, and which of them this process is in; tests have files of their own.
struct CgroupFiles {
  std::string root = "/sys/fs/cgroup";
  std::string groups = "/proc/self/cgroup";
};

/// The trimmed content of the file `path` below `root`; empty when it cannot be read.
std::string cgroupContent(const CgroupFiles &files, llvm::StringRef path);
/// Calls `visit` with the content of `file` in the group of this process and in every group above it (version 2), where
/// there is such a file.
void forEachCgroup(const CgroupFiles &files, llvm::StringRef file, llvm::function_ref<void(llvm::StringRef)> visit);

/// Bytes of memory that this process may use: the physical memory, or less where its control groups (versions 1 and 2)
/// say so.
uint64_t availableMemory(const CgroupFiles &files = {});

} // namespace tess::runtime
