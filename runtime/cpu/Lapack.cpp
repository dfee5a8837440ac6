//===- Lapack.cpp - linear algebra by LAPACK ------------------------------===//
//
// LAPACK's matrices are column-major: it sees the transposed of what is
// row-major in memory. Each kernel says what follows; few copy a transposed.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/MatrixKernel.h"

#include <cmath>
#include <limits>

namespace tess::runtime::cpu {

namespace {

/// Rows and columns of the matrices of an operand.
struct Sizes {
  int rows, columns, least;

  explicit Sizes(const TensorMeta &meta)
      : rows(int(meta.shape[meta.rank() - 2])), columns(int(meta.shape.back())), least(std::min(rows, columns)) {}
  int64_t elements() const { return int64_t(rows) * columns; }
};

double cubed(int n) { return double(n) * n * n; }
/// LAPACK wants leading dimensions of at least 1.
int leading(int n) { return std::max(n, 1); }
/// The size of memory that a routine asked for.
template <typename T> int wanted(T answer) { return std::max(1, int(std::ceil(double(answer)))); }

/// `to[j, i] = from[i, j]` of a row-major matrix.
template <typename T> void transpose(const T *from, int rows, int columns, T *to) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      to[j * rows + i] = from[i * columns + j];
}

/// The mean of a matrix and its transposed; of a symmetric one the same, for halves are exact.
template <typename T> void symmetrize(T *a, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < i; ++j)
      a[i * n + j] = a[j * n + i] = T(0.5) * a[i * n + j] + T(0.5) * a[j * n + i];
}

template <typename T> std::optional<MatrixFault> notFinite(const T *a, int64_t size) {
  if (std::all_of(a, a + size, [](T v) { return std::isfinite(v); }))
    return std::nullopt;
  return MatrixFault{"elements must be finite", "NaN or infinities"};
}

MatrixFault singular(int pivot) { return {"matrices must not be singular", "0 as pivot " + std::to_string(pivot)}; }

MatrixFault notConverged() { return {"the iteration must converge", "an end without"}; }

/// Whether the element of `vector` that is farthest from 0, the first of several, is negative.
template <typename T> bool pointsBack(const T *vector, int64_t size, int64_t step) {
  T largest = 0;
  for (int64_t i = 0; i < size; ++i)
    if (std::abs(vector[i * step]) > std::abs(largest))
      largest = vector[i * step];
  return largest < 0;
}

template <typename T> void negate(T *vector, int64_t size, int64_t step) {
  for (int64_t i = 0; i < size; ++i)
    vector[i * step] = -vector[i * step];
}

/// x = L L^T. The routine's upper factor U of x = U^T U is, row-major, L.
template <typename T> class Cholesky : public MatrixKernel<T> {
public:
  Cholesky(const PrepareRequest &request, const LapackLibrary &library)
      : MatrixKernel<T>(request, library, cubed(Sizes(request.inputs[0]).rows) / 3), n(Sizes(request.inputs[0]).rows) {
    this->looksAtData = true;
    this->reserve(0, 0);
  }

  std::optional<MatrixFault> compute(const typename MatrixKernel<T>::Matrices &m) const override {
    T *out = m.out[0];
    std::copy_n(m.in[0], int64_t(n) * n, out);
    symmetrize(out, n);
    int lda = leading(n), info = 0;
    this->lapack.potrf("U", &n, out, &lda, &info, 1);
    if (info)
      return MatrixFault{"matrices must be positive definite",
                         "a leading minor of order " + std::to_string(info) + " that is not"};
    for (int64_t i = 0; i < n; ++i)
      std::fill(out + i * n + i + 1, out + (i + 1) * n, T(0));
    return std::nullopt;
  }

private:
  int n;
};

