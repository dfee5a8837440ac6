//===- Splitter.h - which stage each step belongs to ------------*- C++ -*-===//
#pragma once

#include "runtime/bind/Stages.h"

namespace tess::runtime {

/// A program, and the stages into which it is cut. A stage has the steps of one level, or is one loop of it, which
/// comes behind them: what a level makes at sizes that are known is read in it, all else in later ones.
class Splitter {
public:
  explicit Splitter(Executable &exe);
  /// The stages.
  llvm::Expected<std::vector<StageCode>> run();

  /// For StageBuilder, once the steps have been placed.
  Executable &exe;
  std::vector<int32_t> nodeOf, stepOf; // by value; -1: none
  std::vector<int32_t> loopOf;         // by node: the outermost loop that it is or is in, as its node; -1: none
  std::vector<int> stages;             // by step; steps in loops are where the loop is
  std::vector<TensorMeta> metas;       // by value, with unknown sizes
  /// Where the value can be read first, as an output of the program.
  int stageOfOutput(const OutputDecl &output) const;
  /// The step of the loop that is this stage; -1: it is none.
  int32_t loopStepOf(int stage) const { return loopSteps[stage]; }

private:
  void findLoops();
  int levelOf(const ProgramNode &node) const;
  bool raise(size_t number);
  llvm::Error findLevels();
  void placeSteps();
  llvm::Error checkLoops() const;
  llvm::Error inferRanks();

  std::vector<int> readable;      // by value: the first level that can read it
  std::vector<int> loopLevels;    // by node of a loop: the level of all its steps
  std::vector<bool> isStage;      // by node of a loop: it is a stage of its own
  std::vector<int> levels;        // by step
  std::vector<int> firstOfLevel;  // by level: its first stage
  std::vector<int32_t> loopSteps; // by stage
  int lastLevel = 0;
};

/// Notes for the nodes from `first` to below `end` the outermost loop among them that they are or are in; -1: none.
void findLoops(const Executable &exe, size_t first, size_t end, std::vector<int32_t> &loopOf);
/// Calls `f` with the symbols of the node's sizes.
void forEachSymbol(const ProgramNode &node, llvm::function_ref<void(uint32_t)> f);

} // namespace tess::runtime
