// Tensor is a raw CPython type, because an operator call must not pay for a binding library.
#include "frontends/python/src/TensorType.h"
#include "eager/dispatch/Transfers.h"
#include "frontends/python/src/ArgumentConversion.h"
#include "frontends/python/src/CallWatch.h"
#include "frontends/python/src/DTypeConversion.h"
#include "frontends/python/src/Errors.h"
#include "frontends/python/src/Module.h"
#include "frontends/python/src/NumpyConversion.h"
#include "frontends/python/src/OpFunction.h"
#include "frontends/python/src/SymInt.h"

#include "eager/stack/GraphValue.h"
#include "eager/tensor/Placement.h"
#include "eager/tensor/Queue.h"
#include "eager/tracing/Recorder.h"
#include "ops/table/Builtin.h"
#include "runtime/Devices.h"

#include <structmember.h>

namespace tess::python {

using namespace eager;

namespace {

PyTensor *cast(PyObject *self) { return reinterpret_cast<PyTensor *>(self); }

void tensorDealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  if (cast(self)->weakrefs)
    PyObject_ClearWeakRefs(self);
  if (TensorImpl *impl = cast(self)->impl) {
    impl->wrapper = nullptr;
    impl->Release();
  }
  // A subclass made in Python has a dict; subtype_dealloc has cleared it and calls this function for the rest.
  if (type == tensorType)
    PyObject_Free(self);
  else
    type->tp_free(self);
  Py_DECREF(type);
}

/// The device with this name; null with an exception when there is none.
runtime::Device *findDevice(PyObject *device) {
  nb::object text = nb::steal(PyObject_Str(device));
  const char *name = text ? PyUnicode_AsUTF8(text.ptr()) : nullptr;
  if (!name)
    return nullptr;
  llvm::Expected<runtime::Device *> found = runtime::findDevice(name, "tensor");
  if (found)
    return *found;
  raise(found.takeError());
  return nullptr;
}

/// As tensorFromData(), on `home`, which may be null for the default device.
llvm::Expected<TensorRef> tensorOn(PyObject *data, std::optional<DType> dtype, runtime::Device *home) {
  if (!home)
    return tensorFromData(data, dtype);
  OnDevice here(*home);
  llvm::Expected<TensorRef> tensor = tensorFromData(data, dtype);
  return tensor ? toDevice(**tensor, *home) : std::move(tensor);
}

int setName(PyObject *self, PyObject *value, void *);
int setFormat(PyObject *self, PyObject *value, void *);

/// `is_const` and `no_cache`, which MegEngine has, say nothing here.
PyObject *tensorNew(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  if (CallWatch::listens())
    return CallWatch::call(reinterpret_cast<PyObject *>(type), args, kwargs);
  static const char *names[] = {"data", "dtype", "device", "is_const", "no_cache", "name", "format", nullptr};
  PyObject *data = nullptr, *dtype = Py_None, *device = Py_None, *name = Py_None, *format = nullptr;
  PyObject *isConst = nullptr, *noCache = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OOOOOO:Tensor", const_cast<char **>(names), &data, &dtype, &device,
                                   &isConst, &noCache, &name, &format))
    return nullptr;
  runtime::Device *home = device == Py_None ? nullptr : findDevice(device);
  if (!home && device != Py_None)
    return nullptr;
  llvm::Expected<std::optional<DType>> wanted = toDType(dtype);
  if (!wanted)
    return raise(wanted.takeError());
  llvm::Expected<TensorRef> tensor = tensorOn(data, *wanted, home);
  if (!tensor)
    return raise(tensor.takeError());
  nb::object made = nb::steal(wrap(std::move(*tensor), type));
  if (!made || (name != Py_None && setName(made.ptr(), name, nullptr) < 0) ||
      (format && setFormat(made.ptr(), format, nullptr) < 0))
    return nullptr;
  return made.release().ptr();
}

