//===- kernel_fusion_test.cpp - fused and separate kernels agree ----------===//
#include "compiler/kernel/KernelAnalysis.h"
#include "tests/compiler/kernel/KernelSupport.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace tess::test {

namespace {

constexpr DType F = DType::Float32;

int gelu(SpecBuilder &s, int x, DType d) {
  int e = s.apply(ScalarFn::Erf, d, {s.apply(ScalarFn::Mul, d, {x, s.constant(d, 0.70710678118654752)})});
  int half = s.apply(ScalarFn::Mul, d, {x, s.constant(d, 0.5)});
  return s.apply(ScalarFn::Mul, d, {half, s.apply(ScalarFn::Add, d, {e, s.constant(d, 1)})}, true);
}

int softmax(SpecBuilder &s, int x, DType d) {
  int shifted = s.apply(ScalarFn::Sub, d, {x, s.reduce(ReduceKind::Max, d, x, true)}, true);
  int e = s.apply(ScalarFn::Exp, d, {shifted}, true);
  return s.apply(ScalarFn::Div, d, {e, s.reduce(ReduceKind::Sum, d, e, true)}, true);
}

int layerNorm(SpecBuilder &s, int x, DType d) {
  int centred = s.apply(ScalarFn::Sub, d, {x, s.reduce(ReduceKind::Mean, d, x, true)}, true);
  int variance = s.reduce(ReduceKind::Mean, d, s.apply(ScalarFn::Square, d, {centred}, true), true);
  int scale = s.apply(ScalarFn::Rsqrt, d, {s.apply(ScalarFn::Add, d, {variance, s.constant(d, 1e-5)}, true)}, true);
  return s.apply(ScalarFn::Mul, d, {centred, scale}, true);
}

struct Data {
  std::vector<uint8_t> x, a, b, out;
  int64_t rows, columns;
  int64_t width;

  Data(DType d, int64_t rows, int64_t columns) : rows(rows), columns(columns), width(byteWidth(d)) {
    Random random(21);
    auto fill = [&](std::vector<uint8_t> &bytes, int64_t n) {
      bytes.resize(n * width);
      for (int64_t i = 0; i < n; ++i) {
        float value = float(random.uniform(-3, 3));
        double wide = value;
        uint32_t bits;
        std::memcpy(&bits, &value, 4);
        bits = d == DType::BFloat16 ? bits >> 16 : bits;
        std::memcpy(bytes.data() + i * width, d == DType::Float64 ? (const void *)&wide : (const void *)&bits, width);
      }
    };
    fill(x, rows * columns);
    fill(a, columns);
    fill(b, columns);
    out.resize(rows * columns * width);
  }
};

using Stage = int (*)(SpecBuilder &, int, DType);

/// The stage alone, rows of `d`, in place of `data`.
void runStage(Stage stage, DType d, std::vector<uint8_t> &data, int64_t rows, int64_t columns,
              const std::string &target) {
  SpecBuilder s(1, 1, VectorAxis::Reduced);
  s.output(stage(s, s.input(d, InnerClass::Contiguous, true), d), d, InnerClass::Contiguous, true);
  std::vector<uint8_t> out(data.size());
  Kernel(s.spec, target).run({rows, columns}, {{data.data(), {columns, 1}}, {out.data(), {columns, 1}}});
  data = out;
}

std::vector<uint8_t> separate(Stage stage, DType d, Data data, const std::string &target) {
  auto binary = [&](ScalarFn fn, std::vector<uint8_t> &row) {
    SpecBuilder s(2);
    int x = s.input(d), y = s.input(d);
    s.output(s.apply(fn, d, {x, y}, true), d);
    Kernel(s.spec, target)
        .run({data.rows, data.columns},
             {{data.x.data(), {data.columns, 1}}, {row.data(), {0, 1}}, {data.out.data(), {data.columns, 1}}});
    data.x = data.out;
  };
  binary(ScalarFn::Mul, data.a);
  binary(ScalarFn::Add, data.b);
  SpecBuilder s(1);
  s.output(gelu(s, s.input(d), d), d);
  Kernel(s.spec, target).run({data.rows * data.columns}, {{data.x.data(), {1}}, {data.out.data(), {1}}});
  runStage(stage, d, data.out, data.rows, data.columns, target);
  return data.out;
}

std::vector<uint8_t> fused(Stage stage, DType d, Data data, const std::string &target, VectorAxis axis) {
  SpecBuilder s(1, 1, axis);
  InnerClass inner = axis == VectorAxis::Reduced ? InnerClass::Contiguous : InnerClass::Strided;
  InnerClass row = axis == VectorAxis::Reduced ? InnerClass::Contiguous : InnerClass::Broadcast;
  int x = s.input(d, inner, true), a = s.input(d, row, true), b = s.input(d, row, true);
  int affine = s.apply(ScalarFn::Add, d, {s.apply(ScalarFn::Mul, d, {x, a}, true), b}, true);
  s.output(stage(s, gelu(s, affine, d), d), d, inner, true);
  Kernel(s.spec, target)
      .run({data.rows, data.columns}, {{data.x.data(), {data.columns, 1}},
                                       {data.a.data(), {0, 1}},
                                       {data.b.data(), {0, 1}},
                                       {data.out.data(), {data.columns, 1}}});
  return data.out;
}

} // namespace