/// The inverse of the transposed is the transposed of the inverse.
template <typename T> class Inverse : public MatrixKernel<T> {
public:
  Inverse(const PrepareRequest &request, const LapackLibrary &library)
      : MatrixKernel<T>(request, library, cubed(Sizes(request.inputs[0]).rows)), n(Sizes(request.inputs[0]).rows) {
    this->looksAtData = true;
    int lda = leading(n), info = 0, query = -1;
    T answer = 0;
    this->lapack.getri(&n, nullptr, &lda, nullptr, &answer, &query, &info);
    numWork = wanted(answer);
    this->reserve(numWork, n);
  }

  std::optional<MatrixFault> compute(const typename MatrixKernel<T>::Matrices &m) const override {
    std::copy_n(m.in[0], int64_t(n) * n, m.out[0]);
    int lda = leading(n), info = 0;
    this->lapack.getrf(&n, &n, m.out[0], &lda, m.integers, &info);
    if (!info)
      this->lapack.getri(&n, m.out[0], &lda, m.integers, m.work, &numWork, &info);
    return info ? std::optional(singular(info)) : std::nullopt;
  }

private:
  int n, numWork;
};

/// a x = b, by the factors of the transposed of a.
template <typename T> class Solve : public MatrixKernel<T> {
public:
  Solve(const PrepareRequest &request, const LapackLibrary &library)
      : MatrixKernel<T>(request, library,
                        cubed(Sizes(request.inputs[0]).rows) / 3 +
                            double(Sizes(request.inputs[0]).rows) * double(Sizes(request.inputs[1]).elements())),
        n(Sizes(request.inputs[0]).rows), columns(Sizes(request.inputs[1]).columns) {
    this->looksAtData = true;
    this->reserve(int64_t(n) * columns, n);
  }

  std::optional<MatrixFault> compute(const typename MatrixKernel<T>::Matrices &m) const override {
    transpose(m.in[1], n, columns, m.work);
    int lda = leading(n), info = 0;
    this->lapack.getrf(&n, &n, m.in[0], &lda, m.integers, &info);
    if (info)
      return singular(info);
    this->lapack.getrs("T", &n, &columns, m.in[0], &lda, m.integers, m.work, &lda, &info, 1);
    transpose(m.work, columns, n, m.out[0]);
    return std::nullopt;
  }

private:
  int n, columns;
};

/// a x = b for a triangle: x^T a^T = b^T, all of it as the routine sees a, x and b.
template <typename T> class SolveTriangular : public MatrixKernel<T> {
public:
  SolveTriangular(const PrepareRequest &request, const LapackLibrary &library)
      : MatrixKernel<T>(request, library,
                        double(Sizes(request.inputs[0]).rows) * double(Sizes(request.inputs[1]).elements()) / 2),
        n(Sizes(request.inputs[0]).rows), columns(Sizes(request.inputs[1]).columns),
        isLower(request.op.boolean("lower")), isTransposed(request.op.boolean("transpose")),
        isUnit(request.op.boolean("unit_diagonal")) {
    this->looksAtData = true;
    this->reserve(0, 0);
  }

  std::optional<MatrixFault> compute(const typename MatrixKernel<T>::Matrices &m) const override {
    for (int64_t i = 0; i < n && !isUnit; ++i)
      if (m.in[0][i * n + i] == T(0))
        return singular(int(i) + 1);
    std::copy_n(m.in[1], int64_t(n) * columns, m.out[0]);
    int lda = leading(n), ldb = leading(columns);
    T one = 1;
    this->lapack.trsm("R", isLower ? "U" : "L", isTransposed ? "T" : "N", isUnit ? "U" : "N", &columns, &n, &one,
                      m.in[0], &lda, m.out[0], &ldb, 1, 1, 1, 1);
    return std::nullopt;
  }

private:
  int n, columns;
  bool isLower, isTransposed, isUnit;
};

