//===- OpFunction.cpp - operators as callables ---------------------------===//
//
// There is one vectorcall object for each record. Its arguments are the
// operands and then the attributes in the order of the record, by position or
// by name. The same object is a method of Tensor when it is a member of that
// class.
//
//===----------------------------------------------------------------------===//
#include "frontends/python/src/OpFunction.h"
#include "frontends/python/src/ArgumentConversion.h"
#include "frontends/python/src/CallMemo.h"
#include "frontends/python/src/CallWatch.h"
#include "frontends/python/src/Errors.h"
#include "frontends/python/src/Module.h"
#include "frontends/python/src/SymInt.h"
#include "frontends/python/src/TensorObject.h"

#include "eager/dispatch/InPlace.h"
#include "eager/stack/GraphValue.h"
#include "eager/tracing/Recorder.h"
#include "ops/custom/RecordRow.h"
#include "ops/table/Docs.h"
#include "ops/table/PythonSurface.h"
#include "llvm/ADT/STLExtras.h"

#include <cassert>
#include <cmath>
#include <structmember.h>

namespace tess::python {

using namespace eager;

static PyTypeObject *functionType = nullptr;

/// The functions by operator id, with references that are never released.
static std::vector<PyObject *> functions;

const OpFunction &functionOf(const OpInfo &info) { return *reinterpret_cast<OpFunction *>(functions[info.id]); }

bool ArgumentReader::given(unsigned i) const { return slots[i] && slots[i] != Py_None; }

const char *ArgumentReader::nameOf(unsigned i) const { return function.parameters[i]; }

/// The name of the argument of operators whose result may take an operand's memory; it is passed by name only.
static constexpr const char *kInPlace = "inplace";

bool ArgumentReader::bindInPlace(PyObject *value) {
  if (!PyBool_Check(value)) {
    PyErr_Format(PyExc_TypeError, "%s: inplace must be a bool, got %s", function.info->pythonName,
                 Py_TYPE(value)->tp_name);
    return false;
  }
  inPlace = value == Py_True;
  return true;
}

bool ArgumentReader::bindKeyword(PyObject *name, PyObject *value) {
  for (unsigned i = 0; i < function.numParameters; ++i) {
    PyObject *known = PyTuple_GET_ITEM(function.names, i);
    if (known != name && PyUnicode_Compare(known, name) != 0)
      continue;
    if (slots[i]) {
      PyErr_Format(PyExc_TypeError, "%s: each argument must be given once, got %U twice", function.info->pythonName,
                   name);
      return false;
    }
    slots[i] = value;
    return true;
  }
  if (function.inPlace >= 0 && PyUnicode_CompareWithASCIIString(name, kInPlace) == 0)
    return bindInPlace(value);
  PyErr_Format(PyExc_TypeError, "%s: arguments must be among %R, got '%U'", function.info->pythonName, function.names,
               name);
  return false;
}

bool ArgumentReader::bind(PyObject *const *args, size_t count, PyObject *kwnames) {
  const OpInfo &info = *function.info;
  size_t numOperands = info.operands.size();
  bool spread = count > function.numParameters && !info.attrs.empty() && info.attrs[0].kind == AttrKind::I64List;
  if (spread) { // as in reshape(x, 2, 3)
    packed = nb::steal(PyTuple_New(count - numOperands));
    for (size_t i = numOperands; i < count; ++i)
      PyTuple_SET_ITEM(packed.ptr(), i - numOperands, Py_NewRef(args[i]));
    slots[numOperands] = packed.ptr();
  } else if (count > function.numParameters) {
    PyErr_Format(PyExc_TypeError, "%s: number of arguments must be <= %d, got %zd", function.info->pythonName,
                 int(function.numParameters), Py_ssize_t(count));
    return false;
  }
  std::copy(args, args + (spread ? numOperands : count), slots);
  for (Py_ssize_t k = 0, n = kwnames ? PyTuple_GET_SIZE(kwnames) : 0; k < n; ++k)
    if (!bindKeyword(PyTuple_GET_ITEM(kwnames, k), args[count + k]))
      return false;
  return true;
}

bool ArgumentReader::readVariadic(unsigned group) {
  PyObject *value = slots[group];
  nb::object sequence = nb::steal(isTensor(value) ? PyTuple_Pack(1, value) : PySequence_Fast(value, ""));
  if (!sequence) {
    PyErr_Format(PyExc_TypeError, "%s: %s must be a sequence of tensors, got %s", function.info->pythonName,
                 nameOf(group), Py_TYPE(value)->tp_name);
    return false;
  }
  Py_ssize_t count = PySequence_Fast_GET_SIZE(sequence.ptr());
  for (Py_ssize_t i = 0; i < count; ++i)
    if (!readOne(PySequence_Fast_GET_ITEM(sequence.ptr(), i)))
      return false;
  segments.push_back(count);
  return true;
}

bool ArgumentReader::readOne(PyObject *value) {
  operands.push_back(Operand(static_cast<TensorImpl *>(nullptr)));
  return toOperand(value, operands.back(), made);
}

bool ArgumentReader::missing(unsigned i, const char *what) {
  PyErr_Format(PyExc_TypeError, "%s: every argument must be given, got none for %s %s", function.info->pythonName, what,
               nameOf(i));
  return false;
}

bool ArgumentReader::readOperands() {
  const OpInfo &info = *function.info;
  for (unsigned group = 0; group < info.operands.size(); ++group) {
    if (!given(group)) {
      if (info.operands[group].arity == Arity::One)
        return missing(group, "operand");
      segments.push_back(0);
    } else if (info.operands[group].arity == Arity::Variadic) {
      if (!readVariadic(group))
        return false;
    } else {
      if (!readOne(slots[group]))
        return false;
      segments.push_back(1);
    }
  }
  if (made.empty())
    return true;
  llvm::Error error = placeMade(operands, made);
  if (!error)
    return true;
  raise(std::move(error));
  return false;
}

bool ArgumentReader::readAttrs(OpDef &op) {
  const OpInfo &info = *function.info;
  for (unsigned i = 0; i < info.attrs.size(); ++i) {
    unsigned slot = info.operands.size() + i;
    const AttrInfo &attr = info.attrs[i];
    if (!given(slot)) {
      if (!attr.hasDefault && !attr.isOptional)
        return missing(slot, "attribute");
      continue;
    }
    llvm::Expected<AttrValue> value = toAttr(info.pythonName, nameOf(slot), attr, slots[slot]);
    llvm::Error error = value ? op.trySet(attr.name, std::move(*value)) : value.takeError();
    if (error) {
      raise(std::move(error));
      return false;
    }
  }
  return true;
}

bool ArgumentReader::readSizes() {
  for (auto [i, attr] : llvm::enumerate(function.info->attrs)) {
    unsigned slot = function.info->operands.size() + i;
    if (!attr.isSize || !given(slot))
      continue;
    sizes.push_back(sizesOf(slots[slot]));
    slots[slot] = sizes.back().ptr();
    if (!slots[slot])
      return false;
  }
  return true;
}

void ArgumentReader::readExpressions(OpDef &op) const {
  const OpInfo &info = *function.info;
  for (auto [i, attr] : llvm::enumerate(info.attrs)) {
    unsigned slot = info.operands.size() + i;
    if (attr.isSize && given(slot))
      if (std::optional<AttrValue> value = withExpressions(slots[slot], op.attr(unsigned(i))))
        op.set(attr.name, std::move(*value));
  }
}

PyObject *applyFunction(const OpFunction &function, const OpDef &op, llvm::ArrayRef<Operand> operands,
                        llvm::ArrayRef<unsigned> segments, const OpDef *recorded) {
  Tensors results;
  segments = function.info->simple ? llvm::ArrayRef<unsigned>() : segments;
  if (llvm::Error e =
          recorded ? applyRecorded(op, *recorded, operands, segments, results) : apply(op, operands, segments, results))
    return raiseRefusal(std::move(e));
  return wrapResults(results, results.size() - function.numHidden, !function.isSingle);
}

/// Applies in place and returns the operand's own object.
static PyObject *applyInPlace(const OpFunction &function, const OpDef &op, const ArgumentReader &reader) {
  PyObject *target = reader.argument(function.inPlace);
  if (!isTensor(target))
    return PyErr_Format(PyExc_TypeError, "%s: %s must be a Tensor to be written in place, got %s",
                        function.info->pythonName, function.parameters[function.inPlace], Py_TYPE(target)->tp_name);
  llvm::ArrayRef<unsigned> segments = function.info->simple ? llvm::ArrayRef<unsigned>() : reader.segments;
  if (llvm::Error e = eager::applyInPlace(op, reader.operands, segments))
    return raiseRefusal(std::move(e));
  return Py_NewRef(target);
}

using OpMemo = CallMemo<OpDef>;

/// Never destroyed, because it holds Python objects.
static OpMemo &memo() {
  static OpMemo *instance = new OpMemo;
  return *instance;
}

/// Makes the memo's key; false when a call has none. A key needs tensors first, one for each operand, and then
/// attributes that never change.
static bool keyOf(ArgumentKey &key, const OpFunction &function, PyObject *const *args, size_t count,
                  PyObject *kwnames) {
  size_t numOperands = function.info->operands.size();
  if (!function.info->simple || function.info->attrs.empty() || count < numOperands)
    return false;
  for (size_t i = 0; i < numOperands; ++i) {
    if (!isTensor(args[i]))
      return false;
    if (function.info->normalise)
      key.addMeta(implOf(args[i]));
  }
  key.add(count);
  size_t numGiven = count;
  if (kwnames) {
    key.addIdentity(kwnames);
    numGiven += PyTuple_GET_SIZE(kwnames);
  }
  for (size_t i = numOperands; i < numGiven; ++i)
    if (!key.addValue(args[i]))
      return false;
  return true;
}

/// Repeats the call that stored `op`.
static PyObject *callAgain(const OpFunction &function, const OpDef &op, PyObject *const *args) {
  llvm::SmallVector<Operand, 4> operands;
  for (size_t i = 0; i < function.info->operands.size(); ++i)
    operands.push_back(Operand(&implOf(args[i])));
  return applyFunction(function, op, operands, {});
}

/// Whether what the operator does is written down for other sizes, too.
static bool isWrittenDown(PyObject *const *args, size_t count) {
  if (LLVM_LIKELY(!hasGraphValues.load(std::memory_order_relaxed)))
    return Recorder::current();
  auto isOne = [](PyObject *arg) { return isTensor(arg) ? isWrittenDown(implOf(arg)) : holdsNetworkSizes(arg); };
  return Recorder::current() || llvm::any_of(llvm::ArrayRef(args, count), isOne);
}

static PyObject *call(PyObject *self, PyObject *const *args, size_t flags, PyObject *kwnames) {
  const auto &function = *reinterpret_cast<OpFunction *>(self);
  size_t count = PyVectorcall_NARGS(flags);
  if (CallWatch::listens())
    return CallWatch::call(self, args, count, kwnames);
  ArgumentKey key(self);
  bool isRecorded = function.hasSizes && isWrittenDown(args, count + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0));
  bool hasKey = !isRecorded && keyOf(key, function, args, count, kwnames);
  if (hasKey)
    if (OpMemo::EntryRef known = memo().find(key))
      return callAgain(function, known->value, args);
  ArgumentReader reader(function);
  if (!reader.bind(args, count, kwnames) || !reader.readOperands())
    return nullptr;
  if (function.info->attrs.empty() && !function.info->normalise && !reader.inPlace)
    return applyFunction(function, *function.prototype, reader.operands, reader.segments);
  OpDef op = *function.prototype;
  if ((isRecorded && !reader.readSizes()) || !reader.readAttrs(op))
    return nullptr;
  OpDef recorded = isRecorded ? op : OpDef();
  if (isRecorded)
    reader.readExpressions(recorded);
  if (function.info->normalise)
    if (llvm::Error error = function.info->normalise(op, metasOf(reader.operands)))
      return raiseRefusal(std::move(error));
  if (reader.inPlace)
    return applyInPlace(function, op, reader);
  if (hasKey)
    memo().store(key, op);
  return applyFunction(function, op, reader.operands, reader.segments, isRecorded ? &recorded : nullptr);
}

