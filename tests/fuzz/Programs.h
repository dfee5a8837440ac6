//===- Programs.h - what was read is bound ----------------------*- C++ -*-===//
#pragma once

#include "runtime/bind/Bind.h"
#include "tests/fuzz/Fuzz.h"

namespace tess::fuzz {

/// Creates the program, its kernels replaced by one that does nothing, and binds it to small inputs that fit its
/// signature: what a reader accepts is safe to bind. `isValidated`: it is from a cache of this build, as flat ones are.
inline void bindSmall(runtime::Executable executable, bool isValidated) {
  using namespace runtime;
  ProgramOptions options;
  options.name = "input";
  options.isValidated = isValidated;
  options.kernel = [](unsigned, unsigned) -> KernelFn {
    return [](void *const *, const int64_t *, void *, int64_t, int64_t, int64_t, int64_t) {};
  };
  options.tensor = [](llvm::StringRef name) -> llvm::Expected<llvm::StringRef> {
    return makeError(ErrorCode::NotFound, "input: must have a tensor " + name + ", got none");
  };
  auto program = Program::create(std::move(executable), std::move(options));
  if (!passed(program))
    return;
  Metas inputs;
  for (const InputDecl &input : (*program)->executable().inputs) {
    TensorMeta meta(input.dtype, {});
    for (DimDecl dim : input.dims) {
      int64_t symbolic = dim.symbol < 0 ? 3 : (*program)->executable().symbols[dim.symbol].min;
      meta.shape.push_back(dim.symbol < 0 && dim.size >= 0 ? dim.size : symbolic);
    }
    inputs.push_back(std::move(meta));
  }
  auto bound = (*program)->bind(inputs);
  passed(bound);
}

} // namespace tess::fuzz
