//===- ControlFlow.h - branches and loops of user's functions ---*- C++ -*-===//
//
// What F.scan, F.cond and F.while_loop are in every frontend: the functions of
// the user run trip by trip where nothing is written down, and become one
// operator of a recording or of a network (BodyRecording.h). Frontends turn
// containers into lists, and exceptions of the user's functions into errors.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/tracing/TripValues.h"
#include "ops/graphs/Control.h"

#include <optional>

namespace tess::eager {

/// A trip of a scan: carried values and elements of the xs, to the carried values after it and elements to stack.
using StepFunction =
    llvm::function_ref<llvm::Expected<TripValues>(llvm::ArrayRef<TensorRef> carried, llvm::ArrayRef<TensorRef> xs)>;
/// A branch of a cond, with its operands.
using BranchFunction = llvm::function_ref<llvm::Expected<Tensors>()>;
/// Of a while loop: whether another trip follows, as bool[]; a trip.
using PredicateFunction = llvm::function_ref<llvm::Expected<TensorRef>(llvm::ArrayRef<TensorRef> carried)>;
using TripFunction = llvm::function_ref<llvm::Expected<Tensors>(llvm::ArrayRef<TensorRef> carried)>;

/// Applies `step` to each element of `xs` along axis 0, or `length` times; the last carried values, and what the trips
/// gave, stacked. A step that has looked at a size that data decides, and errs while it is recorded, is applied again,
/// trip by trip: what such a function does is no program. An error Internal ends every loop at once. InvalidArgument
/// unless xs have one size of axis 0 and a trip gives back carried values as it takes them.
llvm::Expected<TripValues> scan(StepFunction step, llvm::ArrayRef<TensorRef> carried, llvm::ArrayRef<TensorRef> xs,
                                std::optional<int64_t> length, bool reverse);
/// What `then` returns where `pred` holds, else what `otherwise` does. TypeMismatch unless pred is a bool;
/// InvalidArgument unless it has rank 0 and both branches return the same dtypes and shapes.
llvm::Expected<Tensors> cond(const TensorRef &pred, BranchFunction then, BranchFunction otherwise);
/// Applies `body` as long as `holds`, `maxTrips` times at most. Errors as those of cond and scan.
llvm::Expected<Tensors> whileLoop(PredicateFunction holds, TripFunction body, llvm::ArrayRef<TensorRef> carried,
                                  std::optional<int64_t> maxTrips);

} // namespace tess::eager