TEST_CASE("gelu(x a + b) into softmax or layer norm has the bits of four kernels") {
  for (DType d : {DType::Float32, DType::Float64, DType::BFloat16})
    for (Stage stage : {Stage(softmax), Stage(layerNorm)})
      for (int64_t columns : {1, 15, 16, 1000, 1017}) {
        Data data(d, 5, columns);
        std::vector<uint8_t> expected = separate(stage, d, data, "x86-64-v3");
        for (const std::string &target : targetsHere()) {
          INFO(shortName(d).str() << " columns " << columns << " on " << target);
          CHECK(separate(stage, d, data, target) == expected);
          CHECK(fused(stage, d, data, target, VectorAxis::Reduced) == expected);
          CHECK(fused(stage, d, data, target, VectorAxis::Parallel) == expected);
        }
      }
}

TEST_CASE("columns in blocks have the bits of rows") {
  // Several blocks of columns, three phases, results of the row stored beside those of the domain.
  for (DType d : {DType::Float32, DType::Float64})
    for (int64_t columns : {100, 333}) {
      constexpr int64_t reduced = 37;
      std::vector<std::vector<uint8_t>> results;
      for (VectorAxis axis : {VectorAxis::Reduced, VectorAxis::Parallel})
        for (const std::string &target : targetsHere()) {
          Data data(d, columns, reduced);
          bool lanes = axis == VectorAxis::Parallel;
          SpecBuilder s(1, 1, axis);
          InnerClass inner = lanes ? InnerClass::Contiguous : InnerClass::Strided;
          int x = s.input(d, inner, true), scale = s.input(d, lanes ? InnerClass::Contiguous : InnerClass::Broadcast);
          int norm = layerNorm(s, x, d);
          int scaled = s.apply(ScalarFn::Mul, d, {softmax(s, norm, d), scale}, true);
          int peak = s.reduce(ReduceKind::Max, d, scaled, true);
          s.output(scaled, d, inner, true);
          s.output(s.apply(ScalarFn::Sqrt, d, {peak}, true), d, lanes ? InnerClass::Contiguous : InnerClass::Broadcast);
          std::vector<uint8_t> factors(data.x.begin(), data.x.begin() + columns * data.width);
          std::vector<uint8_t> row(columns * data.width);
          Kernel(s.spec, target)
              .run({columns, reduced},
                   {{data.x.data(), {1, columns}},
                    {factors.data(), {1, 0}},
                    {data.out.data(), {1, columns}},
                    {row.data(), {1, 0}}},
                   {}, 2);
          data.out.insert(data.out.end(), row.begin(), row.end());
          results.push_back(data.out);
        }
      for (const std::vector<uint8_t> &other : results)
        CHECK(results[0] == other);
    }
}

TEST_CASE("softmax sums to one") {
  Data data(F, 3, 100);
  runStage(softmax, F, data.x, 3, 100, "host");
  const float *values = reinterpret_cast<const float *>(data.x.data());
  for (int row = 0; row < 3; ++row) {
    double sum = 0;
    for (int i = 0; i < 100; ++i)
      sum += values[row * 100 + i];
    CHECK(sum == Approx(1).epsilon(1e-6));
  }
}

TEST_CASE("costly values wait in scratch, cheap ones are computed again") {
  SpecBuilder s(1, 1, VectorAxis::Reduced);
  s.output(softmax(s, s.input(F, InnerClass::Contiguous, true), F), F, InnerClass::Contiguous, true);
  KernelPlan plan = planKernel(s.spec);
  CHECK(plan.numPhases == 3);
  CHECK(plan.scratchBytesPerElement == 4); // e^x only

  SpecBuilder norm(1, 1, VectorAxis::Reduced);
  norm.output(layerNorm(norm, norm.input(F, InnerClass::Contiguous, true), F), F, InnerClass::Contiguous, true);
  CHECK(planKernel(norm.spec).scratchBytesPerElement == 0);

  // gelu is read for the last time where e^x is made: they share a slot.
  SpecBuilder both(1, 1, VectorAxis::Reduced);
  both.output(softmax(both, gelu(both, both.input(F, InnerClass::Contiguous, true), F), F), F, InnerClass::Contiguous,
              true);
  CHECK(planKernel(both.spec).scratchBytesPerElement == 4);
  CHECK(mayShareMemory(both.spec, 1, 0));
}