/// As call(), for a function with `otherwise`.
static PyObject *callOrOtherwise(PyObject *self, PyObject *const *args, size_t flags, PyObject *kwnames) {
  if (CallWatch::listens())
    return CallWatch::call(self, args, PyVectorcall_NARGS(flags), kwnames);
  PyObject *result = call(self, args, flags, kwnames);
  if (LLVM_LIKELY(result) || !PyErr_ExceptionMatches(PyExc_TypeError))
    return result;
  nb::python_error refusal;
  PyObject *otherwise = reinterpret_cast<OpFunction *>(self)->otherwise;
  result = PyObject_Vectorcall(otherwise, args, PyVectorcall_NARGS(flags), kwnames);
  if (result ? result != Py_NotImplemented : !PyErr_ExceptionMatches(PyExc_TypeError))
    return result;
  Py_XDECREF(result);
  refusal.restore();
  return nullptr;
}

/// Calls `otherwise` with the arguments for which the operator raises TypeError: one look beforehand would cost every
/// call. Where that gives NotImplemented or raises TypeError, the operator's error stays.
static void callOtherwise(const nb::object &operation, nb::callable otherwise) {
  assert(Py_TYPE(operation.ptr()) == functionType);
  auto *function = reinterpret_cast<OpFunction *>(operation.ptr());
  function->vectorcall = callOrOtherwise;
  Py_XSETREF(function->otherwise, otherwise.release().ptr());
}

