//===- Dlpack.cpp - memory shared with other libraries -------------------===//
//
// Capsules of DLPack 1.0 for who asks for a version, else those without one,
// which every library understands. One that no library has taken is freed
// together with its structure. Protocol: data-apis.org/array-api, DLPack's
// python_spec.
//
//===----------------------------------------------------------------------===//
#include "eager/dispatch/Transfers.h"
#include "frontends/python/src/DTypeConversion.h"
#include "frontends/python/src/Errors.h"
#include "frontends/python/src/TensorType.h"

#include "eager/eviction/Eviction.h"
#include "eager/tensor/Placement.h"
#include "eager/tensor/Queue.h"
#include "eager/tracing/Recorder.h"
#include "ops/table/Builtin.h"
#include "runtime/device/Device.h"

#include <cstring>
#include <dlpack/dlpack.h>

namespace tess::python {

using namespace eager;

namespace {

/// DLManagedTensorVersioned of DLPack 1.0, which came after Debian's header.
struct VersionedTensor {
  uint32_t major, minor;
  void *context;
  void (*deleter)(VersionedTensor *self);
  uint64_t flags;
  DLTensor tensor;
};

DLTensor &tensorOf(DLManagedTensor &managed) { return managed.dl_tensor; }
DLTensor &tensorOf(VersionedTensor &managed) { return managed.tensor; }
void *&contextOf(DLManagedTensor &managed) { return managed.manager_ctx; }
void *&contextOf(VersionedTensor &managed) { return managed.context; }

constexpr uint64_t kFlagReadOnly = 1, kFlagCopied = 2;
constexpr unsigned kMajor = 1, kMinor = 0;

/// The names of a capsule, before a library has taken it and after.
template <typename Managed> struct Names;
template <> struct Names<DLManagedTensor> {
  static constexpr const char *kFresh = "dltensor", *kUsed = "used_dltensor";
};
template <> struct Names<VersionedTensor> {
  static constexpr const char *kFresh = "dltensor_versioned", *kUsed = "used_dltensor_versioned";
};

/// Codes that came after Debian's header: of bool (0.8), and of float8 (1.1).
constexpr uint8_t kDLBool = 6, kDLFloat8E4M3FN = 10, kDLFloat8E5M2 = 12;

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
template <typename Managed> struct Export {
  Managed managed; // makeCapsule sets all of it
  TensorRef tensor;
  int64_t shape[kMaxRank], strides[kMaxRank];
};

template <typename Managed> void dropExport(Managed *managed) {
  delete static_cast<Export<Managed> *>(contextOf(*managed));
}

template <typename Managed> void dropCapsule(PyObject *capsule) {
  if (!PyCapsule_IsValid(capsule, Names<Managed>::kFresh))
    return; // another library has taken it
  auto *managed = static_cast<Managed *>(PyCapsule_GetPointer(capsule, Names<Managed>::kFresh));
  if (managed && managed->deleter)
    managed->deleter(managed);
}

template <typename Managed> PyObject *makeCapsule(TensorImpl &tensor, uint64_t flags) {
  auto *made = new Export<Managed>;
  made->tensor = tensor.dup();
  std::copy(tensor.shape().begin(), tensor.shape().end(), made->shape);
  std::copy(tensor.strides().begin(), tensor.strides().end(), made->strides);
  Managed &managed = made->managed;
  tensorOf(managed) = {
      tensor.data(), {kDLCPU, 0}, int32_t(tensor.rank()), typeOf(tensor.dtype()), made->shape, made->strides, 0};
  contextOf(managed) = made;
  managed.deleter = dropExport<Managed>;
  if constexpr (std::is_same_v<Managed, VersionedTensor>) {
    managed.major = kMajor;
    managed.minor = kMinor;
    managed.flags = flags;
  }
  return PyCapsule_New(&managed, Names<Managed>::kFresh, dropCapsule<Managed>);
}

/// What a caller of `__dlpack__` asks for.
struct Request {
  bool isVersioned = false;
  bool toProcessor = false; // dl_device is given, so that a tensor on another device may be copied
  bool mayCopy = true, mustCopy = false;
};

PyObject *refuse(const char *must, const std::string &got) {
  return PyErr_Format(PyExc_BufferError, "__dlpack__: %s, got %s", must, got.c_str());
}

bool isOnProcessor(const TensorImpl &tensor) {
  runtime::Device &device = tensor.storage().device();
  return !device.computes() || device.hostAccessible();
}

/// Gives the variable memory of its own where compiled programs have its value as a constant: others may write what is
/// exported.
llvm::Error leaveConstants(TensorImpl &tensor) {
  if (!tensor.storage().isConstant())
    return llvm::Error::success();
  llvm::Expected<TensorRef> own = applyOne(builtin::Copy(), {Operand(&tensor)});
  if (!own)
    return own.takeError();
  (*own)->takeTags(tensor);
  tensor.rebind(**own);
  return llvm::Error::success();
}

/// The tensor itself or a copy, as the request wants; null with Python's error set.
TensorRef exported(TensorImpl &tensor, const Request &request, uint64_t &flags) {
  bool isHere = isOnProcessor(tensor);
  if (!isHere && !(request.toProcessor && request.mayCopy)) {
    refuse("tensor must be on a device that the host addresses", "one on " + tensor.storage().device().name());
    return TensorRef();
  }
  if (isHere && !request.mustCopy) {
    llvm::Error error = leaveConstants(tensor);
    if (!error)
      return TensorRef(&tensor);
    raise(std::move(error));
    return TensorRef();
  }
  flags |= kFlagCopied;
  llvm::Expected<TensorRef> copy =
      isHere ? applyOne(builtin::Copy(), {Operand(&tensor)}) : toDevice(tensor, runtime::hostDevice());
  if (copy)
    return std::move(*copy);
  raise(copy.takeError());
  return TensorRef();
}

PyObject *exportTensor(TensorImpl &given, const Request &request) {
  if (isDescribed(given.dtype()))
    return refuse("dtype must have a code of DLPack", numpyName(given.dtype()).str());
  uint64_t flags = 0;
  TensorRef tensor = exported(given, request, flags);
  if (!tensor)
    return nullptr;
  if (llvm::Error error = eviction::expose(tensor->storage()))
    return raise(std::move(error));
  if (llvm::Error error = awaitValue(tensor->storage())) // other libraries read memory and know nothing of the queue
    return raise(std::move(error));
  if (tensor->storage().isReadOnly()) {
    if (!request.isVersioned)
      return refuse("max_version must be (1, 0) or above for memory that is read-only", "none such");
    flags |= kFlagReadOnly;
  }
  return request.isVersioned ? makeCapsule<VersionedTensor>(*tensor, flags)
                             : makeCapsule<DLManagedTensor>(*tensor, flags);
}

/// Reads a pair of ints, or leaves `first` and `second` where it is None; false with Python's error set.
bool readPair(PyObject *pair, const char *name, int &first, int &second) {
  if (pair == Py_None)
    return true;
  if (PyTuple_Check(pair) && PyArg_ParseTuple(pair, "ii", &first, &second))
    return true;
  PyErr_Clear();
  PyErr_Format(PyExc_TypeError, "__dlpack__: %s must be None or a tuple of two ints, got %R", name, pair);
  return false;
}

/// The request, or nullopt with Python's error set.
std::optional<Request> readRequest(PyObject *stream, PyObject *version, PyObject *device, PyObject *copy) {
  int major = 0, minor = 0, kind = kDLCPU, number = 0;
  if (!readPair(version, "max_version", major, minor) || !readPair(device, "dl_device", kind, number))
    return std::nullopt;
  if (kind != kDLCPU || number != 0) {
    PyErr_Format(PyExc_BufferError, "__dlpack__: dl_device must be (1, 0), the processor, got (%d, %d)", kind, number);
    return std::nullopt;
  }
  if (stream != Py_None && !(PyLong_Check(stream) && PyLong_AsLong(stream) == -1)) {
    PyErr_Format(PyExc_ValueError, "__dlpack__: stream must be None, because the processor has none, got %R", stream);
    return std::nullopt;
  }
  int truth = copy == Py_None ? 0 : PyObject_IsTrue(copy);
  if (truth < 0)
    return std::nullopt;
  return Request{major >= int(kMajor), device != Py_None, copy == Py_None || truth == 1, truth == 1};
}

template <typename Managed> void dropImported(void *owner) {
  auto *managed = static_cast<Managed *>(owner);
  if (managed->deleter)
    managed->deleter(managed);
}

llvm::Error checkImport(const DLTensor &given, std::optional<DType> dtype) {
  if (kindOf(given.device) != kDLCPU || !dtype || given.ndim < 0 || given.ndim > int(kMaxRank))
    return invalidArgument("from_dlpack: tensor must be on the processor, of a known dtype and rank <= 8, got device " +
                           llvm::Twine(kindOf(given.device)) + ", dtype code " + llvm::Twine(int(given.dtype.code)) +
                           " of " + llvm::Twine(int(given.dtype.bits)) + " bits, rank " + llvm::Twine(given.ndim));
  llvm::ArrayRef<int64_t> shape(given.shape, size_t(given.ndim));
  if (llvm::any_of(shape, [](int64_t size) { return size < 0; }))
    return invalidArgument("from_dlpack: sizes must not be negative, got " + toString(shape));
  return llvm::Error::success();
}

/// The layout, and the elements that lie before the first one and behind it.
llvm::Expected<Layout> layoutOf(const DLTensor &given, int64_t &before, int64_t &behind) {
  Layout layout = Layout::contiguous({given.shape, size_t(given.ndim)});
  before = behind = 0;
  if (llvm::is_contained(layout.shape, 0)) // strides say nothing
    return layout;
  if (given.strides)
    layout.strides.assign(given.strides, given.strides + given.ndim);
  for (auto [size, stride] : llvm::zip_equal(layout.shape, layout.strides)) {
    int64_t reach = 0, &side = stride < 0 ? before : behind;
    if (__builtin_mul_overflow(size - 1, stride, &reach) || __builtin_add_overflow(side, reach, &side))
      return invalidArgument("from_dlpack: elements must lie within 64-bit addresses, got sizes " +
                             toString(layout.shape) + " and strides " + toString(layout.strides));
  }
  before = -before;
  layout.offset = before;
  return layout;
}

template <typename Managed> llvm::Expected<TensorRef> importTensor(Managed *managed, bool isReadOnly) {
  const DLTensor &given = tensorOf(*managed);
  std::optional<DType> dtype = fromType(given.dtype);
  if (llvm::Error error = checkImport(given, dtype))
    return std::move(error);
  int64_t before = 0, behind = 0;
  llvm::Expected<Layout> layout = layoutOf(given, before, behind);
  if (!layout)
    return layout.takeError();
  static char nothing; // memory that is null has no value, even of no elements
  char *data = given.data ? static_cast<char *>(given.data) + given.byte_offset : &nothing;
  int64_t width = byteWidth(*dtype), elements = llvm::is_contained(layout->shape, 0) ? 0 : before + behind + 1;
  StorageRef storage = Storage::wrap(data - before * width, elements * width, managed, dropImported<Managed>,
                                     runtime::hostDevice(), isReadOnly);
  return TensorImpl::create(*dtype, *layout, std::move(storage));
}

/// The tensor of a capsule, which is taken; nullopt: it is none of this kind.
template <typename Managed> std::optional<llvm::Expected<TensorRef>> takeCapsule(PyObject *capsule, bool &isCopy) {
  if (!PyCapsule_IsValid(capsule, Names<Managed>::kFresh))
    return std::nullopt;
  auto *managed = static_cast<Managed *>(PyCapsule_GetPointer(capsule, Names<Managed>::kFresh));
  bool isReadOnly = false;
  if constexpr (std::is_same_v<Managed, VersionedTensor>) {
    if (managed->major != kMajor)
      return llvm::Expected<TensorRef>(invalidArgument(
          "from_dlpack: version must be 1.x, got " + llvm::Twine(managed->major) + "." + llvm::Twine(managed->minor)));
    isReadOnly = managed->flags & kFlagReadOnly;
    isCopy = managed->flags & kFlagCopied;
  }
  llvm::Expected<TensorRef> tensor = importTensor(managed, isReadOnly);
  if (tensor)
    PyCapsule_SetName(capsule, Names<Managed>::kUsed);
  return std::move(tensor);
}

/// Calls `__dlpack__`: with what DLPack 1.0 added, else, of an older library, without.
nb::object capsuleOf(PyObject *object, PyObject *device, PyObject *copy) {
  nb::object method = nb::steal(PyObject_GetAttrString(object, "__dlpack__"));
  if (!method) {
    PyErr_Clear();
    PyErr_Format(PyExc_TypeError, "from_dlpack: data must be a capsule or have __dlpack__, got %s",
                 Py_TYPE(object)->tp_name);
    return {};
  }
  nb::object wanted = nb::steal(Py_BuildValue("{s:(ii)}", "max_version", int(kMajor), int(kMinor)));
  nb::object none = nb::steal(PyTuple_New(0));
  if (device != Py_None)
    PyDict_SetItemString(wanted.ptr(), "dl_device", device);
  if (copy != Py_None)
    PyDict_SetItemString(wanted.ptr(), "copy", copy);
  nb::object capsule = nb::steal(PyObject_Call(method.ptr(), none.ptr(), wanted.ptr()));
  if (capsule || !PyErr_ExceptionMatches(PyExc_TypeError))
    return capsule;
  PyErr_Clear();
  return nb::steal(PyObject_CallNoArgs(method.ptr()));
}

} // namespace

PyObject *tensorDlpack(PyObject *self, PyObject *args, PyObject *kwargs) {
  static const char *names[] = {"stream", "max_version", "dl_device", "copy", nullptr};
  PyObject *stream = Py_None, *version = Py_None, *device = Py_None, *copy = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOOO:__dlpack__", const_cast<char **>(names), &stream, &version,
                                   &device, &copy))
    return nullptr;
  std::optional<Request> request = readRequest(stream, version, device, copy);
  if (!request)
    return nullptr;
  if (llvm::Error e = noteValueRead(implOf(self)))
    return raise(std::move(e));
  return exportTensor(implOf(self), *request);
}

