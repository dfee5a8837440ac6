//===- Bridge.h - between Python objects and eager ---------------*- C++ -*-===//
//
// What the files of the extension share: the Tensor object, errors, and the
// conversion of Python values. Functions that can fail set a Python exception
// and return null or false.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <nanobind/nanobind.h>

#include "eager/Apply.h"

#include <optional>
#include <string>

namespace tess::python {

namespace nb = nanobind;

/// The layout of every Tensor object; subclasses made in Python add a dict.
struct PyTensor {
  PyObject_HEAD eager::TensorImpl *impl; // owned
  PyObject *weakrefs;
};

/// tessera.Tensor; set by initTensor.
extern PyTypeObject *tensorType;

inline bool isTensor(PyObject *object) {
  return Py_TYPE(object) == tensorType || PyType_IsSubtype(Py_TYPE(object), tensorType);
}
inline eager::TensorImpl &implOf(PyObject *object) { return *reinterpret_cast<PyTensor *>(object)->impl; }

/// The object of a tensor: the one that exists, or a new one of `type` (default: Tensor).
PyObject *wrap(eager::TensorRef tensor, PyTypeObject *type = nullptr);
/// One object, or a tuple of `numVisible` when `asTuple`. Takes the results.
PyObject *wrapResults(eager::Tensors &results, unsigned numVisible, bool asTuple);

/// Sets the exception of `error` (code -> type) and returns null.
PyObject *raise(llvm::Error error);
/// Throws it, for functions bound through nanobind.
[[noreturn]] void throwError(llvm::Error error);
template <typename T> T valueOrThrow(llvm::Expected<T> value) {
  if (!value)
    throwError(value.takeError());
  return std::move(*value);
}
inline void checkOrThrow(llvm::Error error) {
  if (error)
    throwError(std::move(error));
}

/// An operand: a tensor, a Python number, or anything that makes a tensor (kept alive in `made`). With `strict`,
/// objects that hold no numbers are no error: returns false without an exception.
bool toOperand(PyObject *object, eager::Operand &operand, llvm::SmallVectorImpl<eager::TensorRef> &made,
               bool strict = false);
/// A new tensor of Python data by the rules of Tensor(data, dtype).
llvm::Expected<eager::TensorRef> tensorFromData(PyObject *data, std::optional<DType> dtype);
/// "float32", np.float32, np.dtype, a dtype object with a `name`; TypeError otherwise. None is nullopt.
llvm::Expected<std::optional<DType>> toDType(PyObject *object);
/// NumPy's dtype of that name, of ml_dtypes for bfloat16 (borrowed); null with an exception.
PyObject *numpyDType(DType dtype);
/// A NumPy array with the tensor's value.
PyObject *toNumpy(eager::TensorImpl &tensor);
/// A number of the only element.
PyObject *toNumber(eager::TensorImpl &tensor);
/// The attribute value of a Python object; `op` opens the message, which calls the attribute `name`.
llvm::Expected<AttrValue> toAttr(llvm::StringRef op, llvm::StringRef name, const AttrInfo &info, PyObject *object);
PyObject *fromAttr(const AttrValue &value);
/// "int 3", for messages.
std::string describeObject(PyObject *object);
/// The exception that is set, as an error.
llvm::Error takePythonError();

/// Whether each node (container, names, values, is whole) of jit/python_state.py holds what it did.
bool holdsState(const nb::list &nodes);

/// A tuple of Python ints.
PyObject *shapeTuple(llvm::ArrayRef<int64_t> shape);

/// Parts of the module, each in the file of its name.
bool initOperators();
bool initTensor(nb::module_ &module);
void initGrad(nb::module_ &module);
void initTrace(nb::module_ &module);
void initRuntime(nb::module_ &module);
void initLocation(nb::module_ &module);
void initPythonState(nb::module_ &module);

/// Slots and methods that other files give to the Tensor type.
extern PyType_Slot numberSlots[];
extern unsigned numNumberSlots;
PyObject *tensorGetItem(PyObject *self, PyObject *key);
int tensorSetItem(PyObject *self, PyObject *key, PyObject *value);
PyObject *tensorDlpack(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *tensorDlpackDevice(PyObject *self, PyObject *);
PyObject *tensorFromDlpack(PyObject *cls, PyObject *object);
PyObject *tensorCompare(PyObject *a, PyObject *b, int operation);

/// The callable of an operator (new reference); null without an exception when there is no such operator.
PyObject *opFunction(const OpInfo *info);

} // namespace tess::python