namespace {

void functionDealloc(PyObject *self) {
  auto *function = reinterpret_cast<OpFunction *>(self);
  Py_XDECREF(function->otherwise);
  if (function->weakRefs)
    PyObject_ClearWeakRefs(self);
  delete function->prototype;
  Py_XDECREF(function->names);
  PyTypeObject *type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject *functionGet(PyObject *self, PyObject *object, PyObject *) {
  return object && object != Py_None ? PyMethod_New(self, object) : Py_NewRef(self);
}

PyObject *functionRepr(PyObject *self) {
  const OpInfo &info = *reinterpret_cast<OpFunction *>(self)->info;
  return PyUnicode_FromFormat("<operator %s.%s>", info.pythonModule, info.pythonName);
}

PyObject *functionName(PyObject *self, void *) {
  return PyUnicode_FromString(reinterpret_cast<OpFunction *>(self)->info->pythonName);
}

PyObject *functionModule(PyObject *self, void *) {
  return PyUnicode_FromFormat("tessera.%s", reinterpret_cast<OpFunction *>(self)->info->pythonModule);
}

/// The default of an argument, as in "=-1". None stands for an argument that is not given, and for an empty list. Only
/// literals are shown, because inspect parses them.
std::string defaultText(const AttrInfo &attr) {
  if (!attr.hasDefault)
    return attr.isOptional ? "=None" : "";
  AttrValue value = defaultOf(attr);
  switch (value.kind()) {
  case AttrKind::Bool:
    return value.boolean() ? "=True" : "=False";
  case AttrKind::DType:
    return "=\"" + numpyName(value.dtype()).str() + "\"";
  case AttrKind::F64:
    return std::isfinite(value.f64()) ? "=" + value.toText() : "=None";
  case AttrKind::I64List:
    return value.ints().empty() ? "=None" : "=" + value.toText();
  default:
    return "=" + value.toText();
  }
}

std::string signatureText(const OpFunction &function) {
  const OpInfo &info = *function.info;
  std::string text;
  const auto *parameter = function.parameters.begin();
  auto add = [&](const std::string &value) { text += (text.empty() ? "" : ", ") + std::string(*parameter++) + value; };
  for (const OperandInfo &operand : info.operands)
    add(operand.arity == Arity::Optional ? "=None" : "");
  for (const AttrInfo &attr : info.attrs)
    add(defaultText(attr));
  if (info.inPlaceOperand() >= 0)
    text += std::string(", *, ") + kInPlace + "=False";
  return "(" + text + ")";
}

PyObject *functionSignature(PyObject *self, void *) {
  return PyUnicode_FromString(signatureText(*reinterpret_cast<OpFunction *>(self)).c_str());
}

/// The signature, then the generated text.
std::string documentation(const OpFunction &function) {
  const OpInfo &info = *function.info;
  return std::string(info.pythonName) + signatureText(function) + "\n\n" +
         (info.origin ? custom::documentationOf(info) : docstringOf(info));
}

PyObject *functionDoc(PyObject *self, void *) {
  return PyUnicode_FromString(documentation(*reinterpret_cast<OpFunction *>(self)).c_str());
}

PyGetSetDef functionProperties[] = {
    {"__name__", functionName, nullptr, nullptr, nullptr},
    {"__qualname__", functionName, nullptr, nullptr, nullptr},
    {"__module__", functionModule, nullptr, nullptr, nullptr},
    {"__text_signature__", functionSignature, nullptr, nullptr, nullptr},
    {"__doc__", functionDoc, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMemberDef functionMembers[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(OpFunction, vectorcall), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(OpFunction, weakRefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyObject *makeFunction(const OpInfo &info) {
  auto *function = reinterpret_cast<OpFunction *>(functionType->tp_alloc(functionType, 0));
  if (!function)
    return nullptr;
  function->vectorcall = call;
  function->info = &info;
  function->prototype = new OpDef(info);
  function->numParameters = info.operands.size() + info.attrs.size();
  function->numHidden = llvm::count_if(info.results, [](const ResultInfo &result) { return result.hidden; });
  function->isSingle = info.results.size() - function->numHidden == 1 && info.results[0].arity == Arity::One;
  function->inPlace = info.inPlaceOperand();
  function->hasSizes = info.hasSizes();
  function->parameters = parametersOf(info);
  function->names = PyTuple_New(function->numParameters);
  for (auto [i, name] : llvm::enumerate(function->parameters))
    PyTuple_SET_ITEM(function->names, i, PyUnicode_InternFromString(name));
  return reinterpret_cast<PyObject *>(function);
}

bool makeType() {
  PyType_Slot slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void *>(functionDealloc)},
      {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
      {Py_tp_descr_get, reinterpret_cast<void *>(functionGet)},
      {Py_tp_repr, reinterpret_cast<void *>(functionRepr)},
      {Py_tp_getset, functionProperties},
      {Py_tp_members, functionMembers},
      {0, nullptr},
  };
  PyType_Spec spec = {"tessera._core.Operator", sizeof(OpFunction), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR, slots};
  functionType = reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&spec));
  return functionType;
}

} // namespace

bool initOpFunction(nb::module_ &module) {
  if (!makeType())
    return false;
  module.def("call_otherwise", &callOtherwise, nb::arg("operation"), nb::arg("otherwise"),
             "Calls `otherwise` with the arguments for which the operator raises TypeError; NotImplemented or another "
             "TypeError: that of the operator stays.");
  nb::module_ ops = module.def_submodule("ops", "Every operator, by its Python name.");
  functions.assign(allOps().size(), nullptr);
  for (const OpInfo &info : allOps()) {
    nb::object function = nb::steal(makeFunction(info));
    if (!function)
      return false;
    functions[info.id] = Py_NewRef(function.ptr()); // never freed: slots of Tensor look it up here
    if (info.pythonName && *info.pythonName)
      ops.attr(info.pythonName) = function;
  }
  return true;
}

PyObject *addedFunction(const OpInfo &info) {
  if (info.id >= functions.size())
    functions.resize(info.id + 1, nullptr);
  if (!functions[info.id])
    functions[info.id] = makeFunction(info);
  return Py_XNewRef(functions[info.id]);
}

bool addMethods(PyTypeObject *type) {
  for (const OpInfo &info : allOps())
    for (const char *method : pythonSurfaceOf(info).methods)
      if (PyObject_SetAttrString(reinterpret_cast<PyObject *>(type), method, functions[info.id]) < 0)
        return false;
  return true;
}

} // namespace tess::python
