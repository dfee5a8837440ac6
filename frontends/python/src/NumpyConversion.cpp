//===- NumpyConversion.cpp - tensors from Python data, and back -----------===//
//
// NumPy converts any data to row-major order and the wanted dtype; then the
// bytes are copied once. A dtype that NumPy lacks comes from a wider float.
//
//===----------------------------------------------------------------------===//
#include "frontends/python/src/NumpyConversion.h"
#include "frontends/python/src/DTypeConversion.h"
#include "frontends/python/src/Errors.h"
#include "frontends/python/src/SymInt.h"
#include "frontends/python/src/TensorObject.h"

#include "ops/table/Builtin.h"
#include "runtime/device/Elements.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <nanobind/stl/string.h>

#include <cmath>
#include <cstring>

namespace tess::python {

using namespace eager;

namespace {

/// A view of an object's bytes.
class Bytes {
public:
  Bytes(PyObject *object, int flags) { valid = PyObject_GetBuffer(object, &buffer, flags) == 0; }
  ~Bytes() {
    if (valid)
      PyBuffer_Release(&buffer);
  }
  Bytes(const Bytes &) = delete;
  explicit operator bool() const { return valid; }
  void *data() const { return buffer.buf; }
  Py_ssize_t size() const { return buffer.len; }

private:
  Py_buffer buffer;
  bool valid;
};

/// NumPy's dtype that holds the bits of a foreign one.
const char *bitsOf(DType dtype) { return byteWidth(dtype) == 1 ? "uint8" : "uint16"; }

/// The dtype of Tensor(array) when no dtype is given.
std::optional<DType> defaultDType(llvm::StringRef numpyName) {
  if (numpyName == "float64")
    return DType::Float32;
  if (numpyName == "int64")
    return DType::Int32;
  if (numpyName == "complex128")
    return DType::Complex64;
  return parseDType(numpyName);
}

llvm::Error badInt(PyObject *data) {
  return makeError(ErrorCode::InvalidArgument,
                   "tensor: an int must fit its dtype (int32 unless dtype says more), got " + describeObject(data));
}

/// A uint64 of an int that no int64 holds.
llvm::Expected<TensorRef> fromLargeInt(PyObject *data) {
  uint64_t value = PyLong_AsUnsignedLongLong(data);
  if (!PyErr_Occurred())
    return createTensor(TensorMeta(DType::UInt64, {}), &value);
  PyErr_Clear();
  return badInt(data);
}

/// Whether an integer dtype holds an int of any size.
bool holds(PyObject *number, DType dtype) {
  int overflow = 0;
  long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (!overflow)
    return eager::fits(Number::integer(value), dtype);
  return overflow > 0 && dtype == DType::UInt64; // of an array, so that uint64 holds it
}

llvm::Expected<TensorRef> castTo(TensorRef tensor, DType dtype) {
  if (tensor->dtype() == dtype)
    return tensor;
  return applyOne(builtin::Cast(dtype), {Operand(tensor)});
}

llvm::Expected<TensorRef> fromNumber(PyObject *data, std::optional<DType> dtype) {
  if (dtype && isQuantized(*dtype)) {
    llvm::Expected<TensorRef> plain = fromNumber(data, std::nullopt);
    return plain ? castTo(std::move(*plain), *dtype) : std::move(plain);
  }
  if (PyFloat_Check(data))
    return createScalar(Number::floating(PyFloat_AS_DOUBLE(data)), dtype.value_or(DType::Float32));
  if (PyComplex_CheckExact(data)) {
    std::complex<double> value(PyComplex_RealAsDouble(data), PyComplex_ImagAsDouble(data));
    return createScalar(Number::complex(value), dtype.value_or(DType::Complex64));
  }
  if (PyBool_Check(data))
    return createScalar(Number::boolean(data == Py_True), dtype.value_or(DType::Bool));
  int overflow = 0;
  long long value = PyLong_AsLongLongAndOverflow(data, &overflow);
  if (overflow > 0 && dtype == DType::UInt64) // a number of eager mode is an int64
    return fromLargeInt(data);
  if (overflow || !eager::fits(Number::integer(value), dtype.value_or(DType::Int32)))
    return badInt(data);
  return createScalar(Number::integer(value), dtype.value_or(DType::Int32));
}

llvm::Expected<TensorRef> fromTensor(PyObject *data, std::optional<DType> dtype) {
  llvm::Expected<TensorRef> copy = dupTensor(implOf(data), /*detach=*/false);
  return copy && dtype ? castTo(std::move(*copy), *dtype) : std::move(copy);
}

/// The name of the array's dtype.
std::string nameOfDType(nb::handle array) { return nb::cast<std::string>(nb::str(array.attr("dtype").attr("name"))); }

llvm::Expected<TensorRef> copyArray(nb::handle array, DType dtype) {
  Shape shape;
  for (nb::handle size : nb::borrow<nb::tuple>(array.attr("shape")))
    shape.push_back(nb::cast<int64_t>(size));
  if (shape.size() > kMaxRank)
    return invalidArgument("tensor: rank must be <= " + llvm::Twine(kMaxRank) + ", got shape " + toString(shape));
  Bytes bytes(array.ptr(), PyBUF_SIMPLE);
  if (!bytes)
    return takePythonError();
  return createTensor(TensorMeta(dtype, shape), bytes.data());
}

llvm::Error unknownArray(nb::handle array) {
  return makeError(ErrorCode::TypeMismatch,
                   "tensor: data must hold numbers of a dtype that tensors have, got an array of " +
                       nameOfDType(array));
}

llvm::Expected<TensorRef> fromArray(nb::object array, std::optional<DType> dtype);

/// A tensor of a low-bit dtype. InvalidArgument: a number that the dtype has not.
llvm::Expected<TensorRef> fromOdd(nb::object array, DType dtype) {
  int end = lowBitEnd(dtype);
  nb::object known = numpyFunction("isin")(array, numpyFunction("arange")(-end, end + 1, 2));
  if (!nb::cast<bool>(known.attr("all")().attr("item")())) {
    nb::object first = array.attr("__getitem__")(numpyFunction("logical_not")(known)).attr("item")(0);
    return invalidArgument(llvm::Twine("tensor: numbers of ") + shortName(dtype) + " must be odd integers in [" +
                           llvm::Twine(-end) + ", " + llvm::Twine(end) + "], got " +
                           nb::cast<std::string>(nb::str(first)));
  }
  return copyArray(array.attr("astype")(numpyName(storageOf(dtype)).data(), nb::arg("order") = "C"), dtype);
}

/// A number of an array of integers that is not in a range; none: all are.
std::optional<int64_t> findOutside(nb::handle array, int64_t least, int64_t most) {
  if (nb::cast<int64_t>(array.attr("size")) == 0)
    return std::nullopt;
  for (const char *end : {"min", "max"})
    if (int64_t number = nb::cast<int64_t>(array.attr(end)().attr("item")()); number < least || number > most)
      return number;
  return std::nullopt;
}

/// Checks that the integer dtype `target` holds the numbers of an array without their fractions: astype() is what wraps
/// around.
llvm::Error checkFit(nb::handle array, llvm::StringRef kind, DType given, DType target) {
  bool isWithin = kind == "u" ? byteWidth(given) < byteWidth(target)
                              : kind == "i" && !isUnsignedInt(target) && byteWidth(given) <= byteWidth(target);
  if (kind == "b" || given == target || isWithin || nb::cast<int64_t>(array.attr("size")) == 0)
    return llvm::Error::success();
  for (const char *end : {"min", "max"}) { // NaN is both
    nb::object number = array.attr(end)().attr("item")();
    if (PyLong_Check(number.ptr()) ? holds(number.ptr(), target)
                                   : eager::fits(Number::floating(nb::cast<double>(number)), target))
      continue;
    return invalidArgument(llvm::Twine("tensor: numbers must fit their dtype ") + numpyName(target) + ", got " +
                           nb::cast<std::string>(nb::str(number)));
  }
  return llvm::Error::success();
}

/// Checks that stored integers are numbers of their kind, which may be fewer than those of their bytes.
llvm::Error checkStored(nb::handle array, DType dtype) {
  const QuantizedKind &kind = quantizedKind(dtype);
  if (std::optional<int64_t> number = findOutside(array, kind.min, kind.max))
    return makeError(ErrorCode::OutOfRange, llvm::Twine("tensor: stored numbers of ") + shortName(kind.kind) +
                                                " must be in [" + llvm::Twine(kind.min) + ", " + llvm::Twine(kind.max) +
                                                "], got " + llvm::Twine(*number));
  return llvm::Error::success();
}

/// A quantized tensor whose stored integers `array` has.
llvm::Expected<TensorRef> fromStored(nb::object array, DType dtype) {
  if (llvm::Error error = checkStored(array, dtype))
    return std::move(error);
  return copyArray(numpyFunction("ascontiguousarray")(array).attr("reshape")(array.attr("shape")), dtype);
}

/// A tensor of an array whose dtype has metadata.
llvm::Expected<TensorRef> fromDescribed(nb::object array, DType given, DType target) {
  if (isLowBit(given) && isLowBit(target)) // as of any array, no number is rounded
    return fromOdd(std::move(array), target);
  llvm::Expected<TensorRef> tensor =
      isLowBit(given) ? fromOdd(std::move(array), given) : fromStored(std::move(array), given);
  return tensor ? castTo(std::move(*tensor), target) : std::move(tensor);
}

/// A tensor of the quantized dtype `target`; of numbers, or of what is stored: integers of the storage's dtype.
llvm::Expected<TensorRef> fromQuantized(nb::object array, DType target) {
  if (nameOfDType(array) == numpyName(storageOf(target)))
    return fromStored(std::move(array), target);
  llvm::Expected<TensorRef> numbers = fromArray(std::move(array), std::nullopt);
  return numbers ? castTo(std::move(*numbers), target) : std::move(numbers);
}

/// The dtype of ml_dtypes whose numbers a quantized kind stores, where that has fewer bits than a byte.
llvm::StringRef fewBitsOf(DType dtype) {
  switch (kindOf(dtype)) {
  case DType::QInt4:
    return "int4";
  case DType::QUInt4:
    return "uint4";
  case DType::QInt1:
    return "uint1";
  default:
    return "";
  }
}

/// A tensor of an array whose dtype `name` is one of ml_dtypes' integers of fewer bits: of stored integers where
/// `dtype` stores these, else of numbers.
llvm::Expected<TensorRef> fromFewBits(const nb::object &array, llvm::StringRef name, DType dtype) {
  if (name == fewBitsOf(dtype))
    return fromStored(array.attr("astype")(numpyName(storageOf(dtype)).data()), dtype);
  return fromArray(array.attr("astype")("int16"), dtype);
}

/// A tensor from `array`, which is a numpy.ndarray.
llvm::Expected<TensorRef> fromArray(nb::object array, std::optional<DType> dtype) {
  llvm::Expected<std::optional<DType>> described = describedBy(array.attr("dtype").ptr());
  if (!described)
    return described.takeError();
  if (*described)
    return fromDescribed(std::move(array), **described, dtype.value_or(**described));
  std::string source = nameOfDType(array);
  if (dtype && llvm::is_contained({"int1", "int2", "int4", "uint1", "uint2", "uint4"}, source))
    return fromFewBits(array, source, *dtype);
  if (dtype && isQuantized(*dtype))
    return fromQuantized(std::move(array), *dtype);
  std::optional<DType> target = dtype ? dtype : defaultDType(source);
  std::optional<DType> given = parseDType(source);
  std::string kind = nb::cast<std::string>(nb::str(array.attr("dtype").attr("kind")));
  bool isNumber = std::string("biufc").find(kind) != std::string::npos;
  if (!target || (!isNumber && !(given && isForeign(*given))))
    return unknownArray(array);
  if (kind == "c" && !isComplex(*target) && !isBool(*target))
    return makeError(ErrorCode::TypeMismatch,
                     llvm::Twine("tensor: complex data must have a complex dtype, got ") + numpyName(*target));
  if (!dtype && given == DType::Int64)
    if (std::optional<int64_t> number = findOutside(array, INT32_MIN, INT32_MAX))
      return badInt(nb::int_(*number).ptr());
  if (isLowBit(*target))
    return fromOdd(given && isForeign(*given) ? array.attr("astype")("float32") : array, *target);
  if (isInt(*target) && given && !isForeign(*given))
    if (llvm::Error error = checkFit(array, kind, *given, *target))
      return std::move(error);
  if (given && isForeign(*given)) {
    nb::object bits =
        numpyFunction("ascontiguousarray")(array).attr("view")(bitsOf(*given)).attr("reshape")(array.attr("shape"));
    llvm::Expected<TensorRef> tensor = copyArray(bits, *given);
    return tensor ? castTo(std::move(*tensor), *target) : std::move(tensor);
  }
  DType wide = source == "float64" ? DType::Float64 : DType::Float32; // so that a number is rounded once
  DType stored = isForeign(*target) ? wide : *target;
  nb::object plain = array.attr("astype")(numpyName(stored).data(), nb::arg("order") = "C", nb::arg("copy") = false);
  llvm::Expected<TensorRef> tensor = copyArray(plain, stored);
  return tensor ? castTo(std::move(*tensor), *target) : std::move(tensor);
}

/// A NumPy array with a row-major copy of the tensor; of a foreign dtype the bits, which need no ml_dtypes.
nb::object storedOf(TensorImpl &tensor) {
  DType dtype = tensor.dtype();
  nb::object type = isForeign(dtype) ? nb::str(bitsOf(dtype)) : nb::borrow(numpyDType(dtype));
  nb::object array = numpyFunction("empty")(nb::steal(shapeTuple(tensor.shape())), type);
  Bytes bytes(array.ptr(), PyBUF_WRITABLE);
  if (!bytes)
    throw nb::python_error();
  checkOrThrow(readValue(tensor, bytes.data()));
  return array;
}

nb::object arrayOf(TensorImpl &tensor, const char *tool) {
  nb::object stored = storedOf(tensor);
  if (!isForeign(tensor.dtype()))
    return stored;
  nb::object name = nb::str(numpyName(tensor.dtype()).str().c_str());
  return stored.attr("view")(nb::module_::import_("tessera._foreign_dtypes").attr("array_dtype")(name, tool));
}

/// The numbers of a foreign dtype as float32, which has all of them.
nb::object wideOf(TensorImpl &tensor) {
  nb::object stored = storedOf(tensor), wide = numpyFunction("empty")(stored.attr("shape"), "float32");
  Bytes source(stored.ptr(), PyBUF_SIMPLE), target(wide.ptr(), PyBUF_WRITABLE);
  if (!source || !target)
    throw nb::python_error();
  runtime::withAnyType(tensor.dtype(), [&](auto tag) {
    using T = decltype(tag);
    if constexpr (std::is_convertible_v<decltype(runtime::widen(tag)), float>) {
      const T *elements = static_cast<const T *>(source.data());
      float *numbers = static_cast<float *>(target.data());
      for (size_t i = 0; i < size_t(source.size()) / sizeof(T); ++i)
        numbers[i] = float(runtime::widen(elements[i]));
    }
  });
  return wide;
}

/// The data as a NumPy array. A list of ints goes to uint64 as it is: NumPy would make floats of those that no int64
/// holds.
nb::object asArray(PyObject *data, std::optional<DType> dtype) {
  nb::handle function = numpyFunction("asarray");
  if (dtype == DType::UInt64 && (PyList_Check(data) || PyTuple_Check(data))) {
    try {
      nb::object array = function(nb::handle(data), nb::arg("dtype") = numpyName(*dtype).data());
      nb::object plain = function(nb::handle(data));
      double limit = std::ldexp(1.0, 64); // the largest ints are as floats
      bool isKept = nb::cast<int64_t>(plain.attr("size")) == 0 || nameOfDType(plain) != "float64" ||
                    (nb::cast<double>(plain.attr("min")()) >= 0 && nb::cast<double>(plain.attr("max")()) <= limit);
      return isKept ? array : plain;
    } catch (nb::python_error &error) {
      if (!error.matches(PyExc_OverflowError)) // which ints cause, and the check of the array says which
        throw;
    }
  }
  return function(nb::handle(data));
}

} // namespace

llvm::Expected<TensorRef> tensorFromData(PyObject *data, std::optional<DType> dtype) {
  if (isTensor(data))
    return fromTensor(data, dtype);
  bool isNumber =
      PyFloat_CheckExact(data) || PyLong_CheckExact(data) || PyBool_Check(data) || PyComplex_CheckExact(data);
  if (isNumber && !(dtype && isLowBit(*dtype)))
    return fromNumber(data, dtype);
  if (holdsSizes(data))
    return tensorOfSizes(data, dtype.value_or(DType::Int32));
  try {
    nb::object array = asArray(data, dtype);
    return fromArray(std::move(array), dtype);
  } catch (nb::python_error &error) {
    if (error.matches(PyExc_ValueError)) // NumPy raises this for lists of unequal lengths
      return invalidArgument("tensor: nested lists must have equal lengths, got " + describeObject(data));
    error.restore();
    return takePythonError();
  } catch (const std::exception &error) {
    return makeError(ErrorCode::TypeMismatch, llvm::Twine("tensor: data must hold numbers, got ") +
                                                  describeObject(data) + " (" + error.what() + ")");
  }
}

/// The object that `make` returns; null with its exception.
template <typename F> static PyObject *madeBy(F make) {
  try {
    return make().release().ptr();
  } catch (nb::python_error &error) {
    error.restore();
    return nullptr;
  }
}

PyObject *toNumpy(TensorImpl &tensor, const char *tool) {
  return madeBy([&] { return arrayOf(tensor, tool); });
}

PyObject *toWideNumpy(TensorImpl &tensor) {
  return madeBy([&] { return isForeign(tensor.dtype()) ? wideOf(tensor) : storedOf(tensor); });
}

PyObject *toStoredNumpy(TensorImpl &tensor) {
  return madeBy([&] { return storedOf(tensor); });
}

PyObject *toNumber(TensorImpl &tensor) {
  if (tensor.numElements() != 1)
    return raise(invalidArgument("item: tensor must have one element, got " + toString(tensor.meta())));
  alignas(16) char bytes[16];
  if (llvm::Error error = readValue(tensor, bytes))
    return raise(std::move(error));
  return runtime::withAnyType(tensor.dtype(), [&](auto tag) -> PyObject * {
    using T = decltype(tag);
    T element;
    std::memcpy(&element, bytes, sizeof(T));
    auto number = runtime::widen(element);
    if constexpr (std::is_same_v<T, runtime::Bool8>)
      return PyBool_FromLong(number);
    else if constexpr (runtime::kIsComplex<T>)
      return PyComplex_FromDoubles(number.real(), number.imag());
    else if constexpr (std::is_unsigned_v<T>)
      return PyLong_FromUnsignedLongLong(number);
    else if constexpr (std::is_integral_v<T>)
      return PyLong_FromLongLong(number);
    else
      return PyFloat_FromDouble(number);
  });
}

} // namespace tess::python
