//===- ArgumentConversion.cpp - operands and attributes from Python values ===//
#include "frontends/python/src/ArgumentConversion.h"
#include "eager/dispatch/Transfers.h"
#include "frontends/python/src/DTypeConversion.h"
#include "frontends/python/src/Errors.h"
#include "frontends/python/src/NumpyConversion.h"
#include "frontends/python/src/SymInt.h"
#include "frontends/python/src/TensorObject.h"

namespace tess::python {

using namespace eager;

static bool numberFromLong(PyObject *object, Operand &operand) {
  int overflow = 0;
  long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow) {
    PyErr_SetString(PyExc_OverflowError, "operand: an int must fit 64 bits, got a larger one");
    return false;
  }
  operand = Operand(Number::integer(value));
  return true;
}

/// Whether the object holds numbers: a NumPy array or scalar, a sequence, or an object with the buffer or array
/// protocol.
static bool holdsNumbers(PyObject *object) {
  return PyObject_CheckBuffer(object) || PyList_Check(object) || PyTuple_Check(object) ||
         PyObject_HasAttrString(object, "__array__");
}

bool toOperand(PyObject *object, Operand &operand, llvm::SmallVectorImpl<TensorRef> &made, bool strict) {
  if (isTensor(object)) {
    operand = Operand(&implOf(object));
    return true;
  }
  if (PyFloat_CheckExact(object)) {
    operand = Operand(Number::floating(PyFloat_AS_DOUBLE(object)));
    return true;
  }
  if (PyBool_Check(object)) {
    operand = Operand(Number::boolean(object == Py_True));
    return true;
  }
  if (PyComplex_CheckExact(object)) {
    static_assert(sizeof(Py_complex) == sizeof(std::complex<double>)); // both are an array of the two parts
    const Py_complex &value = reinterpret_cast<PyComplexObject *>(object)->cval;
    operand = Operand(Number::complex(reinterpret_cast<const std::complex<double> &>(value)));
    return true;
  }
  if (PyLong_Check(object))
    return numberFromLong(object, operand);
  if (isSymInt(object)) {
    operand = Operand(numberOf(object));
    return true;
  }
  if (PyBytes_Check(object) || !holdsNumbers(object)) {
    if (!strict)
      PyErr_Format(PyExc_TypeError, "operand: value must be a tensor, an array or a number, got %s",
                   describeObject(object).c_str());
    return false;
  }
  llvm::Expected<TensorRef> tensor = tensorFromData(object, std::nullopt);
  if (!tensor) {
    raise(tensor.takeError());
    return false;
  }
  made.push_back(std::move(*tensor));
  operand = Operand(made.back());
  return true;
}

llvm::Error placeMade(llvm::MutableArrayRef<Operand> operands, llvm::SmallVectorImpl<TensorRef> &made) {
  auto isMade = [&](const Operand &operand) {
    return llvm::any_of(made, [&](const TensorRef &tensor) { return tensor.get() == operand.tensor; });
  };
  const Operand *given = llvm::find_if(operands, [&](const Operand &each) { return each.tensor && !isMade(each); });
  if (given == operands.end())
    return llvm::Error::success();
  runtime::Device &device = given->tensor->storage().device();
  for (Operand &operand : operands) {
    if (!operand.tensor || !isMade(operand))
      continue;
    if (llvm::Error error = toDevice(*operand.tensor, device).moveInto(made.emplace_back()))
      return error;
    operand.tensor = made.back().get();
  }
  return llvm::Error::success();
}

/// An attribute and its operator, for messages, and whether it takes expressions of sizes.
struct AttrPlace {
  llvm::StringRef op, name;
  bool isSize;
};

/// Whether the object is an array of NumPy's, or another one that is no sequence of Python's.
static bool isArray(PyObject *object) {
  return !PyTuple_Check(object) && !PyList_Check(object) && !PyLong_Check(object) && !PyUnicode_Check(object) &&
         PyObject_HasAttrString(object, "tolist");
}

static llvm::Error badAttr(AttrPlace place, const char *must, PyObject *object) {
  return makeError(ErrorCode::TypeMismatch,
                   place.op + ": " + place.name + " must be " + must + ", got " + describeObject(object));
}

/// The only element of an array as an int; null and a TypeError where there is none.
static nb::object elementOf(PyObject *array) {
  nb::object element = nb::steal(PyObject_CallMethod(array, "item", nullptr));
  if (!element && (PyErr_ExceptionMatches(PyExc_ValueError) || PyErr_ExceptionMatches(PyExc_AttributeError)))
    PyErr_SetNone(PyExc_TypeError); // of several, or a memoryview
  return nb::steal(element ? PyNumber_Index(element.ptr()) : nullptr);
}

