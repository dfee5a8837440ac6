//===- awkward.cpp - a library of operators that are hard to serve --------===//
//
// Several and hidden outputs, states, resources, inference backwards, sharing of
// memory, sizes that data decides, two dtypes, errors: tests load it.
//
//===----------------------------------------------------------------------===//
#include "tessera/custom_op.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

using namespace tessera::custom;

namespace {

/// max(scale * x, 0), in place; the gradient reads the output alone.
struct ScaledRelu {
  static void declare(Declaration &d) {
    d.name("awkward::scaled_relu").summary("the scaled element, or 0 below it");
    d.doc("out = max(scale * x, 0)").input("x", kFloat32).output("out", kFloat32);
    d.number("scale", "factor above 0", "1.0").within("0.001", "1000.0");
    d.inPlace(0, 0).backwardReads({0}, {}, {0}).backwardInPlace(0, 0).flags(TESS_MAPS_BATCH);
    d.onnx("awkward::ScaledRelu");
  }
  static void infer(Infer &i) { i.output(0) = i.input(0); }
  static void forward(const Run &r) {
    const auto scale = float(r.number(0));
    const float *x = r.input(0).data<float>();
    float *out = r.output(0).data<float>();
    for (int64_t i = 0, n = r.output(0).elements(); i < n; ++i)
      assign(r.output(0).request(), out[i], std::max(scale * x[i], 0.0f));
  }
  static void backward(const Run &r) {
    const auto scale = float(r.number(0));
    const float *dOut = r.input(0).data<float>(), *out = r.input(1).data<float>();
    float *dX = r.output(0).data<float>();
    for (int64_t i = 0, n = r.output(0).elements(); i < n; ++i)
      assign(r.output(0).request(), dX[i], out[i] > 0 ? scale * dOut[i] : 0.0f);
  }
};

/// Mean and mean square of the last axis; the hidden output saves the deviations.
struct Moments {
  static void declare(Declaration &d) {
    d.name("awkward::moments").summary("mean and variance of the last axis");
    d.input("x", kFloat32).output("mean", kFloat32).output("variance", kFloat32);
    d.output("deviations", kFloat32, TESS_HIDDEN).backwardReads({0, 1}, {}, {2});
  }
  static void infer(Infer &i) {
    if (i.input(0).rank() == 0)
      throw std::invalid_argument("x must have an axis, got rank 0");
    auto shape = i.input(0).shape();
    shape.pop_back();
    i.output(0).setDType(TESS_FLOAT32).setShape(shape);
    i.output(1).setDType(TESS_FLOAT32).setShape(shape);
    i.output(2) = i.input(0);
  }
  static void forward(const Run &r) {
    const int64_t width = r.input(0).size(-1), rows = r.output(0).elements();
    const float *x = r.input(0).data<float>();
    float *mean = r.output(0).data<float>(), *variance = r.output(1).data<float>(), *saved = r.output(2).data<float>();
    for (int64_t row = 0; row < rows; ++row, x += width, saved += width) {
      double sum = 0, squares = 0;
      for (int64_t i = 0; i < width; ++i)
        sum += x[i];
      const double average = width ? sum / double(width) : 0;
      for (int64_t i = 0; i < width; ++i) {
        saved[i] = float(x[i] - average);
        squares += double(saved[i]) * saved[i];
      }
      mean[row] = float(average);
      variance[row] = width ? float(squares / double(width)) : 0;
    }
  }
  static void backward(const Run &r) {
    const Tensor dX = r.output(0);
    const int64_t width = dX.size(-1), rows = r.input(0).elements();
    const float *dMean = r.input(0).data<float>(), *dVariance = r.input(1).data<float>(),
                *saved = r.input(2).data<float>();
    for (int64_t i = 0; i < rows * width; ++i) {
      const int64_t row = i / width;
      dX.data<float>()[i] = (dMean[row] + 2 * dVariance[row] * saved[i]) / float(width);
    }
  }
};

/// Adds the state to x, and x to the state.
struct RunningSum {
  static void declare(Declaration &d) {
    d.name("awkward::running_sum").summary("x plus all that was given before").input("x", kFloat32);
    d.state("total", kFloat32).output("out", kFloat32);
  }
  static void infer(Infer &i) {
    bool differs = i.input(0).rank() != i.input(1).rank();
    for (int32_t axis = 0; !differs && axis < i.input(0).rank(); ++axis)
      differs = i.input(0).size(axis).differs(i.input(1).size(axis));
    if (differs)
      throw std::invalid_argument("total must have the shape of x");
    i.output(0) = i.input(0);
  }
  static void inferBack(Infer &i) {
    for (Meta meta : {i.input(0), i.input(1), i.output(0)})
      meta.setDType(TESS_FLOAT32);
    if (i.output(0).hasRank())
      i.input(0) = i.input(1) = i.output(0);
  }
  static void forward(const Run &r) {
    float *total = r.state(0).data<float>(), *out = r.output(0).data<float>();
    const float *x = r.input(0).data<float>();
    for (int64_t i = 0, n = r.output(0).elements(); i < n; ++i)
      out[i] = total[i] += x[i];
  }
  static void backward(const Run &r) {
    std::memcpy(r.output(0).data<float>(), r.input(0).data<float>(), size_t(r.output(0).elements()) * sizeof(float));
  }
};

/// Adds noise in training, which follows from seed and offset.
struct Noise {
  static void declare(Declaration &d) {
    d.name("awkward::noise").summary("x plus uniform noise in training").input("x", kFloat32);
    d.output("out", kFloat32).number("width", "of the noise", "1.0").within("0.0", "inf");
    d.flags(TESS_USES_RANDOM | TESS_USES_TRAINING);
  }
  static void infer(Infer &i) { i.output(0) = i.input(0); }
  static uint64_t mixed(uint64_t x) { // splitmix64
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
  }
  static void forward(const Run &r) {
    const float *x = r.input(0).data<float>();
    float *out = r.output(0).data<float>();
    for (int64_t i = 0, n = r.output(0).elements(); i < n; ++i) {
      const uint64_t bits = mixed(r.seed() * 0x100000001B3u + r.offset() + uint64_t(i));
      out[i] = x[i] + (r.isTraining() ? float(r.number(0)) * float(bits >> 40) * 0x1p-24f : 0.0f);
    }
  }
  static void backward(const Run &r) {
    std::memcpy(r.output(0).data<float>(), r.input(0).data<float>(), size_t(r.output(0).elements()) * sizeof(float));
  }
};

/// The elements above 0, in their order.
struct Positives {
  static void declare(Declaration &d) {
    d.name("awkward::positives").summary("the elements above 0").input("x", kFloat32 | kInt64);
    d.output("out", kFloat32 | kInt64, TESS_DATA_SIZED).output("count", kInt64);
  }
  static void infer(Infer &i) {
    Size all = 1;
    for (const Size &size : i.input(0).shape())
      all = all * size;
    i.output(0).setDType(i.input(0).dtype()).setShape({all});
    i.output(1).setDType(TESS_INT64).setShape({});
  }
  template <typename T> static void taken(const Run &r) {
    const T *x = r.input(0).data<T>();
    const int64_t n = r.input(0).elements();
    T *end = std::copy_if(x, x + n, r.output(0).data<T>(), [](T each) { return each > 0; });
    const int64_t count = end - r.output(0).data<T>();
    *r.output(1).data<int64_t>() = count;
    r.setDataSize(0, count);
  }
  static void forward(const Run &r) { r.input(0).dtype() == TESS_FLOAT32 ? taken<float>(r) : taken<int64_t>(r); }
};

/// Rows of a matrix by a vector, on all threads, with a workspace; infers backwards.
struct MatVec {
  static void declare(Declaration &d) {
    d.name("awkward::matvec").summary("a matrix by a vector").input("a", kFloat32).input("x", kFloat32);
    d.output("out", kFloat32).backwardReads({0}, {0, 1}, {});
  }
  static void infer(Infer &i) {
    if (i.input(0).rank() != 2 || i.input(1).rank() != 1)
      throw std::invalid_argument("a must be a matrix and x a vector, got ranks " + std::to_string(i.input(0).rank()) +
                                  " and " + std::to_string(i.input(1).rank()));
    if (i.input(0).size(1).differs(i.input(1).size(0)))
      throw std::invalid_argument("columns of a must be as many as elements of x");
    i.output(0).setDType(TESS_FLOAT32).setShape({i.input(0).size(0)});
  }
  static void inferBack(Infer &i) {
    for (Meta meta : {i.input(0), i.input(1), i.output(0)})
      meta.setDType(TESS_FLOAT32);
    if (!i.input(0).hasRank() && i.input(1).hasRank() && i.output(0).hasRank())
      i.input(0).setShape({i.output(0).size(0), i.input(1).size(0)});
    if (i.input(0).hasRank() && !i.input(1).hasRank())
      i.input(1).setShape({i.input(0).size(1)});
  }
  static void resources(const Infer &i, bool isBackward, Resources &resources) {
    resources.workspace_bytes = isBackward ? 0 : uint64_t(i.input(1).elements()) * sizeof(double);
  }
  static void forward(const Run &r) {
    const int64_t columns = r.input(1).elements();
    auto *wide = r.workspace<double>();
    std::copy_n(r.input(1).data<float>(), columns, wide);
    const float *a = r.input(0).data<float>();
    float *out = r.output(0).data<float>();
    r.parallelFor(r.output(0).elements(), 4, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        double sum = 0;
        for (int64_t i = 0; i < columns; ++i)
          sum += a[row * columns + i] * wide[i];
        out[row] = float(sum);
      }
    });
  }
  static void backward(const Run &r) {
    const Tensor dOut = r.input(0), a = r.input(1), x = r.input(2), dA = r.output(0), dX = r.output(1);
    const int64_t rows = a.size(0), columns = a.size(1);
    for (int64_t i = 0; dX.request() != TESS_NULL && i < columns; ++i) {
      double sum = 0;
      for (int64_t row = 0; row < rows; ++row)
        sum += double(a.data<float>()[row * columns + i]) * dOut.data<float>()[row];
      assign(dX.request(), dX.data<float>()[i], float(sum));
    }
    for (int64_t i = 0; dA.request() != TESS_NULL && i < rows * columns; ++i)
      assign(dA.request(), dA.data<float>()[i], dOut.data<float>()[i / columns] * x.data<float>()[i % columns]);
  }
};

