//===- ValidateLoops.cpp - that loops are whole and nested ----------------===//
//
// What validate() checks of loops before it walks nodes and steps: each is named
// by one node and one step, which agree; their bodies lie within each other; and
// what a trip hands on is made in it.
//
//===----------------------------------------------------------------------===//
#include "runtime/schema/ValidateLoops.h"
#include "ops/graphs/Control.h"
#include "ops/vocabulary/Error.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::runtime {

namespace {

/// Loops beyond this depth are refused: bind and run go down one call for each.
constexpr size_t kMostNested = 32;

class LoopValidator {
public:
  LoopValidator(const Executable &exe, llvm::StringRef what)
      : exe(exe), what(what), nodes(exe.loops.size()), steps(exe.loops.size()), madeBy(exe.values.size(), -1),
        isTaken(exe.values.size()) {}
  llvm::Error run();

private:
  /// Where a loop is named, and which one it lies in.
  struct Use {
    int64_t at = -1;
    int32_t parent = -1;
  };

  llvm::Error bad(const llvm::Twine &message) const { return makeError(ErrorCode::DataLoss, what + ": " + message); }
  template <typename List>
  llvm::Error place(const List &list, llvm::function_ref<uint32_t(const LoopDecl &)> sizeOf, std::vector<Use> &uses,
                    const char *kind);
  llvm::Error loop(size_t index);
  llvm::Error counts(const LoopDecl &loop, const Step &step, const llvm::Twine &where);
  llvm::Error arguments(const LoopDecl &loop, const llvm::Twine &where);
  llvm::Error yields(const LoopDecl &loop, int64_t firstStep, const llvm::Twine &where);
  bool take(ValueId value, ValueKind kind);

  const Executable &exe;
  llvm::StringRef what;
  std::vector<Use> nodes, steps; // by loop
  std::vector<int64_t> madeBy;   // by value: its step
  std::vector<bool> isTaken;     // by value: an argument or a yield of a loop
};

} // namespace

/// Notes where each loop is named in the list, whose items behind it are its body.
template <typename List>
llvm::Error LoopValidator::place(const List &list, llvm::function_ref<uint32_t(const LoopDecl &)> sizeOf,
                                 std::vector<Use> &uses, const char *kind) {
  llvm::SmallVector<std::pair<int32_t, size_t>, 8> open; // loops that the present item lies in, with their ends
  for (auto [index, item] : llvm::enumerate(list)) {
    while (!open.empty() && open.back().second == index)
      open.pop_back();
    if (item.loop < 0)
      continue;
    if (size_t(item.loop) >= exe.loops.size() || uses[item.loop].at >= 0)
      return bad(llvm::Twine(kind) + " " + llvm::Twine(index) + " must name a loop of its own among " +
                 llvm::Twine(exe.loops.size()) + ", got " + llvm::Twine(item.loop));
    uses[item.loop] = {int64_t(index), open.empty() ? -1 : open.back().first};
    size_t end = index + 1 + sizeOf(exe.loops[item.loop]), limit = open.empty() ? list.size() : open.back().second;
    if (end > limit || open.size() >= kMostNested)
      return bad(llvm::Twine("body of ") + kind + " " + llvm::Twine(index) + " must end at most at " +
                 llvm::Twine(limit) + " in at most " + llvm::Twine(kMostNested) + " loops, got " + llvm::Twine(end) +
                 " in " + llvm::Twine(open.size() + 1));
    open.push_back({item.loop, end});
  }
  return llvm::Error::success();
}

llvm::Error LoopValidator::counts(const LoopDecl &loop, const Step &step, const llvm::Twine &where) {
  if (loop.arguments.size() != step.operands.size() || loop.yields.size() != step.results.size() ||
      loop.numCarried > loop.arguments.size() || loop.numCarried > loop.yields.size())
    return bad(where + " must have an argument for each operand and a yield for each result, got " +
               llvm::Twine(loop.arguments.size()) + " and " + llvm::Twine(loop.yields.size()));
  if (loop.length < -1 || (loop.length == -1 && loop.arguments.size() == loop.numCarried))
    return bad(where + " must have a length, got " + llvm::Twine(loop.length));
  if (loop.isGuarded && (!loop.numCarried || !control::isGuard(exe.values[step.results[0]].dtype)))
    return bad(where + " must carry a guard first, a bool or an int64, got none");
  return llvm::Error::success();
}

