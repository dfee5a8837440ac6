//===- MiniGraph.h - one operator as a program ------------------*- C++ -*-===//
//
// The miss path: a graph of one operator over unknown sizes, compiled as any
// graph is, and made ready to launch.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/Broadcast.h"
#include "eager/OpCache.h"
#include "eager/OpClass.h"
#include "runtime/schema/Executable.h"

namespace tess::eager {

/// True when the iteration space of `info` is the broadcast of its operands or the shape of its results, so that one
/// kernel serves a class of shapes.
bool mayBeDirect(const OpInfo &info, size_t numOperands);

/// Compiles a class for a target of the compiler.
llvm::Expected<runtime::Executable> compileClass(const OpClass &cls, llvm::StringRef target);

/// `op` for a class, compiled unless the warm set or the disk has it. For a direct operator `space` gives the class,
/// `operands` the dtypes; otherwise `operands` are the metas with every size unknown. Without `direct` it is a program
/// only.
BuiltOp buildOp(const OpKey &key, const OpDef &op, llvm::ArrayRef<TensorMeta> operands,
                llvm::ArrayRef<unsigned> segments, bool direct);

/// Metas of a direct class: size 1 where an operand is broadcast, else unknown. `keepScalars`: rank 0 stays rank 0,
/// because the signature asks for it.
Metas metasOfClass(llvm::ArrayRef<Operand> operands, const IterationSpace &space, bool keepScalars);

} // namespace tess::eager
