//===- brought.cpp - a library of operators that is kept ------------------===//
//
// It uses every function of the host and every member of the border's structs, so that
// a Tessera that moves one of them fails with the binary of this release.
//
//===----------------------------------------------------------------------===//
#include "tessera/custom_op.h"

#include <algorithm>

using namespace tessera::custom;

namespace {

/// Elements times a factor, plus a term; the gradient reads the gradient of the output alone.
struct Affine {
  static void declare(Declaration &d) {
    d.name("brought::affine").summary("factor * x + term").doc("The term is subtracted where sign is minus.");
    d.input("x", kFloat32).output("out", kFloat32).number("factor", "at most 100", "2.0").within("0.0", "100.0");
    d.integer("term", "that is added", "1").text("sign", "of the term", "plus").oneOf({"plus", "minus"});
    d.inPlace(0, 0).backwardInPlace(0, 0).flags(TESS_MAPS_BATCH).onnx("brought::Affine");
  }
  static void infer(Infer &i) { i.output(0) = i.input(0); }
  static void forward(const Run &r) {
    const auto factor = float(r.number(0));
    const auto term = float(r.text(2) == "minus" ? -r.integer(1) : r.integer(1));
    const float *x = r.input(0).data<float>();
    float *out = r.output(0).data<float>();
    for (int64_t i = 0, n = r.output(0).elements(); i < n; ++i)
      assign(r.output(0).request(), out[i], factor * x[i] + term);
  }
  static void backward(const Run &r) {
    const auto factor = float(r.number(0));
    for (int64_t i = 0, n = r.output(0).elements(); i < n; ++i)
      assign(r.output(0).request(), r.output(0).data<float>()[i], factor * r.input(0).data<float>()[i]);
  }
};

/// Repeats each element of a row, and squares rows; memory, threads, a hidden output, and both ways of inference.
struct Spread {
  static void declare(Declaration &d) {
    d.name("brought::spread").summary("each element repeated, and the sum of squares of each row").input("x", kFloat32);
    d.output("out", kFloat32).output("squares", kFloat32).output("doubled", kFloat32, TESS_HIDDEN);
    d.integers("times", "one number").boolean("is_negative", "squares have a minus", "False");
    d.backwardReads({0, 1}, {0}, {2});
  }
  static void infer(Infer &i) {
    if (i.input(0).rank() != 2 || i.integers(0).size() != 1)
      throw std::invalid_argument("x must have 2 axes, got " + std::to_string(i.input(0).rank()));
    const Size rows = i.input(0).size(0), columns = i.input(0).size(1);
    i.output(0).setDType(TESS_FLOAT32).setShape({rows, columns * Size(i.integers(0)[0])});
    i.output(1).setDType(TESS_FLOAT32).setShape({rows});
    i.output(2) = i.input(0);
  }
  static void inferBack(Infer &i) {
    i.input(0).setDType(TESS_FLOAT32);
    if (i.output(0).hasRank() && !i.input(0).hasRank())
      i.input(0).setShape({i.output(0).size(0), i.output(0).size(1) / Size(i.integers(0)[0])});
  }
  static void resources(const Infer &i, bool isBackward, Resources &resources) {
    resources.workspace_bytes = isBackward ? 0 : uint64_t(i.input(0).size(0).number()) * sizeof(double);
  }
  static void forward(const Run &r) {
    const Tensor x = r.input(0), out = r.output(0);
    const int64_t columns = x.size(1), times = r.integers(0)[0];
    auto *sums = r.workspace<double>();
    r.parallelFor(x.size(0), 1, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        sums[row] = 0;
        for (int64_t i = row * columns; i < (row + 1) * columns; ++i) {
          const float value = x.data<float>()[i];
          sums[row] += double(value) * value;
          r.output(2).data<float>()[i] = 2 * value;
          std::fill_n(out.data<float>() + i * times, times, value);
        }
        r.output(1).data<float>()[row] = float(r.boolean(1) ? -sums[row] : sums[row]);
      }
    });
  }
  static void backward(const Run &r) {
    const Tensor dOut = r.input(0), dSquares = r.input(1), x = r.input(2), doubled = r.input(3), dX = r.output(0);
    const int64_t times = r.integers(0)[0];
    for (int64_t i = 0; i < x.elements(); ++i) {
      const float of = dSquares.data<float>()[i / x.size(1)] * doubled.data<float>()[i];
      float sum = r.boolean(1) ? -of : of;
      for (int64_t k = 0; k < times; ++k)
        sum += dOut.data<float>()[i * times + k];
      assign(dX.request(), dX.data<float>()[i], sum);
    }
  }
};

