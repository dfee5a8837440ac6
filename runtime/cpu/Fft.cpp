//===- Fft.cpp - Fourier transforms along one axis ------------------------===//
//
// By the library ducc0, one transform in each lane of a vector. A lane computes
// what a transform alone would, so neither the batch nor the threads decide bits.
// The plan is the library's one-dimensional one, which threads share.
//
//===----------------------------------------------------------------------===//
#include "ops/Error.h"
#include "runtime/ParallelFor.h"
#include "runtime/cpu/Kernels.h"
#include "llvm/Support/MathExtras.h"

#include "ducc0/infra/simd.h" // first: the plans compute in these vectors where they are known

#include "ducc0/fft/fft.h"
#include "ducc0/fft/fft1d_impl.h" // the plans themselves

#include <algorithm>
#include <cmath>
#include <complex>
#include <new>

namespace tess::runtime::cpu {

namespace {

template <typename T> using VectorOf = ducc0::detail_simd::native_simd<T>;
template <typename T> using ComplexVector = ducc0::Cmplx<VectorOf<T>>;

/// What is transformed: an axis of operands whose other axes are those before it and those behind it.
struct AxisOf {
  int64_t outer = 1, size = 1, inner = 1;

  AxisOf(const TensorMeta &meta, int64_t axis) {
    int64_t place = axis < 0 ? axis + meta.rank() : axis;
    for (int64_t i = 0; i < meta.rank(); ++i)
      (i < place ? outer : i == place ? size : inner) *= meta.shape[i];
  }
  int64_t transforms() const { return outer * inner; }
  /// Where the first element of transform number `i` lies; its elements are `inner` apart.
  int64_t begin(int64_t i) const { return i / inner * size * inner + i % inner; }
};

/// The factor of a transform of `size` elements.
double factorOf(const OpDef &op, int64_t size, bool isInverse) {
  llvm::StringRef norm = op.str("norm");
  if (norm == "ortho")
    return 1 / std::sqrt(double(size));
  return (norm == "forward") == isInverse ? 1 : 1 / double(size);
}

/// `kLanes` transforms of a `Plan` at a time, whose elements are `Element` of vectors.
template <typename T, typename Plan, typename Element> class Fft : public PreparedKernel {
public:
  static constexpr int64_t kWidth = int64_t(VectorOf<T>::size());

  Fft(const PrepareRequest &request, int64_t size, bool isInverse)
      : from(request.inputs[0], request.op.i64("axis")), to(request.outputs[0], request.op.i64("axis")),
        plan(size_t(size)), isInverse(isInverse), factor(T(factorOf(request.op, size, isInverse))) {
    implementationName = "ducc0:" + request.op.name().str();
    isLibraryCall = true;
    // Five operations for each element and level, of 300 ps each.
    double picoseconds = 1500.0 * double(to.transforms()) * double(size) * std::log2(double(size) + 1);
    unsigned wanted = threadsFor(int64_t(std::min(picoseconds, 1e18)), request.threads);
    threadCount = unsigned(std::clamp<int64_t>(llvm::divideCeil(to.transforms(), kWidth), 1, wanted));
    bytesOfThread = llvm::alignTo((plan.length() + plan.bufsize()) * sizeof(Element), 64);
    workspace = bytesOfThread * threadCount;
    heldBytes = 1024 + size_t(size) * 2 * sizeof(T);
  }

  llvm::Error run(RunContext &context, llvm::ArrayRef<void *> in, llvm::ArrayRef<void *> out) const override {
    parallelFor(threadCount, to.transforms(), kWidth, [&](int64_t begin, int64_t end, unsigned part) {
      auto *memory = reinterpret_cast<Element *>(static_cast<char *>(context.workspace) + part * bytesOfThread);
      for (int64_t first = begin; first < end; first += kWidth) {
        int64_t count = std::min(kWidth, end - first);
        load(static_cast<const T *>(in[0]), first, count, memory);
        store(plan.exec(memory, memory + plan.length(), factor, !isInverse), first, count, static_cast<T *>(out[0]));
      }
    });
    return llvm::Error::success();
  }

protected:
  /// Puts `count` transforms into the lanes, from number `first` on; and back.
  virtual void load(const T *numbers, int64_t first, int64_t count, Element *lanes) const = 0;
  virtual void store(const Element *lanes, int64_t first, int64_t count, T *numbers) const = 0;

  int64_t length() const { return int64_t(plan.length()); }

  AxisOf from, to;

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
      : Base(request, AxisOf(request.inputs[0], request.op.i64("axis")).size, request.op.boolean("inverse")) {}

private:
  void load(const T *numbers, int64_t first, int64_t count, Element *lanes) const override {
    for (int64_t lane = 0; lane < Base::kWidth; ++lane) {
      const T *line = numbers + 2 * this->from.begin(first + std::min(lane, count - 1));
      for (int64_t i = 0; i < this->length(); ++i, line += 2 * this->from.inner) {
        lanes[i].r[size_t(lane)] = line[0];
        lanes[i].i[size_t(lane)] = line[1];
      }
    }
  }
  void store(const Element *lanes, int64_t first, int64_t count, T *numbers) const override {
    for (int64_t lane = 0; lane < count; ++lane) {
      T *line = numbers + 2 * this->to.begin(first + lane);
      for (int64_t i = 0; i < this->length(); ++i, line += 2 * this->to.inner) {
        line[0] = lanes[i].r[size_t(lane)];
        line[1] = lanes[i].i[size_t(lane)];
      }
    }
  }
};

/// The library's order of the half of a spectrum: the first real part, then both parts of each, and of an even length
/// the last real part.
template <typename T> class HalfSpectrum : public Fft<T, ducc0::pocketfft_r<T>, VectorOf<T>> {
public:
  using Base = Fft<T, ducc0::pocketfft_r<T>, VectorOf<T>>;
  using Base::Base;

protected:
  /// Calls f(place among the lanes, place in the spectrum's numbers along one line); the imaginary parts that are not
  /// among the lanes are 0.
  template <typename F> void forEachPart(int64_t step, F f) const {
    for (int64_t place = 0; place < this->length(); ++place) {
      int64_t number = (place + 1) / 2;
      bool isImaginary = place > 0 && place % 2 == 0;
      f(place, 2 * number * step + isImaginary);
    }
  }
};

/// Real to the first half of the spectrum.
template <typename T> class RealFft : public HalfSpectrum<T> {
  using Base = typename HalfSpectrum<T>::Base;
  using Element = VectorOf<T>;

public:
  explicit RealFft(const PrepareRequest &request)
      : HalfSpectrum<T>(request, AxisOf(request.inputs[0], request.op.i64("axis")).size, /*isInverse=*/false) {}

private:
  void load(const T *numbers, int64_t first, int64_t count, Element *lanes) const override {
    for (int64_t lane = 0; lane < Base::kWidth; ++lane) {
      const T *line = numbers + this->from.begin(first + std::min(lane, count - 1));
      for (int64_t i = 0; i < this->length(); ++i)
        lanes[i][size_t(lane)] = line[i * this->from.inner];
    }
  }
  void store(const Element *lanes, int64_t first, int64_t count, T *numbers) const override {
    int64_t step = this->to.inner, last = this->to.size - 1;
    for (int64_t lane = 0; lane < count; ++lane) {
      T *line = numbers + 2 * this->to.begin(first + lane);
      line[1] = line[2 * last * step + 1] = 0;
      this->forEachPart(step, [&](int64_t place, int64_t at) { line[at] = lanes[place][size_t(lane)]; });
    }
  }
};

/// The first half of a spectrum to real numbers.
template <typename T> class InverseRealFft : public HalfSpectrum<T> {
  using Base = typename HalfSpectrum<T>::Base;
  using Element = VectorOf<T>;

public:
  explicit InverseRealFft(const PrepareRequest &request)
      : HalfSpectrum<T>(request, AxisOf(request.outputs[0], request.op.i64("axis")).size, /*isInverse=*/true) {}

private:
  void load(const T *numbers, int64_t first, int64_t count, Element *lanes) const override {
    for (int64_t lane = 0; lane < Base::kWidth; ++lane) {
      const T *line = numbers + 2 * this->from.begin(first + std::min(lane, count - 1));
      this->forEachPart(this->from.inner, [&](int64_t place, int64_t at) { lanes[place][size_t(lane)] = line[at]; });
    }
  }
  void store(const Element *lanes, int64_t first, int64_t count, T *numbers) const override {
    for (int64_t lane = 0; lane < count; ++lane) {
      T *line = numbers + this->to.begin(first + lane);
      for (int64_t i = 0; i < this->length(); ++i)
        line[i * this->to.inner] = lanes[i][size_t(lane)];
    }
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
