//===- Dlpack.cpp - memory shared with other libraries -------------------===//
//
// Capsules are those without a version, which every library understands. One
// that no library has taken is freed together with its structure.
//
//===----------------------------------------------------------------------===//
#include "frontends/python/src/Errors.h"
#include "frontends/python/src/Quantized.h"
#include "frontends/python/src/TensorType.h"

#include "eager/Queue.h"
#include "ops/Builtin.h"

#include <cstring>
#include <dlpack/dlpack.h>

namespace tess::python {

using namespace eager;

namespace {

/// Codes that came after Debian's header: of bool (0.8), and of float8 (1.1).
constexpr uint8_t kDLBool = 6, kDLFloat8E4M3FN = 10, kDLFloat8E5M2 = 12;
constexpr const char *kName = "dltensor", *kUsed = "used_dltensor";

uint8_t codeOf(DType dtype) {
  switch (dtype) {
  case DType::BFloat16:
    return kDLBfloat;
  case DType::Bool:
    return kDLBool;
  case DType::Float8E4M3:
    return kDLFloat8E4M3FN;
  case DType::Float8E5M2:
    return kDLFloat8E5M2;
  default:
    return isComplex(dtype) ? kDLComplex : isFloat(dtype) ? kDLFloat : isUnsignedInt(dtype) ? kDLUInt : kDLInt;
  }
}

DLDataType typeOf(DType dtype) { return {codeOf(dtype), uint8_t(8 * byteWidth(dtype)), 1}; }

/// The number of the device's kind, which may be newer than the header's enum.
int kindOf(const DLDevice &device) {
  static_assert(sizeof(device.device_type) == sizeof(int));
  int kind = 0;
  std::memcpy(&kind, &device.device_type, sizeof(kind));
  return kind;
}

std::optional<DType> fromType(DLDataType type) {
  for (unsigned i = 0; i < kNumDTypes; ++i) {
    if (isDescribed(DType(i))) // which other libraries do not know
      continue;
    DLDataType known = typeOf(DType(i));
    if (known.code == type.code && known.bits == type.bits && type.lanes == 1)
      return DType(i);
  }
  return std::nullopt;
}

/// The data that an exported tensor needs until its new owner releases it.
struct Export {
  DLManagedTensor managed;
  TensorRef tensor;
  int64_t shape[kMaxRank], strides[kMaxRank];
};

void dropExport(DLManagedTensor *managed) { delete static_cast<Export *>(managed->manager_ctx); }

void dropCapsule(PyObject *capsule) {
  if (!PyCapsule_IsValid(capsule, kName))
    return; // another library has taken it
  auto *managed = static_cast<DLManagedTensor *>(PyCapsule_GetPointer(capsule, kName));
  if (managed && managed->deleter)
    managed->deleter(managed);
}

PyObject *exportTensor(TensorImpl &tensor) {
  if (runtime::Device &device = tensor.storage().device(); device.computes() && !device.hostAccessible()) {
    PyErr_Format(PyExc_BufferError, "__dlpack__: tensor must be on a device that the host addresses, got one on %s",
                 device.name().c_str());
    return nullptr;
  }
  if (isDescribed(tensor.dtype())) {
    PyErr_Format(PyExc_BufferError, "__dlpack__: dtype must have a code of DLPack, got %s",
                 numpyName(tensor.dtype()).str().c_str());
    return nullptr;
  }
  if (llvm::Error error = awaitValue(tensor.storage())) // other libraries read memory and know nothing of the queue
    return raise(std::move(error));
  auto *made = new Export;
  made->tensor = tensor.dup();
  std::copy(tensor.shape().begin(), tensor.shape().end(), made->shape);
  std::copy(tensor.strides().begin(), tensor.strides().end(), made->strides);
  made->managed = {
      {tensor.data(), {kDLCPU, 0}, int32_t(tensor.rank()), typeOf(tensor.dtype()), made->shape, made->strides, 0},
      made,
      dropExport};
  return PyCapsule_New(&made->managed, kName, dropCapsule);
}

/// Whether `device` is the processor or None, which allows any; else false with Python's error set.
bool isProcessor(PyObject *device) {
  int kind = kDLCPU, number = 0;
  if (device != Py_None && !PyArg_ParseTuple(device, "ii:dl_device", &kind, &number))
    return false;
  if (kind == kDLCPU && number == 0)
    return true;
  PyErr_Format(PyExc_BufferError, "__dlpack__: dl_device must be (1, 0), the processor, got (%d, %d)", kind, number);
  return false;
}

void dropImported(void *owner) {
  auto *managed = static_cast<DLManagedTensor *>(owner);
  if (managed->deleter)
    managed->deleter(managed);
}

llvm::Expected<TensorRef> importTensor(DLManagedTensor *managed) {
  const DLTensor &given = managed->dl_tensor;
  std::optional<DType> dtype = fromType(given.dtype);
  if (kindOf(given.device) != kDLCPU || !dtype || given.ndim < 0 || given.ndim > int(kMaxRank))
    return invalidArgument("from_dlpack: tensor must be on the processor, of a known dtype and rank <= 8, got device " +
                           llvm::Twine(kindOf(given.device)) + ", dtype code " + llvm::Twine(int(given.dtype.code)) +
                           " of " + llvm::Twine(int(given.dtype.bits)) + " bits, rank " + llvm::Twine(given.ndim));
  Layout layout = Layout::contiguous({given.shape, size_t(given.ndim)});
  if (given.strides)
    layout.strides.assign(given.strides, given.strides + given.ndim);
  int64_t last = 0, elements = 1;
  for (int i = 0; i < given.ndim; ++i) {
    elements *= layout.shape[i];
    last += (layout.shape[i] - 1) * layout.strides[i];
    if (layout.strides[i] < 0)
      return invalidArgument("from_dlpack: strides must be >= 0, got " + toString(layout.strides));
  }
  int64_t bytes = elements ? (last + 1) * byteWidth(*dtype) : 0;
  char *data = static_cast<char *>(given.data) + given.byte_offset;
  return TensorImpl::create(*dtype, layout, Storage::wrap(data, bytes, managed, dropImported, runtime::hostDevice()));
}

} // namespace

PyObject *tensorDlpack(PyObject *self, PyObject *args, PyObject *kwargs) {
  static const char *names[] = {"stream", "max_version", "dl_device", "copy", nullptr};
  PyObject *stream = Py_None, *version = Py_None, *device = Py_None, *copy = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOOO:__dlpack__", const_cast<char **>(names), &stream, &version,
                                   &device, &copy) ||
      !isProcessor(device))
    return nullptr;
  if (copy != Py_True)
    return exportTensor(implOf(self));
  llvm::Expected<TensorRef> own = applyOne(builtin::Copy(), {Operand(&implOf(self))});
  return own ? exportTensor(**own) : raise(own.takeError());
}

PyObject *tensorDlpackDevice(PyObject *, PyObject *) { return Py_BuildValue("(ii)", int(kDLCPU), 0); }

PyObject *tensorFromDlpack(PyObject *cls, PyObject *object) {
  nb::object capsule =
      PyCapsule_CheckExact(object) ? nb::borrow(object) : nb::steal(PyObject_CallMethod(object, "__dlpack__", nullptr));
  if (!capsule)
    return nullptr;
  auto *managed = static_cast<DLManagedTensor *>(PyCapsule_GetPointer(capsule.ptr(), kName));
  if (!managed) {
    PyErr_Clear();
    return raise(invalidArgument("from_dlpack: capsule must be fresh, got one that was taken already"));
  }
  llvm::Expected<TensorRef> tensor = importTensor(managed);
  if (!tensor)
    return raise(tensor.takeError());
  PyCapsule_SetName(capsule.ptr(), kUsed);
  return wrap(std::move(*tensor), reinterpret_cast<PyTypeObject *>(cls));
}

} // namespace tess::python
