//===- TensorAttributes.cpp - attributes that tensors refuse --------------===//
//
// An object of Python takes any attribute. A tensor refuses those that PyTorch
// gives a meaning to, and slips of its own: both would do nothing. Names of
// PyTorch's that have another name or meaning here are descriptors of the type:
// the lookup of attributes stays Python's own, which is the fastest.
//
//===----------------------------------------------------------------------===//
#include "frontends/python/src/TensorType.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace tess::python {

namespace {

/// A name of PyTorch's, and how its effect is had here.
struct Foreign {
  const char *name, *instead;
  bool isState; // to set it would do nothing
};

constexpr const char *kByManager =
    "a GradManager's attach() says what gets gradients, and module.freeze() leaves parameters out";
constexpr Foreign kForeign[] = {
    {"requires_grad", kByManager, true},
    {"is_leaf", kByManager, true},
    {"grad_fn", kByManager, true},
    {"data", "set_value(v) gives new values, and detach() a tensor without gradient", true},
    {"backward", "a GradManager's backward(y) computes gradients, or autodiff.grad(function)", false},
    {"retain_grad", "grads of any tensor: attach it to a GradManager", false},
    {"clamp", "clip(lower, upper)", false},
    {"clamp_min", "maximum(y)", false},
    {"clamp_max", "minimum(y)", false},
    {"unsqueeze", "expand_dims(axis)", false},
    {"permute", "transpose(*axes)", false},
    {"movedim", "transpose(*axes)", false},
    {"t", "T, or transpose(*axes)", false},
    {"H", "functional.conj(x.T)", false},
    {"expand", "broadcast_to(shape)", false},
    {"expand_as", "broadcast_to(y.shape)", false},
    {"view_as", "reshape(y.shape)", false},
    {"reshape_as", "reshape(y.shape)", false},
    {"ravel", "flatten()", false},
    {"unflatten", "reshape(*shape)", false},
    {"long", "astype(\"int64\")", false},
    {"int", "astype(\"int32\")", false},
    {"short", "astype(\"int16\")", false},
    {"byte", "astype(\"uint8\")", false},
    {"bool", "astype(\"bool\")", false},
    {"type", "astype(dtype)", false},
    {"type_as", "astype(y.dtype)", false},
    {"cuda", "to(\"gpu0\")", false},
    {"is_cuda", "device names where it lies", false},
    {"numel", "size is the number of elements, without a call", false},
    {"nelement", "size is the number of elements, without a call", false},
    {"dim", "ndim is the number of axes, without a call", false},
    {"element_size", "dtype.itemsize", false},
    {"is_contiguous", "layouts are the framework's affair", false},
    {"stride", "layouts are the framework's affair", false},
    {"chunk", "functional.split(x, n, axis) makes n parts", false},
    {"split", "functional.split(x, n, axis) makes n parts; PyTorch's takes the size of each", false},
    {"unbind", "iterate over the tensor: tuple(x)", false},
    {"repeat", "tile(reps) repeats the whole, and functional.repeat(x, n, axis) each element, as NumPy's", false},
    {"repeat_interleave", "functional.repeat(x, n, axis)", false},
    {"flip", "x[::-1] turns an axis around; functional.flip is for images", false},
    {"fliplr", "x[:, ::-1]", false},
    {"flipud", "x[::-1]", false},
    {"cummax", "functional.cummax(x, axis), the values alone", false},
    {"cummin", "functional.cummin(x, axis), the values alone", false},
    {"median", "functional.median(x, axis), which is NumPy's: the mean of the two in the middle", false},
    {"mode", "functional.unique(x, return_counts=True)", false},
    {"equal", "x == y compares elements, and functional.allclose(x, y) whole tensors", false},
    {"eq", "x == y", false},
    {"ne", "x != y", false},
    {"lt", "x < y", false},
    {"le", "x <= y", false},
    {"gt", "x > y", false},
    {"ge", "x >= y", false},
    {"rsub", "y - x", false},
    {"true_divide", "x / y", false},
    {"divide", "x / y", false},
    {"multiply", "x * y", false},
    {"subtract", "x - y", false},
    {"floor_divide", "x // y", false},
    {"remainder", "x % y", false},
    {"fmod", "x - functional.trunc(x / y) * y", false},
    {"negative", "-x", false},
    {"absolute", "abs()", false},
    {"mm", "x @ y", false},
    {"bmm", "x @ y", false},
    {"mv", "x @ y", false},
    {"addmm", "y + a @ b", false},
    {"inverse", "matinv()", false},
    {"logdet", "slogdet()", false},
    {"log_softmax", "logsoftmax(axis)", false},
    {"nonzero", "non_zero(), or functional.non_zero(x, as_tuple=True)", false},
    {"argwhere", "non_zero()", false},
    {"index_select", "x[:, indices]", false},
    {"masked_select", "x[mask]", false},
    {"take", "x.flatten()[indices]", false},
    {"real", "functional.real(x)", false},
    {"imag", "functional.imag(x)", false},
    {"arccos", "acos()", false},
    {"arcsin", "asin()", false},
    {"arctan", "atan()", false},
    {"new_zeros", "functional.zeros(shape, dtype)", false},
    {"new_ones", "functional.ones(shape, dtype)", false},
    {"new_full", "functional.full(shape, value, dtype)", false},
    {"new_tensor", "tensor(data)", false},
    {"new_empty", "functional.zeros(shape, dtype)", false},
    {"share_memory_", "workers of DataLoader share memory by themselves", false},
    {"pin_memory", "copies to devices are asynchronous by themselves", false},
    {"add_", "x += y, or functional.add(x, y, inplace=True)", false},
    {"sub_", "x -= y", false},
    {"mul_", "x *= y", false},
    {"div_", "x /= y", false},
    {"clamp_", "functional.clip(x, lower, upper, inplace=True)", false},
    {"relu_", "functional.relu(x, inplace=True)", false},
    {"exp_", "functional.exp(x, inplace=True)", false},
    {"sqrt_", "functional.sqrt(x, inplace=True)", false},
    {"zero_", "reset_zero()", false},
    {"fill_", "x[...] = value", false},
    {"copy_", "set_value(y)", false},
    {"masked_fill_", "x[mask] = value", false},
    {"uniform_", "module.init.uniform_(x, low, high)", false},
    {"normal_", "module.init.normal_(x, mean, std)", false},
    {"requires_grad_", kByManager, false},
    {"detach_", "detach()", false},
};

/// The descriptor of one name: it raises AttributeError, which says what to write instead.
struct Refusal {
  PyObject_HEAD const Foreign *foreign;
};

PyTypeObject *refusalType = nullptr;

PyObject *refusalGet(PyObject *self, PyObject *object, PyObject *type) {
  const Foreign &foreign = *reinterpret_cast<Refusal *>(self)->foreign;
  PyTypeObject *owner = object ? Py_TYPE(object) : reinterpret_cast<PyTypeObject *>(type);
  return PyErr_Format(PyExc_AttributeError, "%s: there is no %s (here: %s)", _PyType_Name(owner), foreign.name,
                      foreign.instead);
}

bool makeRefusalType() {
  PyType_Slot slots[] = {{Py_tp_descr_get, reinterpret_cast<void *>(refusalGet)}, {0, nullptr}};
  PyType_Spec spec = {"tessera._core.Refusal", sizeof(Refusal), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  refusalType = reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&spec));
  return refusalType;
}

