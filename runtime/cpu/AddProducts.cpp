//===- AddProducts.cpp - matrices plus products, one after the other ------===//
//
// A product of a few rows is one chunk of a long one, whose sum is that of the
// chunks in their order; others are added one by one, each when its sum is whole.
//
//===----------------------------------------------------------------------===//
#include "runtime/contract/Products.h"
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/MatmulShape.h"
#include "runtime/device/Elements.h"
#include "runtime/threads/ParallelFor.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace tess::runtime::cpu {

namespace {

/// Products of matrices (trips, depth, rows) and (trips, depth, columns).
class AddedProducts : public PreparedKernel {
public:
  explicit AddedProducts(const PrepareRequest &request)
      : dtype(request.outputs[0].dtype), isReverse(request.op.boolean("reverse")), trips(request.inputs[1].shape[0]),
        depth(request.inputs[1].shape[1]), rows(request.outputs[0].shape[0]), columns(request.outputs[0].shape[1]),
        isOneSum(depth > 0 && depth <= kContractLines) {
    implementationName = kContract;
    isUpdate = true;
    if (isEmpty())
      return;
    threadCount = trips * rows * columns * std::max<int64_t>(depth, 1) < kSerialProducts ? 1 : request.threads;
    if (depth)
      products.emplace(productShape(), threadCount);
    workspace = products ? products->workspaceBytes() : 0;
  }

  llvm::Error run(RunContext &context, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    if (isEmpty())
      return llvm::Error::success();
    if (depth == 0)
      addZeros(outputs[0]);
    else if (isOneSum)
      products->run(inputs[1], inputs[2], outputs[0], context.workspace);
    else
      addOneByOne(context, inputs, outputs[0]);
    return llvm::Error::success();
  }

private:
  bool isEmpty() const { return trips == 0 || rows == 0 || columns == 0; }

  contract::ProductShape productShape() const {
    contract::ProductShape shape{dtype, rows, columns, isOneSum ? trips * depth : depth, 1, rows, columns, 1};
    if (isOneSum) {
      shape.chunkLines = depth;
      shape.lastFirst = isReverse;
    }
    shape.added = isOneSum ? contract::Added::EachChunk : contract::Added::TheSum;
    return shape;
  }

  void addOneByOne(RunContext &context, llvm::ArrayRef<void *> inputs, void *out) const {
    for (int64_t number = 0; number < trips; ++number) {
      const int64_t trip = isReverse ? trips - 1 - number : number;
      auto at = [&](void *all, int64_t width) {
        return static_cast<const char *>(all) + trip * depth * width * byteWidth(dtype);
      };
      products->run(at(inputs[1], rows), at(inputs[2], columns), out, context.workspace);
    }
  }

  /// Adds products of no rows: they make a negative zero a positive one.
  void addZeros(void *out) const {
    withFloatType(dtype, [&](auto tag) {
      using T = decltype(tag);
      if constexpr (std::is_floating_point_v<T>)
        std::for_each_n(static_cast<T *>(out), rows * columns, [](T &sum) { sum += T(0); });
    });
  }

  const DType dtype;
  const bool isReverse;
  const int64_t trips, depth, rows, columns;
  const bool isOneSum;
  std::optional<contract::Products> products;
};

} // namespace

llvm::Expected<PreparedRef> prepareAddProducts(const PrepareRequest &request) {
  return std::make_shared<AddedProducts>(request);
}

} // namespace tess::runtime::cpu
