//===- MemoryReport.h - what holds the memory of a device -------*- C++ -*-===//
//
// Large values are noted with the user's line when their memory is taken, so
// that an error about memory can name the largest ones.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/tensor/Storage.h"
#include "ops/vocabulary/TensorMeta.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tess::eager {

/// Bytes from which on a value is noted: its memory costs far more time than the note.
constexpr int64_t kNotedBytes = 1 << 20;

/// Notes a value of at least kNotedBytes, and the place of the present call.
void noteLarge(Storage &storage, DType dtype, llvm::ArrayRef<int64_t> shape);
/// Adds the operator that found no memory to an error about memory that names none: "matmul of x f32[2, 3], y f32[3]".
llvm::Error withOperator(llvm::Error error, llvm::function_ref<std::string()> describe);

/// Sets the hooks of storages; part of eager's start.
void startMemoryReport();

} // namespace tess::eager
