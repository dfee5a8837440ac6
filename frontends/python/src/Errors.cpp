//===- Errors.cpp - error codes as exception types -----------------------===//
#include "frontends/python/src/Errors.h"
#include "frontends/python/src/Module.h"

namespace tess::python {

/// What operators raise for operands that they refuse.
static PyObject *shapeError = nullptr, *dtypeError = nullptr;

static PyObject *typeOf(ErrorCode code) {
  switch (code) {
  case ErrorCode::InvalidArgument:
  case ErrorCode::DataLoss:
    return PyExc_ValueError;
  case ErrorCode::TypeMismatch:
    return PyExc_TypeError;
  case ErrorCode::OutOfRange:
    return PyExc_IndexError;
  case ErrorCode::NotFound:
    return PyExc_FileNotFoundError;
  case ErrorCode::Unimplemented:
    return PyExc_NotImplementedError;
  case ErrorCode::ResourceExhausted:
    return PyExc_MemoryError;
  case ErrorCode::IoError:
    return PyExc_OSError;
  case ErrorCode::Internal:
    break;
  }
  return PyExc_RuntimeError;
}

static PyObject *typeOfRefusal(ErrorCode code) {
  if (code == ErrorCode::InvalidArgument)
    return shapeError;
  return code == ErrorCode::TypeMismatch ? dtypeError : typeOf(code);
}

/// The exception of an error that began as a Python exception; see takePythonError.
static thread_local PyObject *pendingException = nullptr;
static constexpr const char *kPythonMark = "\x01python";

/// The lines of tessera._memory about what holds the memory; empty where Python cannot tell.
static std::string textOfHeld() {
  nb::object module = nb::steal(PyImport_ImportModule("tessera._memory"));
  nb::object text = module ? nb::steal(PyObject_CallMethod(module.ptr(), "held", nullptr)) : nb::object();
  const char *characters = text ? PyUnicode_AsUTF8(text.ptr()) : nullptr;
  std::string lines = characters ? characters : "";
  PyErr_Clear();
  return lines;
}

static PyObject *raiseAs(llvm::Error error, PyObject *(*type)(ErrorCode)) {
  auto [code, message] = takeError(std::move(error));
  if (llvm::StringRef(message).starts_with(kPythonMark) && pendingException) { // layers may have added their scope
    PyObject *exception = std::exchange(pendingException, nullptr);
    PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(exception)), exception);
    Py_DECREF(exception);
    return nullptr;
  }
  if (code == ErrorCode::ResourceExhausted)
    message += textOfHeld();
  PyErr_SetString(type(code), message.c_str());
  return nullptr;
}

PyObject *raise(llvm::Error error) { return raiseAs(std::move(error), typeOf); }
PyObject *raiseRefusal(llvm::Error error) { return raiseAs(std::move(error), typeOfRefusal); }

void throwError(llvm::Error error) {
  raise(std::move(error));
  throw nanobind::python_error();
}

void throwRefusal(llvm::Error error) {
  raiseRefusal(std::move(error));
  throw nanobind::python_error();
}

llvm::Error takePythonError() {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback)
    PyException_SetTraceback(value, traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  Py_XDECREF(std::exchange(pendingException, value));
  return makeError(ErrorCode::Internal, kPythonMark);
}

/// A subclass of `base` and RuntimeError, in the package's name.
static PyObject *makeType(nb::module_ &module, const char *name, const char *doc, PyObject *base) {
  std::string qualified = std::string("tessera.") + name;
  nb::tuple bases = nb::make_tuple(nb::handle(base), nb::handle(PyExc_RuntimeError));
  PyObject *type = PyErr_NewExceptionWithDoc(qualified.c_str(), doc, bases.ptr(), nullptr);
  if (type)
    module.attr(name) = nb::handle(type);
  return type; // never freed
}

bool initErrors(nb::module_ &module) {
  shapeError = makeType(module, "ShapeError", "An operator refuses shapes or values of arguments.", PyExc_ValueError);
  dtypeError = makeType(module, "DTypeError", "An operator refuses dtypes of operands.", PyExc_TypeError);
  return shapeError && dtypeError;
}

} // namespace tess::python
