//===- DnnlCalls.cpp - a prepared list of oneDNN calls --------------------===//
#include "runtime/cpu/DnnlCalls.h"
#include "ops/Error.h"
#include "runtime/ParallelFor.h"
#include "runtime/StridedCopy.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <new>
#include <unordered_map>

namespace tess::runtime {

using dnnl::memory;

const dnnl::engine &dnnlEngine() {
  static const dnnl::engine *engine = [] {
    dnnl::set_primitive_cache_capacity(0); // the runtime's own cache counts bytes
    return new dnnl::engine(dnnl::engine::kind::cpu, 0);
  }();
  return *engine;
}

std::optional<memory::data_type> dnnlType(DType dtype) {
  switch (dtype) {
  case DType::Float32:
    return memory::data_type::f32;
  case DType::BFloat16:
    return memory::data_type::bf16;
  default:
    return std::nullopt;
  }
}

std::optional<memory::desc> dnnlDesc(DType dtype, const Layout &layout) {
  for (auto [size, stride] : llvm::zip(layout.shape, layout.strides))
    if (stride < 0 || (stride == 0 && size > 1))
      return std::nullopt;
  memory::dims dims(layout.shape.begin(), layout.shape.end());
  memory::dims strides(layout.strides.begin(), layout.strides.end());
  for (int64_t &stride : strides) // an axis of size 1 may have any stride; oneDNN wants a positive one
    stride = std::max<int64_t>(stride, 1);
  return memory::desc(dims, *dnnlType(dtype), strides);
}

llvm::Error guarded(llvm::StringRef op, llvm::function_ref<void()> fn) {
  try {
    fn();
    return llvm::Error::success();
  } catch (const dnnl::error &e) {
    ErrorCode code = e.status == dnnl_out_of_memory   ? ErrorCode::ResourceExhausted
                     : e.status == dnnl_unimplemented ? ErrorCode::Unimplemented
                                                      : ErrorCode::Internal;
    return makeError(code, op + ": oneDNN must have this kernel, got " + e.message);
  } catch (const std::bad_alloc &) {
    return makeError(ErrorCode::ResourceExhausted, op + ": oneDNN must have memory, got none");
  }
}

DnnlCalls::DnnlCalls(const PrepareRequest &request, unsigned threads)
    : opName(request.op.name()), outputMetas(request.outputs.begin(), request.outputs.end()) {
  threadCount = threads;
}

int DnnlCalls::addSlot(Slot slot) {
  slots.push_back(std::move(slot));
  return int(slots.size()) - 1;
}

size_t DnnlCalls::reserve(size_t bytes) {
  size_t offset = workspace;
  workspace += llvm::alignTo(bytes, 64);
  return offset;
}

int DnnlCalls::workspaceSlot(const memory::desc &desc) {
  return addSlot({Source::Workspace, 0, reserve(desc.get_size()), desc});
}

int DnnlCalls::plainInput(const PrepareRequest &request, unsigned input) {
  const TensorMeta &meta = request.inputs[input];
  if (std::optional<memory::desc> desc = dnnlDesc(meta.dtype, request.layouts[input]))
    return inputSlot(input, *desc);
  return gatherSlot(input, request.layouts[input], *dnnlDesc(meta.dtype, Layout::contiguous(meta.shape)));
}

int DnnlCalls::gatherSlot(unsigned input, const Layout &layout, const memory::desc &packed) {
  int slot = workspaceSlot(packed);
  gathers.push_back({input, layout, int64_t(memory::data_type_size(packed.data_type())), slots[slot].offset});
  return slot;
}

int DnnlCalls::reordered(int slot, const memory::desc &wanted) {
  if (slots[slot].desc == wanted)
    return slot;
  int target = workspaceSlot(wanted);
  copySlot(slot, target);
  return target;
}

int DnnlCalls::targetSlot(int output, const memory::desc &wanted) {
  return slots[output].desc == wanted ? output : workspaceSlot(wanted);
}

void DnnlCalls::copySlot(int from, int to) {
  if (from == to)
    return;
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::reorder::primitive_desc desc(dnnlEngine(), slots[from].desc, dnnlEngine(), slots[to].desc, attr);
  std::vector<std::pair<int, int>> args = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
  if (desc.scratchpad_desc().get_size())
    args.push_back({DNNL_ARG_SCRATCHPAD, workspaceSlot(desc.scratchpad_desc())});
  call(dnnl::reorder(desc), std::move(args));
}

void DnnlCalls::call(const dnnl::primitive &primitive, std::vector<std::pair<int, int>> args) {
  calls.push_back({primitive, std::move(args)});
  heldBytes += size_t(96) << 10; // code of a primitive, by order of magnitude; oneDNN does not say
}

void *DnnlCalls::address(const Slot &slot, char *work, llvm::ArrayRef<void *> in, llvm::ArrayRef<void *> out) const {
  switch (slot.source) {
  case Source::Input:
    return in[slot.index];
  case Source::Output:
    return out[slot.index];
  case Source::Workspace:
    return work + slot.offset;
  }
  llvm_unreachable("slot source out of range");
}

void DnnlCalls::execute(char *work, llvm::ArrayRef<void *> in, llvm::ArrayRef<void *> out) const {
  LibraryThreads threadsGuard(threadCount);
  dnnl::stream stream(dnnlEngine());
  llvm::SmallVector<memory, 12> memories;
  for (const Slot &slot : slots)
    memories.emplace_back(slot.desc, dnnlEngine(), address(slot, work, in, out));
  for (const Call &call : calls) {
    llvm::SmallVector<dnnl_exec_arg_t, 8> args;
    for (auto [arg, slot] : call.args)
      args.push_back({arg, memories[slot].get()});
    dnnl::error::wrap_c_api(dnnl_primitive_execute(call.primitive.get(), stream.get(), int(args.size()), args.data()),
                            "could not execute a primitive");
  }
  stream.wait();
}

llvm::Error DnnlCalls::run(RunContext &context, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<Req> reqs,
                           llvm::ArrayRef<void *> outputs) const {
  if (reqs[0] == Req::Null)
    return llvm::Error::success();
  char *work = static_cast<char *>(context.workspace);
  for (const Gather &gather : gathers)
    copyStrided(work + gather.offset, Layout::contiguous(gather.layout.shape), inputs[gather.input], gather.layout,
                gather.width);
  if (llvm::Error error = guarded(opName, [&] { execute(work, inputs, outputs); }))
    return error;
  applyEpilogue(epilogue, outputMetas[0], outputs[0], inputs, threadCount);
  return llvm::Error::success();
}

/// The operand as oneDNN's second operand: as many axes as the output, 1 everywhere but at `channelAxis`.
static std::optional<memory::desc> channelOperand(const PrepareRequest &request, unsigned input, unsigned channelAxis) {
  const TensorMeta &meta = request.inputs[input];
  const TensorMeta &output = request.outputs[0];
  if (meta.dtype != output.dtype || meta.dtype != DType::Float32 || meta.rank() > output.rank())
    return std::nullopt;
  size_t lead = output.rank() - meta.rank();
  memory::dims dims(output.rank(), 1);
  for (size_t i = 0; i < meta.rank(); ++i) {
    if (meta.shape[i] == 1)
      continue;
    if (lead + i != channelAxis || meta.shape[i] != output.shape[channelAxis] || request.layouts[input].strides[i] != 1)
      return std::nullopt;
    dims[channelAxis] = meta.shape[i];
  }
  memory::dims strides(output.rank(), 1);
  for (size_t i = 0; i < strides.size(); ++i)
    strides[i] = i < channelAxis ? dims[channelAxis] : 1;
  return memory::desc(dims, memory::data_type::f32, strides);
}

PostOps foldPostOps(const PrepareRequest &request, unsigned channelAxis, size_t most) {
  PostOps out;
  for (const std::string &text : request.epilogue.take_front(most)) {
    auto [name, operand] = llvm::StringRef(text).split(':');
    unsigned input = 0;
    // oneDNN's relu turns NaN into 0, which the operator does not: it and what follows comes after the call.
    if (name == "relu" || operand.getAsInteger(10, input) || input >= request.inputs.size())
      break;
    if (name == "sum") {
      if (out.sumInput >= 0 || !(request.inputs[input] == request.outputs[0]) ||
          request.outputs[0].dtype != DType::Float32 || !dnnlDesc(request.inputs[input].dtype, request.layouts[input]))
        break;
      out.sumInput = int(input);
      out.ops.append_sum(1.0f);
    } else {
      std::optional<memory::desc> desc = channelOperand(request, input, channelAxis);
      if (!desc)
        break;
      out.operands.push_back({input, *desc, out.ops.len()});
      out.ops.append_binary(name == "mul" ? dnnl::algorithm::binary_mul : dnnl::algorithm::binary_add, *desc);
    }
    ++out.folded;
  }
  return out;
}

} // namespace tess::runtime
