//===- TensorObject.cpp - the Tensor object -------------------------------===//
#include "frontends/python/src/TensorObject.h"

namespace tess::python {

using namespace eager;

PyTypeObject *tensorType = nullptr, *varNodeType = nullptr;

PyObject *wrap(TensorRef tensor, PyTypeObject *type) {
  if (tensor->wrapper && !type)
    return Py_NewRef(static_cast<PyObject *>(tensor->wrapper));
  PyObject *object;
  if (LLVM_UNLIKELY(tensor->isGraphValue() && (!type || type == tensorType)))
    type = varNodeType;
  if (!type || type == tensorType) {
    object = static_cast<PyObject *>(PyObject_Malloc(sizeof(PyTensor)));
    if (!object)
      return PyErr_NoMemory();
    PyObject_Init(object, tensorType);
    reinterpret_cast<PyTensor *>(object)->weakrefs = nullptr;
  } else {
    object = type->tp_alloc(type, 0);
    if (!object)
      return nullptr;
  }
  tensor->wrapper = object;
  reinterpret_cast<PyTensor *>(object)->impl = tensor.get();
  tensor.resetWithoutRelease();
  return object;
}

PyObject *wrapResults(Tensors &results, unsigned numVisible, bool asTuple) {
  if (!asTuple)
    return wrap(std::move(results.front()));
  PyObject *tuple = PyTuple_New(numVisible);
  for (unsigned i = 0; tuple && i < numVisible; ++i) {
    PyObject *object = wrap(std::move(results[i]));
    if (!object) {
      Py_DECREF(tuple);
      return nullptr;
    }
    PyTuple_SET_ITEM(tuple, i, object);
  }
  return tuple;
}

PyObject *shapeTuple(llvm::ArrayRef<int64_t> shape) {
  PyObject *tuple = PyTuple_New(shape.size());
  for (unsigned i = 0; tuple && i < shape.size(); ++i)
    PyTuple_SET_ITEM(tuple, i, PyLong_FromLongLong(shape[i]));
  return tuple;
}

} // namespace tess::python