PyObject *getShape(PyObject *self, void *) { return shapeAttribute(implOf(self)); }
PyObject *getDType(PyObject *self, void *) { return Py_XNewRef(numpyDType(implOf(self).dtype())); }
/// NumPy's dtype, which tells quantized and low-bit ones not apart: of them the text.
PyObject *getDTypeKey(PyObject *self, void *) {
  DType dtype = implOf(self).dtype();
  if (LLVM_LIKELY(!isDescribed(dtype)))
    return getDType(self, nullptr);
  return PyUnicode_FromStringAndSize(numpyName(dtype).data(), numpyName(dtype).size());
}
PyObject *getNdim(PyObject *self, void *) { return PyLong_FromLong(implOf(self).rank()); }
PyObject *getSize(PyObject *self, void *) { return sizeOf(implOf(self)); }
PyObject *getDevice(PyObject *self, void *) { return deviceObject(implOf(self).storage().device()); }
PyObject *getName(PyObject *self, void *) {
  llvm::StringRef name = implOf(self).name();
  return PyUnicode_FromStringAndSize(name.data(), name.size());
}

int setName(PyObject *self, PyObject *value, void *) {
  if (value && value != Py_None && !PyUnicode_Check(value)) {
    PyErr_Format(PyExc_TypeError, "name: value must be a str, got %s", Py_TYPE(value)->tp_name);
    return -1;
  }
  const char *text = value && value != Py_None ? PyUnicode_AsUTF8(value) : "";
  if (!text)
    return -1;
  llvm::Expected<Tensors> result = apply(RenameValue(text), {Operand(&implOf(self))});
  if (result)
    return 0;
  raise(result.takeError());
  return -1;
}

PyObject *getGrad(PyObject *self, void *) {
  const TensorRef &grad = implOf(self).grad();
  return grad ? wrap(grad) : Py_NewRef(Py_None);
}

int setGrad(PyObject *self, PyObject *value, void *) {
  if (value && value != Py_None && !isTensor(value)) {
    PyErr_Format(PyExc_TypeError, "grad: value must be a Tensor or None, got %s", Py_TYPE(value)->tp_name);
    return -1;
  }
  if (value == self) {
    PyErr_SetString(PyExc_ValueError, "grad: value must be another tensor, got the tensor itself");
    return -1;
  }
  noteGrad(implOf(self));
  implOf(self).setGrad(value && value != Py_None ? TensorRef(&implOf(value)) : TensorRef());
  return 0;
}

PyObject *getFormat(PyObject *self, void *) {
  return PyUnicode_FromString(implOf(self).format() == Format::Default ? "default" : "nhwc");
}

int setFormat(PyObject *self, PyObject *value, void *) {
  const char *text = value ? PyUnicode_AsUTF8(value) : nullptr;
  if (!text)
    return -1;
  llvm::StringRef name(text);
  if (name != "default" && name != "nchw" && name != "nhwc") {
    PyErr_Format(PyExc_ValueError, "format: value must be default, nchw or nhwc, got %s", text);
    return -1;
  }
  implOf(self).setFormat(name == "nhwc" ? Format::ChannelsLast : Format::Default);
  return 0;
}

PyObject *getAttached(PyObject *self, void *) { return PyBool_FromLong(implOf(self).hasGradTags()); }