/// Whether `value` is one of this kind that no loop has; it is taken now.
bool LoopValidator::take(ValueId value, ValueKind kind) {
  if (value < 0 || size_t(value) >= exe.values.size() || exe.values[value].kind != kind || isTaken[value])
    return false;
  isTaken[value] = true;
  return true;
}

llvm::Error LoopValidator::arguments(const LoopDecl &loop, const llvm::Twine &where) {
  for (ValueId value : loop.arguments)
    if (!take(value, ValueKind::Argument))
      return bad(where + " must have arguments of its own, got value " + llvm::Twine(value));
  return llvm::Error::success();
}

llvm::Error LoopValidator::yields(const LoopDecl &loop, int64_t firstStep, const llvm::Twine &where) {
  for (auto [index, value] : llvm::enumerate(loop.yields)) {
    if (index < loop.numCarried && value == loop.arguments[index])
      continue; // it does not change
    if (!take(value, ValueKind::Temp) || madeBy[value] < firstStep || madeBy[value] >= firstStep + loop.numSteps)
      return bad(where + " must yield temporaries that its body makes, got value " + llvm::Twine(value));
  }
  return llvm::Error::success();
}

llvm::Error LoopValidator::loop(size_t index) {
  std::string where = "loop " + std::to_string(index);
  if (nodes[index].at < 0 || steps[index].at < 0 || nodes[index].parent != steps[index].parent)
    return bad(where + " must have a node and a step in the same loop, got " + llvm::Twine(nodes[index].at) + " and " +
               llvm::Twine(steps[index].at));
  const ProgramNode &node = exe.nodes[nodes[index].at];
  const Step &step = exe.steps[steps[index].at];
  if (node.op || node.operands != step.operands || node.results != step.results)
    return bad(where + " must have a node and a step of the same values, got others");
  if (llvm::Error e = counts(exe.loops[index], step, where))
    return e;
  if (llvm::Error e = arguments(exe.loops[index], where))
    return e;
  return yields(exe.loops[index], steps[index].at + 1, where);
}

llvm::Error LoopValidator::run() {
  if (llvm::Error e = place(exe.nodes, [](const LoopDecl &loop) { return loop.numNodes; }, nodes, "node"))
    return e;
  if (llvm::Error e = place(exe.steps, [](const LoopDecl &loop) { return loop.numSteps; }, steps, "step"))
    return e;
  for (auto [index, step] : llvm::enumerate(exe.steps)) {
    if ((step.kind == StepKind::Loop) != (step.loop >= 0))
      return bad("step " + llvm::Twine(index) + " must name a loop if it is one, got " + llvm::Twine(step.loop));
    for (ValueId result : step.results)
      if (result >= 0 && size_t(result) < exe.values.size()) // validate() checks the others
        madeBy[result] = int64_t(index);
  }
  for (size_t index = 0; index < exe.loops.size(); ++index)
    if (llvm::Error e = loop(index))
      return e;
  return llvm::Error::success();
}

/// Whether nothing of the executable says that it has loops.
static bool hasNone(const Executable &executable) {
  auto isLoop = [](const Step &step) { return step.loop >= 0 || step.kind == StepKind::Loop; };
  return executable.loops.empty() && llvm::none_of(executable.steps, isLoop) &&
         llvm::all_of(executable.nodes, [](const ProgramNode &node) { return node.loop < 0; });
}

llvm::Error validateLoops(const Executable &executable, llvm::StringRef what) {
  if (hasNone(executable))
    return llvm::Error::success();
  return LoopValidator(executable, what).run();
}

} // namespace tess::runtime
