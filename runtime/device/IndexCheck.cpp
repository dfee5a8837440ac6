//===- IndexCheck.cpp - indices that nothing is taken by ------------------===//
#include "runtime/device/IndexCheck.h"
#include "runtime/device/Device.h"
#include "runtime/device/IndexError.h"
#include "runtime/device/StridedCopy.h"

namespace tess::runtime {

namespace {

class IndexCheck : public PreparedKernel {
public:
  IndexCheck(std::string caller, DType dtype, Layout layout, int64_t size)
      : caller(std::move(caller)), dtype(dtype), layout(std::move(layout)), size(size) {
    implementationName = "own:index_check";
    looksAtData = true;
  }

  llvm::Error run(RunContext &context, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *>) const override {
    const char *first = static_cast<const char *>(inputs[0]);
    if (!context.stream)
      return check(first);
    auto [begin, end] = reachOf(layout, byteWidth(dtype));
    std::vector<char> copy(size_t(end - begin));
    if (llvm::Error error = context.stream->copyOut(copy.data(), first + begin, copy.size()))
      return error;
    if (llvm::Error error = context.stream->synchronize())
      return error;
    return check(copy.data() - begin);
  }

private:
  llvm::Error check(const char *first) const {
    return dtype == DType::Int64 ? checkBy<int64_t>(first) : checkBy<int32_t>(first);
  }

  template <typename Index> llvm::Error checkBy(const char *first) const {
    std::vector<Index> indices(size_t(llvm::product_of(layout.shape)));
    copyStrided(indices.data(), Layout::contiguous(layout.shape), first, layout, sizeof(Index));
    for (int64_t index : indices)
      if (index < -size || index >= size)
        return indexError(caller, index, size);
    return llvm::Error::success();
  }

  std::string caller;
  DType dtype;
  Layout layout; // without its offset, which the pointer has
  int64_t size;
};

} // namespace

PreparedRef indexCheck(std::string caller, DType dtype, Layout layout, int64_t size) {
  layout.offset = 0;
  return std::make_shared<IndexCheck>(std::move(caller), dtype, std::move(layout), size);
}

} // namespace tess::runtime