PyGetSetDef properties[] = {
    {"shape", getShape, nullptr, "sizes of the axes", nullptr},
    {"dtype", getDType, nullptr, "NumPy's dtype of the elements", nullptr},
    {"_dtype_key", getDTypeKey, nullptr, "the dtype, equal only where metadata are", nullptr},
    {"ndim", getNdim, nullptr, "number of axes", nullptr},
    {"size", getSize, nullptr, "number of elements", nullptr},
    {"device", getDevice, nullptr, "name of the device that holds it", nullptr},
    {"name", getName, setName, "the user's name for it", nullptr},
    {"grad", getGrad, setGrad, "the gradient, a Tensor or None", nullptr},
    {"format", getFormat, setFormat, "order of axes that the memory stands for", nullptr},
    {"_attached", getAttached, nullptr, "a tape knows the value", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyObject *methodNumpy(PyObject *self, PyObject *) { return toNumpy(implOf(self), "numpy"); }
PyObject *methodStored(PyObject *self, PyObject *) { return toStoredNumpy(implOf(self)); }
PyObject *methodNumbers(PyObject *self, PyObject *) { return toWideNumpy(implOf(self)); }
/// The only element, or the one at a position: an int of the flattened tensor, or an int for each axis.
PyObject *methodItem(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  if (count == 0)
    return toNumber(implOf(self));
  nb::object source = nb::borrow(self), key = nb::borrow(args[0]);
  if (count > 1) {
    key = nb::steal(PyTuple_New(count));
    for (Py_ssize_t i = 0; key && i < count; ++i)
      PyTuple_SET_ITEM(key.ptr(), i, Py_NewRef(args[i]));
  } else if (!PyTuple_Check(args[0])) {
    llvm::Expected<TensorRef> flat = applyOne(builtin::Reshape(IntList{-1}), {Operand(&implOf(self))});
    if (!flat)
      return raise(flat.takeError());
    source = nb::steal(wrap(std::move(*flat)));
  }
  nb::object element = source && key ? nb::steal(tensorGetItem(source.ptr(), key.ptr())) : nb::object();
  return element ? toNumber(implOf(element.ptr())) : nullptr;
}
PyObject *methodComplex(PyObject *self, PyObject *) {
  TensorImpl &impl = implOf(self);
  if (impl.numElements() != 1)
    return raise(invalidArgument("complex: tensor must have one element, got " + toString(impl.meta())));
  nb::object number = nb::steal(toNumber(impl));
  return number ? PyObject_CallOneArg(reinterpret_cast<PyObject *>(&PyComplex_Type), number.ptr()) : nullptr;
}
PyObject *methodTolist(PyObject *self, PyObject *) {
  nb::object array = nb::steal(toWideNumpy(implOf(self)));
  return array ? PyObject_CallMethod(array.ptr(), "tolist", nullptr) : nullptr;
}

PyObject *methodArray(PyObject *self, PyObject *args, PyObject *kwargs) {
  static const char *names[] = {"dtype", "copy", nullptr};
  PyObject *dtype = Py_None, *copy = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO:__array__", const_cast<char **>(names), &dtype, &copy))
    return nullptr;
  if (copy == Py_False)
    return raise(invalidArgument("__array__: copy must be allowed, since a tensor is asynchronous, got copy=False"));
  nb::object array = nb::steal(toNumpy(implOf(self), "__array__"));
  if (!array || dtype == Py_None)
    return array.release().ptr();
  return PyObject_CallMethod(array.ptr(), "astype", "O", dtype);
}

PyObject *methodDetach(PyObject *self, PyObject *) {
  llvm::Expected<TensorRef> result = dupTensor(implOf(self), /*detach=*/true);
  return result ? wrap(std::move(*result)) : raise(result.takeError());
}

/// A tensor outside of a network would have no value any more with one of it.
bool mayTake(const TensorImpl &variable, const TensorImpl &value) {
  if (variable.isGraphValue() || !value.isGraphValue())
    return true;
  return raise(invalidArgument("update: a tensor outside of a network must not take a value of one, got one for " +
                               toString(variable.meta())));
}

/// Gives the variable a value; one of its rank that has no format has the variable's from now on.
void assignKeepingFormat(TensorImpl &variable, TensorImpl &value) {
  Format format =
      variable.rank() == value.rank() && value.format() == Format::Default ? variable.format() : value.format();
  assign(variable, value);
  variable.setFormat(format);
}

PyObject *methodReset(PyObject *self, PyObject *other) {
  if (!isTensor(other))
    return PyErr_Format(PyExc_TypeError, "_reset: value must be a Tensor, got %s", Py_TYPE(other)->tp_name);
  if (!mayTake(implOf(self), implOf(other)))
    return nullptr;
  if (Py_REFCNT(other) > 1 || !implOf(other).isUnique())
    implOf(other).storage().noteCopy(); // other users keep this value
  llvm::Expected<TensorRef> value = toDevice(implOf(other), implOf(self).storage().device());
  if (!value)
    return raise(value.takeError());
  assignKeepingFormat(implOf(self), **value);
  return Py_NewRef(self);
}

/// As methodReset, but the tensor goes where the value is.
PyObject *methodRebind(PyObject *self, PyObject *other) {
  if (!isTensor(other))
    return PyErr_Format(PyExc_TypeError, "_rebind: value must be a Tensor, got %s", Py_TYPE(other)->tp_name);
  if (!mayTake(implOf(self), implOf(other)))
    return nullptr;
  implOf(other).storage().noteCopy();
  assignKeepingFormat(implOf(self), implOf(other));
  return Py_NewRef(self);
}

/// Sets new data of this tensor's shape and dtype.
PyObject *methodSetValue(PyObject *self, PyObject *args, PyObject *kwargs) {
  static const char *names[] = {"value", nullptr};
  PyObject *data = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:set_value", const_cast<char **>(names), &data))
    return nullptr;
  TensorImpl &impl = implOf(self);
  llvm::Expected<TensorRef> tensor = tensorOn(data, impl.dtype(), &impl.storage().device());
  if (!tensor)
    return raise(tensor.takeError());
  if (!mayTake(impl, **tensor))
    return nullptr;
  if ((*tensor)->shape() != impl.shape())
    return raise(invalidArgument("set_value: shape must be " + toString(impl.shape()) + ", got " +
                                 toString((*tensor)->shape())));
  assignKeepingFormat(impl, **tensor);
  return Py_NewRef(self);
}

#define TESS_DOC(signature, text, example) signature "\n--\n\n" text "\n\n>>> import tessera\n" example

PyMethodDef methods[] = {
    {"numpy", methodNumpy, METH_NOARGS,
     TESS_DOC("numpy($self, /)",
              "A NumPy array of the tensor's shape and dtype: a copy. Raises what its operators did.",
              ">>> tessera.tensor([1.0, 2.0]).numpy()\narray([1., 2.], dtype=float32)")},
    {"item", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(methodItem)), METH_FASTCALL,
     TESS_DOC("item($self, /, *index)",
              "The only element as a Python number of the dtype's kind, or the one at a position: an int of the\n"
              "flattened tensor, or an int for each axis. ValueError: there must be one element. IndexError: the\n"
              "position must be one of the tensor.",
              ">>> tessera.tensor([2.5]).item(), tessera.tensor([[1, 2], [3, 4]]).item(1, 0)\n(2.5, 3)")},
    {"tolist", methodTolist, METH_NOARGS,
     TESS_DOC("tolist($self, /)", "The elements as Python numbers, in lists nested as deep as there are axes.",
              ">>> tessera.tensor([[1], [2]]).tolist()\n[[1], [2]]")},
    {"detach", methodDetach, METH_NOARGS,
     TESS_DOC("detach($self, /)", "A tensor of the same value, shape and dtype that no tape knows.",
              ">>> tessera.tensor([1, 2]).detach().tolist()\n[1, 2]")},
    {"set_value", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(methodSetValue)),
     METH_VARARGS | METH_KEYWORDS,
     TESS_DOC("set_value($self, /, value)",
              "Takes new data, cast to the tensor's dtype; returns the tensor. ValueError: the shape must be the same.",
              ">>> tessera.tensor([1, 2]).set_value([3, 4]).tolist()\n[3, 4]")},
    {"_reset", methodReset, METH_O, "Takes over the value of another tensor."},
    {"_rebind", methodRebind, METH_O, "Takes over value and device of another tensor."},
    {"_stored", methodStored, METH_NOARGS, "Its array, or the bits of a dtype that NumPy lacks."},
    {"_numbers", methodNumbers, METH_NOARGS, "Its array, or the numbers of a dtype that NumPy lacks in float32."},
    {"__array__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(methodArray)),
     METH_VARARGS | METH_KEYWORDS, "For NumPy; always a copy."},
    {"__dlpack__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(tensorDlpack)),
     METH_VARARGS | METH_KEYWORDS, "A DLPack capsule that shares the memory, or holds a copy where `copy` is true."},
    {"__dlpack_device__", tensorDlpackDevice, METH_NOARGS, "Kind and number of the device, as DLPack counts them."},
    {"_from_dlpack", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(tensorFromDlpack)),
     METH_VARARGS | METH_KEYWORDS | METH_CLASS, "A tensor that shares the memory of a DLPack object."},
    {"__complex__", methodComplex, METH_NOARGS, "The only element as a complex number."},
    {nullptr, nullptr, 0, nullptr},
};

