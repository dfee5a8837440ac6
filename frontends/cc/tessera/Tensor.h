//===- Tensor.h - tensors of the C++ API ------------------------*- C++ -*-===//
//
// Tensor is a handle: copies refer to the same variable, as names do in Python.
// An operator makes a new tensor; assign() gives a variable a new value. Every
// function throws tessera::Error.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "eager/Eager.h"
#include "eager/tensor/Operator.h"
#include "tessera/Error.h"

#include <cmath>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace tessera {

using tess::DType;
using tess::OpDef;
/// Sizes, axes, strides: a list of integers.
using Shape = std::vector<int64_t>;

namespace detail {
/// The dtype whose elements are of type T.
template <typename T> constexpr DType dtypeOf() {
  static_assert(std::is_arithmetic_v<T>, "elements are numbers");
  if constexpr (std::is_same_v<T, bool>)
    return DType::Bool;
  else if constexpr (std::is_floating_point_v<T>)
    return sizeof(T) == 4 ? DType::Float32 : DType::Float64;
  else if constexpr (std::is_signed_v<T>)
    return sizeof(T) == 1 ? DType::Int8 : sizeof(T) == 2 ? DType::Int16 : sizeof(T) == 4 ? DType::Int32 : DType::Int64;
  else
    return sizeof(T) == 1   ? DType::UInt8
           : sizeof(T) == 2 ? DType::UInt16
           : sizeof(T) == 4 ? DType::UInt32
                            : DType::UInt64;
}
} // namespace detail

class Index;

/// A handle to a variable, a number, or nothing. Copies refer to the same variable. For one thread at a time.
class Tensor {
public:
  /// No tensor: an optional operand that is not given, a gradient that is not there.
  Tensor() = default;
  /// A number: rank 0, weakly typed, so that `x * 2` and `x * 0.5` keep the dtype of a float x. By itself it is
  /// float32, int32 or bool.
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>> Tensor(T number) {
    if constexpr (std::is_same_v<T, bool>)
      weak = tess::eager::Number::boolean(number);
    else if constexpr (std::is_floating_point_v<T>)
      weak = tess::eager::Number::floating(number);
    else
      weak = tess::eager::Number::integer(int64_t(number));
  }
  /// A tensor of eager mode.
  explicit Tensor(tess::eager::TensorRef tensor) : variable(std::move(tensor)) { tess::eager::start(); }

  /// Whether this is a variable or a number. The functions below throw InvalidArgument on an undefined tensor.
  bool isDefined() const { return variable || weak; }
  /// Sizes per axis.
  Shape shape() const;
  /// Size along `axis`; negative axes count from the last.
  int64_t size(int64_t axis) const;
  int64_t rank() const;
  int64_t numElements() const;
  DType dtype() const;
  /// The name of the variable in dumps and errors; empty when it has none.
  std::string name() const;
  void setName(const std::string &name) const;

  /// Waits for the only element and returns it, converted to T. The error of a failed operator comes out here.
  template <typename T> T item() const;
  /// Waits for all elements and returns them row-major, converted to T.
  template <typename T> std::vector<T> toVector() const;
  /// Waits for all elements and returns their bytes row-major: numElements() * byteWidth(dtype()).
  std::vector<char> toBytes() const;

  /// The sum of the gradients of backward() calls; undefined before the first.
  Tensor grad() const;
  /// Replaces the gradient; an undefined tensor removes it.
  void setGrad(const Tensor &grad) const;
  /// The same value, which no gradient goes through.
  Tensor detach() const;
  /// Gives this variable, and every copy of this handle, the value of `value`.
  void assign(const Tensor &value) const;

  // Methods of Python's Tensor, and what it has operators for and C++ has none: matmul, pow, floor_div, abs.
#define TESS_DECLARE_METHODS
#include "tessera/methods.inc"
#undef TESS_DECLARE_METHODS
  /// Python's x[...]: `x.index({Slice(0, 10), all, 3})`.
  Tensor index(llvm::ArrayRef<Index> items) const;
  /// Python's x[...] = value, which broadcasts and is converted: `x.setIndex({0, ellipsis}, 1)`.
  void setIndex(llvm::ArrayRef<Index> items, const Tensor &value) const;

  /// The eager tensor; a new one for a number. Throws when this is undefined.
  tess::eager::TensorRef ref() const;
  /// This as an operand of eager::apply(), for as long as the handle lives; a number stays weakly typed.
  tess::eager::Operand operand() const;

private:
  void readInto(DType dtype, void *destination) const;

  tess::eager::TensorRef variable;
  std::optional<tess::eager::Number> weak;
};

// Operators of Python's Tensor. Comparisons are elementwise; true division of integers gives float32.
#define TESS_DECLARE_OPERATORS
#include "tessera/methods.inc"
#undef TESS_DECLARE_OPERATORS
/// As "Tensor([[1, 2], [3, 4]], dtype=float32)"; more than 1 000 elements are abridged.
std::ostream &operator<<(std::ostream &os, const Tensor &x);
std::string toString(const Tensor &x);

