//===- Conv.cpp - two-dimensional convolutions by oneDNN ------------------===//
//
// oneDNN picks the layouts (format any); operands are reordered inside the
// kernel. The propagation kind is always forward_training: inference would pick
// another implementation with other bits, and eager must equal a trace.
//
//===----------------------------------------------------------------------===//
#include "ops/Error.h"
#include "runtime/ParallelFor.h"
#include "runtime/cpu/ConvShape.h"
#include "runtime/cpu/DnnlCalls.h"
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/MatmulShape.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::runtime::cpu {

using dnnl::memory;

namespace {

/// What oneDNN's descriptors want to know, in its own words.
struct ConvDims {
  memory::dims source, weight, target, stride, dilation, pad, padEnd;
  memory::data_type type;

  memory::desc any(const memory::dims &dims) const { return memory::desc(dims, type, memory::format_tag::any); }
};

} // namespace

static ConvDims convDims(const ConvShape &s, memory::data_type type) {
  ConvDims dims;
  dims.type = type;
  dims.source = {s.batch, s.groups * s.in, s.height, s.width};
  dims.target = {s.batch, s.groups * s.out, s.outHeight, s.outWidth};
  dims.weight = {s.out, s.in, s.kernel[0], s.kernel[1]};
  if (s.groups > 1)
    dims.weight.insert(dims.weight.begin(), s.groups);
  for (int axis = 0; axis < 2; ++axis) {
    int64_t input = axis ? s.width : s.height, output = axis ? s.outWidth : s.outHeight;
    dims.stride.push_back(s.stride[axis]);
    dims.dilation.push_back(s.dilation[axis] - 1); // oneDNN counts the holes
    dims.pad.push_back(s.pad[axis]);
    // What the last window needs; negative when the input has rows that no window reaches.
    dims.padEnd.push_back((output - 1) * s.stride[axis] + (s.kernel[axis] - 1) * s.dilation[axis] + 1 - input -
                          s.pad[axis]);
  }
  return dims;
}

static dnnl::primitive_attr attributes(const dnnl::post_ops &ops = {}) {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attr.set_post_ops(ops);
  return attr;
}

static dnnl::convolution_forward::primitive_desc forward(const ConvDims &d, const dnnl::post_ops &ops = {}) {
  return dnnl::convolution_forward::primitive_desc(
      {dnnl::prop_kind::forward_training, dnnl::algorithm::convolution_direct, d.any(d.source), d.any(d.weight),
       d.any(d.target), d.stride, d.dilation, d.pad, d.padEnd},
      attributes(ops), dnnlEngine());
}

/// Slot of a weight, with its groups as an axis exactly when there is more than one.
static memory::desc weightDesc(const ConvShape &shape, DType dtype, const Layout &layout) {
  Layout grouped = groupedWeight(shape, layout);
  if (shape.groups == 1) {
    grouped.shape.erase(grouped.shape.begin());
    grouped.strides.erase(grouped.strides.begin());
  }
  return *dnnlDesc(dtype, grouped);
}

static int weightInput(DnnlCalls &calls, const PrepareRequest &request, unsigned input, const ConvShape &shape) {
  DType dtype = request.inputs[input].dtype;
  const Layout &layout = request.layouts[input];
  if (dnnlDesc(dtype, layout))
    return calls.inputSlot(input, weightDesc(shape, dtype, layout));
  return calls.gatherSlot(input, layout, weightDesc(shape, dtype, Layout::contiguous(layout.shape)));
}

static int plainOutput(DnnlCalls &calls, const PrepareRequest &request) {
  return calls.outputSlot(0, *dnnlDesc(request.outputs[0].dtype, Layout::contiguous(request.outputs[0].shape)));
}

template <typename Desc>
static void addScratch(DnnlCalls &calls, const Desc &desc, std::vector<std::pair<int, int>> &args) {
  if (desc.scratchpad_desc().get_size())
    args.push_back({DNNL_ARG_SCRATCHPAD, calls.workspaceSlot(desc.scratchpad_desc())});
}

/// The longest prefix of the epilogue with which oneDNN keeps implementation and layouts.
static dnnl::convolution_forward::primitive_desc withEpilogue(const PrepareRequest &request, const ConvDims &dims,
                                                              PostOps &post) {
  auto plain = forward(dims);
  for (size_t most = request.epilogue.size(); most > 0; --most) {
    post = foldPostOps(request, 1, most);
    if (post.folded == 0)
      break;
    auto folded = forward(dims, post.ops);
    if (llvm::StringRef(folded.impl_info_str()) == plain.impl_info_str() && folded.src_desc() == plain.src_desc() &&
        folded.weights_desc() == plain.weights_desc() && folded.dst_desc() == plain.dst_desc())
      return folded;
  }
  post = PostOps();
  return plain;
}

static void buildForward(DnnlCalls &calls, const PrepareRequest &request, const ConvShape &shape, size_t &folded) {
  ConvDims dims = convDims(shape, *dnnlType(request.outputs[0].dtype));
  PostOps post;
  auto desc = withEpilogue(request, dims, post);
  folded = post.folded;
  int source = calls.reordered(calls.plainInput(request, 0), desc.src_desc());
  int weight = calls.reordered(weightInput(calls, request, 1, shape), desc.weights_desc());
  int output = plainOutput(calls, request);
  int target = calls.targetSlot(output, desc.dst_desc());
  std::vector<std::pair<int, int>> args = {{DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, weight}, {DNNL_ARG_DST, target}};
  addScratch(calls, desc, args);
  for (const PostOps::Operand &operand : post.operands)
    args.push_back({DNNL_ARG_ATTR_MULTIPLE_POST_OP(operand.position) | DNNL_ARG_SRC_1,
                    calls.inputSlot(operand.input, operand.desc)});
  if (post.sumInput >= 0)
    calls.copySlot(calls.plainInput(request, unsigned(post.sumInput)), target);
  calls.call(dnnl::convolution_forward(desc), std::move(args));
  calls.copySlot(target, output);
  calls.setImplementation(desc.impl_info_str());
}

static void buildBackwardData(DnnlCalls &calls, const PrepareRequest &request, const ConvShape &shape) {
  ConvDims d = convDims(shape, *dnnlType(request.outputs[0].dtype));
  dnnl::convolution_backward_data::primitive_desc desc({dnnl::algorithm::convolution_direct, d.any(d.source),
                                                        d.any(d.weight), d.any(d.target), d.stride, d.dilation, d.pad,
                                                        d.padEnd},
                                                       attributes(), dnnlEngine(), forward(d));
  int weight = calls.reordered(weightInput(calls, request, 0, shape), desc.weights_desc());
  int gradient = calls.reordered(calls.plainInput(request, 1), desc.diff_dst_desc());
  int output = plainOutput(calls, request);
  int target = calls.targetSlot(output, desc.diff_src_desc());
  std::vector<std::pair<int, int>> args = {
      {DNNL_ARG_WEIGHTS, weight}, {DNNL_ARG_DIFF_DST, gradient}, {DNNL_ARG_DIFF_SRC, target}};
  addScratch(calls, desc, args);
  calls.call(dnnl::convolution_backward_data(desc), std::move(args));
  calls.copySlot(target, output);
  calls.setImplementation(desc.impl_info_str());
}

static void buildBackwardWeight(DnnlCalls &calls, const PrepareRequest &request, const ConvShape &shape) {
  ConvDims d = convDims(shape, *dnnlType(request.outputs[0].dtype));
  dnnl::convolution_backward_weights::primitive_desc desc({dnnl::algorithm::convolution_direct, d.any(d.source),
                                                           d.any(d.weight), d.any(d.target), d.stride, d.dilation,
                                                           d.pad, d.padEnd},
                                                          attributes(), dnnlEngine(), forward(d));
  int source = calls.reordered(calls.plainInput(request, 0), desc.src_desc());
  int gradient = calls.reordered(calls.plainInput(request, 1), desc.diff_dst_desc());
  const TensorMeta &meta = request.outputs[0];
  int output = calls.outputSlot(0, weightDesc(shape, meta.dtype, Layout::contiguous(meta.shape)));
  int target = calls.targetSlot(output, desc.diff_weights_desc());
  std::vector<std::pair<int, int>> args = {
      {DNNL_ARG_SRC, source}, {DNNL_ARG_DIFF_DST, gradient}, {DNNL_ARG_DIFF_WEIGHTS, target}};
  addScratch(calls, desc, args);
  calls.call(dnnl::convolution_backward_weights(desc), std::move(args));
  calls.copySlot(target, output);
  calls.setImplementation(desc.impl_info_str());
}

using Own = llvm::Expected<PreparedRef> (*)(const PrepareRequest &);

/// By oneDNN where it has the dtype and there is something to compute, else by our own loops.
static llvm::Expected<PreparedRef> prepareEither(const PrepareRequest &request, const ConvShape &shape,
                                                 llvm::function_ref<void(DnnlCalls &, size_t &)> build, Own own) {
  DType dtype = request.outputs[0].dtype;
  bool same = request.inputs[0].dtype == dtype && request.inputs[1].dtype == dtype;
  if (!dnnlType(dtype) || !same || shape.products() == 0)
    return own(request);
  unsigned threads = shape.products() < kSerialProducts ? 1 : request.threads;
  auto calls = std::make_shared<DnnlCalls>(request, threads);
  size_t folded = 0;
  LibraryThreads guard(threads);
  if (llvm::Error error = guarded(request.op.name(), [&] { build(*calls, folded); })) {
    auto [code, message] = takeError(std::move(error));
    if (code != ErrorCode::Unimplemented)
      return makeError(code, message);
    return own(request);
  }
  llvm::Expected<std::vector<EpilogueStep>> rest = readEpilogue(request, folded);
  if (!rest)
    return rest.takeError();
  calls->setEpilogue(std::move(*rest), folded == request.epilogue.size());
  return calls;
}

llvm::Expected<PreparedRef> prepareConv2d(const PrepareRequest &request) {
  ConvShape shape = convShape(request.op, request.inputs[0].shape, request.inputs[1].shape, request.outputs[0].shape);
  return prepareEither(
      request, shape, [&](DnnlCalls &calls, size_t &folded) { buildForward(calls, request, shape, folded); },
      prepareOwnConv2d);
}

llvm::Expected<PreparedRef> prepareConv2dBackwardData(const PrepareRequest &request) {
  ConvShape shape = convShape(request.op, request.outputs[0].shape, request.inputs[0].shape, request.inputs[1].shape);
  return prepareEither(
      request, shape, [&](DnnlCalls &calls, size_t &) { buildBackwardData(calls, request, shape); },
      prepareOwnConv2dBackwardData);
}

llvm::Expected<PreparedRef> prepareConv2dBackwardWeight(const PrepareRequest &request) {
  ConvShape shape = convShape(request.op, request.inputs[0].shape, request.outputs[0].shape, request.inputs[1].shape);
  return prepareEither(
      request, shape, [&](DnnlCalls &calls, size_t &) { buildBackwardWeight(calls, request, shape); },
      prepareOwnConv2dBackwardWeight);
}

} // namespace tess::runtime::cpu
