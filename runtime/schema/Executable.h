//===- Executable.h - a compiled program, device-ready ----------*- C++ -*-===//
//
// What the compiler hands to the runtime and what a `.tess` file stores per
// target (Executable.proto mirrors it). Shapes are not in it: `nodes` are the
// program's operators, from which the runtime infers every shape when inputs
// are bound; steps say which kernel computes which values.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/operator/OpDef.h"
#include "runtime/schema/HeldBytes.h"
#include "runtime/schema/Image.h"
#include "runtime/schema/KernelAbi.h"
#include "llvm/ADT/STLExtras.h"

#include <string>
#include <vector>

namespace tess::runtime {

/// Index into Executable::values; -1: none.
using ValueId = int32_t;
using ValueIds = llvm::SmallVector<ValueId, 4>;

/// A dimension of an input: a number, or a named symbol (index into `symbols`), or anonymous (-1: any size).
struct DimDecl {
  int64_t size = -1;
  int32_t symbol = -1;
};
/// A named dimension and the sizes that it may have.
struct SymbolDecl {
  std::string name;
  int64_t min = 0, max = INT64_MAX;
};

/// A size that data decides and that sizes of later operators use: symbol number sizes::kDataSymbols + its index.
struct DataSize {
  ValueId value = -1; // -1: no operator uses it here
  int32_t axis = 0;
};

/// Where the memory of a value comes from.
enum class ValueKind : uint8_t {
  Input,    // bound by the caller
  Constant, // in `constants`
  Temp,     // in the arena
  View,     // of `base` by the node that defines it
  Fused,    // lives inside a kernel only: has a shape, no memory
  Argument, // of a loop's body: a carried value, or the element of one of the xs that a trip reads
};

/// One value of the program; its shape is inferred when inputs are bound.
struct ValueDecl {
  ValueKind kind = ValueKind::Temp;
  DType dtype = DType::Float32;
  ValueId base = -1;     // View
  int32_t constant = -1; // Constant
  std::string name;      // user name, may be empty
  std::string location;  // "model.py:12 (Net.conv1)", may be empty
};

/// One operator of the program: defines the shapes of `results`.
struct ProgramNode {
  OpDef op; // none: a loop, whose body are the nodes that follow
  ValueIds operands;
  llvm::SmallVector<unsigned, 4> segments; // operands per ODS group; empty: one each
  ValueIds results;
  int32_t loop = -1; // index into Executable::loops
};

/// A scan (ops/graphs/Control.h). Its body are nodes and steps behind the node and the step that name it. What a trip
/// reads as it is, it reads as the operators outside do; the operands of node and step are the carried values' first
/// ones, then the xs, the results what is carried at the end, then the stacked ones.
struct LoopDecl {
  ValueIds arguments; // a carried value or an element of one of the xs for each operand
  ValueIds yields;    // temporaries of the body for each result; a carried one may be its argument
  uint32_t numCarried = 0;
  uint32_t numNodes = 0, numSteps = 0; // of the body, those of inner loops too
  int64_t length = -1;                 // trips; -1: the size of axis 0 of the xs
  bool reverse = false;
  bool isGuarded = false; // the first carried value is its guard (ops/graphs/Control.h, ScanOrder)
};

/// A run of domain axes [first, last) that the kernel sees as one size.
struct AxisGroup {
  uint8_t first, last;
};
/// Groups of a kernel, in the order of its sizes.
using AxisGroups = llvm::SmallVector<AxisGroup, 4>;

/// Where a runtime attribute of a kernel comes from.
struct ScalarSource {
  enum Kind : uint8_t { Immediate, Parameter, Size } kind = Immediate; // in the code, given by each run, or by binding
  uint64_t bits = 0;      // Immediate: f64 or i64 bit pattern; Size: the node whose attribute has the expression
  uint32_t parameter = 0; // Parameter: index into the scalars of a run (eager: runtime attributes); Size: the attribute
};

/// An axis that a kernel counts along by indices: of an operand of the step, or, counted behind these, of a result, to
/// which it adds then. Both have the axes of the domain. `node` is the operator. Numbers of a step's lookups are those
/// of its kernel.
struct LookupDecl {
  uint16_t operand = 0;
  uint8_t axis = 0;
  uint32_t node = 0;
};

/// What computes a step.
enum class StepKind : uint8_t {
  Kernel,   // generated code
  Movement, // copies between regions (concat, pad, slice_set): `op` says which, `image`/`entry` is a strided copy
            // kernel
  Library,  // runtime/KernelTable
  Window,   // generated code over the windows of `op`
  Loop,     // the steps that follow, once for each trip
};

/// What an executable does at one point, without sizes; steps run in order.
struct Step {
  StepKind kind = StepKind::Kernel;
  /// Kernel operands in pointer order: inputs, then outputs. Library/Movement: the op's operands.
  ValueIds operands;
  ValueIds results;
  // Kernel: the domain is the broadcast of the shapes of `domain`; parallel groups, then reduced groups. Window: the
  // domain is the shape of the result, then the sizes of the windows.
  ValueIds domain;
  AxisGroups parallel, reduced;
  bool vectorOnReduced = false;
  /// Per kernel operand (inputs, then outputs), how the code walks the vector axis. Checked against the strides when
  /// inputs are bound; empty: nothing to check.
  llvm::SmallVector<InnerClass, 8> innerClasses;
  std::vector<ScalarSource> scalars;
  std::vector<LookupDecl> lookups; // Kernel
  int32_t image = -1;
  int32_t entry = -1;
  // Movement: `entry` copies (source, destination) over one parallel group per axis (one empty group for rank 0);
  // `fillEntry` (pad) stores its attribute 0 = `scalars[0]` to its one operand, the destination, over the same number
  // of groups.
  int32_t fillEntry = -1;
  // Library, Movement, Window.
  OpDef op;
  llvm::SmallVector<unsigned, 4> segments;
  /// (index into operands, index into results) that may share memory when the operand dies here.
  std::vector<std::pair<uint16_t, uint16_t>> inplace;
  /// Implementation that the library must pick (promise "one result"); empty: its default.
  std::string implementation;
  std::string location;
  int32_t loop = -1; // Loop: index into Executable::loops
};

/// A constant of the program.
struct ConstantDecl {
  TensorMeta meta;
  /// Raw row-major bytes; empty when `tensor` names a section of the container.
  std::string bytes;
  std::string tensor;
  /// Instead of `bytes`: where others have them.
  HeldBytes held = nullptr;

