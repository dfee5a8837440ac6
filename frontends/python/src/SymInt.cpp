//===- SymInt.cpp - sizes that are expressions, for Python ----------------===//
#include "frontends/python/src/SymInt.h"
#include "eager/stack/Expressions.h"
#include "frontends/python/src/Errors.h"
#include "frontends/python/src/Module.h"
#include "frontends/python/src/TensorObject.h"

#include "eager/stack/GraphValue.h"
#include "eager/tracing/Recorder.h"
#include "ops/table/Builtin.h"
#include "ops/vocabulary/SizeExpr.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Compiler.h"

#include <nanobind/stl/string.h>

#include <atomic>

namespace tess::python {

using namespace eager;

PyTypeObject *symIntType = nullptr;

/// What stands for the recording in a SymInt of a network: its expressions hold everywhere.
static constexpr uint32_t kOfNetwork = 0;

/// An int, or a SymInt for an expression of the present recording, or of the network that `variable` is of. It keeps
/// the variable where its data decides the size: the expression would mean nothing without it.
static PyObject *sizeObject(int64_t size, int64_t value, const TensorImpl *variable = nullptr) {
  if (variable && size == kUnknown)
    return raise(invalidArgument("shape: a size of a network must be an expression of at most " +
                                 llvm::Twine(sizes::kMostParts) + " parts, got one of more"));
  if (!sizes::isSymbolic(size) || !symIntType)
    return PyLong_FromLongLong(value);
  uint32_t recording = variable ? kOfNetwork : Recorder::current()->number();
  nb::object kept = nb::none();
  if (variable && sizes::dependsOnData(size))
    kept = nb::steal(wrap(TensorRef(const_cast<TensorImpl *>(variable))));
  return PyObject_CallFunction(reinterpret_cast<PyObject *>(symIntType), "LLIIO", (long long)size, (long long)value,
                               recording, unsigned(sizes::dependsOnData(size)), kept.ptr());
}

/// `tensor` where it is a variable of a network.
static const TensorImpl *variableOf(const TensorImpl &tensor) {
  return tensor.isGraphValue() && !Recorder::current() ? &tensor : nullptr; // the step of a loop has its own sizes
}

/// The shape of `tensor` by expressions, in a network, or in a recording that knows some.
static std::optional<llvm::ArrayRef<int64_t>> expressionsOf(const TensorImpl &tensor) {
  if (tensor.isGraphValue() && !Recorder::current())
    return llvm::ArrayRef<int64_t>(varOf(tensor).meta().shape);
  Recorder *recorder = Recorder::current();
  return recorder ? recorder->symbolicShape(tensor) : std::nullopt;
}

static bool isNetworkSize(PyObject *object) {
  return isSymInt(object) && nb::cast<uint32_t>(nb::handle(object).attr("_recording")) == kOfNetwork;
}

bool holdsNetworkSizes(PyObject *object) {
  if (!PyTuple_Check(object) && !PyList_Check(object))
    return isNetworkSize(object);
  return llvm::any_of(llvm::ArrayRef(PySequence_Fast_ITEMS(object), size_t(PySequence_Fast_GET_SIZE(object))),
                      isNetworkSize);
}

bool noteSizeRead(const TensorImpl &tensor) {
  auto expressions = expressionsOf(tensor);
  if (tensor.isGraphValue()) {
    if (expressions->empty() || !(graphFreeAxes(tensor) & 1))
      return true;
    return raise(invalidArgument("len: a free size of a network must stay an expression, got a use of '" +
                                 ir::sizeText(expressions->front()) + "' as a number"));
  }
  if (expressions && llvm::any_of(*expressions, sizes::dependsOnData))
    Recorder::current()->noteDataRead();
  return true;
}

PyObject *shapeOf(const TensorImpl &tensor) {
  auto expressions = expressionsOf(tensor);
  if (!expressions || !sizes::isSymbolic(*expressions))
    return shapeTuple(tensor.shape());
  PyObject *tuple = PyTuple_New(tensor.rank());
  for (unsigned axis = 0; tuple && axis < tensor.rank(); ++axis) {
    PyObject *size = sizeObject((*expressions)[axis], tensor.shape()[axis], variableOf(tensor));
    if (!size)
      Py_CLEAR(tuple);
    else
      PyTuple_SET_ITEM(tuple, axis, size);
  }
  return tuple;
}

/// Whether code outside of this package sees shapes as tensors; for every thread.
static std::atomic<bool> shapesAreTensors = false;

/// Whether the Python code that runs is the package's own, which knows tuples only.
static bool isOwnCode() {
  PyObject *globals = PyEval_GetGlobals();
  PyObject *name = globals ? PyDict_GetItemString(globals, "__name__") : nullptr;
  if (!name || !PyUnicode_Check(name))
    return false;
  llvm::StringRef module = nb::borrow<nb::str>(name).c_str();
  return module.consume_front("tessera") && (module.empty() || module.starts_with("."));
}

PyObject *shapeAttribute(const TensorImpl &tensor) {
  PyObject *shape = shapeOf(tensor);
  if (LLVM_LIKELY(!shapesAreTensors.load(std::memory_order_relaxed)) || !shape || tensor.rank() == 0 || isOwnCode())
    return shape;
  nb::object sizes = nb::steal(shape), type = nb::borrow(reinterpret_cast<PyObject *>(tensorType));
  try {
    nb::object made = type(sizes, "int32");
    if (!tensor.isGraphValue() || implOf(made.ptr()).isGraphValue())
      return made.release().ptr();
    return wrap(tensorOf(valueOrThrow(constantOf(implOf(made.ptr())))->var()));
  } catch (nb::python_error &error) {
    return error.restore(), nullptr;
  }
}

PyObject *sizeOf(const TensorImpl &tensor) {
  auto expressions = expressionsOf(tensor);
  int64_t size = expressions ? TensorMeta(tensor.dtype(), *expressions).numElements() : 0;
  return sizeObject(size, tensor.numElements(), variableOf(tensor));
}

std::optional<int64_t> expressionOf(PyObject *object) {
  if (!isSymInt(object))
    return std::nullopt;
  uint32_t recording = nb::cast<uint32_t>(nb::handle(object).attr("_recording"));
  int64_t size = nb::cast<int64_t>(nb::handle(object).attr("_handle"));
  Recorder *recorder = Recorder::current();
  if (recording == kOfNetwork)
    return size;
  return recorder ? recorder->sizeHere(size, recording) : std::nullopt;
}

Number numberOf(PyObject *symInt) {
  int64_t value = nb::cast<int64_t>(nb::handle(symInt).attr("_value"));
  std::optional<int64_t> expression = expressionOf(symInt);
  bool isKnownHere = !expression || !sizes::isSymbolic(*expression); // in a body it may be a number
  return isKnownHere ? Number::integer(value) : Number::size(value, *expression);
}

std::optional<AttrValue> withExpressions(PyObject *object, const AttrValue &numbers) {
  if (std::optional<int64_t> expression = expressionOf(object))
    return numbers.kind() == AttrKind::I64List ? AttrValue(IntList(numbers.ints().size(), *expression))
                                               : AttrValue(*expression);
  if (numbers.kind() != AttrKind::I64List || !(PyTuple_Check(object) || PyList_Check(object)))
    return std::nullopt;
  IntList list = numbers.ints();
  bool found = false;
  for (size_t i = 0; i < list.size() && Py_ssize_t(i) < PySequence_Fast_GET_SIZE(object); ++i)
    if (std::optional<int64_t> expression = expressionOf(PySequence_Fast_GET_ITEM(object, i))) {
      list[i] = *expression;
      found = true;
    }
  return found ? std::optional(AttrValue(std::move(list))) : std::nullopt;
}

/// A size of the present recording.
static nb::object recordedSize(int64_t size) {
  auto now = [](uint32_t symbol) { return Recorder::current()->sizeOf(symbol); };
  return nb::steal(sizeObject(size, sizes::substitute(size, now)));
}

/// One tensor's.
static nb::object sizesOfTensor(TensorImpl &tensor) {
  auto values = Recorder::current()->takeSizes(tensor);
  if (!values)
    return nb::steal(raise(values.takeError()));
  nb::list sizes;
  for (int64_t value : *values)
    sizes.append(recordedSize(value));
  return tensor.rank() == 0 ? nb::object(sizes[0]) : nb::object(sizes);
}

nb::object boundOf(PyObject *object, int64_t size) {
  if (!isTensor(object) || implOf(object).rank() || !isInt(implOf(object).dtype()) || !Recorder::current())
    return sizesOf(object);
  llvm::Expected<int64_t> bound = Recorder::current()->takeBound(implOf(object), size);
  return bound ? recordedSize(*bound) : nb::steal(raise(bound.takeError()));
}

nb::object stepOf(PyObject *object) {
  if (!isTensor(object) || implOf(object).rank() || !Recorder::current())
    return sizesOf(object);
  auto values = Recorder::current()->readSizes(implOf(object));
  return values ? recordedSize(values->front()) : nb::steal(raise(values.takeError()));
}

nb::object sizesOf(PyObject *object) {
  if (LLVM_LIKELY(!Recorder::current()))
    return nb::borrow(object);
  if (isTensor(object))
    return sizesOfTensor(implOf(object));
  if (!PyTuple_Check(object) && !PyList_Check(object))
    return nb::borrow(object);
  nb::list items;
  bool found = false;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i) {
    PyObject *item = PySequence_Fast_GET_ITEM(object, i);
    found |= isTensor(item);
    nb::object size = isTensor(item) ? sizesOfTensor(implOf(item)) : nb::borrow(item);
    if (!size)
      return size;
    if (isTensor(item) && nb::isinstance<nb::list>(size) && nb::len(size) == 1) // of one element
      size = size[0];
    items.append(size);
  }
  return found ? nb::object(items) : nb::borrow(object);
}