/// Weighs x by integer powers: two dtypes, a variadic sum, lists and texts as parameters.
struct Weighted {
  static void declare(Declaration &d) {
    d.name("awkward::weighted").summary("a weighted sum").input("values", kFloat32, TESS_VARIADIC);
    d.output("out", kFloat32).integers("weights", "one for each value");
    d.text("mode", "sum or mean", "sum").oneOf({"sum", "mean"}).onnx("awkward::Weighted");
  }
  static void infer(Infer &i) {
    if (i.integers(0).size() != i.numInputs() || !i.numInputs())
      throw std::invalid_argument("weights must be as many as values, got " + std::to_string(i.integers(0).size()) +
                                  " for " + std::to_string(i.numInputs()));
    i.output(0) = i.input(0);
    for (uint32_t k = 1; k < i.numInputs(); ++k)
      for (int32_t axis = 0; axis < i.input(0).rank(); ++axis)
        if (i.input(k).rank() != i.input(0).rank() || i.input(k).size(axis).differs(i.input(0).size(axis)))
          throw std::invalid_argument("values must have one shape");
  }
  static float factor(const Run &r, size_t k, size_t count) {
    return float(r.integers(0)[k]) / (r.text(1) == "mean" ? float(count) : 1.0f);
  }
  static void forward(const Run &r) {
    float *out = r.output(0).data<float>();
    for (int64_t i = 0, n = r.output(0).elements(); i < n; ++i) {
      float sum = 0;
      for (uint32_t k = 0; k < r.numInputs(); ++k)
        sum += factor(r, k, r.numInputs()) * r.input(k).data<float>()[i];
      out[i] = sum;
    }
  }
  static void backward(const Run &r) {
    for (uint32_t k = 0; k < r.numOutputs(); ++k)
      for (int64_t i = 0, n = r.output(k).request() == TESS_NULL ? 0 : r.output(k).elements(); i < n; ++i)
        assign(r.output(k).request(), r.output(k).data<float>()[i],
               factor(r, k, r.numOutputs()) * r.input(0).data<float>()[i]);
  }
};

