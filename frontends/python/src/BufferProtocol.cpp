//===- BufferProtocol.cpp - memory that Python reads ----------------------===//
//
// memoryview(tensor), and what NumPy takes before it asks for __array__: the
// elements where they are, read-only, because variables share memory and yet
// have values of their own. DLPack shares memory that may be written.
//
//===----------------------------------------------------------------------===//
#include "frontends/python/src/Errors.h"
#include "frontends/python/src/TensorType.h"

#include "eager/eviction/Eviction.h"
#include "eager/tensor/Queue.h"
#include "eager/tracing/Recorder.h"
#include "ops/table/Builtin.h"

namespace tess::python {

using namespace eager;

namespace {

/// What a view of the memory needs until it is released.
struct BufferExport {
  TensorRef tensor;
  Py_ssize_t shape[kMaxRank], strides[kMaxRank];
};

/// The dtype in the letters of Python's struct module, as NumPy reads them; null where there is none.
const char *formatOf(DType dtype) {
  switch (dtype) {
  case DType::Bool:
    return "?";
  case DType::Int8:
    return "b";
  case DType::UInt8:
    return "B";
  case DType::Int16:
    return "h";
  case DType::UInt16:
    return "H";
  case DType::Int32:
    return "i";
  case DType::UInt32:
    return "I";
  case DType::Int64:
    return "q";
  case DType::UInt64:
    return "Q";
  case DType::Float16:
    return "e";
  case DType::Float32:
    return "f";
  case DType::Float64:
    return "d";
  case DType::Complex64:
    return "Zf";
  case DType::Complex128:
    return "Zd";
  default:
    return nullptr;
  }
}

int refuse(const char *must, const std::string &got) {
  PyErr_Format(PyExc_BufferError, "buffer: %s, got %s", must, got.c_str());
  return -1;
}

/// Whether the request can be met; else Python's error is set.
bool canView(const TensorImpl &tensor, int flags) {
  if (flags & PyBUF_WRITABLE)
    return refuse("memory must be asked for to be read only", "a request for memory to write") == 0;
  if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && tensor.rank() > 1)
    return refuse("order must be row-major", "a request for column-major memory") == 0;
  if (!formatOf(tensor.dtype()))
    return refuse("dtype must have a letter of Python's struct module", numpyName(tensor.dtype()).str()) == 0;
  runtime::Device &device = tensor.storage().device();
  if (!device.computes() || !device.hostAccessible())
    return refuse("tensor must be on a device that the host addresses", "one on " + device.name()) == 0;
  return true;
}

/// The tensor, or a row-major copy where the request knows no strides.
llvm::Expected<TensorRef> viewed(TensorImpl &tensor, int flags) {
  if (llvm::Error e = noteValueRead(tensor))
    return std::move(e);
  bool takesStrides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES;
  bool wantsRows = !takesStrides || (flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS;
  if (!wantsRows || tensor.isContiguous())
    return tensor.dup();
  return applyOne(builtin::Copy(), {Operand(&tensor)});
}

/// Raises why there is no value. NumPy drops any error of a buffer and asks for __array__ next, so Ctrl-C, which ended
/// the wait, is noted again for the wait there.
int raiseUnread(llvm::Error error) {
  raise(std::move(error));
  if (!PyErr_ExceptionMatches(PyExc_KeyboardInterrupt))
    return -1;
  PyErr_Clear();
  PyErr_SetInterrupt();
  return refuse("value must be waited for", "Ctrl-C");
}

} // namespace

int tensorGetBuffer(PyObject *self, Py_buffer *view, int flags) {
  view->obj = nullptr;
  if (!canView(implOf(self), flags))
    return -1;
  llvm::Expected<TensorRef> tensor = viewed(implOf(self), flags);
  llvm::Error error = tensor ? eviction::expose((*tensor)->storage()) : tensor.takeError();
  if (!error)
    error = awaitValue((*tensor)->storage());
  if (error)
    return raiseUnread(std::move(error));
  auto *made = new BufferExport{std::move(*tensor), {}, {}};
  const TensorImpl &impl = *made->tensor;
  int64_t width = byteWidth(impl.dtype());
  for (unsigned axis = 0; axis < impl.rank(); ++axis) {
    made->shape[axis] = impl.shape()[axis];
    made->strides[axis] = impl.strides()[axis] * width;
  }
  view->obj = Py_NewRef(self);
  view->buf = impl.data();
  view->len = impl.numElements() * width;
  view->itemsize = width;
  view->readonly = 1;
  view->ndim = int(impl.rank());
  view->format = flags & PyBUF_FORMAT ? const_cast<char *>(formatOf(impl.dtype())) : nullptr;
  view->shape = flags & PyBUF_ND ? made->shape : nullptr;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? made->strides : nullptr;
  view->suboffsets = nullptr;
  view->internal = made;
  return 0;
}

void tensorReleaseBuffer(PyObject *, Py_buffer *view) { delete static_cast<BufferExport *>(view->internal); }

} // namespace tess::python