bool holdsSizes(PyObject *object) {
  if (LLVM_LIKELY(!activeTracer() && !hasGraphValues.load(std::memory_order_relaxed)))
    return false;
  if (isSymInt(object))
    return true;
  if (!PyTuple_Check(object) && !PyList_Check(object))
    return false;
  llvm::ArrayRef<PyObject *> items(PySequence_Fast_ITEMS(object), size_t(PySequence_Fast_GET_SIZE(object)));
  return llvm::any_of(items, isSymInt) &&
         llvm::all_of(items, [](PyObject *item) { return isSymInt(item) || PyLong_CheckExact(item); });
}

/// One size as a tensor of rank 0.
static llvm::Expected<TensorRef> tensorOfSize(PyObject *size, DType dtype) {
  Number number = isSymInt(size) ? numberOf(size) : Number::integer(PyLong_AsLongLong(size));
  if (PyErr_Occurred())
    return takePythonError();
  return scalarOf(number, dtype);
}

llvm::Expected<TensorRef> tensorOfSizes(PyObject *object, DType dtype) {
  if (isSymInt(object))
    return tensorOfSize(object, dtype);
  Tensors sizes;
  llvm::SmallVector<Operand, 8> operands;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i) {
    llvm::Expected<TensorRef> size = tensorOfSize(PySequence_Fast_GET_ITEM(object, i), dtype);
    if (!size)
      return size;
    operands.push_back(sizes.emplace_back(std::move(*size)));
  }
  Tensors results;
  if (llvm::Error e = apply(builtin::Stack(0), operands, {unsigned(operands.size())}, results))
    return std::move(e);
  return std::move(results.front());
}

