//===- EinsumEquation.cpp - reading equations of einsum -------------------===//
#include "ops/inference/EinsumEquation.h"

#include "ops/inference/RuleErrors.h"
#include "ops/inference/ShapeRules.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace tess {

using Labels = EinsumEquation::Labels;

/// "einsum: <must>, got equation "ij,jk" and operands f32[2, 3], f32[3, 4]".
static llvm::Error refused(const OpDef &op, const llvm::Twine &must, llvm::ArrayRef<TensorMeta> operands) {
  std::string list;
  for (const TensorMeta &meta : operands)
    list += (list.empty() ? "" : ", ") + toString(meta);
  return shapes::mustHoldOf(op, must,
                            "equation \"" + op.str("equation") + "\" and operands " + (list.empty() ? "none" : list));
}

namespace {

/// The text of one operand, or of the result: letters around "..." where there is one.
struct Part {
  llvm::StringRef before, after;
  bool hasDots;

  explicit Part(llvm::StringRef text) : hasDots(text.contains("...")) {
    std::tie(before, after) = hasDots ? text.split("...") : std::pair(text, llvm::StringRef());
  }
  bool isWellFormed() const { return llvm::all_of(before, llvm::isAlpha) && llvm::all_of(after, llvm::isAlpha); }
  size_t numLetters() const { return before.size() + after.size(); }
  /// The labels, with `dots` axes in the place of "...".
  Labels labels(int dots) const {
    Labels out(before.begin(), before.end());
    while (dots-- > 0)
      out.push_back(EinsumEquation::kFirstOfDots + dots);
    out.append(after.begin(), after.end());
    return out;
  }
};

} // namespace

/// The result of an equation without "->": axes of "...", then the letters that stand once, in their order.
static Labels impliedResult(llvm::ArrayRef<Labels> operands, int dots) {
  std::map<int, int> counts;
  for (const Labels &labels : operands)
    for (int label : labels)
      counts[label] += label < EinsumEquation::kFirstOfDots;
  Labels out = Part("...").labels(dots);
  for (auto [label, count] : counts)
    if (count == 1)
      out.push_back(label);
  return out;
}

llvm::Expected<EinsumEquation> EinsumEquation::of(const OpDef &op, llvm::ArrayRef<TensorMeta> operands) {
  std::string text = op.str("equation");
  llvm::erase_if(text, llvm::isSpace);
  auto [left, right] = llvm::StringRef(text).split("->");
  bool isExplicit = left.size() != text.size();
  llvm::SmallVector<llvm::StringRef, 4> texts;
  left.split(texts, ',');
  EinsumEquation out;
  int mostDots = 0;
  if (!llvm::all_of(texts, [](llvm::StringRef each) { return Part(each).isWellFormed(); }) ||
      !Part(right).isWellFormed())
    return refused(op, "equation must be made of letters, dots, commas and one arrow at most", operands);
  if (texts.size() != operands.size() || operands.empty())
    return refused(op, "equation must have a part for each operand", operands);
  for (auto [each, meta] : llvm::zip(texts, operands)) {
    Part part(each);
    int dots = int(meta.rank()) - int(part.numLetters());
    if (part.hasDots ? dots < 0 : dots != 0)
      return refused(op, "parts of the equation must have a letter for each axis", operands);
    mostDots = std::max(mostDots, dots);
    out.operands.push_back(part.labels(dots));
  }
  Part result(right);
  out.result = isExplicit ? result.labels(result.hasDots ? mostDots : 0) : impliedResult(out.operands, mostDots);
  if (isExplicit && mostDots && !result.hasDots)
    return refused(op, "result must have dots where operands have axes for them", operands);
  for (auto [i, label] : llvm::enumerate(out.result)) {
    bool isKnown =
        llvm::any_of(out.operands, [&, l = label](const Labels &each) { return llvm::is_contained(each, l); });
    if (!isKnown || llvm::is_contained(llvm::ArrayRef(out.result).take_front(i), label))
      return refused(op, "result must have letters of operands, each of them once", operands);
  }
  return out;
}

llvm::Expected<Metas> shapes::einsum(const OpDef &op, llvm::ArrayRef<TensorMeta> operands, llvm::ArrayRef<unsigned>) {
  llvm::Expected<EinsumEquation> equation = EinsumEquation::of(op, operands);
  if (!equation)
    return equation.takeError();
  std::map<int, Shape> sizes; // of one axis each
  for (auto [labels, meta] : llvm::zip(equation->operands, operands))
    for (auto [label, size] : llvm::zip(labels, meta.shape)) {
      auto [known, isNew] = sizes.try_emplace(label, Shape{size});
      if (isNew)
        continue;
      if (EinsumEquation::broadcasts(label)) {
        if (!broadcastInto(known->second, size))
          return refused(op, "axes of the dots must broadcast", operands);
        continue;
      }
      int64_t &agreed = known->second[0];
      if (differs(agreed, size))
        return refused(op, "sizes of a letter must match", operands);
      agreed = agreed == kUnknown ? size : size == kUnknown ? agreed : sizes::agreed(agreed, size);
    }
  Shape shape;
  for (int label : equation->result)
    shape.push_back(sizes[label][0]);
  if (shape.size() > kMaxRank)
    return refused(op, "result must have at most 8 axes", operands);
  return single(operands, shape);
}

} // namespace tess
