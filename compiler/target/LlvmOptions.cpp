//===- LlvmOptions.cpp - LLVM's switches for the whole process -----------===//
//
// LLVM offers these two as options of a process only. Measured on all records:
// together a sixth of the compile time.
//  - The machine scheduler interleaves the parts of a vector of 16 doubles, and
//    spills for it: without it erfc and pow take two thirds of the time.
//  - Loop strength reduction finds nothing: the emitter counts indices up itself.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/LlvmOptions.h"

#include "ops/Error.h"
#include "llvm/Support/CommandLine.h"

#include <mutex>

namespace tess::compiler {

static llvm::Error set(llvm::StringRef name, llvm::StringRef value) {
  auto found = llvm::cl::getRegisteredOptions().find(name);
  if (found == llvm::cl::getRegisteredOptions().end() || found->second->addOccurrence(0, name, value))
    return makeError(ErrorCode::Internal, "codegen: LLVM must have option " + name + "=" + value + ", got none");
  return llvm::Error::success();
}

llvm::Error setLlvmOptions() {
  static std::mutex mutex;
  static bool isDone = false;
  std::lock_guard<std::mutex> lock(mutex);
  if (isDone)
    return llvm::Error::success();
  if (llvm::Error error = set("enable-misched", "false"))
    return error;
  if (llvm::Error error = set("disable-lsr", "true"))
    return error;
  isDone = true;
  return llvm::Error::success();
}

} // namespace tess::compiler
