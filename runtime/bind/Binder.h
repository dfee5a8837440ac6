//===- Binder.h - a program bound to shapes, in pieces ----------*- C++ -*-===//
//
// The steps of README.md, in their order; each file has the pieces of one.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/ParallelFor.h"
#include "runtime/bind/Commands.h"
#include "runtime/bind/KernelGeometry.h"
#include "runtime/bind/StoragePlan.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tess::runtime {

/// One binding while it is made; used once.
class Binder {
public:
  Binder(Program &program, const BindOptions &options)
      : program(program), exe(program.exe), threads(options.threads ? options.threads : numThreads()),
        keepPlan(options.keepPlan), packs(options.packing), batches(options.batches), given(options.op),
        inferred(options.outputs), bound(new Commands) {}
  /// The steps of binding in their order; arguments and errors are those of Program::bind().
  llvm::Expected<std::shared_ptr<Bound>> run(llvm::ArrayRef<TensorMeta> inputs);

private:
  llvm::Error inferShapes(llvm::ArrayRef<TensorMeta> inputs);
  llvm::Error inferNode(const ProgramNode &node);
  /// The operator of a node or of a step.
  const OpDef &operatorOf(const OpDef &own) const { return given ? *given : own; }
  /// Whether the caller's metas are those of the results of `node`.
  bool isInferred(const ProgramNode &node) const;
  /// Inferred `results` at their upper bounds; `unknown` gets (result, axis) where the data decides the size.
  llvm::Expected<Metas> atMost(llvm::Expected<Metas> results, const OpDef &op, llvm::ArrayRef<TensorMeta> operands,
                               llvm::ArrayRef<unsigned> segments,
                               llvm::function_ref<void(unsigned, unsigned)> unknown) const;
  llvm::Error checkOperator(const Step &step) const;
  llvm::Error setResult(const ProgramNode &node, ValueId value, TensorMeta meta);
  llvm::Error addStep(const Step &step);
  llvm::Error nameRepeated(llvm::Error error) const;
  llvm::Error addKernel(const Step &step);
  void splitDomain(KernelLaunch &launch, const KernelGeometry &geometry, bool byChunks) const;
  llvm::Error checkRowMajor(const Step &step) const;
  llvm::Error prepareLibrary();
  struct LibraryRequest;
  LibraryRequest libraryRequest(const Step &step) const;
  llvm::Expected<PreparedRef> prepare(const Step &step, const LibraryRequest &operands) const;
  std::string operandPacking(const Step &step, const PreparedKernel &kernel, unsigned operand) const;
  llvm::Error addOperands(const Step &step, const LibraryRequest &request);
  llvm::Error addLibrary(const Step &step);
  llvm::Error addMovement(const Step &step);
  llvm::Error addWindow(const Step &step);
  llvm::Error addRegion(const Step &step, unsigned operand, const Layout &source, const Layout &destination);
  void addWholeCopy(const Step &step, unsigned operand);
  bool sharesMemory(const Step &step, unsigned operand) const;
  void addOutputCopies();
  void addCopy(const Step *step, const Layout &from, const Layout &to, int64_t width, const char *label);
  Command &newCommand(Command::Kind kind, const Step *step);
  /// A launch over the domain of these shapes; nothing where that is empty.
  llvm::Error addLaunch(const Step &step, int32_t entry, llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes,
                        const ValueIds &inputs, const ValueIds &outputs);
  void setLaunch(Command &command, const Step &step, int32_t entry, const KernelGeometry &geometry);
  void addPointer(ValueId value, int64_t offset);
  void addPlacePointer(Place place, int64_t bytes);
  void placeArena();
  void finish();
  std::vector<llvm::SmallVector<unsigned, 2>> unknownOutputAxes() const;

  Program &program;
  const Executable &exe;
  unsigned threads;
  bool keepPlan, packs, batches;
  const OpDef *given;
  llvm::ArrayRef<TensorMeta> inferred; // the outputs, by the caller; empty when it has not
  std::unique_ptr<Commands> bound;
  Metas metas;
  llvm::SmallVector<Layout, 16> layouts;
  std::vector<llvm::SmallVector<unsigned, 2>> unknownAxes; // by value; only where data decides
  StoragePlan storage;
  std::vector<PreparedRef> libraryKernels;               // by step, for row-major operands
  std::vector<Packing> packings;                         // by value (Packing.h)
  int64_t splitPicoseconds = 0;                          // serial time of kernels that run in parts
  std::vector<std::pair<int64_t, int64_t>> arenaExtents; // by allocation
  /// Allocation of a command's scratch or workspace, by command; -1: none.
  std::vector<int32_t> scratchOf;
  /// Pointers into the arena before offsets are known: slot, allocation, bytes.
  std::vector<PointerPatch> arenaUses;
};

} // namespace tess::runtime