/// Counts its runs in what a binding keeps.
struct Counted {
  struct State {
    State(const Infer &i, bool) : elements(i.input(0).elements()) { ++alive; }
    ~State() { --alive; }
    const int64_t elements;
    int64_t runs = 0;
    static inline std::atomic<int> alive = 0;
  };
  static void declare(Declaration &d) {
    d.name("awkward::counted").summary("x plus the number of runs before").input("x", kFloat32).output("out", kFloat32);
    d.output("alive", kInt32);
  }
  static void infer(Infer &i) {
    i.output(0) = i.input(0);
    i.output(1).setDType(TESS_INT32).setShape({});
  }
  static void forward(const Run &r) {
    State &state = r.made<State>();
    for (int64_t i = 0; i < state.elements; ++i)
      r.output(0).data<float>()[i] = r.input(0).data<float>()[i] + float(state.runs);
    ++state.runs;
    *r.output(1).data<int32_t>() = State::alive;
  }
};

/// Adds 1, and tells what the run was asked for.
struct Told {
  static void declare(Declaration &d) {
    d.name("awkward::told").summary("x + 1, and the request").input("x", kFloat32).output("out", kFloat32);
    d.output("request", kInt32).inPlace(0, 0);
  }
  static void infer(Infer &i) {
    i.output(0) = i.input(0);
    i.output(1).setDType(TESS_INT32).setShape({});
  }
  static void forward(const Run &r) {
    for (int64_t i = 0, n = r.output(0).elements(); i < n; ++i)
      r.output(0).data<float>()[i] = r.input(0).data<float>()[i] + 1;
    *r.output(1).data<int32_t>() = r.output(0).request();
  }
};

/// Does what a library must not do.
struct Faulty {
  static void declare(Declaration &d) {
    d.name("awkward::faulty").summary("errors, by name").input("x", kFloat32).output("out", kFloat32);
    d.text("how", "none, throw, state, code, beyond, shape or dtype", "none");
  }
  static void infer(Infer &i) {
    i.output(0) = i.input(0);
    if (i.text(0) == "shape")
      i.output(0).setShape({-5});
    if (i.text(0) == "dtype")
      i.output(0).setDType(TESS_INT64);
    if (i.text(0) == "infer")
      throw std::invalid_argument("x must be something else");
  }
  static void forward(const Run &r) {
    const std::string how = r.text(0);
    if (how == "throw")
      throw std::invalid_argument("x must please, got one that does not");
    if (how == "state")
      throw StateError("the library has had enough");
    if (how == "code")
      throw 42;
    const int64_t n = r.output(0).elements() + (how == "beyond");
    for (int64_t i = 0; i < n; ++i)
      r.output(0).data<float>()[i] = 1;
  }
};

} // namespace

TESSERA_LIBRARY("awkward", "1.0", ScaledRelu, Moments, RunningSum, Noise, Positives, MatVec, Weighted, Counted, Told,
                Faulty)
