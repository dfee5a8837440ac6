//===- DnnlCalls.cpp - a prepared list of oneDNN calls --------------------===//
#include "runtime/cpu/DnnlCalls.h"
#include "ops/vocabulary/Error.h"
#include "runtime/cpu/PrimitiveMemory.h"
#include "runtime/schema/KernelAbi.h"
#include "runtime/threads/ParallelFor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <unordered_map>

namespace tess::runtime {

using dnnl::memory;

const dnnl::engine &dnnlEngine() {
  static const dnnl::engine *engine = [] {
    dnnl::set_primitive_cache_capacity(0); // the runtime's own cache counts bytes
    // This version's kernels for AMX end a process with SIGILL at some products and give wrong convolutions.
    if (!std::getenv("ONEDNN_MAX_CPU_ISA") && !std::getenv("DNNL_MAX_CPU_ISA"))
      dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx512_core_bf16);
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

memory::desc dnnlDesc(DType dtype, const Layout &layout) {
  memory::dims dims(layout.shape.begin(), layout.shape.end());
  memory::dims strides(layout.strides.begin(), layout.strides.end());
  for (int64_t &stride : strides) // oneDNN wants a positive stride, and an axis of size 1 may have any
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

/// The order of an image's channels: in blocks, or all of them in one.
static std::optional<ChannelOrder> channelOrderOf(const dnnl_memory_desc_t &md) {
  const dnnl_blocking_desc_t &blocking = md.format_desc.blocking;
  const dnnl_dims_t &s = blocking.strides;
  if (md.ndims != 4 || md.format_kind != dnnl_blocked || blocking.inner_nblks > 1)
    return std::nullopt;
  int64_t channels = md.dims[1], rows = md.dims[2] * md.dims[3];
  bool isBlocked = blocking.inner_nblks == 1 && blocking.inner_idxs[0] == 1;
  int64_t block = isBlocked ? blocking.inner_blks[0] : channels;
  bool isDense = (channels == block || s[1] == rows * block) && s[3] == block && s[2] == md.dims[3] * block &&
                 s[0] == channels * rows;
  if (isBlocked != (blocking.inner_nblks == 1) || kLanes % block != 0 || md.padded_dims[1] != channels || !isDense)
    return std::nullopt;
  return ChannelOrder{{md.dims[0], channels / block, rows * block, 1}, block};
}

Packing packingOf(const memory::desc &desc, const memory::desc &plain) {
  if (desc == plain || desc.get_size() != plain.get_size())
    return {};
  return {std::string(reinterpret_cast<const char *>(&desc.data), sizeof(desc.data)), channelOrderOf(desc.data)};
}

memory::desc packedDesc(llvm::StringRef packing) {
  memory::desc desc;
  std::memcpy(&desc.data, packing.data(), std::min(packing.size(), sizeof(desc.data)));
  return desc;
}

void DnnlCalls::setInputPacking(unsigned input, const memory::desc &wanted, const memory::desc &plain) {
  inputPackings.resize(std::max<size_t>(inputPackings.size(), input + 1));
  inputPackings[input] = packingOf(wanted, plain);
}

void DnnlCalls::setOutputPacking(const memory::desc &wanted, const memory::desc &plain) {
  resultPacking = packingOf(wanted, plain);
}

DnnlCalls::DnnlCalls(const PrepareRequest &request, unsigned threads) : opName(request.op.name()) {
  threadCount = threads;
}

int DnnlCalls::addSlot(Slot slot) {
  slots.push_back(slot);
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
  isLibraryCall = true;
  calls.push_back({primitive, std::move(args)});
  heldBytes += heapBytes(primitive.get_kind());
}

void DnnlCalls::countMemory(size_t code) {
  heldBytes += code + sizeof(DnnlCalls) + slots.capacity() * sizeof(Slot) + calls.capacity() * sizeof(Call);
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

llvm::Error DnnlCalls::run(RunContext &context, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const {
  return guarded(opName, [&] { execute(static_cast<char *>(context.workspace), inputs, outputs); });
}

llvm::Expected<PreparedRef> prepareCalls(const PrepareRequest &request, unsigned threads, BuildCalls build,
                                         llvm::Expected<PreparedRef> (*own)(const PrepareRequest &)) {
  auto calls = std::make_shared<DnnlCalls>(request, threads);
  LibraryThreads guard(threads);
  GeneratedCode code;
  if (llvm::Error error = guarded(request.op.name(), [&] { build(*calls); })) {
    auto [kind, message] = takeError(std::move(error));
    // Our own loops cannot read operands in a packing.
    if (kind != ErrorCode::Unimplemented || !request.inputPackings.empty())
      return makeError(kind, message);
    noteFallback();
    return own(request);
  }
  calls->countMemory(code.bytes());
  return calls;
}

} // namespace tess::runtime
