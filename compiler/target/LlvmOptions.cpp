//===- LlvmOptions.cpp - LLVM's switches for the whole process -----------===//
//
// LLVM offers these two options for a whole process only. Measured on all
// records, they save a sixth of the compile time.
//  - The machine scheduler interleaves the parts of a vector of 16 doubles and
//    spills registers to do so: without it erfc and pow take two thirds of the
//    time.
//  - Loop strength reduction finds nothing: the emitter counts indices up
//    itself.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/LlvmOptions.h"

#include "ops/vocabulary/Error.h"
#include "llvm/Support/CommandLine.h"

namespace tess::compiler {

static bool set(llvm::StringRef name, llvm::StringRef value) {
  auto found = llvm::cl::getRegisteredOptions().find(name);
  return found != llvm::cl::getRegisteredOptions().end() && !found->second->addOccurrence(0, name, value);
}

llvm::Error setLlvmOptions() {
  static const bool areSet = set("enable-misched", "false") && set("disable-lsr", "true");
  if (!areSet)
    return makeError(ErrorCode::Internal, "codegen: LLVM must have the options enable-misched and disable-lsr, got "
                                          "one without");
  return llvm::Error::success();
}

} // namespace tess::compiler
