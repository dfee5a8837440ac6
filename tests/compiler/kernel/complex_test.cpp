//===- kernel_complex_test.cpp - complex numbers in kernels ---------------===//
#include "compiler/kernel/KernelAnalysis.h"
#include "ops/vocabulary/Error.h"
#include "tests/compiler/kernel/KernelSupport.h"

#include <catch2/catch.hpp>
#include <complex>

namespace tess::test {

namespace {

/// The text of an error; empty for success.
std::string errorOf(llvm::Error error) { return error ? takeError(std::move(error)).second : std::string(); }

/// conj(x) y, by parts.
KernelSpec conjugateProduct(DType dtype, InnerClass inner) {
  SpecBuilder s;
  DType part = partOf(dtype);
  int x = s.input(dtype, inner), y = s.input(dtype, inner);
  int a = s.apply(ScalarFn::Real, part, {x}), b = s.apply(ScalarFn::Imag, part, {x});
  int c = s.apply(ScalarFn::Real, part, {y}), d = s.apply(ScalarFn::Imag, part, {y});
  int ac = s.apply(ScalarFn::Mul, part, {a, c}), bd = s.apply(ScalarFn::Mul, part, {b, d});
  int ad = s.apply(ScalarFn::Mul, part, {a, d}), bc = s.apply(ScalarFn::Mul, part, {b, c});
  int re = s.apply(ScalarFn::Add, part, {ac, bd}), im = s.apply(ScalarFn::Sub, part, {ad, bc});
  s.output(s.apply(ScalarFn::Complex, dtype, {re, im}), dtype);
  return s.spec;
}

template <typename T> void checkProduct(DType dtype, InnerClass inner, int64_t step) {
  for (size_t n : {1, 15, 16, 37})
    for (const std::string &target : targetsHere()) {
      std::vector<std::complex<T>> x(n * step + 1), y(n * step + 1), out(n);
      for (size_t i = 0; i < x.size(); ++i) {
        x[i] = {T(i), T(1)};
        y[i] = {T(2), T(i) - 3};
      }
      Kernel(conjugateProduct(dtype, inner), target)
          .run({int64_t(n)}, {{x.data(), {step}}, {y.data(), {step}}, {out.data(), {1}}});
      for (size_t i = 0; i < n; ++i)
        CHECK(out[i] == std::conj(x[i * step]) * y[i * step]);
    }
}

} // namespace

TEST_CASE("complex numbers are computed with by their parts") {
  for (auto [inner, step] :
       {std::pair(InnerClass::Contiguous, 1), std::pair(InnerClass::Strided, 3), std::pair(InnerClass::Broadcast, 0)}) {
    checkProduct<float>(DType::Complex64, inner, step);
    checkProduct<double>(DType::Complex128, inner, step);
  }
}

TEST_CASE("complex numbers are summed by their parts") {
  for (DType dtype : {DType::Complex64, DType::Complex128}) {
    SpecBuilder s(1, 1, VectorAxis::Reduced);
    DType part = partOf(dtype);
    int x = s.input(dtype, InnerClass::Contiguous, true);
    int re = s.reduce(ReduceKind::Sum, part, s.apply(ScalarFn::Real, part, {x}));
    int im = s.reduce(ReduceKind::Sum, part, s.apply(ScalarFn::Imag, part, {x}));
    s.output(s.apply(ScalarFn::Complex, dtype, {re, im}), dtype);
    std::vector<std::complex<float>> narrow, narrowOut(2);
    std::vector<std::complex<double>> wide, wideOut(2);
    for (int i = 0; i < 2 * 21; ++i) {
      narrow.emplace_back(float(i), float(-2 * i));
      wide.emplace_back(i, -2 * i);
    }
    bool isNarrow = dtype == DType::Complex64;
    void *in = isNarrow ? static_cast<void *>(narrow.data()) : wide.data();
    void *out = isNarrow ? static_cast<void *>(narrowOut.data()) : wideOut.data();
    Kernel(s.spec).run({2, 21}, {{in, {21, 1}}, {out, {1, 0}}});
    for (int row = 0; row < 2; ++row) {
      std::complex<double> got = isNarrow ? std::complex<double>(narrowOut[row]) : wideOut[row];
      double sum = row ? 651 : 210;
      CHECK(got == std::complex<double>(sum, -2 * sum));
    }
  }
}

TEST_CASE("a kernel computes with the parts of complex numbers only") {
  auto refused = [](ScalarFn fn, DType dtype, DType of) {
    SpecBuilder s;
    int x = s.input(of);
    int value = infoOf(fn).arity == 1 ? s.apply(fn, dtype, {x}) : s.apply(fn, dtype, {x, x});
    s.output(value, dtype);
    return errorOf(verifyKernel(s.spec));
  };
  using enum DType;
  CHECK(refused(ScalarFn::Add, Complex64, Complex64) ==
        "kernel: a function must have real arguments, got node 1 (add)");
  CHECK(refused(ScalarFn::Eq, Bool, Complex64) == "kernel: a function must have real arguments, got node 1 (eq)");
  CHECK(refused(ScalarFn::Real, Float64, Complex64) ==
        "kernel: a part must be of a complex number, in the dtype of its parts, got node 1 (real) f64");
  CHECK(refused(ScalarFn::Imag, Float32, Float32) ==
        "kernel: a part must be of a complex number, in the dtype of its parts, got node 1 (imag) f32");
  CHECK(refused(ScalarFn::Complex, Complex128, Float32) ==
        "kernel: a complex number must be of two parts of its dtype, got node 1 (complex) c128");
  CHECK(refused(ScalarFn::Conj, Complex64, Complex64) ==
        "kernel: a conjugate must be made of parts, got node 1 (conj)");
  CHECK(refused(ScalarFn::Cast, Complex128, Complex64).empty());
  SpecBuilder s(1, 1, VectorAxis::Reduced);
  s.output(s.reduce(ReduceKind::Sum, Complex64, s.input(Complex64, InnerClass::Contiguous, true)), Complex64);
  CHECK(errorOf(verifyKernel(s.spec)) == "kernel: a reduction must be of real numbers, got node 1 c64");
}

} // namespace tess::test
