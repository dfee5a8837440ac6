//===- Number.cpp - the operators of Tensor ------------------------------===//
//
// `a + b` is the operator that the record names; `a += b` computes and rebinds.
//
//===----------------------------------------------------------------------===//
#include "frontends/python/src/OpFunction.h"

namespace tess::python {

using namespace eager;

namespace {

/// The record of an operator of Python's, looked up once.
template <const char *const &name> const OpFunction &known() {
  static const OpFunction &function = functionOf(*findOp(name));
  return function;
}

#define TESS_OPERATOR(id, record) constexpr const char *name_##id = record;
TESS_OPERATOR(add, "add")
TESS_OPERATOR(sub, "sub")
TESS_OPERATOR(mul, "mul")
TESS_OPERATOR(div, "div")
TESS_OPERATOR(floordiv, "floor_div")
TESS_OPERATOR(mod, "mod")
TESS_OPERATOR(pow, "pow")
TESS_OPERATOR(matmul, "matmul")
TESS_OPERATOR(shl, "left_shift")
TESS_OPERATOR(shr, "right_shift")
TESS_OPERATOR(land, "logical_and")
TESS_OPERATOR(lor, "logical_or")
TESS_OPERATOR(lxor, "logical_xor")
TESS_OPERATOR(neg, "neg")
TESS_OPERATOR(abs, "abs")
TESS_OPERATOR(lnot, "logical_not")
TESS_OPERATOR(band, "bitwise_and")
TESS_OPERATOR(bor, "bitwise_or")
TESS_OPERATOR(bxor, "bitwise_xor")
TESS_OPERATOR(bnot, "bitwise_not")
TESS_OPERATOR(lt, "less")
TESS_OPERATOR(le, "less_equal")
TESS_OPERATOR(eq, "equal")
TESS_OPERATOR(ne, "not_equal")
TESS_OPERATOR(gt, "greater")
TESS_OPERATOR(ge, "greater_equal")
#undef TESS_OPERATOR

PyObject *applyBinary(const OpFunction &function, PyObject *a, PyObject *b) {
  Operand operands[2] = {Operand(static_cast<TensorImpl *>(nullptr)), Operand(static_cast<TensorImpl *>(nullptr))};
  llvm::SmallVector<TensorRef, 1> made;
  if (!toOperand(a, operands[0], made, true) || !toOperand(b, operands[1], made, true)) {
    if (PyErr_Occurred())
      return nullptr;
    Py_RETURN_NOTIMPLEMENTED;
  }
  return resultsOf(*function.info, apply(*function.prototype, operands));
}

template <const char *const &name> PyObject *binary(PyObject *a, PyObject *b) {
  return applyBinary(known<name>(), a, b);
}

template <const char *const &name> PyObject *unary(PyObject *a) {
  return resultsOf(*known<name>().info, apply(*known<name>().prototype, {Operand(&implOf(a))}));
}

PyObject *power(PyObject *a, PyObject *b, PyObject *modulus) {
  if (modulus != Py_None)
    Py_RETURN_NOTIMPLEMENTED;
  return binary<name_pow>(a, b);
}

PyObject *positive(PyObject *a) { return Py_NewRef(a); }

/// Gives the value of `result` (stolen) to `self`.
PyObject *rebind(PyObject *self, PyObject *result) {
  if (!result || result == Py_NotImplemented)
    return result;
  llvm::Error error = assign(implOf(self), implOf(result));
  Py_DECREF(result);
  return error ? raise(std::move(error)) : Py_NewRef(self);
}

template <const char *const &name> PyObject *inplace(PyObject *a, PyObject *b) { return rebind(a, binary<name>(a, b)); }
PyObject *inplacePower(PyObject *a, PyObject *b, PyObject *modulus) { return rebind(a, power(a, b, modulus)); }

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

/// `&` is logical on bool and bitwise on integers.
bool onBools(PyObject *a) { return isTensor(a) ? isBool(implOf(a).dtype()) : PyBool_Check(a); }

template <const char *const &logical, const char *const &bitwise> PyObject *bits(PyObject *a, PyObject *b) {
  bool isLogical = onBools(a) && (onBools(b) || !isTensor(b));
  return isLogical ? binary<logical>(a, b) : binary<bitwise>(a, b);
}
template <const char *const &logical, const char *const &bitwise> PyObject *inplaceBits(PyObject *a, PyObject *b) {
  return rebind(a, bits<logical, bitwise>(a, b));
}
PyObject *invert(PyObject *a) { return onBools(a) ? unary<name_lnot>(a) : unary<name_bnot>(a); }

template <typename F> void *slot(F *function) { return reinterpret_cast<void *>(function); }

} // namespace

PyObject *tensorCompare(PyObject *a, PyObject *b, int operation) {
  if (b == Py_None && (operation == Py_EQ || operation == Py_NE))
    return PyBool_FromLong(operation == Py_NE);
  switch (operation) {
  case Py_LT:
    return binary<name_lt>(a, b);
  case Py_LE:
    return binary<name_le>(a, b);
  case Py_EQ:
    return binary<name_eq>(a, b);
  case Py_NE:
    return binary<name_ne>(a, b);
  case Py_GT:
    return binary<name_gt>(a, b);
  case Py_GE:
    return binary<name_ge>(a, b);
  }
  Py_RETURN_NOTIMPLEMENTED;
}

PyType_Slot numberSlots[] = {
    {Py_nb_add, slot(binary<name_add>)},
    {Py_nb_subtract, slot(binary<name_sub>)},
    {Py_nb_multiply, slot(binary<name_mul>)},
    {Py_nb_true_divide, slot(binary<name_div>)},
    {Py_nb_floor_divide, slot(binary<name_floordiv>)},
    {Py_nb_remainder, slot(binary<name_mod>)},
    {Py_nb_power, slot(power)},
    {Py_nb_matrix_multiply, slot(binary<name_matmul>)},
    {Py_nb_lshift, slot(binary<name_shl>)},
    {Py_nb_rshift, slot(binary<name_shr>)},
    {Py_nb_and, slot(bits<name_land, name_band>)},
    {Py_nb_or, slot(bits<name_lor, name_bor>)},
    {Py_nb_xor, slot(bits<name_lxor, name_bxor>)},
    {Py_nb_negative, slot(unary<name_neg>)},
    {Py_nb_positive, slot(positive)},
    {Py_nb_absolute, slot(unary<name_abs>)},
    {Py_nb_invert, slot(invert)},
    {Py_nb_inplace_add, slot(inplace<name_add>)},
    {Py_nb_inplace_subtract, slot(inplace<name_sub>)},
    {Py_nb_inplace_multiply, slot(inplace<name_mul>)},
    {Py_nb_inplace_true_divide, slot(inplace<name_div>)},
    {Py_nb_inplace_floor_divide, slot(inplace<name_floordiv>)},
    {Py_nb_inplace_remainder, slot(inplace<name_mod>)},
    {Py_nb_inplace_power, slot(inplacePower)},
    {Py_nb_inplace_matrix_multiply, slot(inplace<name_matmul>)},
    {Py_nb_inplace_lshift, slot(inplace<name_shl>)},
    {Py_nb_inplace_rshift, slot(inplace<name_shr>)},
    {Py_nb_inplace_and, slot(inplaceBits<name_land, name_band>)},
    {Py_nb_inplace_or, slot(inplaceBits<name_lor, name_bor>)},
    {Py_nb_inplace_xor, slot(inplaceBits<name_lxor, name_bxor>)},
    {Py_nb_bool, slot(truth)},
    {Py_nb_int, slot(asInt)},
    {Py_nb_float, slot(asFloat)},
    {Py_nb_index, slot(asIndex)},
};
unsigned numNumberSlots = sizeof(numberSlots) / sizeof(numberSlots[0]);

} // namespace tess::python
