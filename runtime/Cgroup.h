//===- Cgroup.h - what control groups say of this process -------*- C++ -*-===//
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace tess::runtime {

/// Where the kernel shows control groups, and which this process is in; tests have files of their own.
struct CgroupFiles {
  std::string root = "/sys/fs/cgroup";
  std::string groups = "/proc/self/cgroup";
};

/// The trimmed content of a file of `root`; empty without one.
std::string cgroupContent(const CgroupFiles &files, llvm::StringRef path);
/// Visits `file` of this process's group and of every one above it (version 2), where there is one.
void forEachCgroup(const CgroupFiles &files, llvm::StringRef file, llvm::function_ref<void(llvm::StringRef)> visit);

/// Bytes that this process may have: physical memory, or less by its control groups (versions 1 and 2).
uint64_t availableMemory(const CgroupFiles &files = {});

} // namespace tess::runtime
