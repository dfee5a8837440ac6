//===- OpFunction.h - operators as callables --------------------*- C++ -*-===//
#pragma once

#include "frontends/python/src/TensorObject.h"

namespace tess::python {

/// Operands and attributes of one call.
constexpr unsigned kMaxParameters = 40;

struct OpFunction {
  PyObject_HEAD vectorcallfunc vectorcall;
  const OpInfo *info;
  const OpDef *prototype; // every attribute at its default
  unsigned numParameters;
  unsigned numHidden; // results that Python does not see
  bool isSingle;      // one Tensor, not a tuple
  bool hasSizes;      // attributes that a recording writes down as the call gives them
  int inPlace;        // the operand whose memory `inplace=True` writes; -1: there is no such argument
  llvm::ArrayRef<const char *> parameters; // their names
  PyObject *names;                         // tuple of interned strings: operands, then attributes
  PyObject *otherwise;                     // of callOtherwise(); null: nothing
  PyObject *weakRefs;                      // weak references to it, which Python keeps here
};

/// Reads the arguments of one call; methods return false with an exception set.
class ArgumentReader {
public:
  explicit ArgumentReader(const OpFunction &function) : function(function) {
    std::fill_n(slots, function.numParameters, nullptr);
  }
  bool bind(PyObject *const *args, size_t count, PyObject *kwnames);
  bool readOperands();
  bool readAttrs(OpDef &op);
  /// Puts what tensors say as sizes in their place, while a recording runs; false and a Python error where one cannot.
  bool readSizes();
  /// Puts expressions in the place of sizes in `op`, where a SymInt of the present recording was given.
  void readExpressions(OpDef &op) const;
  /// The object given for parameter `i`, borrowed.
  PyObject *argument(unsigned i) const { return slots[i]; }

  bool inPlace = false; // the argument of that name
  llvm::SmallVector<eager::Operand, 4> operands;
  llvm::SmallVector<unsigned, 4> segments;

private:
  bool given(unsigned i) const;
  const char *nameOf(unsigned i) const;
  bool bindKeyword(PyObject *name, PyObject *value);
  bool bindInPlace(PyObject *value);
  bool readVariadic(unsigned group);
  bool readOne(PyObject *value);
  bool missing(unsigned i, const char *what);

  const OpFunction &function;
  PyObject *slots[kMaxParameters];
  std::vector<nb::object> sizes; // of readSizes()
  nb::object packed;             // several positional ints that are one list
  llvm::SmallVector<eager::TensorRef, 4> made;
};

/// The callable of an operator (borrowed).
const OpFunction &functionOf(const OpInfo &info);
/// Applies the operator: a Tensor, or a tuple when it has several results; hidden results are left out. `recorded`:
/// what a recording writes down for it, if that is another.
PyObject *applyFunction(const OpFunction &function, const OpDef &op, llvm::ArrayRef<eager::Operand> operands,
                        llvm::ArrayRef<unsigned> segments, const OpDef *recorded = nullptr);

/// The callable of an operator that no record declares, a new reference; it is made once.
PyObject *addedFunction(const OpInfo &info);

/// The methods that records name.
bool addMethods(PyTypeObject *type);

} // namespace tess::python
