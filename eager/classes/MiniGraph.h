//===- MiniGraph.h - one operator as a program ------------------*- C++ -*-===//
//
// The miss path: a graph of one operator over unknown sizes, compiled as any
// graph is, and made ready to launch.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/Compile.h"
#include "eager/classes/Broadcast.h"
#include "eager/classes/OpCache.h"
#include "eager/classes/OpClass.h"
#include "runtime/schema/Executable.h"

namespace tess::eager {

/// Whether one kernel can serve a class of shapes: the iteration space is the broadcast of the operands or the shape of
/// the results.
bool mayBeDirect(const OpInfo &info, size_t numOperands);

/// Compiles the mini-graph of a class.
llvm::Expected<runtime::Executable> compileClass(const OpClass &cls, compiler::CompileOptions options);

/// What a call on `device` compiles to: from the warm set, from disk, or from the compiler. `call`: with the metas of
/// its class (metasOfClass(), or its own with unknown sizes). `direct`: a kernel that eager launches itself, where the
/// class has one; otherwise a program.
BuiltOp buildOp(const OpKey &key, const OpClass &call, bool direct, runtime::Device &device);

/// Metas of a direct class: size 1 where an operand is broadcast, else unknown. `keepScalars`: rank 0 stays rank 0,
/// because the signature asks for it.
Metas metasOfClass(llvm::ArrayRef<Operand> operands, const IterationSpace &space, bool keepScalars);
/// Layouts of a direct class.
llvm::SmallVector<ir::MemoryLayout, 4> layoutsOfClass(const IterationSpace &space, unsigned numOperands);

} // namespace tess::eager
