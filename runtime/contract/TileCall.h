//===- TileCall.h - calls of kernels that contract --------------*- C++ -*-===//
#pragma once

#include "runtime/schema/KernelAbi.h"

namespace tess::runtime::contract {

/// `pointers` and `dims` of a kernel that contracts. Operands and groups are numbers in its specification.
template <unsigned kOperands, unsigned kGroups> class ContractCall {
public:
  void setSize(unsigned group, int64_t size) { dims[kDims.size(group)] = size; }
  void setStride(unsigned operand, unsigned group, int64_t stride) { dims[kDims.stride(operand, group)] = stride; }
  void setData(unsigned operand, const void *data) { pointers[operand] = const_cast<void *>(data); }
  TESS_CALLS_KERNELS void run(KernelFn kernel, int64_t chunk) const { kernel(pointers, dims, nullptr, chunk, 0, 0, 0); }

private:
  static constexpr KernelDims kDims{kGroups, kOperands};
  void *pointers[kOperands] = {};
  int64_t dims[kDims.count(0)] = {};
};

/// A call of a kernel that contracts lines.
struct TileCall : ContractCall<3, 3> {
  enum Operand : unsigned { Lhs, Rhs, Out };
  enum Group : unsigned { Rows, Columns, Lines };
};

/// A call of a kernel that contracts groups of lines, which have scales.
struct GroupsCall : ContractCall<4, 4> {
  enum Operand : unsigned { Lhs, Rhs, Scales, Out };
  enum Group : unsigned { Rows, Columns, Groups, Lines };
};

} // namespace tess::runtime::contract