#undef TESS_DOC

Py_ssize_t tensorLength(PyObject *self) {
  TensorImpl &impl = implOf(self);
  if (!noteSizeRead(impl))
    return -1;
  if (impl.rank())
    return impl.shape()[0];
  PyErr_SetString(PyExc_TypeError, "len: tensor must have an axis, got a tensor of rank 0");
  return -1;
}

/// The array as NumPy prints it, shortened from 1000 elements on; none with an exception when Ctrl-C ended the wait.
std::optional<std::string> describeValue(PyObject *self) {
  Storage &storage = implOf(self).storage();
  if (llvm::Error stopped = awaitWritten(storage)) { // Ctrl-C also ends repr
    raise(std::move(stopped));
    return std::nullopt;
  }
  if (isValueless(implOf(self)))
    return "<recorded, not computed, of shape " + toString(implOf(self).shape()) + ">";
  if (Failure *failure = storage.failure()) // shown is not reported: the next synchronisation still raises
    return "<no value: " + failure->text() + ">";
  nb::object array = nb::steal(toWideNumpy(implOf(self)));
  bool isOfFewDigits = isForeign(implOf(self).dtype());
  nb::object module = array ? nb::steal(PyImport_ImportModule("tessera._printing")) : nb::object();
  nb::object text = module ? nb::steal(PyObject_CallMethod(module.ptr(), "text_of", "OO", array.ptr(),
                                                           isOfFewDigits ? Py_True : Py_False))
                           : nb::object();
  const char *characters = text ? PyUnicode_AsUTF8(text.ptr()) : nullptr;
  if (characters)
    return characters;
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  nb::object message = value ? nb::steal(PyObject_Str(value)) : nb::object();
  const char *why = message ? PyUnicode_AsUTF8(message.ptr()) : nullptr;
  std::string answer = std::string("<no value: ") + (why ? why : "unknown") + ">";
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
  PyErr_Clear();
  return answer;
}