/// Names of a tensor that users set, or would.
constexpr llvm::StringLiteral kOwn[] = {"grad", "name", "qparams", "shape", "dtype", "device", "format"};

/// Whether `given` is `own` with two neighbours exchanged, or one letter behind the first left out or doubled.
bool isSlipOf(llvm::StringRef given, llvm::StringRef own) {
  if (given.size() + 1 < own.size() || given.size() > own.size() + 1 || given.starts_with(own))
    return false;
  for (size_t at = 0; at + 1 < own.size(); ++at) {
    std::string swapped = own.str();
    std::swap(swapped[at], swapped[at + 1]);
    std::string shorter = own.take_front(at + 1).str() + own.drop_front(at + 2).str();
    std::string longer = own.take_front(at + 1).str() + own.drop_front(at).str();
    if (given == swapped || given == shorter || given == longer)
      return true;
  }
  return false;
}

/// How the effect of the attribute is had; "": nothing is wrong with it.
std::string insteadOf(llvm::StringRef name) {
  auto isSet = [&](const Foreign &each) { return each.isState && each.name == name; };
  if (const Foreign *found = llvm::find_if(kForeign, isSet); found != std::end(kForeign))
    return found->instead;
  for (llvm::StringRef own : kOwn)
    if (isSlipOf(name, own))
      return ("the attribute is " + own).str();
  return "";
}

/// Whether the type has the attribute, and not only a reason why it has none.
bool hasAttribute(PyTypeObject *type, PyObject *name) {
  PyObject *found = _PyType_Lookup(type, name);
  return found && Py_TYPE(found) != refusalType;
}

} // namespace

bool addRefusals(PyTypeObject *type) {
  if (!makeRefusalType())
    return false;
  for (const Foreign &foreign : kForeign) {
    nb::object refusal = nb::steal(refusalType->tp_alloc(refusalType, 0));
    if (!refusal)
      return false;
    reinterpret_cast<Refusal *>(refusal.ptr())->foreign = &foreign;
    if (PyObject_SetAttrString(reinterpret_cast<PyObject *>(type), foreign.name, refusal.ptr()) < 0)
      return false;
  }
  return true;
}

int tensorSetAttribute(PyObject *self, PyObject *name, PyObject *value) {
  if (value && !hasAttribute(Py_TYPE(self), name)) {
    const char *text = PyUnicode_AsUTF8(name);
    if (!text)
      return -1;
    if (std::string instead = insteadOf(text); !instead.empty()) {
      std::string message = std::string(_PyType_Name(Py_TYPE(self))) + ": " + text + " has no effect (" + instead + ")";
      PyErr_SetString(PyExc_AttributeError, message.c_str());
      return -1;
    }
  }
  return PyObject_GenericSetAttr(self, name, value);
}

} // namespace tess::python