/// The determinant as a number, or as its sign and the logarithm of its size: that of the transposed.
template <typename T> class Determinant : public MatrixKernel<T> {
public:
  Determinant(const PrepareRequest &request, const LapackLibrary &library)
      : MatrixKernel<T>(request, library, cubed(Sizes(request.inputs[0]).rows) / 3), n(Sizes(request.inputs[0]).rows),
        givesLogarithm(request.outputs.size() == 2) {
    this->reserve(0, n);
  }

  std::optional<MatrixFault> compute(const typename MatrixKernel<T>::Matrices &m) const override {
    int lda = leading(n), info = 0;
    this->lapack.getrf(&n, &n, m.in[0], &lda, m.integers, &info);
    T sign = 1, product = 1, logarithm = 0;
    bool isSingular = false;
    for (int64_t i = 0; i < n; ++i) {
      T pivot = m.in[0][i * n + i];
      if (m.integers[i] != i + 1)
        sign = -sign;
      product *= pivot;
      logarithm += std::log(std::abs(pivot));
      if (givesLogarithm && pivot < 0)
        sign = -sign;
      isSingular |= pivot == 0;
    }
    *m.out[0] = !givesLogarithm ? sign * product : isSingular ? T(0) : sign;
    if (givesLogarithm)
      *m.out[1] = logarithm;
    return std::nullopt;
  }

private:
  int n;
  bool givesLogarithm;
};

/// x = q r, with columns of q and rows of r as many as the smaller size of x.
template <typename T> class Qr : public MatrixKernel<T> {
public:
  Qr(const PrepareRequest &request, const LapackLibrary &library)
      : MatrixKernel<T>(request, library,
                        2 * double(Sizes(request.inputs[0]).elements()) * Sizes(request.inputs[0]).least),
        size(request.inputs[0]) {
    int lda = leading(size.rows), info = 0, query = -1;
    T answers[2] = {};
    this->lapack.geqrf(&size.rows, &size.columns, nullptr, &lda, nullptr, &answers[0], &query, &info);
    this->lapack.orgqr(&size.rows, &size.least, &size.least, nullptr, &lda, nullptr, &answers[1], &query, &info);
    numWork = std::max(wanted(answers[0]), wanted(answers[1]));
    this->reserve(size.elements() + size.least + numWork, 0);
  }

  std::optional<MatrixFault> compute(const typename MatrixKernel<T>::Matrices &m) const override {
    T *a = m.work, *tau = a + size.elements(), *work = tau + size.least;
    int lda = leading(size.rows), info = 0;
    transpose(m.in[0], size.rows, size.columns, a);
    this->lapack.geqrf(&size.rows, &size.columns, a, &lda, tau, work, &numWork, &info);
    for (int64_t i = 0; i < size.least; ++i)
      for (int64_t j = 0; j < size.columns; ++j)
        m.out[1][i * size.columns + j] = i <= j ? a[j * size.rows + i] : T(0);
    this->lapack.orgqr(&size.rows, &size.least, &size.least, a, &lda, tau, work, &numWork, &info);
    transpose(a, size.least, size.rows, m.out[0]);
    return std::nullopt;
  }

private:
  Sizes size;
  int numWork;
};

/// Eigenvalues of a symmetric matrix, and its eigenvectors as columns, each with its largest element positive.
template <typename T> class Eigh : public MatrixKernel<T> {
public:
  Eigh(const PrepareRequest &request, const LapackLibrary &library)
      : MatrixKernel<T>(request, library, 9 * cubed(Sizes(request.inputs[0]).rows)), n(Sizes(request.inputs[0]).rows) {
    this->looksAtData = true;
    int lda = leading(n), info = 0, query = -1;
    T answer = 0;
    this->lapack.syevd("V", "L", &n, nullptr, &lda, nullptr, &answer, &query, &numIntegers, &query, &info, 1, 1);
    numWork = wanted(answer);
    numIntegers = leading(numIntegers);
    this->reserve(numWork, numIntegers);
  }

  std::optional<MatrixFault> compute(const typename MatrixKernel<T>::Matrices &m) const override {
    if (auto fault = notFinite(m.in[0], int64_t(n) * n))
      return fault;
    symmetrize(m.in[0], n);
    int lda = leading(n), info = 0;
    this->lapack.syevd("V", "L", &n, m.in[0], &lda, m.out[0], m.work, &numWork, m.integers, &numIntegers, &info, 1, 1);
    if (info)
      return notConverged();
    for (int64_t i = 0; i < n; ++i)
      if (pointsBack(m.in[0] + i * n, n, 1))
        negate(m.in[0] + i * n, n, 1);
    transpose(m.in[0], n, n, m.out[1]);
    return std::nullopt;
  }

private:
  int n, numWork, numIntegers = 1;
};

