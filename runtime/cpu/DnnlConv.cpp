//===- DnnlConv.cpp - convolutions by oneDNN ------------------------------===//
//
// For executables that were compiled when these were the convolutions.
//
// oneDNN chooses the layouts (format any), and operands are reordered inside
// the kernel. The propagation kind is always forward_training: inference would
// choose another implementation with other bits, and eager results must equal
// those of a trace.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/DnnlConv.h"
#include "ops/vocabulary/Error.h"
#include "runtime/cpu/DnnlCalls.h"
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/MatmulShape.h"
#include "runtime/threads/ParallelFor.h"

namespace tess::runtime::cpu {

using dnnl::memory;

namespace {

/// The sizes for oneDNN's descriptors, in its own terms.
struct ConvDims {
  memory::dims source, weight, target, stride, dilation, pad, padEnd;
  memory::data_type type;

  memory::desc any(const memory::dims &dims) const { return memory::desc(dims, type, memory::format_tag::any); }
};

} // namespace

/// The shape of the weight, with an axis of groups exactly when there is more than one group.
static Shape weightShape(const ConvShape &s) {
  Shape shape = {s.out, s.in};
  if (s.groups > 1)
    shape.insert(shape.begin(), s.groups);
  for (const SpatialAxis &axis : s.spatial())
    shape.push_back(axis.kernel);
  return shape;
}

static ConvDims convDims(const ConvShape &s, memory::data_type type) {
  ConvDims dims;
  dims.type = type;
  dims.source = {s.batch, s.groups * s.in};
  dims.target = {s.batch, s.groups * s.out};
  Shape weight = weightShape(s);
  dims.weight.assign(weight.begin(), weight.end());
  for (const SpatialAxis &axis : s.spatial()) {
    dims.source.push_back(axis.size);
    dims.target.push_back(axis.results);
    dims.stride.push_back(axis.stride);
    dims.dilation.push_back(axis.dilation - 1); // oneDNN counts the gaps between elements
    dims.pad.push_back(axis.pad);
    dims.padEnd.push_back(axis.padEnd());
  }
  return dims;
}

static dnnl::primitive_attr attributes() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

static dnnl::convolution_forward::primitive_desc forward(const ConvDims &d) {
  return dnnl::convolution_forward::primitive_desc(
      {dnnl::prop_kind::forward_training, dnnl::algorithm::convolution_direct, d.any(d.source), d.any(d.weight),
       d.any(d.target), d.stride, d.dilation, d.pad, d.padEnd},
      attributes(), dnnlEngine());
}

/// The descriptor of a row-major weight.
static memory::desc weightDesc(const ConvShape &s, DType dtype) { return dnnlDesc(TensorMeta(dtype, weightShape(s))); }

/// The packing of an input; empty: row-major.
static llvm::StringRef packed(const PrepareRequest &request, unsigned input) {
  return request.inputPackings.empty() ? llvm::StringRef() : llvm::StringRef(request.inputPackings[input]);
}

/// The slot of an input, row-major as `plain` says or packed, in the layout `wanted`.
static int reordered(DnnlCalls &calls, const PrepareRequest &request, unsigned input, const memory::desc &plain,
                     const memory::desc &wanted) {
  calls.setInputPacking(input, wanted, plain);
  llvm::StringRef packing = packed(request, input);
  return calls.reordered(calls.inputSlot(input, packing.empty() ? plain : packedDesc(packing)), wanted);
}

/// The slot of an input image in the layout `wanted`.
static int imageInput(DnnlCalls &calls, const PrepareRequest &request, unsigned input, const memory::desc &wanted) {
  return reordered(calls, request, input, dnnlDesc(request.inputs[input]), wanted);
}

/// The slot of a weight in the layout `wanted`.
static int weightInput(DnnlCalls &calls, const PrepareRequest &request, unsigned input, const ConvShape &shape,
                       const memory::desc &wanted) {
  return reordered(calls, request, input, weightDesc(shape, request.inputs[input].dtype), wanted);
}

/// The slot of the output.
static int imageOutput(DnnlCalls &calls, const PrepareRequest &request, const memory::desc &wanted) {
  memory::desc plain = dnnlDesc(request.outputs[0]);
  calls.setOutputPacking(wanted, plain);
  return calls.outputSlot(0, request.outputPacking.empty() ? plain : packedDesc(request.outputPacking));
}

template <typename Desc>
static void addScratch(DnnlCalls &calls, const Desc &desc, std::vector<std::pair<int, int>> &args) {
  if (desc.scratchpad_desc().get_size())
    args.push_back({DNNL_ARG_SCRATCHPAD, calls.workspaceSlot(desc.scratchpad_desc())});
}

static void buildForward(DnnlCalls &calls, const PrepareRequest &request, const ConvShape &shape) {
  auto desc = forward(convDims(shape, *dnnlType(request.outputs[0].dtype)));
  int source = imageInput(calls, request, 0, desc.src_desc());
  int weight = weightInput(calls, request, 1, shape, desc.weights_desc());
  int output = imageOutput(calls, request, desc.dst_desc());
  int target = calls.targetSlot(output, desc.dst_desc());
  std::vector<std::pair<int, int>> args = {{DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, weight}, {DNNL_ARG_DST, target}};
  addScratch(calls, desc, args);
  calls.call(dnnl::convolution_forward(desc), std::move(args));
  calls.copySlot(target, output);
  calls.setImplementation(desc.impl_info_str());
}

/// `weightAt`, `gradientAt`: which inputs these are.
static void buildBackwardData(DnnlCalls &calls, const PrepareRequest &request, const ConvShape &shape,
                              unsigned weightAt, unsigned gradientAt) {
  ConvDims d = convDims(shape, *dnnlType(request.outputs[0].dtype));
  dnnl::convolution_backward_data::primitive_desc desc({dnnl::algorithm::convolution_direct, d.any(d.source),
                                                        d.any(d.weight), d.any(d.target), d.stride, d.dilation, d.pad,
                                                        d.padEnd},
                                                       attributes(), dnnlEngine(), forward(d));
  int weight = weightInput(calls, request, weightAt, shape, desc.weights_desc());
  int gradient = imageInput(calls, request, gradientAt, desc.diff_dst_desc());
  int output = imageOutput(calls, request, desc.diff_src_desc());
  int target = calls.targetSlot(output, desc.diff_src_desc());
  std::vector<std::pair<int, int>> args = {
      {DNNL_ARG_WEIGHTS, weight}, {DNNL_ARG_DIFF_DST, gradient}, {DNNL_ARG_DIFF_SRC, target}};
  addScratch(calls, desc, args);
  calls.call(dnnl::convolution_backward_data(desc), std::move(args));
  calls.copySlot(target, output);
  calls.setImplementation(desc.impl_info_str());
}

/// A bfloat16 gradient is computed in float32 and rounded once: this version's own kernels for it read what is not
/// theirs where a step is larger than the image (8 images of 66 x 34 x 1, a kernel of 2 x 2, steps of 2, padding of 1).
static void buildBackwardWeight(DnnlCalls &calls, const PrepareRequest &request, const ConvShape &shape) {
  ConvDims d = convDims(shape, memory::data_type::f32);
  dnnl::convolution_backward_weights::primitive_desc desc({dnnl::algorithm::convolution_direct, d.any(d.source),
                                                           d.any(d.weight), d.any(d.target), d.stride, d.dilation,
                                                           d.pad, d.padEnd},
                                                          attributes(), dnnlEngine(), forward(d));
  int source = imageInput(calls, request, 0, desc.src_desc());
  int gradient = imageInput(calls, request, 1, desc.diff_dst_desc());
  int output = calls.outputSlot(0, weightDesc(shape, request.outputs[0].dtype));
  int target = calls.targetSlot(output, desc.diff_weights_desc());
  std::vector<std::pair<int, int>> args = {
      {DNNL_ARG_SRC, source}, {DNNL_ARG_DIFF_DST, gradient}, {DNNL_ARG_DIFF_WEIGHTS, target}};
  addScratch(calls, desc, args);
  calls.call(dnnl::convolution_backward_weights(desc), std::move(args));
  calls.copySlot(target, output);
  calls.setImplementation(desc.impl_info_str());
}

static llvm::Expected<PreparedRef> calls(const PrepareRequest &request, const ConvShape &shape, BuildCalls build,
                                         llvm::Expected<PreparedRef> (*own)(const PrepareRequest &)) {
  return prepareCalls(request, shape.products() < kSerialProducts ? 1 : request.threads, build, own);
}

llvm::Expected<PreparedRef> prepareDnnlConv(const PrepareRequest &request) {
  ConvShape shape = forwardShape(request);
  return calls(request, shape, [&](DnnlCalls &calls) { buildForward(calls, request, shape); }, prepareOwnConv);
}

llvm::Expected<PreparedRef> prepareDnnlConvTranspose(const PrepareRequest &request) {
  ConvShape shape = transposedShape(request);
  return calls(
      request, shape, [&](DnnlCalls &calls) { buildBackwardData(calls, request, shape, 1, 0); },
      prepareOwnConvTranspose);
}

llvm::Expected<PreparedRef> prepareDnnlConvBackwardData(const PrepareRequest &request) {
  ConvShape shape = backwardDataShape(request);
  return calls(
      request, shape, [&](DnnlCalls &calls) { buildBackwardData(calls, request, shape, 0, 1); },
      prepareOwnConvBackwardData);
}

llvm::Expected<PreparedRef> prepareDnnlConvBackwardWeight(const PrepareRequest &request) {
  ConvShape shape = backwardWeightShape(request);
  return calls(
      request, shape, [&](DnnlCalls &calls) { buildBackwardWeight(calls, request, shape); },
      prepareOwnConvBackwardWeight);
}

/// Input 1 is the weight.
llvm::Error packDnnlConvInput(const PrepareRequest &request, const ConvShape &shape, unsigned input,
                              llvm::StringRef packing, const void *from, void *to) {
  const TensorMeta &meta = request.inputs[input];
  memory::desc plain = input == 1 ? weightDesc(shape, meta.dtype) : dnnlDesc(meta);
  return guarded(request.op.name(), [&] {
    LibraryThreads guard(1);
    memory source(plain, dnnlEngine(), const_cast<void *>(from)), target(packedDesc(packing), dnnlEngine(), to);
    dnnl::stream stream(dnnlEngine());
    dnnl::reorder(source, target).execute(stream, source, target);
    stream.wait();
  });
}

} // namespace tess::runtime::cpu