static llvm::Expected<int64_t> toInt(AttrPlace place, PyObject *object, const char *must) {
  if (place.isSize && isSymInt(object))
    return numberOf(object).i; // the expression comes with withExpressions()
  nb::object index;
  if (isTensor(object))
    index = nb::steal(toNumber(implOf(object)));
  else
    index = isArray(object) ? elementOf(object) : nb::steal(PyNumber_Index(object));
  if (!index && PyErr_ExceptionMatches(PyExc_TypeError)) {
    PyErr_Clear();
    return badAttr(place, must, object);
  }
  if (!index)
    return takePythonError();
  if (!PyLong_Check(index.ptr()))
    return badAttr(place, must, object);
  long long value = PyLong_AsLongLong(index.ptr());
  if (value == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    return badAttr(place, "an int of 64 bits", object);
  }
  return value;
}

static llvm::Expected<AttrValue> toIntList(AttrPlace place, PyObject *object) {
  constexpr const char *must = "an int or a sequence of ints";
  nb::object items = nb::borrow(object);
  if (isArray(object)) // tensors too
    items = nb::steal(PyObject_CallMethod(object, "tolist", nullptr));
  if (!items)
    return takePythonError();
  if (PyUnicode_Check(items.ptr()) || (!PySequence_Check(items.ptr()) || PyIndex_Check(items.ptr()))) {
    llvm::Expected<int64_t> value = toInt(place, items.ptr(), must);
    if (!value)
      return value.takeError();
    return AttrValue(*value);
  }
  nb::object sequence = nb::steal(PySequence_Fast(items.ptr(), "attribute"));
  if (!sequence)
    return takePythonError();
  IntList list;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(sequence.ptr()); ++i) {
    llvm::Expected<int64_t> value = toInt(place, PySequence_Fast_GET_ITEM(sequence.ptr(), i), must);
    if (!value)
      return value.takeError();
    list.push_back(*value);
  }
  return AttrValue(std::move(list));
}

static llvm::Expected<AttrValue> toDouble(AttrPlace place, PyObject *object) {
  nb::object number = isTensor(object) ? nb::steal(toNumber(implOf(object))) : nb::borrow(object);
  if (!number)
    return takePythonError();
  double value = PyUnicode_Check(number.ptr()) ? -1 : PyFloat_AsDouble(number.ptr());
  if (PyErr_Occurred() || PyUnicode_Check(number.ptr())) {
    PyErr_Clear();
    return badAttr(place, "a number", object);
  }
  return AttrValue(value);
}

static llvm::Expected<AttrValue> toBool(AttrPlace place, PyObject *object) {
  bool isNumPyBool = llvm::StringRef(Py_TYPE(object)->tp_name).starts_with("numpy.bool");
  if (!PyBool_Check(object) && !PyLong_Check(object) && !isNumPyBool)
    return badAttr(place, "a bool", object);
  int truth = PyObject_IsTrue(object);
  if (truth < 0)
    return takePythonError();
  return AttrValue(truth == 1);
}

llvm::Expected<AttrValue> toAttr(llvm::StringRef op, llvm::StringRef name, const AttrInfo &info, PyObject *object) {
  AttrPlace place{op, name, info.isSize};
  switch (info.kind) {
  case AttrKind::None:
  case AttrKind::Parameter: // no record has one
  case AttrKind::Body:
    break;
  case AttrKind::I64: {
    llvm::Expected<int64_t> value = toInt(place, object, "an int");
    if (!value)
      return value.takeError();
    return AttrValue(*value);
  }
  case AttrKind::F64:
    return toDouble(place, object);
  case AttrKind::Bool:
    return toBool(place, object);
  case AttrKind::Str: {
    const char *text = PyUnicode_Check(object) ? PyUnicode_AsUTF8(object) : nullptr;
    if (!text)
      return badAttr(place, "a string", object);
    return AttrValue(text);
  }
  case AttrKind::I64List:
    return toIntList(place, object);
  case AttrKind::DType: {
    llvm::Expected<std::optional<DType>> dtype = toDType(object);
    if (!dtype)
      return dtype.takeError();
    return *dtype ? AttrValue(**dtype) : AttrValue();
  }
  }
  return AttrValue();
}

PyObject *fromAttr(const AttrValue &value) {
  switch (value.kind()) {
  case AttrKind::None:
  case AttrKind::Parameter: // of no operator that Python sees
  case AttrKind::Body:
    return Py_NewRef(Py_None);
  case AttrKind::I64:
    return PyLong_FromLongLong(value.i64());
  case AttrKind::F64:
    return PyFloat_FromDouble(value.f64());
  case AttrKind::Bool:
    return PyBool_FromLong(value.boolean());
  case AttrKind::Str:
    return PyUnicode_FromStringAndSize(value.str().data(), value.str().size());
  case AttrKind::I64List:
    return shapeTuple(value.ints());
  case AttrKind::DType: {
    llvm::StringRef name = numpyName(value.dtype());
    return PyUnicode_FromStringAndSize(name.data(), Py_ssize_t(name.size()));
  }
  }
  return Py_NewRef(Py_None);
}

} // namespace tess::python