/// Python's start:stop:step; an end that is not given is that of the axis.
struct Slice {
  std::optional<int64_t> start, stop;
  int64_t step = 1;
  Slice() = default;
  Slice(std::optional<int64_t> start, std::optional<int64_t> stop, int64_t step = 1)
      : start(start), stop(stop), step(step) {}
};
inline const Slice all;
/// The type of `newAxis`, an axis of size 1.
struct NewAxis {};
constexpr NewAxis newAxis;
/// The type of `ellipsis`, the axes that no other item takes.
struct Ellipsis {};
constexpr Ellipsis ellipsis;

/// One item of an index: an integer, a Slice, `all`, `newAxis`, `ellipsis`, or a tensor of integers or bools.
class Index {
public:
  /// Which of the members below counts: `integer`, `slice`, none, none, `elements`.
  enum Kind : uint8_t { Integer, Range, Axis, Rest, Elements } kind;
  int64_t integer = 0;
  Slice slice;
  Tensor elements;

  template <typename T, typename = std::enable_if_t<std::is_integral_v<T>>>
  Index(T i) : kind(Integer), integer(int64_t(i)) {}
  Index(const Slice &slice) : kind(Range), slice(slice) {}
  Index(NewAxis) : kind(Axis) {}
  Index(Ellipsis) : kind(Rest) {}
  Index(const Tensor &elements) : kind(Elements), elements(elements) {}
};

/// A tensor of row-major bytes, which are copied.
Tensor fromBytes(const void *bytes, DType dtype, const Shape &shape);
/// A tensor of row-major elements, which are copied; the dtype is that of T.
template <typename T> Tensor fromData(const T *data, const Shape &shape) {
  return fromBytes(data, detail::dtypeOf<T>(), shape);
}
/// InvalidArgument unless `shape` has `count` elements.
void checkCount(const Shape &shape, size_t count);

/// A tensor of the elements; without a shape, of rank 1. The dtype is that of T: `1.0` is a double and gives float64,
/// `1.0f` float32.
template <typename T> Tensor tensor(const std::vector<T> &values, std::optional<Shape> shape = std::nullopt) {
  Shape given = shape ? *shape : Shape{int64_t(values.size())};
  checkCount(given, values.size());
  if constexpr (std::is_same_v<T, bool>) {
    std::vector<uint8_t> bytes(values.begin(), values.end());
    return fromBytes(bytes.data(), DType::Bool, given);
  } else {
    return fromData(values.data(), given);
  }
}
/// The same for a list: tensor({1.0f, 2.0f}).
template <typename T> Tensor tensor(std::initializer_list<T> values, std::optional<Shape> shape = std::nullopt) {
  return tensor(std::vector<T>(values), shape);
}
/// A tensor of rank 2; rows must have equal lengths.
template <typename T> Tensor tensor(std::initializer_list<std::initializer_list<T>> rows) {
  std::vector<T> values;
  for (const auto &row : rows) {
    checkCount({int64_t(rows.begin()->size())}, row.size());
    values.insert(values.end(), row.begin(), row.end());
  }
  int64_t columns = rows.size() ? rows.begin()->size() : 0;
  return tensor(values, Shape{int64_t(rows.size()), columns});
}
/// A tensor of rank 0, with the dtype of T.
template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>> Tensor tensor(T number) {
  return fromBytes(&number, detail::dtypeOf<T>(), {});
}

/// Tensors of one value: `value`, zeros, ones, and zeros in the shape and dtype of `x`.
Tensor full(const Shape &shape, double value, DType dtype = DType::Float32);
Tensor zeros(const Shape &shape, DType dtype = DType::Float32);
Tensor ones(const Shape &shape, DType dtype = DType::Float32);
Tensor zerosLike(const Tensor &x);
/// start, start + step, ... before `stop`; rank 1. InvalidArgument when that has no end.
Tensor arange(double start, double stop, double step = 1, DType dtype = DType::Float32);

template <typename T> std::vector<T> Tensor::toVector() const {
  if constexpr (std::is_same_v<T, bool>) {
    std::vector<uint8_t> bytes(numElements());
    readInto(DType::Bool, bytes.data());
    return std::vector<bool>(bytes.begin(), bytes.end());
  } else {
    std::vector<T> values(numElements());
    readInto(detail::dtypeOf<T>(), values.data());
    return values;
  }
}

template <typename T> T Tensor::item() const {
  if (numElements() != 1)
    throw Error(ErrorCode::InvalidArgument,
                "item: a tensor must have one element, got shape " + tess::toString(llvm::ArrayRef(shape())));
  return toVector<T>()[0];
}

} // namespace tessera
