//===- Binder.h - a program bound to shapes, in pieces ----------*- C++ -*-===//
//
// The steps of README.md, in their order; each file has the pieces of one.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/bind/Commands.h"
#include "runtime/bind/KernelGeometry.h"
#include "runtime/bind/StoragePlan.h"

#include <deque>

namespace tess::runtime {

/// Memory that a command walks: where it starts, and the way of its elements.
struct PlacedLayout {
  Place place;
  Layout layout;
  ValueId value = -1; // whose memory moves from trip to trip of a loop; -1: it stays
};

/// One binding while it is made; used once.
class Binder {
public:
  Binder(Program &program, const BindOptions &options)
      : program(program), exe(program.exe), options(options), settings(options.settings()),
        parts(program.device().hostAccessible() ? settings.threads : 1), bound(new Commands) {}
  /// The steps of binding in their order; arguments and errors are those of Program::bind().
  llvm::Expected<std::shared_ptr<Bound>> run(llvm::ArrayRef<TensorMeta> inputs);

private:
  // Shapes.cpp
  llvm::Error inferShapes(llvm::ArrayRef<TensorMeta> inputs);
  llvm::Error inferNodes(size_t first, size_t end);
  Metas metasOf(llvm::ArrayRef<ValueId> values) const;
  llvm::Error inferNode(const ProgramNode &node);
  /// The number of a symbol of sizes.
  int64_t sizeOf(uint32_t symbol) const;
  /// The operator of a node or of a step, with numbers for its sizes.
  const OpDef &operatorOf(const OpDef &own) const;
  const OpDef &operatorOf(OpDef &&own) const = delete;
  /// Whether the caller's metas are those of the results of `node`.
  bool isInferred(const ProgramNode &node) const;
  /// Below `op` is the operator of the node, with numbers for its sizes.
  llvm::Expected<Metas> inferResults(const ProgramNode &node, const OpDef &op, llvm::ArrayRef<TensorMeta> operands);
  /// Notes which sizes of the results are unknown, and makes those their upper bounds.
  llvm::Error boundUnknown(const ProgramNode &node, const OpDef &op, llvm::ArrayRef<TensorMeta> operands,
                           Metas &results);
  llvm::Error setResult(const ProgramNode &node, const OpDef &op, ValueId value, const TensorMeta &meta);
  void setShape(ValueId value, const TensorMeta &meta);

  // LoopShapes.cpp
  llvm::Error inferLoop(const ProgramNode &node);
  llvm::Error inferArguments(const ProgramNode &node);

  // Binder.cpp
  llvm::Error addSteps(size_t first, size_t end);
  llvm::Error addStep(const Step &step);
  MemoryPlan placeArena();
  void addOutput(const OutputDecl &output);
  void finish();
  void keepValues();

  // Launches.cpp
  llvm::Error addKernel(const Step &step);
  /// A launch over the domain of `operands`, which are those of `values`; nothing where that is empty.
  llvm::Error addLaunch(const Step &step, int32_t entry, llvm::ArrayRef<ValueId> values, KernelOperands operands);
  /// An input of a launch that is read from a copy.
  struct SpreadInput {
    size_t input;
    Place place;
  };
  using SpreadInputs = llvm::SmallVector<SpreadInput, 1>;
  SpreadInput spreadInput(const Step &step, const RepeatedInputError &repeated, ValueId value, const Layout &layout);
  llvm::Expected<KernelGeometry> fittingGeometry(const Step &step, llvm::ArrayRef<ValueId> values,
                                                 KernelOperands &operands, SpreadInputs &spread);
  llvm::Error measureLookups(const Step &step, KernelOperands &operands);
  bool isInput(const Place &from, const Place &to) const;
  void checkIndices(const Step &step, const ProgramNode *of = nullptr);
  bool isIndexOfNothing(const ProgramNode &node, ValueId index) const;
  void startFrom(const Step &step, const ProgramNode &node, KernelOperands &operands);
  bool isLookedUpEmpty(const Step &step, size_t operand) const;
  void addOwnMemory(uint64_t bytes);
  void addReport();
  /// The bits of a scalar as far as binding knows them.
  int64_t numberOf(const ScalarSource &scalar) const;
  void setLaunch(KernelLaunch &launch, const KernelEntry &code, const KernelGeometry &geometry);
  Command &newCommand(Command::Kind kind, const Step *step, const char *label);
  /// Memory for the last command, as long as its step runs.
  void addScratch(uint64_t bytes);
  void addPointer(Place place, int64_t bytes);
  void addPointer(ValueId value, const Layout &layout);

  // LibraryCalls.cpp
  llvm::Error checkRowMajor(const Step &step) const;
  llvm::Error prepareLibrary();
  llvm::StringRef keptImplementation(const Step &step) const;
  llvm::Expected<tuning::Pick> pick(const Step &step, llvm::ArrayRef<std::string> inputs, llvm::StringRef output,
                                    const PreparedKernel *rowMajor) const;
  llvm::Error pickPacked(const Step &step, llvm::ArrayRef<std::string> inputs, llvm::StringRef output,
                         tuning::Pick &picked) const;
  std::vector<PreparedRef> rowMajorKernels() const;
  std::vector<std::string> operandPackings(const Step &step, const PreparedKernel &kernel) const;
  void makeRoomForConstants();
  llvm::Expected<void *> packedConstant(const Step &step, unsigned operand, const Packing &packing);
  llvm::Error addLibrary(const Step &step);

  // MovementCommands.cpp
  llvm::Error addMovement(const Step &step);
  llvm::Error addRegion(const Step &step, const CopyRegion &region);
  /// Whether an operand lies where the first result does, so that there is nothing to copy.
  bool sharesMemory(const Step &step, unsigned operand) const;
  void addOutputCopies();
  void addCopy(const Step *step, const char *label, int64_t width, const PlacedLayout &from, const PlacedLayout &to);

  // Windows.cpp
  llvm::Error addWindow(const Step &step);

  // Loops.cpp
  /// The commands of a loop: what is carried at first brought to its memory, then the loop and the commands of a trip.
  llvm::Error addLoop(const Step &step);
  void addGrown(const Step &step, Command &command);
  void listGrown();
  void addCarriedCopy(const Step &step, ValueId from, ValueId to);
  PlacedLayout placed(ValueId value, const Layout &layout) const { return {storage.places[value], layout, value}; }
  /// Notes how the last pointer moves from trip to trip; nothing for value -1.
  void addMoves(ValueId value);

  Program &program;
  const Executable &exe;
  BindOptions options;
  const BindSettings settings; // of library kernels, which the host runs
  unsigned parts;              // of kernels and copies; other devices split them by themselves
  std::unique_ptr<Commands> bound;
  Metas metas;
  std::vector<int64_t> symbolValues;  // of the executable's symbols; kUnknown where no input has one
  mutable std::deque<OpDef> computed; // operators whose sizes were expressions
  llvm::SmallVector<Layout, 16> layouts;
  std::vector<llvm::SmallVector<unsigned, 2>> unknownAxes; // by value; only where data decides
  StoragePlan storage;
  std::vector<tuning::Pick> libraryKernels; // by step, for row-major operands
  std::vector<Packing> packings;            // by value (Packing.h)
  int64_t splitPicoseconds = 0;             // serial time of kernels that run in parts
  std::vector<ScratchUse> scratch;
  std::vector<int64_t> trips; // by loop
  /// The steps of the loops whose commands are being made, with the pointers that move.
  llvm::SmallVector<std::pair<int32_t, std::vector<PointerMove>>, 2> open;
};

} // namespace tess::runtime
