//===- WeightOnlyLinear.cpp - products by quantized weights ---------------===//
//
// Activations are floats, or become int8 row by row in the call.
// Constant weights and scales are packed once, each by itself; others in each
// call, where a chunk of them is read.
//
//===----------------------------------------------------------------------===//
#include "runtime/contract/QuantizedRows.h"
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/MatmulShape.h"

#include <cstring>

namespace tess::runtime::cpu {

namespace {

using namespace contract;

QuantizedShape shapeOf(const PrepareRequest &request) {
  return {request.op.i64("bits") == 4 ? TileLines::Nibbles : TileLines::Bytes, request.inputs[0].shape.back(),
          request.inputs[1].shape[0], request.op.i64("group"),
          request.op.str("activations") == "int8" ? DType::Int8 : DType::Float32};
}

enum Input : unsigned { Rows, Weight, Scale, Bias };

bool isPacked(const PrepareRequest &request, unsigned input) {
  return !request.inputPackings.empty() && !request.inputPackings[input].empty();
}

class QuantizedProducts : public PreparedKernel {
public:
  QuantizedProducts(const QuantizedProduct &product, bool hasBias, unsigned threads)
      : rows(product, threads), hasBias(hasBias) {
    const QuantizedShape &shape = product.weights;
    const QuantizedForm form(shape);
    implementationName = kContract;
    threadCount = rows.threads();
    workspace = rows.workspaceBytes();
    const std::string numbers = "numbers:" + std::to_string(8 * form.columnBytes() / form.perColumn()) + ":" +
                                std::to_string(shape.group) + ":" + std::to_string(shape.depth) +
                                (form.byBytes ? ":int8" : "");
    inputPackings = {
        {}, {numbers, std::nullopt, form.bytes()}, {"scales", std::nullopt, form.numScales() * sizeof(float)}};
  }

  llvm::Error run(RunContext &context, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    rows.run({inputs[Rows], inputs[Weight], inputs[Scale], hasBias ? inputs[Bias] : nullptr}, outputs[0],
             context.workspace);
    return llvm::Error::success();
  }

private:
  const QuantizedRows rows;
  const bool hasBias;
};

/// Rows of zeros, or of the bias.
class EmptySums : public PreparedKernel {
public:
  EmptySums(const TensorMeta &out, bool hasBias)
      : rows(out.numElements() ? out.numElements() / out.shape.back() : 0),
        bytes(size_t(out.shape.back() * byteWidth(out.dtype))), hasBias(hasBias) {}

  llvm::Error run(RunContext &, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override {
    char *to = static_cast<char *>(outputs[0]);
    for (int64_t row = 0; row < rows; ++row, to += bytes)
      if (hasBias)
        std::memcpy(to, inputs[Bias], bytes);
      else
        std::memset(to, 0, bytes);
    return llvm::Error::success();
  }

private:
  const int64_t rows;
  const size_t bytes;
  const bool hasBias;
};

} // namespace

llvm::Expected<PreparedRef> prepareWeightOnlyLinear(const PrepareRequest &request) {
  const TensorMeta &out = request.outputs[0];
  const QuantizedShape shape = shapeOf(request);
  const bool hasBias = request.inputs.size() > Bias;
  if (!out.numElements() || !shape.depth)
    return std::make_shared<EmptySums>(out, hasBias);
  if (llvm::Error e = shape.check())
    return std::move(e);
  const int64_t rows = out.numElements() / shape.columns;
  const unsigned threads = out.numElements() * shape.depth < kSerialProducts ? 1 : request.threads;
  return std::make_shared<QuantizedProducts>(
      QuantizedProduct{out.dtype, rows, shape, isPacked(request, Weight), isPacked(request, Scale)}, hasBias, threads);
}

llvm::Error packWeightOnlyInput(const PrepareRequest &request, unsigned input, llvm::StringRef, const void *from,
                                void *to) {
  const QuantizedShape shape = shapeOf(request);
  if (input == Weight)
    packNumbers(shape, from, static_cast<char *>(to));
  else
    packScales(shape, static_cast<const float *>(from), static_cast<float *>(to));
  return llvm::Error::success();
}

} // namespace tess::runtime::cpu
