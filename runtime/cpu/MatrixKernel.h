//===- MatrixKernel.h - one call for each matrix of a batch -----*- C++ -*-===//
//
// The base of every kernel on LAPACK: matrices are copied to the type that the
// library computes in, threads split the batch, and a matrix is computed by one
// thread whatever their number is, so that this decides no bit.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ops/vocabulary/Error.h"
#include "runtime/cpu/LapackLibrary.h"
#include "runtime/cpu/Odometer.h"
#include "runtime/device/Elements.h"
#include "runtime/device/KernelTable.h"
#include "runtime/threads/ParallelFor.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <optional>

namespace tess::runtime::cpu {

/// Why a matrix is refused: it must `must`, and is `got`.
struct MatrixFault {
  const char *must;
  std::string got;
};

template <typename T> class MatrixKernel : public PreparedKernel {
public:
  /// `products`: multiplications that one matrix takes, about.
  MatrixKernel(const PrepareRequest &request, const LapackLibrary &library, double products)
      : lapack(library.table<T>()), library(library), name(request.op.name()), dtype(request.inputs[0].dtype) {
    implementationName = "lapack:" + name;
    isLibraryCall = true;
    for (const TensorMeta &input : request.inputs)
      (void)broadcastInto(batch, llvm::ArrayRef(input.shape).drop_back(2)); // inference has checked that they fit
    count = countOf(batch);
    for (const TensorMeta &input : request.inputs) {
      inputs.push_back({countOf(llvm::ArrayRef(input.shape).take_back(2)), {}});
      Layout leading = Layout::contiguous(llvm::ArrayRef(input.shape).drop_back(2));
      inputs.back().strides = leading.broadcastTo(batch).strides;
    }
    for (const TensorMeta &output : request.outputs)
      outputSizes.push_back(countOf(llvm::ArrayRef(output.shape).drop_front(batch.size())));
    // A call takes a microsecond whatever the size, and products 100 ps each.
    double picoseconds = double(count) * (1e6 + 100 * products);
    unsigned wanted = threadsFor(int64_t(std::min(picoseconds, 1e18)), request.threads);
    threadCount = unsigned(std::clamp<int64_t>(count, 1, wanted));
  }

  llvm::Error run(RunContext &context, llvm::ArrayRef<void *> in, llvm::ArrayRef<void *> out) const override {
    llvm::SmallVector<Fault, 8> faults(threadCount);
    parallelFor(threadCount, count, 1, [&](int64_t begin, int64_t end, unsigned part) {
      char *memory = static_cast<char *>(context.workspace) + part * (workspace / threadCount);
      LibraryThreads alone(1);
      for (int64_t i = begin; i < end && !faults[part].what; ++i)
        faults[part] = {i, computeOne(i, memory, in, out)};
    });
    for (const Fault &fault : faults)
      if (fault.what)
        return refusal(fault);
    return llvm::Error::success();
  }

protected:
  const LapackTable<T> &lapack;

  /// One matrix of each operand and result, and memory of the call's own.
  struct Matrices {
    T *in[2];
    T *out[3];
    T *work;
    int *integers;
  };

  /// Computes the results of one matrix, or of one for each operand; in[0] and in[1] may be changed.
  virtual std::optional<MatrixFault> compute(const Matrices &matrices) const = 0;

  /// Says how much memory compute() needs beside the matrices; the last line of a constructor.
  void reserve(int64_t work, int64_t integers) {
    numWork = work;
    numIntegers = integers;
    size_t bytes = 0;
    for (const Input &input : inputs)
      bytes += bytesOf<T>(input.size);
    for (int64_t size : outputSizes)
      bytes += bytesOf<T>(size);
    bytes += bytesOf<T>(work) + bytesOf<int>(integers);
    workspace = bytes * threadCount;
  }

private:
  struct Input {
    int64_t size;
    Shape strides; // over the batch, in matrices
  };
  struct Fault {
    int64_t matrix = 0;
    std::optional<MatrixFault> what;
  };

  template <typename E> static size_t bytesOf(int64_t elements) {
    return llvm::alignTo(size_t(std::max<int64_t>(elements, 1)) * sizeof(E), 64);
  }
  template <typename E> static E *take(char *&memory, int64_t elements) {
    E *result = reinterpret_cast<E *>(memory);
    memory += bytesOf<E>(elements);
    return result;
  }

  std::optional<MatrixFault> computeOne(int64_t matrix, char *memory, llvm::ArrayRef<void *> in,
                                        llvm::ArrayRef<void *> out) const {
    Matrices matrices = {};
    for (size_t i = 0; i < inputs.size(); ++i) {
      matrices.in[i] = take<T>(memory, inputs[i].size);
      read(in[i], placeOf(inputs[i], matrix) * inputs[i].size, inputs[i].size, matrices.in[i]);
    }
    for (size_t i = 0; i < outputSizes.size(); ++i)
      matrices.out[i] = take<T>(memory, outputSizes[i]);
    matrices.work = take<T>(memory, numWork);
    matrices.integers = take<int>(memory, numIntegers);
    std::optional<MatrixFault> fault;
    {
      std::unique_lock<std::mutex> turn = library.turn();
      fault = compute(matrices);
    }
    for (size_t i = 0; i < outputSizes.size() && !fault; ++i)
      write(matrices.out[i], outputSizes[i], out[i], matrix * outputSizes[i]);
    return fault;
  }

  /// Which matrix of an operand belongs to matrix number `matrix` of the results.
  int64_t placeOf(const Input &input, int64_t matrix) const {
    int64_t place = 0;
    for (size_t axis = batch.size(); axis-- > 0; matrix /= batch[axis])
      place += matrix % batch[axis] * input.strides[axis];
    return place;
  }

  void read(const void *from, int64_t first, int64_t size, T *to) const {
    withFloatType(dtype, [&](auto tag) {
      auto *elements = static_cast<const decltype(tag) *>(from) + first;
      std::transform(elements, elements + size, to, [](auto element) { return T(widen(element)); });
    });
  }
  void write(const T *from, int64_t size, void *to, int64_t first) const {
    withFloatType(dtype, [&](auto tag) {
      using Element = decltype(tag);
      std::transform(from, from + size, static_cast<Element *>(to) + first, [](T v) { return narrow<Element>(v); });
    });
  }

  llvm::Error refusal(const Fault &fault) const {
    Shape place(batch.size(), 0);
    int64_t rest = fault.matrix;
    for (size_t axis = batch.size(); axis-- > 0; rest /= batch[axis])
      place[axis] = rest % batch[axis];
    std::string where = batch.empty() ? "" : " in matrix " + toString(place);
    return invalidArgument(name + ": " + fault.what->must + ", got " + fault.what->got + where);
  }

  const LapackLibrary &library;
  std::string name;
  DType dtype;
  Shape batch;
  int64_t count = 0, numWork = 0, numIntegers = 0;
  llvm::SmallVector<Input, 2> inputs;
  llvm::SmallVector<int64_t, 3> outputSizes; // elements of one matrix
};

} // namespace tess::runtime::cpu
