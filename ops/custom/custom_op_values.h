//===- custom_op_values.h - values of an operator's functions -----*- C++ -*-===//
//
// Sizes, metas, tensors and parameters as the functions of an operator get them.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "custom_op_abi.h"

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace tessera::custom {

/// A state that is wrong, rather than an argument: what is thrown becomes a RuntimeError, not a ValueError.
struct StateError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Error of number() of a size that is not known yet.
struct OpenSize : std::invalid_argument {
  OpenSize() : std::invalid_argument("size must be known, got an open one") {}
};

/// A size of a tensor. It may stand for an expression of sizes that are not known yet, with which one may calculate.
class Size {
public:
  Size(int64_t value = TESS_UNKNOWN_SIZE, const TessHost *host = nullptr) : value(value), host(host) {}
  /// Whether it is a number from 0 on.
  bool isNumber() const { return value >= 0; }
  /// The number; throws where there is none yet.
  int64_t number() const {
    if (!isNumber())
      throw OpenSize();
    return value;
  }
  /// The number by which the other side knows it.
  int64_t raw() const { return value; }
  /// Whether both are the same number or expression.
  bool operator==(const Size &other) const { return value == other.value; }
  /// Whether they are known to differ.
  bool differs(const Size &other) const { return isNumber() && other.isNumber() && value != other.value; }

  friend Size operator+(Size a, Size b) { return combined(TESS_SIZE_ADD, a, b); }
  friend Size operator-(Size a, Size b) { return combined(TESS_SIZE_SUB, a, b); }
  friend Size operator*(Size a, Size b) { return combined(TESS_SIZE_MUL, a, b); }
  /// Rounds towards minus infinity.
  friend Size operator/(Size a, Size b) { return combined(TESS_SIZE_FLOORDIV, a, b); }
  friend Size operator%(Size a, Size b) { return combined(TESS_SIZE_MOD, a, b); }
  friend Size max(Size a, Size b) { return combined(TESS_SIZE_MAX, a, b); }
  friend Size min(Size a, Size b) { return combined(TESS_SIZE_MIN, a, b); }

private:
  static Size combined(TessSizeOp op, Size a, Size b) {
    const TessHost *host = a.host ? a.host : b.host;
    return {host ? host->combine(op, a.value, b.value) : TESS_UNKNOWN_SIZE, host};
  }

  int64_t value;
  const TessHost *host;
};

/// Knowledge of a tensor: another one may be assigned, and so may its parts.
class Meta {
public:
  Meta(TessMeta &meta, const TessHost *host) : meta(meta), host(host) {}
  Meta &operator=(const Meta &other) {
    meta = other.meta;
    return *this;
  }
  Meta(const Meta &) = default;

  bool hasDType() const { return meta.dtype != TESS_UNKNOWN; }
  int32_t dtype() const { return meta.dtype; }
  bool hasRank() const { return meta.rank != TESS_UNKNOWN; }
  int32_t rank() const { return meta.rank; }
  /// The size of an axis, which counts from the end below 0.
  Size size(int32_t axis) const { return {meta.sizes[place(axis)], host}; }

  Meta &setDType(int32_t dtype) {
    meta.dtype = dtype;
    return *this;
  }
  Meta &setShape(const std::vector<Size> &sizes) {
    if (sizes.size() > TESS_MAX_RANK)
      throw std::invalid_argument("rank must be <= 8, got " + std::to_string(sizes.size()));
    meta.rank = int32_t(sizes.size());
    for (size_t i = 0; i < sizes.size(); ++i)
      meta.sizes[i] = sizes[i].raw();
    return *this;
  }
  Meta &setSize(int32_t axis, Size size) {
    meta.sizes[place(axis)] = size.raw();
    return *this;
  }
  std::vector<Size> shape() const {
    std::vector<Size> sizes;
    for (int32_t i = 0; i < meta.rank; ++i)
      sizes.emplace_back(meta.sizes[i], host);
    return sizes;
  }
  /// The number of elements, where all sizes are known.
  int64_t elements() const {
    int64_t product = 1;
    for (const Size &size : shape())
      product *= size.number();
    return product;
  }

private:
  int32_t place(int32_t axis) const {
    const int32_t index = axis < 0 ? axis + meta.rank : axis;
    if (index < 0 || index >= meta.rank)
      throw std::invalid_argument("axis must be within rank " + std::to_string(meta.rank) + ", got " +
                                  std::to_string(axis));
    return index;
  }

  TessMeta &meta;
  const TessHost *host;
};

/// Values of parameters, by their number in the declaration.
class Parameters {
public:
  Parameters(const TessHost *host, const TessCall *call) : host(host), call(call) {}
  int64_t integer(uint32_t i) const { return host->int_of(call, i); }
  double number(uint32_t i) const { return host->float_of(call, i); }
  bool boolean(uint32_t i) const { return host->int_of(call, i) != 0; }
  std::string text(uint32_t i) const { return host->text_of(call, i); }
  std::vector<int64_t> integers(uint32_t i) const {
    uint32_t count = 0;
    const int64_t *values = host->ints_of(call, i, &count);
    return {values, values + count};
  }

protected:
  const TessHost *const host;
  const TessCall *const call;
};

/// A question about metas.
class Infer : public Parameters {
public:
  explicit Infer(const TessInfer &infer) : Parameters(infer.host, infer.call), infer(infer) {}
  uint32_t numInputs() const { return infer.num_inputs; }
  uint32_t numOutputs() const { return infer.num_outputs; }
  /// States come behind the inputs.
  Meta input(uint32_t i) const { return {infer.inputs[i], host}; }
  Meta output(uint32_t i) const { return {infer.outputs[i], host}; }
  template <typename T> T &user() const { return *static_cast<T *>(infer.user); }

private:
  const TessInfer &infer;
};

/// An operand or a result of a run.
class Tensor {
public:
  explicit Tensor(const TessTensor &tensor) : tensor(tensor) {}
  template <typename T> T *data() const { return static_cast<T *>(tensor.data); }
  int32_t dtype() const { return tensor.meta->dtype; }
  int32_t rank() const { return tensor.meta->rank; }
  int64_t size(int32_t axis) const { return tensor.meta->sizes[axis < 0 ? axis + tensor.meta->rank : axis]; }
  int64_t elements() const {
    int64_t product = 1;
    for (int32_t i = 0; i < rank(); ++i)
      product *= size(i);
    return product;
  }
  TessRequest request() const { return tensor.request; }

private:
  const TessTensor &tensor;
};

/// A run of an operator.
class Run : public Parameters {
public:
  explicit Run(const TessRun &run) : Parameters(run.host, run.call), run(run) {}
  uint32_t numInputs() const { return run.num_inputs; }
  uint32_t numOutputs() const { return run.num_outputs; }
  Tensor input(uint32_t i) const { return Tensor(run.inputs[i]); }
  Tensor output(uint32_t i) const { return Tensor(run.outputs[i]); }
  Tensor state(uint32_t i) const { return Tensor(run.states[i]); }
  bool isTraining() const { return run.is_training != 0; }
  uint64_t seed() const { return run.seed; }
  uint64_t offset() const { return run.offset; }
  template <typename T> T *workspace() const { return static_cast<T *>(run.workspace); }
  /// The object that the constructor of State made.
  template <typename T> T &made() const { return *static_cast<T *>(run.made); }
  /// Says how long axis 0 of an output became, whose size data decides.
  void setDataSize(uint32_t output, int64_t size) const { run.data_sizes[output] = size; }
  /// Runs body(begin, end) over parts of [0, count) on the threads of the run.
  void parallelFor(int64_t count, int64_t leastPart, const std::function<void(int64_t, int64_t)> &body) const {
    host->parallel_for(
        call, count, leastPart,
        [](void *context, int64_t begin, int64_t end) {
          (*static_cast<const std::function<void(int64_t, int64_t)> *>(context))(begin, end);
        },
        const_cast<void *>(static_cast<const void *>(&body)));
  }

private:
  const TessRun &run;
};

/// Writes, adds, or leaves an element as an output's request says.
template <typename T> inline void assign(TessRequest request, T &to, T value) {
  if (request == TESS_ADD)
    to += value;
  else if (request != TESS_NULL)
    to = value;
}

} // namespace tessera::custom
