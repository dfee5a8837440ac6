//===- DumpAccount.cpp - tess-dump --json ---------------------------------===//
#include "frontends/commands/DumpAccount.h"

#include "eager/tracing/Recorder.h"
#include "eager/tracing/TracedProgram.h"
#include "ops/vocabulary/Error.h"

#include "llvm/Support/JSON.h"

namespace tess::commands {

using namespace eager;

/// Version of the object that is printed; jit/explain.py has the same one.
static constexpr int64_t kFormat = 1;

llvm::Error printAccount(const std::string &path, const Dims &dims, llvm::raw_ostream &os) {
  auto program = TracedProgram::load(path, /*allowCode=*/true);
  if (!program)
    return program.takeError();
  const runtime::Executable &executable = (*program)->executable();
  if (llvm::Error e = checkDims(executable, dims))
    return e;
  std::vector<TensorRef> arguments;
  for (const TensorMeta &meta : inputsAt(executable, sizesFor(executable, dims)))
    if (arguments.size() < (*program)->numArguments())
      arguments.push_back(valueless(meta));
  if (llvm::Error e = (*program)->bindTo(arguments))
    return e;
  llvm::Expected<llvm::json::Object> account = (*program)->account(/*withBoundaries=*/true);
  if (!account)
    return account.takeError();
  os << llvm::json::Value(llvm::json::Object{
            {"format", kFormat}, {"title", llvm::json::fixUTF8(path)}, {"account", std::move(*account)}})
     << "\n";
  return llvm::Error::success();
}

} // namespace tess::commands
