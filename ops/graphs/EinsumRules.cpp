//===- EinsumRules.cpp - einsum as products and sums ----------------------===//
//
// Operands are taken up from left to right. What two of them have in common, and
// nobody needs afterwards, is the inner axis of a matrix product; all other axes
// are its rows, its columns or a batch. The graph asks for no size, so that one
// program serves all.
//
//===----------------------------------------------------------------------===//
#include "ops/graphs/ForwardRules.h"
#include "ops/graphs/GraphPieces.h"
#include "ops/inference/EinsumEquation.h"

#include "llvm/ADT/STLExtras.h"

namespace tess::forwards {

using namespace pieces;
using Values = llvm::SmallVector<int, 4>;

namespace {

using Labels = EinsumEquation::Labels;

/// A value and the labels of its axes.
struct Term {
  int value;
  Labels labels;

  bool has(int label) const { return llvm::is_contained(labels, label); }
};

class Contraction {
public:
  Contraction(SubgraphBuilder &b, const OpDef &op) : b(b), op(op) {}

  /// The axes of `labels`, in this order; those that the term lacks have size 1.
  int arranged(const Term &term, llvm::ArrayRef<int> labels) {
    IntList pattern, added;
    for (auto [i, label] : llvm::enumerate(labels)) {
      auto *place = llvm::find(term.labels, label);
      if (place == term.labels.end())
        added.push_back(i);
      else
        pattern.push_back(place - term.labels.begin());
    }
    int value = llvm::is_sorted(pattern) ? term.value : call(b, "transpose", {term.value}, {{"pattern", pattern}});
    return added.empty() ? value : call(b, "expand_dims", {value}, {{"axis", added}});
  }

  /// Each letter once: what repeats is a diagonal.
  Term withoutRepeats(Term term);
  /// Without axes that no `needed` has.
  Term summed(const Term &term, llvm::ArrayRef<int> needed);
  Term product(const Term &x, const Term &y, llvm::ArrayRef<int> needed);

private:
  int joined(int value, int64_t rank, int64_t count);
  int matrixProduct(const Term &x, const Term &y, llvm::ArrayRef<int> outer, llvm::ArrayRef<int> inner, int row,
                    int column);

  SubgraphBuilder &b;
  const OpDef &op;
};

} // namespace

Term Contraction::withoutRepeats(Term term) {
  for (unsigned i = 0; i < term.labels.size();) {
    auto *second = std::find(term.labels.begin() + i + 1, term.labels.end(), term.labels[i]);
    if (second == term.labels.end()) {
      ++i;
      continue;
    }
    unsigned last = term.labels.size() - 1, place = second - term.labels.begin();
    int value = movedAxis(b, movedAxis(b, term.value, place, last), i, last - 1);
    value = call(b, "tril", {call(b, "triu", {value})});
    value = call(b, "sum", {value}, {{"axes", IntList{last}}});
    int label = term.labels[i];
    term.labels.erase(second);
    term.labels.erase(term.labels.begin() + i);
    term.labels.push_back(label);
    term.value = value;
  }
  return term;
}

Term Contraction::summed(const Term &term, llvm::ArrayRef<int> needed) {
  IntList axes;
  Labels kept;
  for (auto [axis, label] : llvm::enumerate(term.labels)) {
    if (llvm::is_contained(needed, label))
      kept.push_back(label);
    else
      axes.push_back(axis);
  }
  return axes.empty() ? term : Term{call(b, "sum", {term.value}, {{"axes", axes}}), kept};
}

/// The last `count` axes of a value of rank `rank` as one.
int Contraction::joined(int value, int64_t rank, int64_t count) {
  if (count == 1)
    return value;
  return call(b, "flatten", {value}, {{"start_axis", rank - count}, {"end_axis", rank - 1}});
}

/// Over `outer` axes, of which both may lack some, the product of [row, inner] and [inner, column]; -1: there is no row
/// or no column.
int Contraction::matrixProduct(const Term &x, const Term &y, llvm::ArrayRef<int> outer, llvm::ArrayRef<int> inner,
                               int row, int column) {
  auto matrix = [&](const Term &term, int label) {
    Labels order(outer.begin(), outer.end());
    order.push_back(label);
    order.append(inner.begin(), inner.end());
    // Axes that only the other operand has would stand in front.
    while (!order.empty() && !term.has(order.front()) && order.size() > inner.size() + 1)
      order.erase(order.begin());
    return joined(arranged(term, order), order.size(), inner.size());
  };
  int out = call(b, "matmul", {matrix(x, row), matrix(y, column)}, {{"transpose_y", true}});
  IntList single;
  if (row < 0)
    single.push_back(-2);
  if (column < 0)
    single.push_back(-1);
  return single.empty() ? out : call(b, "squeeze", {out}, {{"axis", single}});
}

Term Contraction::product(const Term &x, const Term &y, llvm::ArrayRef<int> needed) {
  Labels both, left, right, inner;
  for (int label : x.labels)
    (!y.has(label) ? left : llvm::is_contained(needed, label) ? both : inner).push_back(label);
  for (int label : y.labels)
    if (!x.has(label))
      right.push_back(label);
  if (both.size() + left.size() + right.size() + inner.size() > kMaxRank)
    b.fail(invalidArgument(op.name() + ": products must have at most 8 axes, got equation \"" + op.str("equation") +
                           "\""));
  Labels outer = both;
  if (inner.empty() || (left.empty() && right.empty()) || isInt(b.meta(x.value).dtype)) {
    outer.append(left);
    outer.append(right);
    outer.append(inner);
    int out = call(b, "mul", {arranged(x, outer), arranged(y, outer)});
    return summed({out, outer}, needed);
  }
  int row = left.empty() ? -1 : left.pop_back_val(), column = right.empty() ? -2 : right.pop_back_val();
  outer.append(left);
  outer.append(right);
  Term out{matrixProduct(x, y, outer, inner, row, column), outer};
  for (int label : {row, column})
    if (label >= 0)
      out.labels.push_back(label);
  return out;
}

Values einsum(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> operands) {
  Metas metas;
  for (int value : operands)
    metas.push_back(b.meta(value));
  llvm::Expected<EinsumEquation> equation = EinsumEquation::of(op, metas);
  if (!equation) {
    b.fail(equation.takeError());
    return {-1};
  }
  Contraction contraction(b, op);
  Term term{-1, {}};
  for (size_t i = 0; i < operands.size(); ++i) {
    Labels needed = equation->result;
    for (const Labels &later : llvm::ArrayRef(equation->operands).drop_front(i + 1))
      needed.append(later);
    Labels beside = needed;
    beside.append(term.labels);
    Term next = contraction.withoutRepeats({operands[i], equation->operands[i]});
    next = contraction.summed(next, beside);
    term = i ? contraction.product(term, next, needed) : next;
  }
  return {contraction.arranged(term, equation->result)};
}

} // namespace tess::forwards