/// x = u s vh. The routine sees x^T = vh^T s u^T, and what it calls u and v^T are, row-major, vh and u.
template <typename T> class Svd : public MatrixKernel<T> {
public:
  Svd(const PrepareRequest &request, const LapackLibrary &library)
      : MatrixKernel<T>(request, library,
                        (request.outputs.size() == 3 ? 14.0 : 4.0) * double(Sizes(request.inputs[0]).elements()) *
                            Sizes(request.inputs[0]).least),
        size(request.inputs[0]), job(request.outputs.size() == 3 ? "S" : "N") {
    this->looksAtData = true;
    T answer = 0;
    call({}, nullptr, nullptr, nullptr, &answer, -1);
    numWork = wanted(answer);
    this->reserve(numWork, 8 * int64_t(size.least));
  }

  std::optional<MatrixFault> compute(const typename MatrixKernel<T>::Matrices &m) const override {
    if (auto fault = notFinite(m.in[0], size.elements()))
      return fault;
    bool hasVectors = *job == 'S';
    T *u = hasVectors ? m.out[0] : nullptr, *vh = hasVectors ? m.out[2] : nullptr;
    if (call(m, u, m.out[hasVectors], vh, m.work, numWork))
      return notConverged();
    for (int64_t i = 0; i < size.least && hasVectors; ++i)
      if (pointsBack(u + i, size.rows, size.least)) {
        negate(u + i, size.rows, size.least);
        negate(vh + i * size.columns, size.columns, 1);
      }
    return std::nullopt;
  }

private:
  int call(const typename MatrixKernel<T>::Matrices &m, T *u, T *s, T *vh, T *work, int lwork) const {
    int lda = leading(size.columns), ldu = leading(size.least), info = 0;
    this->lapack.gesdd(job, &size.columns, &size.rows, m.in[0], &lda, s, vh, &lda, u, &ldu, work, &lwork, m.integers,
                       &info, 1);
    return info;
  }

  Sizes size;
  const char *job;
  int numWork;
};

} // namespace

template <template <typename> class Kernel>
static llvm::Expected<PreparedRef> prepareMatrices(const PrepareRequest &request) {
  for (llvm::ArrayRef<TensorMeta> metas : {request.inputs, request.outputs})
    for (const TensorMeta &meta : metas)
      if (countOf(llvm::ArrayRef(meta.shape).take_back(2)) > std::numeric_limits<int>::max())
        return makeError(ErrorCode::Unimplemented, request.op.name() +
                                                       ": matrices must have fewer than 2147483648 elements, got " +
                                                       toString(meta));
  llvm::Expected<const LapackLibrary *> library = LapackLibrary::get();
  if (!library)
    return library.takeError();
  if (request.inputs[0].dtype == DType::Float64)
    return std::make_shared<Kernel<double>>(request, **library);
  return std::make_shared<Kernel<float>>(request, **library);
}

llvm::Expected<PreparedRef> prepareCholesky(const PrepareRequest &r) { return prepareMatrices<Cholesky>(r); }
llvm::Expected<PreparedRef> prepareInverse(const PrepareRequest &r) { return prepareMatrices<Inverse>(r); }
llvm::Expected<PreparedRef> prepareSolve(const PrepareRequest &r) { return prepareMatrices<Solve>(r); }
llvm::Expected<PreparedRef> prepareSolveTriangular(const PrepareRequest &r) {
  return prepareMatrices<SolveTriangular>(r);
}
llvm::Expected<PreparedRef> prepareDeterminant(const PrepareRequest &r) { return prepareMatrices<Determinant>(r); }
llvm::Expected<PreparedRef> prepareQr(const PrepareRequest &r) { return prepareMatrices<Qr>(r); }
llvm::Expected<PreparedRef> prepareEigh(const PrepareRequest &r) { return prepareMatrices<Eigh>(r); }
llvm::Expected<PreparedRef> prepareSvd(const PrepareRequest &r) { return prepareMatrices<Svd>(r); }

} // namespace tess::runtime::cpu