TEST_CASE("an output written before its input is read again may not share memory") {
  SpecBuilder s(1, 1, VectorAxis::Reduced);
  int x = s.input(F, InnerClass::Contiguous, true);
  int sum = s.reduce(ReduceKind::Sum, F, x);
  s.output(s.apply(ScalarFn::Neg, F, {x}), F, InnerClass::Contiguous, true);      // in the first pass
  s.output(s.apply(ScalarFn::Sub, F, {x, sum}), F, InnerClass::Contiguous, true); // in the second
  CHECK_FALSE(mayShareMemory(s.spec, 1, 0));
  CHECK(mayShareMemory(s.spec, 2, 0));
  // And so it is: softmax may run in place.
  Data data(F, 4, 77);
  SpecBuilder in(1, 1, VectorAxis::Reduced);
  in.output(softmax(in, in.input(F, InnerClass::Contiguous, true), F), F, InnerClass::Contiguous, true);
  REQUIRE(mayShareMemory(in.spec, 1, 0));
  std::vector<uint8_t> apart = data.x, shared = data.x;
  runStage(softmax, F, apart, 4, 77, "host");
  Kernel(in.spec).run({4, 77}, {{shared.data(), {77, 1}}, {shared.data(), {77, 1}}});
  CHECK(apart == shared);
}

TEST_CASE("every input is read before an output is written") {
  SpecBuilder s;
  int a = s.input(F), b = s.input(F);
  s.output(s.apply(ScalarFn::Add, F, {a, s.constant(F, 1)}), F);
  s.output(s.apply(ScalarFn::Mul, F, {b, s.constant(F, 2)}), F);
  REQUIRE(mayShareMemory(s.spec, 2, 1));
  std::vector<float> x(40, 5), shared(40, 7), out(40);
  Kernel(s.spec).run({40}, {{x.data(), {1}}, {shared.data(), {1}}, {shared.data(), {1}}, {out.data(), {1}}});
  CHECK(shared == std::vector<float>(40, 6));
  CHECK(out == std::vector<float>(40, 14));
}

TEST_CASE("a kept value is read before its slot is taken") {
  // Two values of the first pass wait; two of the second take their slots, each made of both.
  SpecBuilder s(1, 1, VectorAxis::Reduced);
  int x = s.input(F, InnerClass::Contiguous, true);
  int p = s.apply(ScalarFn::Exp, F, {x}), q = s.apply(ScalarFn::Sin, F, {x});
  int m = s.reduce(ReduceKind::Sum, F, s.apply(ScalarFn::Mul, F, {p, q}));
  int u = s.apply(ScalarFn::Tanh, F, {s.apply(ScalarFn::Add, F, {s.apply(ScalarFn::Mul, F, {p, m}), q})});
  int v = s.apply(ScalarFn::Erf, F, {s.apply(ScalarFn::Sub, F, {q, s.apply(ScalarFn::Mul, F, {p, m})})});
  int n = s.reduce(ReduceKind::Sum, F, s.apply(ScalarFn::Mul, F, {u, v}));
  s.output(s.apply(ScalarFn::Add, F, {s.apply(ScalarFn::Mul, F, {u, n}), v}), F, InnerClass::Contiguous, true);
  CHECK(planKernel(s.spec).scratchBytesPerElement == 8);
  std::vector<float> data(50), byRows(50), byColumns(50);
  for (int i = 0; i < 50; ++i)
    data[i] = float(i) / 40 - 0.6f;
  Kernel(s.spec).run({1, 50}, {{data.data(), {50, 1}}, {byRows.data(), {50, 1}}});
  s.spec.vectorAxis = VectorAxis::Parallel; // computes everything again, keeps nothing
  Kernel(s.spec).run({1, 50}, {{data.data(), {50, 1}}, {byColumns.data(), {50, 1}}});
  CHECK(sameBits(byRows, byColumns));
}