/// The text of a tensor. One without a value shows the reason, which is no error here.
PyObject *tensorRepr(PyObject *self) {
  std::optional<std::string> value = describeValue(self);
  if (!value)
    return nullptr;
  std::string text = std::string(_PyType_Name(Py_TYPE(self))) + "(";
  std::string indent(text.size(), ' ');
  for (char c : *value) {
    text += c;
    if (c == '\n')
      text += indent;
  }
  TensorImpl &impl = implOf(self);
  text += ", dtype=" + numpyName(impl.dtype()).str() + ", device=" + impl.storage().device().name() + ")";
  return PyUnicode_FromStringAndSize(text.data(), text.size());
}

/// The text for print(), which raises the failure of a tensor; one that was recorded only shows why it has no value.
PyObject *tensorText(PyObject *self) {
  TensorImpl &impl = implOf(self);
  if (llvm::Error stopped = awaitWritten(impl.storage())) {
    raise(std::move(stopped));
    return nullptr;
  }
  if (impl.storage().failure() && !isValueless(impl) && !isWrittenDown(impl))
    if (nb::object array = nb::steal(toStoredNumpy(impl)); !array)
      return nullptr;
  return PyObject_Repr(self);
}

Py_hash_t tensorHash(PyObject *self) { return _Py_HashPointer(self); }

