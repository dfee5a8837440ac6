//===- DnnlCalls.h - a prepared list of oneDNN calls ------------*- C++ -*-===//
//
// The base of every kernel on oneDNN: slots (memory of an input, an output or
// the workspace), primitives over slots, and an epilogue between them or after.
// The only place that catches oneDNN's exceptions.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/KernelTable.h"
#include "runtime/cpu/Epilogue.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <dnnl.hpp>
#include <optional>
#include <vector>

namespace tess::runtime {

/// The processor's engine; the first call switches oneDNN's own primitive cache off.
const dnnl::engine &dnnlEngine();
/// Nothing for dtypes that oneDNN does not compute with.
std::optional<dnnl::memory::data_type> dnnlType(DType dtype);
/// A plain tensor at `layout`; nothing when a stride is negative or 0 over more than one element.
std::optional<dnnl::memory::desc> dnnlDesc(DType dtype, const Layout &layout);
/// Runs fn; what oneDNN throws becomes an error (ResourceExhausted, Unimplemented, else Internal) that `op` opens.
llvm::Error guarded(llvm::StringRef op, llvm::function_ref<void()> fn);

/// A layout as PreparedKernel::inputPacking; empty when it is `plain` or takes other memory (padded channels).
std::string packingOf(const dnnl::memory::desc &desc, const dnnl::memory::desc &plain);
/// Undoes packingOf.
dnnl::memory::desc packedDesc(llvm::StringRef packing);

class DnnlCalls : public PreparedKernel {
public:
  /// `threads`: of every primitive.
  DnnlCalls(const PrepareRequest &request, unsigned threads);

  llvm::Error run(RunContext &context, llvm::ArrayRef<void *> inputs, llvm::ArrayRef<void *> outputs) const override;

  // Building; all of it may throw dnnl::error.
  int inputSlot(unsigned input, const dnnl::memory::desc &desc) { return addSlot({Source::Input, input, 0, desc}); }
  int outputSlot(unsigned output, const dnnl::memory::desc &desc) { return addSlot({Source::Output, output, 0, desc}); }
  int workspaceSlot(const dnnl::memory::desc &desc);
  /// A plain slot of an input; one that oneDNN cannot address is copied to the workspace first.
  int plainInput(const PrepareRequest &request, unsigned input);
  /// The input, walked by `layout`, copied to the workspace, where it is contiguous and `packed`.
  int gatherSlot(unsigned input, const Layout &layout, const dnnl::memory::desc &packed);
  /// `slot` in the layout `wanted`: the slot itself, or a reorder into the workspace.
  int reordered(int slot, const dnnl::memory::desc &wanted);
  /// Slot of `wanted` that, when it is not the output itself, flushOutput reorders to the output.
  int targetSlot(int output, const dnnl::memory::desc &wanted);
  void copySlot(int from, int to);
  void call(const dnnl::primitive &primitive, std::vector<std::pair<int, int>> argsAndSlots);
  /// Applied to output 0 after the calls, in this order; steps per channel that setFinish announced, where it says.
  void setEpilogue(std::vector<EpilogueStep> steps) { epilogue = std::move(steps); }
  /// Steps that are per channel of `order` come after the calls so far, to `slot`.
  void setFinish(int slot, const ChannelOrder &order);
  /// The call reads `input` in the layout `wanted`, `plain` being its row-major one.
  void setInputPacking(unsigned input, const dnnl::memory::desc &wanted, const dnnl::memory::desc &plain);
  void setOutputPacking(const dnnl::memory::desc &wanted, const dnnl::memory::desc &plain);
  void setImplementation(llvm::StringRef name) { implementationName = name.str(); }
  /// All calls are made; `code`: bytes of the machine code that oneDNN generated for them.
  void countMemory(size_t code);
  const dnnl::memory::desc &desc(int slot) const { return slots[slot].desc; }

private:
  enum class Source : uint8_t { Input, Output, Workspace };
  struct Slot {
    Source source;
    unsigned index;
    size_t offset;
    dnnl::memory::desc desc;
  };
  struct Gather {
    unsigned input;
    Layout layout;
    int64_t width;
    size_t offset;
  };
  struct Call {
    dnnl::primitive primitive;
    std::vector<std::pair<int, int>> args;
  };

  int addSlot(Slot slot);
  size_t reserve(size_t bytes);
  void *address(const Slot &slot, char *work, llvm::ArrayRef<void *> in, llvm::ArrayRef<void *> out) const;
  void execute(char *work, llvm::ArrayRef<void *> in, llvm::ArrayRef<void *> out) const;
  void executeCalls(size_t begin, size_t end, const dnnl::stream &stream, llvm::ArrayRef<dnnl::memory> memories) const;

  std::string opName;
  Metas outputMetas;
  std::vector<Slot> slots;
  std::vector<Gather> gathers;
  std::vector<Call> calls;
  std::vector<EpilogueStep> epilogue;
  struct Finish {
    int slot;
    size_t call; // the first after it
    ChannelOrder order;
  };
  std::optional<Finish> finish;
};

/// Makes the calls of a kernel; may throw dnnl::error.
using BuildCalls = llvm::function_ref<void(DnnlCalls &, llvm::ArrayRef<EpilogueStep>)>;
/// The calls that `build` makes, run by `threads`; our own loops only where oneDNN has no such kernel, which is counted
/// (preparedCacheStats().fallbacks). Any other failure is the caller's: memory that ran out is not a missing kernel.
llvm::Expected<PreparedRef> prepareCalls(const PrepareRequest &request, unsigned threads, BuildCalls build,
                                         llvm::Expected<PreparedRef> (*own)(const PrepareRequest &));

} // namespace tess::runtime