  /// The bytes, from `held` or `bytes`.
  llvm::StringRef content() const { return held ? llvm::StringRef(*held) : llvm::StringRef(bytes); }
};

/// An input of the program: an argument of a call, or state.
struct InputDecl {
  std::string name;
  ValueId value;
  DType dtype;
  std::vector<DimDecl> dims;
  /// State: the constant that holds its value before the first run, then the value of the output that donates it. -1:
  /// each call gives the input.
  int32_t initial = -1;

  /// Whether the program keeps the input between runs, rather than a call giving it.
  bool isState() const { return initial >= 0; }
};
/// An output of the program: a result of a call, or new state.
struct OutputDecl {
  std::string name;
  ValueId value;
  /// Input whose buffer this output takes over (parameter update), or -1.
  int32_t donates = -1;
};

/// A compiled program: no shapes, no addresses. The same in files, in caches and in the warm set.
struct Executable {
  std::string target;           // "cpu:x86-64-v3+..." ; KernelEntry features are checked, this is for people
  uint32_t numThreads = 0;      // kernel choices were made for this many threads; 0: any
  bool withoutWinograd = false; // they were made with no Winograd's products allowed (KernelSettings)
  bool isFast = false;          // numerics "fast": a kernel with other bits may compute a call
  std::vector<SymbolDecl> symbols;
  std::vector<DataSize> dataSizes;
  std::vector<ValueDecl> values;
  std::vector<ProgramNode> nodes;
  std::vector<Step> steps;
  std::vector<LoopDecl> loops;
  std::vector<Image> images;
  std::vector<ConstantDecl> constants;
  std::vector<InputDecl> inputs;
  std::vector<OutputDecl> outputs;
  uint32_t numScalars = 0;  // runtime scalar parameters of a run
  uint32_t bitsVersion = 0; // BitsVersion.h, of the build that compiled it

  /// Whether the lookups of `step`, a kernel's, name operands of it, and operators that look elements up.
  bool hasLookupsOf(const Step &step) const {
    return llvm::all_of(step.lookups, [&](const LookupDecl &each) {
      size_t numOperands = step.operands.size();
      bool exists = step.kind == StepKind::Kernel && each.operand < numOperands + step.results.size() &&
                    each.node < nodes.size() && nodes[each.node].op;
      Lowering wanted = each.operand < numOperands ? Lowering::Lookup : Lowering::Scatter;
      return exists && nodes[each.node].op.info().lowering == wanted;
    });
  }
  /// Inputs that a call gives; those that hold state follow them.
  size_t numArguments() const {
    return inputs.size() - llvm::count_if(inputs, [](const InputDecl &input) { return input.isState(); });
  }
  /// Outputs that a call gets; those that update state follow them, one for each.
  size_t numResults() const { return outputs.size() - (inputs.size() - numArguments()); }
};

} // namespace tess::runtime