/// The handle of `kind` of two sizes; none where that is a number or cannot be expressed.
static std::optional<int64_t> arithmetic(const std::string &kind, int64_t a, int64_t b) {
  using Function = int64_t (*)(int64_t, int64_t);
  static constexpr std::pair<const char *, Function> functions[] = {
      {"add", sizes::add},    {"sub", sizes::subtract}, {"mul", sizes::multiply}, {"floordiv", sizes::floorDivide},
      {"mod", sizes::modulo}, {"max", sizes::maximum},  {"min", sizes::minimum}};
  const auto *found = llvm::find_if(functions, [&](const auto &each) { return kind == each.first; });
  int64_t size = found->second(a, b);
  return sizes::isSymbolic(size) ? std::optional(size) : std::nullopt;
}

void initSymInt(nb::module_ &module) {
  module.def(
      "set_symint", [](nb::handle type) { symIntType = reinterpret_cast<PyTypeObject *>(type.inc_ref().ptr()); },
      nb::arg("type"), "The class of sizes within a traced function.");
  module.def(
      "set_symbolic_shape", [](bool option) { return shapesAreTensors.exchange(option); }, nb::arg("option"),
      "Whether `shape` gives code outside of this package a tensor; returns what held before.");
  module.def("use_symbolic_shape", [] { return shapesAreTensors.load(); }, "What set_symbolic_shape was given last.");
  module.def(
      "size_arithmetic",
      [](const std::string &kind, int64_t a, int64_t b) -> nb::object {
        std::optional<int64_t> size = arithmetic(kind, a, b);
        return size ? nb::object(nb::int_(*size)) : nb::none();
      },
      nb::arg("kind"), nb::arg("first"), nb::arg("second"),
      "add, sub, mul, floordiv, mod, max or min of two sizes, each an int or the handle of an expression; None: it is "
      "no "
      "expression.");
  module.def(
      "note_data_read",
      [](uint32_t recording) {
        if (Recorder *recorder = Recorder::current())
          recorder->noteDataReadOf(recording);
      },
      nb::arg("recording"), "The function looks at the number of a size that data decides.");
  module.def(
      "note_comparison",
      [] {
        if (Recorder *recorder = Recorder::current())
          recorder->noteComparison();
      },
      "The function compares a size.");
  module.def(
      "sizes_of",
      [](nb::handle object) {
        nb::object sizes = sizesOf(object.ptr());
        if (!sizes)
          throw nb::python_error();
        return sizes;
      },
      nb::arg("object"),
      "What a tensor of integers says as sizes, in a recording: an int or a SymInt, or a list of such; another object "
      "itself.");
  module.def(
      "size_text", [](int64_t handle) { return ir::sizeText(handle); }, nb::arg("handle"),
      "The text of an expression.");
}

} // namespace tess::python
