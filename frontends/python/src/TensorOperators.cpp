//===- TensorOperators.cpp - the operators of Tensor ----------------------===//
//
// `a + b` applies the operator whose record names "+". `a += b` computes and
// rebinds, in the memory of a if no other variable uses that.
//
//===----------------------------------------------------------------------===//
#include "eager/dispatch/InPlace.h"
#include "frontends/python/src/ArgumentConversion.h"
#include "frontends/python/src/CallWatch.h"
#include "frontends/python/src/Errors.h"
#include "frontends/python/src/Module.h"
#include "frontends/python/src/NumpyConversion.h"
#include "frontends/python/src/OpFunction.h"
#include "frontends/python/src/TensorType.h"

#include "ops/table/PythonSurface.h"
#include "llvm/ADT/STLExtras.h"

namespace tess::python {

using namespace eager;

namespace {

/// The records for one Python operator. `&`, `|`, `^` and `~` have two: for bools and for numbers.
struct Records {
  const OpFunction *onBools = nullptr, *onNumbers = nullptr;
  bool areTwo() const { return onBools != onNumbers; }
};
Records records[kNumPythonOperators];

consteval int indexOf(std::string_view symbol, unsigned operands) {
  int index = pythonOperator(symbol, operands);
  return index >= 0 ? index : throw "no operator of Python's";
}

bool isNumeric(PyObject *object) { return isTensor(object) && !isBool(implOf(object).dtype()); }

const OpFunction &pick(const Records &of, PyObject *a, PyObject *b) {
  return !of.areTwo() || isNumeric(a) || isNumeric(b) ? *of.onNumbers : *of.onBools;
}

/// The operands of a Python operator. read() returns 1, or 0 when another type must answer, or -1 with an exception.
class Pair {
public:
  LLVM_ATTRIBUTE_ALWAYS_INLINE int read(PyObject *a, PyObject *b) {
    if (toOperand(a, operands[0], made, true) && toOperand(b, operands[1], made, true))
      return made.empty() ? 1 : place();
    return PyErr_Occurred() ? -1 : 0;
  }
  Operand operands[2] = {Operand(static_cast<TensorImpl *>(nullptr)), Operand(static_cast<TensorImpl *>(nullptr))};

private:
  LLVM_ATTRIBUTE_NOINLINE int place() {
    llvm::Error error = placeMade(operands, made);
    if (!error)
      return 1;
    raise(std::move(error));
    return -1;
  }
  llvm::SmallVector<TensorRef, 1> made;
};

/// The method of an operator: "__add__", and with a prefix "__radd__" or "__iadd__".
std::string methodName(int index, const char *prefix = "") {
  return std::string("__") + prefix + pythonOperators[index].name + "__";
}

/// Tells who records calls of the operator with that index.
PyObject *tellBinary(int index, PyObject *a, PyObject *b) {
  return isTensor(a) ? CallWatch::callMethod(a, methodName(index).c_str(), {b})
                     : CallWatch::callMethod(b, methodName(index, "r").c_str(), {a});
}

PyObject *notRead(int state) { return state < 0 ? nullptr : Py_NewRef(Py_NotImplemented); }

PyObject *applyBinary(int index, PyObject *a, PyObject *b) {
  if (CallWatch::listens())
    return tellBinary(index, a, b);
  const OpFunction &function = pick(records[index], a, b);
  Pair pair;
  if (int state = pair.read(a, b); state != 1)
    return notRead(state);
  return applyFunction(function, *function.prototype, pair.operands, {});
}

template <int index> PyObject *binary(PyObject *a, PyObject *b) { return applyBinary(index, a, b); }

template <int index> PyObject *unary(PyObject *a) {
  if (CallWatch::listens())
    return CallWatch::callMethod(a, methodName(index).c_str(), {});
  const OpFunction &function = pick(records[index], a, a);
  return applyFunction(function, *function.prototype, {Operand(&implOf(a))}, {});
}

constexpr int kPower = indexOf("**", 2);

PyObject *power(PyObject *a, PyObject *b, PyObject *modulus) {
  if (modulus != Py_None)
    Py_RETURN_NOTIMPLEMENTED;
  return applyBinary(kPower, a, b);
}

PyObject *positive(PyObject *a) { return Py_NewRef(a); }

template <int index> PyObject *inplace(PyObject *a, PyObject *b) {
  if (CallWatch::listens())
    return CallWatch::callMethod(a, methodName(index, "i").c_str(), {b});
  Pair pair;
  if (int state = pair.read(a, b); state != 1)
    return notRead(state);
  if (llvm::Error error = update(*pick(records[index], a, b).prototype, pair.operands))
    return raiseRefusal(std::move(error));
  return Py_NewRef(a);
}

PyObject *inplacePower(PyObject *a, PyObject *b, PyObject *modulus) {
  if (modulus != Py_None)
    Py_RETURN_NOTIMPLEMENTED;
  return inplace<kPower>(a, b);
}

bool single(TensorImpl &tensor, const char *what) {
  if (tensor.numElements() == 1)
    return true;
  raise(invalidArgument(llvm::Twine(what) + ": tensor must have one element, got " + toString(tensor.meta())));
  return false;
}

int truth(PyObject *self) {
  if (!single(implOf(self), "bool"))
    return -1;
  nb::object number = nb::steal(toNumber(implOf(self)));
  return number ? PyObject_IsTrue(number.ptr()) : -1;
}

PyObject *asInt(PyObject *self) {
  nb::object number = nb::steal(single(implOf(self), "int") ? toNumber(implOf(self)) : nullptr);
  return number ? PyNumber_Long(number.ptr()) : nullptr;
}

PyObject *asFloat(PyObject *self) {
  nb::object number = nb::steal(single(implOf(self), "float") ? toNumber(implOf(self)) : nullptr);
  return number ? PyNumber_Float(number.ptr()) : nullptr;
}

PyObject *asIndex(PyObject *self) {
  if (isInt(implOf(self).dtype()))
    return asInt(self);
  return raise(
      makeError(ErrorCode::TypeMismatch, "index: tensor must be an integer, got " + toString(implOf(self).meta())));
}

template <typename F> void *slot(F *function) { return reinterpret_cast<void *>(function); }

} // namespace

bool initTensorOperators() {
  for (const OpInfo &info : allOps()) {
    int index = pythonSurfaceOf(info).operatorIndex;
    if (index < 0)
      continue;
    const OpFunction &function = functionOf(info);
    DTypeMask taken = info.operands[0].dtypes;
    if (taken & kBoolMask)
      records[index].onBools = &function;
    if (taken & ~kBoolMask)
      records[index].onNumbers = &function;
  }
  for (auto [of, known] : llvm::zip(records, pythonOperators)) {
    if (!of.onNumbers) {
      PyErr_Format(PyExc_ImportError, "tessera: a record must name each operator, got none for %s", known.name);
      return false;
    }
    if (!of.onBools)
      of.onBools = of.onNumbers;
  }
  return true;
}

PyObject *tensorCompare(PyObject *a, PyObject *b, int operation) {
  static_assert(Py_LT == 0 && Py_LE == 1 && Py_EQ == 2 && Py_NE == 3 && Py_GT == 4 && Py_GE == 5);
  constexpr int indices[] = {indexOf("<", 2),  indexOf("<=", 2), indexOf("==", 2),
                             indexOf("!=", 2), indexOf(">", 2),  indexOf(">=", 2)};
  if (b == Py_None && (operation == Py_EQ || operation == Py_NE))
    return PyBool_FromLong(operation == Py_NE);
  return applyBinary(indices[operation], a, b);
}

PyType_Slot numberSlots[] = {
    {Py_nb_add, slot(binary<indexOf("+", 2)>)},
    {Py_nb_subtract, slot(binary<indexOf("-", 2)>)},
    {Py_nb_multiply, slot(binary<indexOf("*", 2)>)},
    {Py_nb_true_divide, slot(binary<indexOf("/", 2)>)},
    {Py_nb_floor_divide, slot(binary<indexOf("//", 2)>)},
    {Py_nb_remainder, slot(binary<indexOf("%", 2)>)},
    {Py_nb_power, slot(power)},
    {Py_nb_matrix_multiply, slot(binary<indexOf("@", 2)>)},
    {Py_nb_lshift, slot(binary<indexOf("<<", 2)>)},
    {Py_nb_rshift, slot(binary<indexOf(">>", 2)>)},
    {Py_nb_and, slot(binary<indexOf("&", 2)>)},
    {Py_nb_or, slot(binary<indexOf("|", 2)>)},
    {Py_nb_xor, slot(binary<indexOf("^", 2)>)},
    {Py_nb_negative, slot(unary<indexOf("-", 1)>)},
    {Py_nb_positive, slot(positive)},
    {Py_nb_absolute, slot(unary<indexOf("abs", 1)>)},
    {Py_nb_invert, slot(unary<indexOf("~", 1)>)},
    {Py_nb_inplace_add, slot(inplace<indexOf("+", 2)>)},
    {Py_nb_inplace_subtract, slot(inplace<indexOf("-", 2)>)},
    {Py_nb_inplace_multiply, slot(inplace<indexOf("*", 2)>)},
    {Py_nb_inplace_true_divide, slot(inplace<indexOf("/", 2)>)},
    {Py_nb_inplace_floor_divide, slot(inplace<indexOf("//", 2)>)},
    {Py_nb_inplace_remainder, slot(inplace<indexOf("%", 2)>)},
    {Py_nb_inplace_power, slot(inplacePower)},
    {Py_nb_inplace_matrix_multiply, slot(inplace<indexOf("@", 2)>)},
    {Py_nb_inplace_lshift, slot(inplace<indexOf("<<", 2)>)},
    {Py_nb_inplace_rshift, slot(inplace<indexOf(">>", 2)>)},
    {Py_nb_inplace_and, slot(inplace<indexOf("&", 2)>)},
    {Py_nb_inplace_or, slot(inplace<indexOf("|", 2)>)},
    {Py_nb_inplace_xor, slot(inplace<indexOf("^", 2)>)},
    {Py_nb_bool, slot(truth)},
    {Py_nb_int, slot(asInt)},
    {Py_nb_float, slot(asFloat)},
    {Py_nb_index, slot(asIndex)},
};
unsigned numNumberSlots = sizeof(numberSlots) / sizeof(numberSlots[0]);

} // namespace tess::python
