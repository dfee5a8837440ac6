//===- Errors.cpp - error codes as exception types -----------------------===//
#include "frontends/python/src/Errors.h"

namespace tess::python {

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

/// The exception of an error that began as a Python exception; see takePythonError.
static thread_local PyObject *pendingException = nullptr;
static constexpr const char *kPythonMark = "\x01python";

PyObject *raise(llvm::Error error) {
  auto [code, message] = takeError(std::move(error));
  if (llvm::StringRef(message).starts_with(kPythonMark) && pendingException) { // layers may have added their scope
    PyObject *exception = std::exchange(pendingException, nullptr);
    PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(exception)), exception);
    Py_DECREF(exception);
    return nullptr;
  }
  PyErr_SetString(typeOf(code), message.c_str());
  return nullptr;
}

void throwError(llvm::Error error) {
  raise(std::move(error));
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

} // namespace tess::python
