//===- DnnlCalls.h - a prepared list of oneDNN calls ------------*- C++ -*-===//
//
// The base of every kernel on oneDNN: slots (memory of an input, an output or
// the workspace) and primitives over slots. The only place that catches oneDNN's
// exceptions.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/device/KernelTable.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <dnnl.hpp>
#include <optional>
#include <vector>

namespace tess::runtime {

/// The processor's engine; the first call switches oneDNN's own primitive cache off.
const dnnl::engine &dnnlEngine();
/// oneDNN's name of `dtype`; nullopt when it does not compute with it.
std::optional<dnnl::memory::data_type> dnnlType(DType dtype);
/// A plain tensor at `layout`, whose strides are positive where an axis has more than one element.
dnnl::memory::desc dnnlDesc(DType dtype, const Layout &layout);
/// A row-major tensor.
inline dnnl::memory::desc dnnlDesc(const TensorMeta &meta) {
  return dnnlDesc(meta.dtype, Layout::contiguous(meta.shape));
}
/// Calls fn; an exception of oneDNN becomes an error (ResourceExhausted, Unimplemented, else Internal) that `op` opens.
llvm::Error guarded(llvm::StringRef op, llvm::function_ref<void()> fn);

/// A layout as a packing; row-major when it is `plain` or takes more bytes (padded channels, a wider dtype).
Packing packingOf(const dnnl::memory::desc &desc, const dnnl::memory::desc &plain);
/// The layout that packingOf() gave this text for.
dnnl::memory::desc packedDesc(llvm::StringRef packing);

/// A prepared kernel that is a list of oneDNN primitives over slots: operands, or parts of the workspace.
class DnnlCalls : public PreparedKernel {
public:
  /// `threads`: of every primitive.
  DnnlCalls(const PrepareRequest &request, unsigned threads);

  llvm::Error run(RunContext &context, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override;

  // Building; every function may throw dnnl::error.
  /// A slot for an operand or for workspace of this layout; slots are numbers.
  int inputSlot(unsigned input, const dnnl::memory::desc &desc) { return addSlot({Source::Input, input, 0, desc}); }
  int outputSlot(unsigned output, const dnnl::memory::desc &desc) { return addSlot({Source::Output, output, 0, desc}); }
  int workspaceSlot(const dnnl::memory::desc &desc);
  /// `slot` in the layout `wanted`: the slot itself, or a reorder into the workspace.
  int reordered(int slot, const dnnl::memory::desc &wanted);
  /// A slot of the layout `wanted` for a primitive's result: `output` itself where it has that layout, else workspace,
  /// which copySlot() must bring to the output.
  int targetSlot(int output, const dnnl::memory::desc &wanted);
  /// Reorders one slot into another; nothing when they are the same.
  void copySlot(int from, int to);
  /// Adds a primitive with its (DNNL_ARG_..., slot) pairs.
  void call(const dnnl::primitive &primitive, std::vector<std::pair<int, int>> argsAndSlots);
  /// Asks for an input, or output 0, in the layout `wanted`, where `plain` is its row-major one.
  void setInputPacking(unsigned input, const dnnl::memory::desc &wanted, const dnnl::memory::desc &plain);
  void setOutputPacking(const dnnl::memory::desc &wanted, const dnnl::memory::desc &plain);
  void setImplementation(llvm::StringRef name) { implementationName = name.str(); }
  /// Counts the memory of the whole list; `code`: bytes of the machine code that oneDNN generated for it.
  void countMemory(size_t code);
  /// The layout of a slot.
  const dnnl::memory::desc &desc(int slot) const { return slots[slot].desc; }

private:
  enum class Source : uint8_t { Input, Output, Workspace };
  struct Slot {
    Source source;
    unsigned index;
    size_t offset;
    dnnl::memory::desc desc;
  };
  struct Call {
    dnnl::primitive primitive;
    std::vector<std::pair<int, int>> args;
  };

  int addSlot(Slot slot);
  size_t reserve(size_t bytes);
  void *address(const Slot &slot, char *work, llvm::ArrayRef<void *> in, llvm::ArrayRef<void *> out) const;
  void execute(char *work, llvm::ArrayRef<void *> in, llvm::ArrayRef<void *> out) const;

  std::string opName;
  std::vector<Slot> slots;
  std::vector<Call> calls;
};

/// Adds the calls of a kernel; may throw dnnl::error.
using BuildCalls = llvm::function_ref<void(DnnlCalls &)>;
/// The calls that `build` adds, for `threads` threads. Only where oneDNN has no such kernel the loops of `own`, which
/// is counted (preparedCacheStats().fallbacks); any other failure, such as memory that ran out, is returned.
llvm::Expected<PreparedRef> prepareCalls(const PrepareRequest &request, unsigned threads, BuildCalls build,
                                         llvm::Expected<PreparedRef> (*own)(const PrepareRequest &));

} // namespace tess::runtime
