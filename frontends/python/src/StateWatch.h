//===- StateWatch.h - notes what a function reads of Python's state -------===//
//
// While a traced function is recorded, its frames are watched instruction by
// instruction (WatchedCode.cpp). Here is what that says: which objects come from
// outside of the call, how they are called, what is read and written of them.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontends/python/src/StateReads.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace tess::python {

/// How much of a frame's code counts.
enum class CodeKind : uint8_t {
  Users,   // all that it reads
  Library, // of Python's library: attributes and items, no variables of modules
  Package, // of modules and optimizers of the package: the same, and it tells its changes to nobody
  Ours,    // the rest of the package: nothing, but functions of users that it calls count
  Muted,   // importing, logging and the like: nothing, nor what it calls
};

/// Where and how something was read first.
struct ReadNote {
  nb::tuple read;
  std::string path;
  nb::object code = nb::none(); // of the line that wrote it, or touched it first
  int line = 0;
  bool isWritten = false; // before it was read
  bool isSilent = false;
};

/// Notes reads of one call, on one thread. Objects are kept alive until it goes, so that addresses name them.
class StateWatch {
public:
  /// `freeze` gives the contents of an object of a C type by plain values, and raises where it cannot.
  explicit StateWatch(nb::callable freeze) : freeze(std::move(freeze)) {}

  /// The line that runs, and how it counts.
  void setPlace(CodeKind kind, PyCodeObject *code, int line);

  /// Nothing counts of an object that is made within the call.
  void noteInside(PyObject *object);
  bool isInside(PyObject *object) const { return inside.count(object); }
  /// Whether anything has been said of the object.
  bool isKnown(PyObject *object) const { return kept.count(object); }
  /// An argument: what the function changes of it is told, and another call brings its own.
  void noteArgument(PyObject *object);
  /// The name by which the function reaches an object, unless it has one.
  void nameObject(PyObject *object, std::string path);
  std::string pathOf(PyObject *object) const;

  /// One read; `attribute` is added to the owner's name.
  void note(ReadKind kind, PyObject *owner, PyObject *key, std::string path, bool isWrite = false);
  void noteAttribute(PyObject *owner, PyObject *name, bool isWrite = false);
  void noteSubscript(PyObject *owner, PyObject *key, bool isWrite = false);
  void noteLength(PyObject *owner) { noteOfContainer(ReadKind::Length, owner, Py_None, "__len__"); }
  void noteTruth(PyObject *owner);
  void noteContains(PyObject *owner, PyObject *key);
  /// All of a container's elements, and what they hold.
  void noteContents(PyObject *object, int depth = 0);
  /// Every attribute of an object.
  void noteAllAttributes(PyObject *object);
  /// The elements that an iterator gives from now on.
  void noteAdvance(PyObject *iterator);
  /// A function that runs.
  void noteFunction(PyObject *function);

  /// (read, path, code, line, is written, is silent, is of an argument) of each read of what is outside.
  nb::list reads() const;
  /// Objects that cannot be looked at: (path, type, code, line, whether the function advanced them).
  nb::list unwatched() const { return unwatchable; }
  /// Whether there were more reads than are compared.
  bool isFull() const { return full; }

private:
  void noteOfContainer(ReadKind kind, PyObject *owner, PyObject *key, const char *method);
  void noteGetter(PyObject *owner, PyObject *name, const std::string &path);
  void noteSuper(PyObject *super, PyObject *name);
  void noteFrozen(PyObject *object);
  void noteUnwatchable(PyObject *object, bool isAdvanced);
  void keep(PyObject *object);
  /// The code that runs; None before the call.
  nb::object place() const { return code ? nb::borrow(reinterpret_cast<PyObject *>(code)) : nb::none(); }
  /// The first key that was equal: a read is known by it.
  PyObject *sameKey(PyObject *key);

  nb::callable freeze;
  CodeKind kind = CodeKind::Users;
  PyCodeObject *code = nullptr;
  int line = 0;
  bool full = false;
  std::vector<ReadNote> notes;
  std::map<std::tuple<ReadKind, PyObject *, PyObject *>, size_t> known; // by kind, owner and key
  std::set<PyObject *> inside, arguments, kept;
  llvm::DenseMap<PyObject *, std::string> paths;
  nb::list keptAlive, unwatchable;
  nb::dict keys;
};

/// str(object); "?" where that raises.
std::string textOf(PyObject *object);
/// Whether Python's objects of that kind tell nothing of their own: numbers, text, tensors, functions, classes.
bool isLeaf(PyObject *object);
/// Whether a class statement made the object's class.
bool isOfPythonClass(PyObject *object);
/// Whether Python code, which is watched, is what the class has under that name.
bool isPythonMethod(PyObject *object, const char *name);

} // namespace tess::python
