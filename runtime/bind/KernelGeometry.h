//===- KernelGeometry.h - the dims array of a kernel call -------*- C++ -*-===//
#pragma once

#include "ops/vocabulary/Error.h"
#include "ops/vocabulary/TensorMeta.h"
#include "runtime/schema/Executable.h"
#include "runtime/schema/KernelAbi.h"
#include "llvm/Support/Error.h"

#include <array>

namespace tess::runtime {

/// Where a kernel finds its operands.
struct KernelGeometry {
  KernelDims places{0, 0};
  llvm::SmallVector<int64_t, 24> dims; // in their places, with zeros for the runtime attributes
  int64_t outer = 1, inner = 1;        // ranges of the call
  int64_t parallel = 1, reduced = 1;   // elements of the two parts of the domain
  bool isTiled = false;                // as KernelLaunch::tiled
};

/// Whether code of this class walks a vector axis with this stride.
bool fitsInner(InnerClass inner, int64_t stride);

/// The numbers of a bound, in the order of BoundNumber.
using KernelBound = std::array<int64_t, kNumBoundNumbers>;

/// What a kernel runs over.
struct KernelOperands {
  llvm::SmallVector<llvm::ArrayRef<int64_t>, 4> shapes; // that broadcast to the domain
  llvm::SmallVector<Layout, 8> layouts;                 // inputs, then results
  size_t numInputs;
  llvm::SmallVector<KernelBound, 3> bounds = {};
};

/// An input repeats, but the code was made for one that does not, when its size was not known. A copy over the whole
/// domain fits.
class RepeatedInputError : public llvm::ErrorInfo<RepeatedInputError, TessError> {
public:
  static char ID;
  RepeatedInputError(size_t input, Shape domain, std::string message)
      : ErrorInfo(ErrorCode::Internal, std::move(message)), input(input), domain(std::move(domain)) {}
  const size_t input;
  const Shape domain;
};

/// An operand is aligned to the right of the domain and repeats where its size is 1; a result that a reduction made
/// smaller lies over the axes that are left. RepeatedInputError, or an Internal error when groups do not collapse, or
/// the code was made for other strides: our own bug.
llvm::Expected<KernelGeometry> kernelGeometry(const Step &step, const KernelOperands &operands);

} // namespace tess::runtime
