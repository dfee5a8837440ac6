//===- ValidateLoops.h - that loops are whole and nested --------*- C++ -*-===//
#pragma once

#include "runtime/schema/Executable.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

namespace tess::runtime {

/// The part of validate() that is about loops alone; the rest may rely on it.
llvm::Error validateLoops(const Executable &executable, llvm::StringRef what);

/// Calls `visit` for the number of each node or step, and `leave` for that of a loop when its body has been visited.
template <typename List>
llvm::Error walkLoops(const List &list, llvm::function_ref<size_t(int32_t loop)> sizeOf,
                      llvm::function_ref<llvm::Error(size_t)> visit, llvm::function_ref<llvm::Error(size_t)> leave) {
  llvm::SmallVector<std::pair<size_t, size_t>, 8> open; // where a body ends, and its loop
  auto leaveAll = [&](size_t index) -> llvm::Error {
    for (; !open.empty() && open.back().first == index; open.pop_back())
      if (llvm::Error e = leave(open.back().second))
        return e;
    return llvm::Error::success();
  };
  for (size_t index = 0; index < list.size(); ++index) {
    if (llvm::Error e = leaveAll(index))
      return e;
    if (llvm::Error e = visit(index))
      return e;
    if (list[index].loop >= 0)
      open.push_back({index + 1 + sizeOf(list[index].loop), index});
  }
  return leaveAll(list.size());
}

} // namespace tess::runtime
