//===- Fft.cpp - Fourier transforms along one axis ------------------------===//
//
// By the library ducc0, one transform in each lane of a vector. A lane computes
// what a transform alone would, so neither the batch nor the threads decide bits.
// The plan is the library's one-dimensional one, which threads share.
//
//===----------------------------------------------------------------------===//
#include "ops/vocabulary/Error.h"
#include "runtime/cpu/Kernels.h"
#include "runtime/cpu/Odometer.h"
#include "runtime/threads/ParallelFor.h"
#include "llvm/Support/MathExtras.h"

#include "ducc0/infra/simd.h" // first: the plans compute in these vectors where they are known

#include "ducc0/fft/fft.h"
#include "ducc0/fft/fft1d_impl.h" // the plans themselves

#include <algorithm>
#include <cmath>
#include <new>

namespace tess::runtime::cpu {

namespace {

template <typename T> using VectorOf = ducc0::detail_simd::native_simd<T>;
template <typename T> using ComplexVector = ducc0::Cmplx<VectorOf<T>>;

/// One operand: its lines lie along an axis, the other axes are those before it and those behind it.
struct Lines {
  int64_t outer, size, inner;
  int64_t parts; // numbers of an element

  Lines(const TensorMeta &meta, int64_t axis) : parts(isComplex(meta.dtype) ? 2 : 1) {
    llvm::ArrayRef<int64_t> shape = meta.shape;
    size_t place = size_t(axis < 0 ? axis + int64_t(shape.size()) : axis);
    outer = countOf(shape.take_front(place));
    size = shape[place];
    inner = countOf(shape.drop_front(place + 1));
  }
  int64_t count() const { return outer * inner; }
  /// Numbers before line number `i`, and from one of its elements to the next.
  int64_t begin(int64_t i) const { return (i / inner * size * inner + i % inner) * parts; }
  int64_t step() const { return inner * parts; }
};

/// The factor of a transform of `size` elements.
double factorOf(const OpDef &op, int64_t size, bool isInverse) {
  llvm::StringRef norm = op.str("norm");
  if (norm == "ortho")
    return 1 / std::sqrt(double(size));
  return (norm == "forward") == isInverse ? 1 : 1 / double(size);
}

/// As many transforms of a `Plan` at a time as a vector has lanes; `Element` is what the plan computes with.
template <typename T, typename Plan, typename Element> class Fft : public PreparedKernel {
public:
  static constexpr int64_t kWidth = int64_t(VectorOf<T>::size());

  Fft(const PrepareRequest &request, int64_t size, bool isInverse)
      : from(request.inputs[0], request.op.i64("axis")), to(request.outputs[0], request.op.i64("axis")),
        plan(size_t(size)), isInverse(isInverse), factor(T(factorOf(request.op, size, isInverse))) {
    implementationName = "ducc0:" + request.op.name().str();
    isLibraryCall = true;
    // Five operations for each element and level, of 60 ps each.
    double picoseconds = 300.0 * double(to.count()) * double(size) * std::log2(double(size) + 1);
    unsigned wanted = threadsFor(int64_t(std::min(picoseconds, 1e18)), request.threads);
    threadCount = unsigned(std::clamp<int64_t>(llvm::divideCeil(to.count(), kWidth), 1, wanted));
    bytesOfThread = llvm::alignTo((plan.length() + plan.bufsize()) * sizeof(Element), 64);
    workspace = bytesOfThread * threadCount;
    heldBytes = 1024 + size_t(size) * 2 * sizeof(T);
  }

  llvm::Error run(RunContext &context, llvm::ArrayRef<void *> in, llvm::ArrayRef<void *> out) const override {
    const auto *source = static_cast<const T *>(in[0]);
    auto *target = static_cast<T *>(out[0]);
    parallelFor(threadCount, to.count(), kWidth, [&](int64_t begin, int64_t end, unsigned part) {
      auto *memory = reinterpret_cast<Element *>(static_cast<char *>(context.workspace) + part * bytesOfThread);
      for (int64_t first = begin; first < end; first += kWidth) {
        int64_t last = std::min(first + kWidth, end) - 1; // lanes behind it repeat it
        for (int64_t lane = 0; lane < kWidth; ++lane)
          load(source + from.begin(std::min(first + lane, last)), memory, size_t(lane));
        const Element *lanes = plan.exec(memory, memory + plan.length(), factor, !isInverse);
        for (int64_t line = first; line <= last; ++line)
          store(lanes, size_t(line - first), target + to.begin(line));
      }
    });
    return llvm::Error::success();
  }

protected:
  /// Puts one line into a lane, and back.
  virtual void load(const T *line, Element *lanes, size_t lane) const = 0;
  virtual void store(const Element *lanes, size_t lane, T *line) const = 0;

  int64_t length() const { return int64_t(plan.length()); }

  Lines from, to;

private:
  Plan plan;
  bool isInverse;
  T factor;
  size_t bytesOfThread;
};

/// Complex to complex.
template <typename T> class ComplexFft : public Fft<T, ducc0::pocketfft_c<T>, ComplexVector<T>> {
  using Base = Fft<T, ducc0::pocketfft_c<T>, ComplexVector<T>>;
  using Element = ComplexVector<T>;

public:
  explicit ComplexFft(const PrepareRequest &request)
      : Base(request, Lines(request.inputs[0], request.op.i64("axis")).size, request.op.boolean("inverse")) {}

private:
  void load(const T *line, Element *lanes, size_t lane) const override {
    for (int64_t i = 0; i < this->length(); ++i, line += this->from.step()) {
      lanes[i].r[lane] = line[0];
      lanes[i].i[lane] = line[1];
    }
  }
  void store(const Element *lanes, size_t lane, T *line) const override {
    for (int64_t i = 0; i < this->length(); ++i, line += this->to.step()) {
      line[0] = lanes[i].r[lane];
      line[1] = lanes[i].i[lane];
    }
  }
};

/// Transforms between real numbers and the first half of their spectrum.
template <typename T> class HalfSpectrum : public Fft<T, ducc0::pocketfft_r<T>, VectorOf<T>> {
public:
  using Fft<T, ducc0::pocketfft_r<T>, VectorOf<T>>::Fft;

protected:
  /// Calls f(place in the plan's order, place along a line of the spectrum). That order is the first real part, then
  /// both parts of each, and of an even length the last real part; the imaginary parts that it lacks are 0.
  template <typename F> void forEachPart(int64_t step, F f) const {
    for (int64_t place = 0; place < this->length(); ++place) {
      bool isImaginary = place > 0 && place % 2 == 0;
      f(place, (place + 1) / 2 * step + isImaginary);
    }
  }
};

/// Real to the first half of the spectrum.
template <typename T> class RealFft : public HalfSpectrum<T> {
  using Element = VectorOf<T>;

public:
  explicit RealFft(const PrepareRequest &request)
      : HalfSpectrum<T>(request, Lines(request.inputs[0], request.op.i64("axis")).size, /*isInverse=*/false) {}

private:
  void load(const T *line, Element *lanes, size_t lane) const override {
    for (int64_t i = 0; i < this->length(); ++i)
      lanes[i][lane] = line[i * this->from.step()];
  }
  void store(const Element *lanes, size_t lane, T *line) const override {
    line[1] = line[(this->to.size - 1) * this->to.step() + 1] = 0;
    this->forEachPart(this->to.step(), [&](int64_t place, int64_t at) { line[at] = lanes[place][lane]; });
  }
};

/// The first half of a spectrum to real numbers.
template <typename T> class InverseRealFft : public HalfSpectrum<T> {
  using Element = VectorOf<T>;

public:
  explicit InverseRealFft(const PrepareRequest &request)
      : HalfSpectrum<T>(request, Lines(request.outputs[0], request.op.i64("axis")).size, /*isInverse=*/true) {}

private:
  void load(const T *line, Element *lanes, size_t lane) const override {
    this->forEachPart(this->from.step(), [&](int64_t place, int64_t at) { lanes[place][lane] = line[at]; });
  }
  void store(const Element *lanes, size_t lane, T *line) const override {
    for (int64_t i = 0; i < this->length(); ++i)
      line[i * this->to.step()] = lanes[i][lane];
  }
};

template <template <typename> typename Kernel> llvm::Expected<PreparedRef> prepare(const PrepareRequest &request) {
  DType real = request.inputs[0].dtype;
  bool isDouble = real == DType::Float64 || real == DType::Complex128;
  try {
    return isDouble ? PreparedRef(std::make_shared<Kernel<double>>(request))
                    : PreparedRef(std::make_shared<Kernel<float>>(request));
  } catch (const std::bad_alloc &) {
    return makeError(ErrorCode::ResourceExhausted,
                     request.op.name() + ": memory for the plan must be available, got " + toString(request.inputs[0]));
  }
}

} // namespace

llvm::Expected<PreparedRef> prepareComplexFft(const PrepareRequest &request) { return prepare<ComplexFft>(request); }
llvm::Expected<PreparedRef> prepareRealFft(const PrepareRequest &request) { return prepare<RealFft>(request); }
llvm::Expected<PreparedRef> prepareInverseRealFft(const PrepareRequest &request) {
  return prepare<InverseRealFft>(request);
}

} // namespace tess::runtime::cpu
