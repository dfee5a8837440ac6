//===- ProgramAccount.cpp - where a program's time and memory go ----------===//
#include "compiler/Compile.h"
#include "eager/classes/HostOptions.h"
#include "eager/stack/Apply.h"
#include "eager/tracing/TracedProgram.h"

namespace tess::eager {

llvm::Expected<llvm::json::Object> TracedProgram::accountOfBinding() {
  std::unique_lock<std::mutex> lock = lockInRegion(mutex);
  if (!latestBound())
    return invalidArgument("explain: the program must have run, or be given inputs, got a program without sizes");
  runtime::BindOptions options;
  options.set(bindings.front().settings);
  options.keepPlan = true;
  auto bound = program->bind(bindings.front().inputs, options);
  if (!bound)
    return bound.takeError();
  llvm::json::Object account = runtime::accountOf(**bound);
  account["threads"] = options.threads;
  return account;
}

llvm::Expected<llvm::json::Array> TracedProgram::boundaries() const {
  BlockingRegion region(/*computes=*/true);
  compiler::CompileOptions options = this->options();
  llvm::json::Array list;
  options.boundary = [&](const compiler::KernelBoundary &each) {
    list.push_back(llvm::json::Object{{"reader", each.reader},
                                      {"reader_location", llvm::json::fixUTF8(each.readerLocation)},
                                      {"producer", each.producer},
                                      {"producer_location", llvm::json::fixUTF8(each.producerLocation)},
                                      {"why", each.why}});
  };
  if (llvm::Error e = compiler::compile(*graph, options).takeError())
    return std::move(e);
  return list;
}

llvm::Expected<llvm::json::Object> TracedProgram::account(bool withBoundaries) {
  llvm::Expected<llvm::json::Object> account = accountOfBinding();
  if (!account)
    return account;
  llvm::json::Array apart;
  if (withBoundaries)
    if (llvm::Error e = boundaries().moveInto(apart))
      return std::move(e);
  llvm::json::Array passes;
  for (const auto &[part, seconds] : times)
    passes.push_back(llvm::json::Array{part, seconds});
  (*account)["passes"] = std::move(passes);
  (*account)["boundaries"] = std::move(apart);
  (*account)["rewrites"] = llvm::json::Array(rewriteLines);
  return account;
}

} // namespace tess::eager
