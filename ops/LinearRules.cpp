//===- LinearRules.cpp - products of vectors as operators ----------------===//
#include "ops/ForwardRules.h"
#include "ops/GraphPieces.h"

#include <algorithm>
#include <utility>

namespace tess::forwards {

using namespace pieces;
using Values = llvm::SmallVector<int, 4>;

namespace {

/// The elements of vectors along the last axis, which stays with size 1; -1 for a third one that is 0.
class Vectors {
public:
  Vectors(SubgraphBuilder &b, int x, int64_t axis) {
    int64_t rank = b.meta(x).rank();
    x = movedAxis(b, x, axis < 0 ? axis + rank : axis, rank - 1);
    for (int64_t i = 0, size = b.meta(x).shape.back(); i < size; ++i)
      parts[i] = sliceOf(b, x, rank - 1, i, i + 1);
  }
  int operator[](unsigned i) const { return parts[i]; }

private:
  int parts[3] = {-1, -1, -1};
};

} // namespace

/// The difference of products, of which one may be 0.
static int minor(SubgraphBuilder &b, std::pair<int, int> plus, std::pair<int, int> minus) {
  auto product = [&](std::pair<int, int> of) {
    return of.first < 0 || of.second < 0 ? -1 : call(b, "mul", {of.first, of.second});
  };
  int first = product(plus), second = product(minus);
  if (first < 0 || second < 0)
    return first < 0 ? call(b, "neg", {second}) : first;
  return call(b, "sub", {first, second});
}

Values cross(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v) {
  Vectors x(b, v[0], op.i64("axisa")), y(b, v[1], op.i64("axisb"));
  int last = minor(b, {x[0], y[1]}, {x[1], y[0]});
  if (x[2] < 0 && y[2] < 0)
    return {call(b, "squeeze", {last}, {{"axis", IntList{-1}}})};
  int first = minor(b, {x[1], y[2]}, {x[2], y[1]}), second = minor(b, {x[2], y[0]}, {x[0], y[2]});
  int64_t rank = b.meta(last).rank(), axis = op.i64("axisc");
  int whole = call(b, "concat", {first, second, last}, {{"axis", rank - 1}});
  return {movedAxis(b, whole, rank - 1, axis < 0 ? axis + rank : axis)};
}

} // namespace tess::forwards