PyObject *tensorDlpackDevice(PyObject *self, PyObject *) {
  bool isHere = isOnProcessor(implOf(self));
  return Py_BuildValue("(ii)", isHere ? int(kDLCPU) : int(kDLExtDev), 0);
}

PyObject *tensorFromDlpack(PyObject *cls, PyObject *args, PyObject *kwargs) {
  static const char *names[] = {"data", "dl_device", "copy", nullptr};
  PyObject *object = nullptr, *device = Py_None, *copy = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OO:_from_dlpack", const_cast<char **>(names), &object, &device,
                                   &copy))
    return nullptr;
  nb::object capsule = PyCapsule_CheckExact(object) ? nb::borrow(object) : capsuleOf(object, device, copy);
  if (!capsule)
    return nullptr;
  bool isCopy = false;
  std::optional<llvm::Expected<TensorRef>> tensor = takeCapsule<VersionedTensor>(capsule.ptr(), isCopy);
  if (!tensor)
    tensor = takeCapsule<DLManagedTensor>(capsule.ptr(), isCopy);
  if (!tensor)
    return raise(invalidArgument("from_dlpack: capsule must be fresh, got one that was taken already"));
  if (*tensor && copy == Py_True && !isCopy)
    tensor = applyOne(builtin::Copy(), {Operand(**tensor)});
  return *tensor ? wrap(std::move(**tensor), reinterpret_cast<PyTypeObject *>(cls)) : raise(tensor->takeError());
}

} // namespace tess::python
