//===- Pool.cpp - average pooling by oneDNN -------------------------------===//
#include "ops/vocabulary/Error.h"
#include "runtime/cpu/ConvShape.h"
#include "runtime/cpu/DnnlCalls.h"
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/OwnPool.h"
#include "runtime/threads/ParallelFor.h"

namespace tess::runtime::cpu {

using dnnl::memory;

namespace {

struct PoolDims {
  memory::dims stride, kernel, dilation, pad, padEnd;
  dnnl::algorithm algorithm;
};

PoolDims poolDims(const PrepareRequest &request, const PoolShape &s) {
  PoolDims dims;
  dims.algorithm = request.op.boolean("count_include_pad") ? dnnl::algorithm::pooling_avg_include_padding
                                                           : dnnl::algorithm::pooling_avg_exclude_padding;
  for (const SpatialAxis &axis : s.spatial()) {
    dims.stride.push_back(axis.stride);
    dims.kernel.push_back(axis.kernel);
    dims.dilation.push_back(0);
    dims.pad.push_back(axis.pad);
    dims.padEnd.push_back(axis.padEnd());
  }
  return dims;
}

dnnl::primitive_attr attributes() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

dnnl::pooling_v2_forward::primitive_desc forward(const PoolDims &d, const memory::desc &x, const memory::desc &result) {
  return dnnl::pooling_v2_forward::primitive_desc(
      {dnnl::prop_kind::forward_training, d.algorithm, x, result, d.stride, d.kernel, d.dilation, d.pad, d.padEnd},
      attributes(), dnnlEngine());
}

void buildForward(DnnlCalls &calls, const PrepareRequest &request, const PoolDims &d) {
  memory::desc x = dnnlDesc(request.inputs[0]), result = dnnlDesc(request.outputs[0]);
  auto desc = forward(d, x, result);
  std::vector<std::pair<int, int>> args = {{DNNL_ARG_SRC, calls.inputSlot(0, x)},
                                           {DNNL_ARG_DST, calls.outputSlot(0, result)}};
  if (desc.scratchpad_desc().get_size())
    args.push_back({DNNL_ARG_SCRATCHPAD, calls.workspaceSlot(desc.scratchpad_desc())});
  calls.call(dnnl::pooling_v2_forward(desc), std::move(args));
  calls.setImplementation(desc.impl_info_str());
}

void buildBackward(DnnlCalls &calls, const PrepareRequest &request, const PoolDims &d) {
  memory::desc x = dnnlDesc(request.outputs[0]), gradient = dnnlDesc(request.inputs[0]);
  dnnl::pooling_v2_backward::primitive_desc desc(
      {d.algorithm, x, gradient, d.stride, d.kernel, d.dilation, d.pad, d.padEnd}, attributes(), dnnlEngine(),
      forward(d, x, gradient));
  std::vector<std::pair<int, int>> args = {{DNNL_ARG_DIFF_DST, calls.inputSlot(0, gradient)},
                                           {DNNL_ARG_DIFF_SRC, calls.outputSlot(0, x)}};
  if (desc.scratchpad_desc().get_size())
    args.push_back({DNNL_ARG_SCRATCHPAD, calls.workspaceSlot(desc.scratchpad_desc())});
  calls.call(dnnl::pooling_v2_backward(desc), std::move(args));
  calls.setImplementation(desc.impl_info_str());
}

bool libraryHas(const PrepareRequest &request) {
  return dnnlType(request.outputs[0].dtype) && request.inputs[0].dtype == request.outputs[0].dtype &&
         request.inputs[0].numElements() > 0 && request.outputs[0].numElements() > 0;
}

/// Whether `calls` take elements one by one, of windows along the rows of float32 images: oneDNN has no code for
/// vectors of most of these. An executable that asks for these calls has them.
bool takesRowsOneByOne(const PreparedKernel &calls, const PrepareRequest &request, const PoolShape &shape) {
  auto isOne = [](const SpatialAxis &axis) { return axis.kernel == 1 && axis.pad == 0; };
  return request.outputs[0].dtype == DType::Float32 && isOne(shape.depth) && isOne(shape.rows) &&
         calls.implementation().starts_with("simple_nchw") && request.implementation != calls.implementation();
}

} // namespace

llvm::Expected<PreparedRef> prepareAvgPool2d(const PrepareRequest &request) {
  if (!libraryHas(request))
    return prepareOwnAvgPool2d(request);
  PoolShape shape = poolShape(request.op, request.inputs[0].shape, request.outputs[0].shape);
  unsigned threads = threadsFor(shape.windowElements() * kPoolPicoseconds, request.threads);
  PoolDims dims = poolDims(request, shape);
  llvm::Expected<PreparedRef> calls = prepareCalls(
      request, threads, [&](DnnlCalls &calls) { buildForward(calls, request, dims); }, prepareOwnAvgPool2d);
  return calls && takesRowsOneByOne(**calls, request, shape) ? prepareRowAverage(request) : std::move(calls);
}

llvm::Expected<PreparedRef> prepareAvgPool2dBackward(const PrepareRequest &request) {
  if (!libraryHas(request))
    return prepareOwnAvgPool2dBackward(request);
  PoolShape shape = poolShape(request.op, request.outputs[0].shape, request.inputs[0].shape);
  unsigned threads = threadsFor(shape.windowElements() * kPoolPicoseconds, request.threads);
  PoolDims dims = poolDims(request, shape);
  return prepareCalls(
      request, threads, [&](DnnlCalls &calls) { buildBackward(calls, request, dims); }, prepareOwnAvgPool2dBackward);
}

} // namespace tess::runtime::cpu