/// Elements above a bound, which is random in training; counts its calls in a state, and those of a binding.
struct Above {
  struct State {
    State(const Infer &i, bool) : most(i.input(0).elements()) {}
    const int64_t most;
    int64_t runs = 0;
  };
  static void declare(Declaration &d) {
    d.name("brought::above").summary("elements above a bound").input("x", kFloat32 | kInt64);
    d.state("calls", kInt64).output("out", kFloat32 | kInt64, TESS_DATA_SIZED).output("runs", kInt64);
    d.flags(TESS_USES_RANDOM | TESS_USES_TRAINING);
  }
  static void infer(Infer &i) {
    Size all = 1;
    for (const Size &size : i.input(0).shape())
      all = all * size;
    i.output(0).setDType(i.input(0).dtype()).setShape({max(all, Size(0))});
    i.output(1).setDType(TESS_INT64).setShape({});
  }
  template <typename T> static void taken(const Run &r, T bound) {
    const T *x = r.input(0).data<T>();
    T *out = r.output(0).data<T>();
    r.setDataSize(0, std::copy_if(x, x + r.made<State>().most, out, [&](T each) { return each > bound; }) - out);
  }
  static void forward(const Run &r) {
    const int64_t drawn = r.isTraining() ? int64_t((r.seed() + r.offset()) % 2) : 0;
    r.input(0).dtype() == TESS_FLOAT32 ? taken<float>(r, float(drawn)) : taken<int64_t>(r, drawn);
    *r.output(1).data<int64_t>() = ++r.made<State>().runs;
    *r.state(0).data<int64_t>() += 1;
  }
};

/// Chooses one of any number of inputs; an error of either kind where it cannot.
struct Chosen {
  static void declare(Declaration &d) {
    d.name("brought::chosen").summary("one of the values").input("values", kAny, TESS_VARIADIC).output("out");
    d.integer("number", "of the value");
  }
  static void infer(Infer &i) {
    if (i.integer(0) < 0 || i.integer(0) >= i.numInputs())
      throw std::invalid_argument("number must be one of a value, got " + std::to_string(i.integer(0)));
    i.output(0) = i.input(uint32_t(i.integer(0)));
  }
  static void forward(const Run &r) {
    const Tensor from = r.input(uint32_t(r.integer(0)));
    if (from.dtype() != TESS_INT32)
      throw StateError("values of int32 alone are copied");
    std::copy_n(from.data<int32_t>(), from.elements(), r.output(0).data<int32_t>());
  }
};

/// As many elements as half of x has, whose number inference must know, plus y where it is given.
struct Counted {
  static void declare(Declaration &d) {
    d.name("brought::counted").summary("half the elements of x, with y").input("x").input("y", kFloat32, TESS_OPTIONAL);
    d.output("out", kFloat32);
  }
  static void infer(Infer &i) { i.output(0).setDType(TESS_FLOAT32).setShape({Size(i.input(0).elements() / 2)}); }
  static void forward(const Run &r) {
    for (int64_t i = 0, n = r.output(0).elements(); i < n; ++i)
      r.output(0).data<float>()[i] = float(n) + (r.numInputs() == 2 ? r.input(1).data<float>()[i] : 0.0f);
  }
};

} // namespace

TESSERA_LIBRARY("brought", "1.0", Affine, Spread, Above, Chosen, Counted)
