//===- KernelPasses.h - the kernels of a program, for readers ---*- C++ -*-===//
#pragma once

#include "ir/Dialect.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tess::compiler {

#define GEN_PASS_DECL
#include "compiler/lowering/KernelPasses.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/lowering/KernelPasses.h.inc"

} // namespace tess::compiler