PyObject *tensorIterate(PyObject *self) {
  if (implOf(self).rank())
    return PySeqIter_New(self);
  return PyErr_Format(PyExc_TypeError, "iter: tensor must have an axis, got a tensor of rank 0");
}

PyObject *tensorItemAt(PyObject *self, Py_ssize_t index) {
  TensorImpl &impl = implOf(self);
  if (!noteSizeRead(impl))
    return nullptr;
  if (impl.rank() && (index < 0 || index >= impl.shape()[0])) {
    PyErr_Format(PyExc_IndexError, "getitem: index must be below %lld, got %zd", (long long)impl.shape()[0], index);
    return nullptr;
  }
  nb::object key = nb::steal(PyLong_FromSsize_t(index));
  return tensorGetItem(self, key.ptr());
}

PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(PyTensor, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

constexpr const char *kDoc =
    "Tensor(data, dtype=None, device=None, is_const=False, no_cache=False, name=None, format='default')\n--\n\n"
    "A tensor of `data`: an array, a number, nested lists, or another tensor.\n\n"
    "Without dtype, float64 becomes float32 and int64 becomes int32. Devices are cpu0 and, for\n"
    "tests, sim0, an accelerator that is emulated, and null0, which keeps shapes and no values.\n"
    "`name` is the user's, which another tensor does not hand on; `format` says what the order of\n"
    "axes means: default, nchw or nhwc. `is_const` and `no_cache` are MegEngine's and change nothing.\n"
    "ValueError: the device must exist, format be one of these. TypeError: data must hold numbers,\n"
    "dtype must be a known one, name a str.";

} // namespace

bool initTensorType(nb::module_ &module) {
  std::vector<PyType_Slot> slots = {
      {Py_tp_doc, const_cast<char *>(kDoc)},
      {Py_tp_new, reinterpret_cast<void *>(tensorNew)},
      {Py_tp_dealloc, reinterpret_cast<void *>(tensorDealloc)},
      {Py_tp_getset, properties},
      {Py_tp_methods, methods},
      {Py_tp_members, members},
      {Py_tp_repr, reinterpret_cast<void *>(tensorRepr)},
      {Py_tp_str, reinterpret_cast<void *>(tensorText)},
      {Py_tp_setattro, reinterpret_cast<void *>(tensorSetAttribute)},
      {Py_tp_hash, reinterpret_cast<void *>(tensorHash)},
      {Py_tp_iter, reinterpret_cast<void *>(tensorIterate)},
      {Py_tp_richcompare, reinterpret_cast<void *>(tensorCompare)},
      {Py_mp_length, reinterpret_cast<void *>(tensorLength)},
      {Py_mp_subscript, reinterpret_cast<void *>(tensorGetItem)},
      {Py_mp_ass_subscript, reinterpret_cast<void *>(tensorSetItem)},
      {Py_sq_item, reinterpret_cast<void *>(tensorItemAt)},
      {Py_sq_length, reinterpret_cast<void *>(tensorLength)},
      {Py_bf_getbuffer, reinterpret_cast<void *>(tensorGetBuffer)},
      {Py_bf_releasebuffer, reinterpret_cast<void *>(tensorReleaseBuffer)},
  };
  slots.insert(slots.end(), numberSlots, numberSlots + numNumberSlots);
  slots.push_back({0, nullptr});
  PyType_Spec spec = {"tessera.Tensor", sizeof(PyTensor), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots.data()};
  tensorType = reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&spec));
  if (!tensorType)
    return false;
  if (!addMethods(tensorType) || !addRefusals(tensorType))
    return false;
  module.attr("Tensor") = nb::handle(reinterpret_cast<PyObject *>(tensorType));
  return true;
}

} // namespace tess::python
