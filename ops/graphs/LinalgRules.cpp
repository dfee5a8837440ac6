//===- LinalgRules.cpp - gradients of linear algebra ----------------------===//
//
// The records name their sources; that of qr is Walter and Lehmann, Algorithmic
// differentiation of linear algebra functions with application in optimum
// experimental design (2010). A triangle is tril or triu, and a diagonal is both,
// so that few rules need a size.
//
//===----------------------------------------------------------------------===//
#include "ops/graphs/GradientRules.h"
#include "ops/graphs/GraphPieces.h"

namespace tess::gradients {

using namespace pieces;
using Values = llvm::SmallVector<int, 4>;
using Bools = llvm::ArrayRef<bool>;

namespace {

/// Short forms for matrices.
class Matrices {
public:
  explicit Matrices(SubgraphBuilder &b) : b(b) {}

  int transposed(int x) { return call(b, "swapaxes", {x}); }
  /// x y, of which one may be transposed first.
  int product(int x, int y, bool transposeX = false, bool transposeY = false) {
    return call(b, "matmul", {x, y}, {{"transpose_x", transposeX}, {"transpose_y", transposeY}});
  }
  int lower(int x, int64_t diagonal = 0) { return call(b, "tril", {x}, {{"diagonal", diagonal}}); }
  int upper(int x, int64_t diagonal = 0) { return call(b, "triu", {x}, {{"diagonal", diagonal}}); }
  int diagonal(int x) { return lower(upper(x)); }
  int times(int x, double factor) { return call(b, "mul", {x, constantLike(b, factor, x)}); }
  int add(int x, int y) { return accumulate(b, x, y); }
  int sub(int x, int y) { return call(b, "sub", {x, y}); }
  int mul(int x, int y) { return call(b, "mul", {x, y}); }
  int div(int x, int y) { return call(b, "div", {x, y}); }
  int neg(int x) { return call(b, "neg", {x}); }
  /// The mean of x and its transposed.
  int symmetric(int x) { return times(add(x, transposed(x)), 0.5); }
  /// A vector as a column, which multiplies rows, and as a row, which multiplies columns.
  int column(int s) { return call(b, "expand_dims", {s}, {{"axis", IntList{-1}}}); }
  int row(int s) { return call(b, "expand_dims", {s}, {{"axis", IntList{-2}}}); }
  /// A number for each matrix, as a matrix of one element.
  int number(int s) { return call(b, "expand_dims", {s}, {{"axis", IntList{-2, -1}}}); }
  int inverse(int x) { return call(b, "matinv", {x}); }
  int solved(int triangle, int y, bool isLower, bool isTransposed, bool isUnit = false) {
    return call(b, "solve_triangular", {triangle, y},
                {{"lower", isLower}, {"transpose", isTransposed}, {"unit_diagonal", isUnit}});
  }
  /// x divided by s[j] - s[i], and 0 on the diagonal.
  int overDifferences(int x, int s) {
    int differences = sub(row(s), column(s));
    int one = diagonal(fullLike(b, differences, 1));
    return div(sub(x, diagonal(x)), add(differences, one));
  }

private:
  SubgraphBuilder &b;
};

} // namespace

Values solve(SubgraphBuilder &b, const OpDef &, llvm::ArrayRef<int> v, Bools) {
  Matrices m(b);
  int db = call(b, "solve", {m.transposed(v[0]), v[3]});
  return {m.neg(m.product(db, v[2], false, true)), db};
}

Values solveTriangular(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v, Bools) {
  Matrices m(b);
  bool isLower = op.boolean("lower"), isTransposed = op.boolean("transpose"), isUnit = op.boolean("unit_diagonal");
  int db = m.solved(v[0], v[3], isLower, !isTransposed, isUnit);
  int whole = m.neg(isTransposed ? m.product(v[2], db, false, true) : m.product(db, v[2], false, true));
  return {isLower ? m.lower(whole, isUnit ? -1 : 0) : m.upper(whole, isUnit ? 1 : 0), db};
}

Values matinv(SubgraphBuilder &b, const OpDef &, llvm::ArrayRef<int> v, Bools) {
  Matrices m(b);
  return {m.neg(m.product(m.product(v[1], v[2], true, false), v[1], false, true))};
}

Values det(SubgraphBuilder &b, const OpDef &, llvm::ArrayRef<int> v, Bools) {
  Matrices m(b);
  return {m.mul(m.number(v[2]), m.transposed(call(b, "adjugate", {v[0]})))};
}

/// x^-T sum(da a) - a^T da x^-T, where a^T is det(x) x^-T.
Values adjugate(SubgraphBuilder &b, const OpDef &, llvm::ArrayRef<int> v, Bools) {
  Matrices m(b);
  int inverse = m.inverse(v[0]);
  int sum = call(b, "sum", {m.mul(v[1], v[2])}, {{"axes", IntList{-2, -1}}, {"keepdims", true}});
  return {m.sub(m.mul(sum, m.transposed(inverse)), m.product(m.product(v[1], v[2], true), inverse, false, true))};
}

/// The sign has no gradient.
Values slogdet(SubgraphBuilder &b, const OpDef &, llvm::ArrayRef<int> v, Bools) {
  Matrices m(b);
  return {v[4] < 0 ? -1 : m.mul(m.number(v[4]), m.transposed(m.inverse(v[0])))};
}

/// L^-T sym(P) L^-1, where P is the lower triangle of L^T dL with half the diagonal.
Values cholesky(SubgraphBuilder &b, const OpDef &, llvm::ArrayRef<int> v, Bools) {
  Matrices m(b);
  int inner = m.lower(m.product(v[1], v[2], true));
  int half = m.symmetric(m.sub(inner, m.times(m.diagonal(inner), 0.5)));
  int left = m.solved(v[1], half, true, true);
  return {m.symmetric(m.solved(v[1], m.transposed(left), true, true))};
}

/// Of the first columns, as many as q has: (dq + q M) r^-T, where M is symmetric and below its diagonal as
/// r dr^T - dq^T q. The others are q times those of r.
Values qr(SubgraphBuilder &b, const OpDef &op, llvm::ArrayRef<int> v, Bools) {
  Matrices m(b);
  int q = v[1], r = v[2], dq = v[3], dr = v[4];
  unsigned last = b.meta(q).rank() - 1;
  int64_t rank = b.meta(q).shape[last], columns = b.meta(r).shape[last];
  if (rank == kUnknown || columns == kUnknown) {
    b.fail(invalidArgument(op.name() + ": sizes of the matrices must be known for the gradient, got " +
                           toString(b.meta(v[0]))));
    return {-1};
  }
  int rest = -1; // the gradient of the other columns
  if (rank != columns && dr >= 0) {
    int otherR = sliceOf(b, r, last, rank, INT64_MAX), otherDr = sliceOf(b, dr, last, rank, INT64_MAX);
    rest = m.product(q, otherDr);
    dq = m.add(dq, m.product(m.product(q, otherR), otherDr, false, true));
    dr = sliceOf(b, dr, last, 0, rank);
  }
  if (rank != columns)
    r = sliceOf(b, r, last, 0, rank);
  int inner = dr < 0 ? -1 : m.product(r, dr, false, true);
  if (dq >= 0)
    inner = m.add(inner, m.neg(m.product(dq, q, true)));
  int half = m.lower(inner);
  int whole = m.sub(m.add(half, m.transposed(half)), m.diagonal(half));
  int sum = m.add(dq, m.product(q, whole));
  int first = m.transposed(m.solved(r, m.transposed(sum), false, false));
  if (rank == columns)
    return {first};
  if (rest < 0)
    rest = fullLike(b, sliceOf(b, v[0], last, rank, INT64_MAX), 0);
  return {call(b, "concat", {first, rest}, {{"axis", int64_t(last)}})};
}

/// v (diag(dw) + (v^T dv) / (w[j] - w[i])) v^T.
Values eigh(SubgraphBuilder &b, const OpDef &, llvm::ArrayRef<int> v, Bools) {
  Matrices m(b);
  int w = v[1], vectors = v[2], dw = v[3], dv = v[4];
  int sum = -1;
  if (dw >= 0)
    sum = m.product(m.mul(vectors, m.row(dw)), vectors, false, true);
  if (dv >= 0) {
    int inner = m.overDifferences(m.product(vectors, dv, true), w);
    sum = m.add(sum, m.product(m.product(vectors, inner), vectors, false, true));
  }
  return {m.symmetric(sum)};
}

/// u ((U / E) s + s (V / E) + diag(ds)) vh with U = skew(u^T du), V = skew(vh dvh^T), E = s[j]^2 - s[i]^2, and what of
/// du and dvh is orthogonal to the vectors, over s.
Values svd(SubgraphBuilder &b, const OpDef &, llvm::ArrayRef<int> v, Bools) {
  Matrices m(b);
  int u = v[1], s = v[2], vh = v[3], du = v[4], ds = v[5], dvh = v[6];
  int squares = m.mul(s, s), inner = -1, sum = -1;
  // All of the space is along the vectors then.
  auto isSquare = [&](int x) {
    llvm::ArrayRef<int64_t> shape = llvm::ArrayRef(b.meta(x).shape).take_back(2);
    return shape[0] != kUnknown && shape[0] == shape[1];
  };
  auto skew = [&](int x) { return m.overDifferences(m.sub(x, m.transposed(x)), squares); };
  if (du >= 0) {
    int along = m.product(u, du, true);
    inner = m.mul(skew(along), m.row(s));
    if (!isSquare(u))
      sum = m.product(m.div(m.sub(du, m.product(u, along)), m.row(s)), vh);
  }
  if (dvh >= 0) {
    int along = m.product(dvh, vh, false, true); // the transposed of vh dvh^T
    inner = m.add(inner, m.mul(m.column(s), skew(m.transposed(along))));
    if (!isSquare(vh))
      sum = m.add(sum, m.product(u, m.div(m.sub(dvh, m.product(along, vh)), m.column(s))));
  }
  if (inner >= 0)
    sum = m.add(sum, m.product(m.product(u, inner), vh));
  if (ds >= 0)
    sum = m.add(sum, m.product(m.mul(u, m.row(ds)), vh));
  return {sum};
}

Values svdvals(SubgraphBuilder &b, const OpDef &, llvm::ArrayRef<int> v, Bools) {
  llvm::SmallVector<int, 2> parts = b.applyAll(OpDef::get("svd"), {v[0]});
  if (parts.empty())
    return {-1};
  Matrices m(b);
  return {m.product(m.mul(parts[0], m.row(v[2])), parts[2])};
}

} // namespace tess::gradients
