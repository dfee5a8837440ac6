//===- AddingKernel.cpp - a kernel that adds to its outputs ---------------===//
#include "runtime/AddingKernel.h"
#include "runtime/Elements.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace tess::runtime {

namespace {

class AddingKernel : public PreparedKernel {
public:
  AddingKernel(PreparedRef innerKernel, llvm::ArrayRef<TensorMeta> outputs, llvm::ArrayRef<Req> reqs)
      : inner(std::move(innerKernel)), metas(outputs.begin(), outputs.end()) {
    workspace = llvm::alignTo(inner->workspaceBytes(), 64);
    for (auto [meta, req] : llvm::zip(metas, reqs)) {
      offsets.push_back(workspace);
      if (req == Req::Add)
        workspace += llvm::alignTo(meta.numElements() * byteWidth(meta.dtype), 64);
    }
    implementationName = inner->implementation();
    isLibraryCall = inner->callsLibrary();
    threadCount = inner->threads();
    heldBytes += inner->footprint();
  }

  llvm::Error run(RunContext &context, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<Req> reqs,
                  llvm::ArrayRef<void *> outputs) const override {
    llvm::SmallVector<void *, 4> targets(outputs.begin(), outputs.end());
    llvm::SmallVector<Req, 4> plain(reqs.begin(), reqs.end());
    for (size_t i = 0; i < targets.size(); ++i)
      if (reqs[i] == Req::Add) {
        targets[i] = static_cast<char *>(context.workspace) + offsets[i];
        plain[i] = Req::Write;
      }
    if (llvm::Error error = inner->run(context, inputs, plain, targets))
      return error;
    for (size_t i = 0; i < targets.size(); ++i)
      if (reqs[i] == Req::Add)
        add(metas[i], outputs[i], targets[i]);
    return llvm::Error::success();
  }

private:
  static void add(const TensorMeta &meta, void *target, const void *source) {
    withType(meta.dtype, [&](auto tag) {
      using T = decltype(tag);
      auto *to = static_cast<T *>(target);
      auto *from = static_cast<const T *>(source);
      for (int64_t i = 0, n = meta.numElements(); i < n; ++i)
        to[i] = narrow<T>(Accumulator<T>(widen(to[i])) + Accumulator<T>(widen(from[i])));
    });
  }

  PreparedRef inner;
  Metas metas;
  llvm::SmallVector<size_t, 4> offsets;
};

} // namespace

PreparedRef makeAddingKernel(PreparedRef inner, llvm::ArrayRef<TensorMeta> outputs, llvm::ArrayRef<Req> reqs) {
  return std::make_shared<AddingKernel>(std::move(inner), outputs, reqs);
}

} // namespace tess::runtime
