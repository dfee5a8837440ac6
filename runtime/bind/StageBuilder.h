//===- StageBuilder.h - one stage of a program, written -------*- C++ -*-===//
#pragma once

#include "runtime/bind/Splitter.h"

namespace tess::runtime {

/// Writes one stage: steps of a level, or the body of a loop.
class StageBuilder {
public:
  StageBuilder(const Splitter &whole, int stage);
  /// `readLater`: values that it makes for later stages.
  void run(llvm::ArrayRef<ValueId> readLater);
  /// Where a value for later stages is among its outputs.
  uint32_t indexOf(ValueId value, llvm::ArrayRef<ValueId> readLater) const;
  bool isEmpty() const { return out.exe.steps.empty() && out.outputs.empty(); }

  StageCode out;
  std::vector<int32_t> constantsOf; // by constant of the stage: that of the program
  std::vector<ValueId> crossing;    // values of earlier stages that it reads, in the order of its inputs

private:
  ValueId ownerOf(uint32_t symbol) const;
  void need(ValueId value);
  void addValue(ValueId value);
  void addInput(ValueId value, InputDecl decl, StageInput from);
  void addInputOf(ValueId value, ValueId source);
  void addConstant(ValueId value);
  void needNode(size_t number);
  void needSteps();
  void needResults();
  void addNodes();
  int32_t addLoop(int32_t loop);
  void addSteps();
  void addOutputs(llvm::ArrayRef<ValueId> readLater);
  void beginLoop();
  void addLoopOutputs();
  int32_t imageOf(int32_t image);
  ValueIds remapped(llvm::ArrayRef<ValueId> values) const;
  bool hasStep(size_t step) const;
  bool isMadeHere(ValueId value) const { return whole.stepOf[value] >= 0 && hasStep(size_t(whole.stepOf[value])); }
  const LoopDecl &ownLoop() const { return exe.loops[exe.steps[loopStep].loop]; }

  const Splitter &whole;
  Executable &exe;
  int stage;
  int32_t loopStep;          // of the loop that the stage is; -1: none
  std::vector<ValueId> idOf; // by value of the program
  std::vector<ValueId> pending;
  std::vector<int32_t> unitOf;       // by node of the program: the outermost loop of the stage around it; -1: none
  std::vector<uint64_t> nodeNumbers; // by node of the program
  std::vector<int32_t> loopNumbers;  // by loop of the program
};

} // namespace tess::runtime