TEST_CASE("kept values of every width survive several reduced groups") {
  // Bool, i16 and f64 values that are dear enough to be kept, over groups whose last one is no multiple of 16.
  SpecBuilder s(1, 2, VectorAxis::Reduced);
  int x = s.input(DType::Float64, InnerClass::Contiguous, true);
  int e = s.apply(ScalarFn::Exp, DType::Float64, {x});
  int big = s.apply(ScalarFn::Gt, DType::Bool, {e, s.constant(DType::Float64, 1)});
  int small = s.apply(ScalarFn::Cast, DType::Int16,
                      {s.apply(ScalarFn::Mul, DType::Float64, {e, s.constant(DType::Float64, 10)})});
  int count = s.reduce(ReduceKind::Sum, DType::Int64, big), total = s.reduce(ReduceKind::Sum, DType::Int64, small);
  int sum = s.reduce(ReduceKind::Sum, DType::Float64, e);
  int bias = s.apply(ScalarFn::Add, DType::Int64, {count, total});
  int biased = s.apply(ScalarFn::Add, DType::Int64, {small, bias});
  int chosen =
      s.apply(ScalarFn::Select, DType::Float64, {big, biased, s.apply(ScalarFn::Div, DType::Float64, {e, sum})});
  s.output(chosen, DType::Float64, InnerClass::Contiguous, true);
  CHECK(planKernel(s.spec).scratchBytesPerElement == 8 + 2 + 1);
  std::vector<std::vector<double>> results;
  for (VectorAxis axis : {VectorAxis::Reduced, VectorAxis::Parallel})
    for (const std::string &target : targetsHere()) {
      SpecBuilder copy = s;
      copy.spec.vectorAxis = axis;
      if (axis == VectorAxis::Parallel)
        copy.spec.operands[0].inner = copy.spec.operands[1].inner = InnerClass::Strided;
      std::vector<double> in(3 * 5 * 19), out(in.size());
      for (size_t i = 0; i < in.size(); ++i)
        in[i] = std::sin(double(i)) * 3;
      std::vector<int64_t> strides = {5 * 19, 19, 1};
      Kernel(copy.spec, target).run({3, 5, 19}, {{in.data(), strides}, {out.data(), strides}});
      results.push_back(out);
    }
  for (const std::vector<double> &other : results)
    CHECK(sameBits(results[0], other));
  double reference = 0;
  for (size_t i = 0; i < 5 * 19; ++i)
    reference += std::exp(std::sin(double(i)) * 3);
  CHECK(results[0][5] == Approx(std::exp(std::sin(5.0) * 3) / reference)); // sin 5 < 0: not big
}

TEST_CASE("philox gives the published numbers, in every lane") {
  // Salmon et al., known answers of philox4x32-10: counter 0, key 0 -> 6627e8d5 e169c58d ...
  SpecBuilder s;
  int seed = s.attr(DType::Int64, true), counter = s.apply(ScalarFn::Index, DType::Int64, {});
  s.output(s.apply(ScalarFn::PhiloxUniform, DType::Float32, {seed, counter}), DType::Float32);
  s.output(s.apply(ScalarFn::PhiloxUniform, DType::Float64, {seed, counter}), DType::Float64);
  s.output(s.apply(ScalarFn::PhiloxNormal, DType::Float32, {seed, counter}), DType::Float32);
  s.output(s.apply(ScalarFn::PhiloxNormal, DType::Float64, {seed, counter}), DType::Float64);
  constexpr int64_t n = 100001;
  std::vector<float> uniform(n), normal(n);
  std::vector<double> wide(n), wideNormal(n);
  Kernel(s.spec).run({n}, {{uniform.data(), {1}}, {wide.data(), {1}}, {normal.data(), {1}}, {wideNormal.data(), {1}}},
                     {0});
  CHECK(uniform[0] == float(0x6627e8d5 >> 8) * 0x1p-24f);
  CHECK(wide[0] == double((uint64_t(0x6627e8d5) << 32 | 0xe169c58d) >> 11) * 0x1p-53);
  double sum = 0, square = 0, sumNormal = 0, squareNormal = 0, fourth = 0;
  for (int64_t i = 0; i < n; ++i) {
    REQUIRE((uniform[i] >= 0 && uniform[i] < 1 && wide[i] >= 0 && wide[i] < 1));
    REQUIRE((std::isfinite(normal[i]) && std::isfinite(wideNormal[i])));
    sum += wide[i];
    square += double(uniform[i]) * uniform[i];
    sumNormal += normal[i];
    squareNormal += wideNormal[i] * wideNormal[i];
    fourth += std::pow(wideNormal[i], 4);
  }
  CHECK(sum / n == Approx(0.5).margin(0.005));
  CHECK(square / n == Approx(1.0 / 3).margin(0.005));
  CHECK(sumNormal / n == Approx(0).margin(0.02));
  CHECK(squareNormal / n == Approx(1).margin(0.02));
  CHECK(fourth / n == Approx(3).margin(0.15));
}

} // namespace tess::test
