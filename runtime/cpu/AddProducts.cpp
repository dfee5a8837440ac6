//===- AddProducts.cpp - matrices plus products, one after the other ------===//
//
// A product of a few rows is one chunk of a long one, whose sum is that of the
// chunks in their order; others are made one by one, and added.
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
    workspace = (products ? products->workspaceBytes() : 0) + (isOneSum ? 0 : productBytes());
  }

  llvm::Error run(RunContext &context, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    if (isEmpty())
      return llvm::Error::success();
    if (isOneSum)
      products->run(inputs[1], inputs[2], outputs[0], context.workspace);
    else
      addOneByOne(context, inputs, outputs[0]);
    return llvm::Error::success();
  }

private:
  bool isEmpty() const { return trips == 0 || rows == 0 || columns == 0; }
  size_t productBytes() const { return llvm::alignTo(size_t(rows * columns) * byteWidth(dtype), 64); }

  contract::ProductShape productShape() const {
    contract::ProductShape shape{dtype, rows, columns, isOneSum ? trips * depth : depth, 1, rows, columns, 1};
    if (isOneSum) {
      shape.chunkLines = depth;
      shape.lastFirst = isReverse;
      shape.addsToResults = true;
    }
    return shape;
  }

  void addOneByOne(RunContext &context, llvm::ArrayRef<void *> inputs, void *out) const {
    char *product = static_cast<char *>(context.workspace);
    std::fill_n(product, productBytes(), 0); // of no rows
    for (int64_t number = 0; number < trips; ++number) {
      const int64_t trip = isReverse ? trips - 1 - number : number;
      auto at = [&](void *all, int64_t width) {
        return static_cast<const char *>(all) + trip * depth * width * byteWidth(dtype);
      };
      if (products)
        products->run(at(inputs[1], rows), at(inputs[2], columns), product, product + productBytes());
      withFloatType(dtype, [&](auto tag) { add<decltype(tag)>(product, out); });
    }
  }

  template <typename T> void add(const void *product, void *out) const {
    constexpr int64_t kGrain = 4096;
    if constexpr (std::is_floating_point_v<T>)
      parallelFor(threadCount, rows * columns, kGrain, [&](int64_t begin, int64_t end, unsigned) {
        for (int64_t i = begin; i < end; ++i)
          static_cast<T *>(out)[i] += static_cast<const T *>(product)[i];
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
