//===- Attention.cpp - attention by generated kernels ---------------------===//
#include "runtime/contract/AttentionGradient.h"

#include "runtime/cpu/Kernels.h"

#include <cmath>

namespace tess::runtime::cpu {

using contract::Attention;
using contract::AttentionGradient;
using contract::AttentionShape;

namespace {

constexpr const char *kAttention = "own:attention";
/// Numbers of operands: of both kernels, and of the gradient.
enum Operand : unsigned { Query, Key, Value, LogSumExp, Delta, DOut };

/// Where the matrices of an operand lie that is broadcast to `shape`, and the strides of its last axes.
struct Places {
  llvm::SmallVector<int64_t, 1> at;
  int64_t row, column;
};

Places placesOf(const TensorMeta &operand, llvm::ArrayRef<int64_t> shape) {
  const Layout layout = Layout::contiguous(operand.shape).broadcastTo(shape);
  const size_t leading = shape.size() - 2;
  Places places{{0}, layout.strides[leading], layout.strides[leading + 1]};
  for (size_t axis = 0; axis < leading; ++axis) {
    llvm::SmallVector<int64_t, 1> finer;
    for (int64_t at : places.at)
      for (int64_t i = 0; i < shape[axis]; ++i)
        finer.push_back(at + i * layout.strides[axis]);
    places.at = std::move(finer);
  }
  return places;
}

/// The shape of a request; `mask`: the number of the operand that is one, where it is given.
AttentionShape attentionShape(const PrepareRequest &request, llvm::ArrayRef<int64_t> leading, unsigned mask) {
  const TensorMeta &query = request.inputs[Query], &key = request.inputs[Key], &value = request.inputs[Value];
  AttentionShape shape{query.dtype,
                       query.shape.end()[-2],
                       key.shape.end()[-2],
                       key.shape.back(),
                       value.shape.back(),
                       0,
                       request.op.boolean("is_causal"),
                       {},
                       {},
                       {}};
  shape.scale = request.op.has("scale") ? request.op.f64("scale") : 1 / std::sqrt(double(shape.depth));
  auto places = [&](unsigned operand, int64_t rows, int64_t columns) {
    Shape whole(leading);
    whole.append({rows, columns});
    return placesOf(request.inputs[operand], whole);
  };
  shape.queryAt = places(Query, shape.queries, shape.depth).at;
  shape.keyAt = places(Key, shape.keys, shape.depth).at;
  shape.valueAt = places(Value, shape.keys, shape.width).at;
  if (request.inputs.size() > mask) {
    Places ofMask = places(mask, shape.queries, shape.keys);
    shape.mask = {request.inputs[mask].dtype, ofMask.row, ofMask.column, std::move(ofMask.at)};
  }
  return shape;
}

/// The leading axes of all results.
llvm::ArrayRef<int64_t> leadingOf(const PrepareRequest &request) {
  return llvm::ArrayRef(request.outputs[0].shape).drop_back(2);
}

int64_t bytesOf(const AttentionShape &shape) {
  return shape.numMatrices() * int64_t(sizeof(int64_t)) * (shape.mask ? 4 : 3);
}

class AttentionKernel : public PreparedKernel {
public:
  static constexpr unsigned kMask = 3;

  explicit AttentionKernel(const PrepareRequest &request)
      : attention(attentionShape(request, leadingOf(request), kMask), request.threads) {
    implementationName = kAttention;
    threadCount = attention.threads();
    workspace = attention.workspaceBytes();
    heldBytes += bytesOf(attention.shapeOf());
  }

  llvm::Error run(RunContext &context, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    attention.run({inputs[Query], inputs[Key], inputs[Value], inputs.size() > kMask ? inputs[kMask] : nullptr,
                   outputs[0], outputs[1], context.workspace});
    return llvm::Error::success();
  }

private:
  const Attention attention;
};

class GradientKernel : public PreparedKernel {
public:
  static constexpr unsigned kMask = 6;

  explicit GradientKernel(const PrepareRequest &request)
      : attention(attentionShape(request, leadingOf(request), kMask), gradientPlaces(request), request.threads) {
    implementationName = kAttention;
    threadCount = attention.threads();
    workspace = attention.workspaceBytes();
    heldBytes += 2 * bytesOf(attention.shapeOf());
  }

  llvm::Error run(RunContext &context, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    attention.run({inputs[Query], inputs[Key], inputs[Value], inputs[LogSumExp], inputs[Delta], inputs[DOut],
                   inputs.size() > kMask ? inputs[kMask] : nullptr, outputs[0], outputs[1], outputs[2],
                   context.workspace});
    return llvm::Error::success();
  }

private:
  static contract::GradientPlaces gradientPlaces(const PrepareRequest &request) {
    auto places = [&](unsigned operand, int64_t columns) {
      TensorMeta meta = request.inputs[operand];
      if (operand != DOut)
        meta.shape.push_back(1);
      Shape whole(leadingOf(request));
      whole.append({request.outputs[0].shape.end()[-2], columns});
      return placesOf(meta, whole).at;
    };
    return {places(LogSumExp, 1), places(Delta, 1), places(DOut, request.inputs[Value].shape.back())};
  }

  const AttentionGradient attention;
};

} // namespace

llvm::Expected<PreparedRef> prepareAttentionBackward(const PrepareRequest &request) {
  return std::make_shared<GradientKernel>(request);
}

llvm::Expected<PreparedRef> prepareAttention(const PrepareRequest &request) {
  return std::make_shared<AttentionKernel>(request);
}

} // namespace tess::runtime::cpu
