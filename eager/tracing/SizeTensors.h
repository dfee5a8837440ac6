//===- SizeTensors.h - recorded tensors that hold sizes ---------*- C++ -*-===//
#pragma once

#include "eager/tracing/Recording.h"
#include "ops/graphs/SizeValues.h"

namespace tess::eager {

/// The elements of one recording's small tensors of integers by the sizes of its arguments, as far as they were asked
/// for.
class SizeTensors {
public:
  /// Of a value that follows from sizes and constants alone; nothing for another.
  std::optional<SizeValues> of(const Recording &recording, uint32_t number);

private:
  std::optional<SizeValues> compute(const Recording &recording, uint32_t number);
  const Recording::Op *maker(const Recording &recording, uint32_t number);

  std::map<uint32_t, std::optional<SizeValues>> known;
  std::vector<int64_t> makers; // by value number: of the operator, -1 for none
  size_t numOps = 0;           // of which the results are in `makers`
};

/// The elements of a tensor of integers, read now.
llvm::Expected<SizeValues> integersOf(TensorImpl &tensor);

} // namespace tess::eager
